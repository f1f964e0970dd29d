/* Writes in the call of port_control/3, which returns the word: no message at all.
 * The write holds up a scheduler for as long as it takes. */
#include "drv_common.h"

static ErlDrvSSizeT control(ErlDrvData data, unsigned int operation, char *buf, ErlDrvSizeT size,
                            char **reply, ErlDrvSizeT room) {
    struct drv_port *port = (struct drv_port *)data;
    if (operation == DRV_WRITE)
        return drv_reply_word(drv_write(port, buf, size), reply, room);
    return drv_control(data, operation, buf, size, reply, room);
}

static ErlDrvEntry entry = {
    .driver_name = "control_drv",
    .control = control,
    DRV_SHARED_ENTRY,
};

DRIVER_INIT(control_drv) { return &entry; }
