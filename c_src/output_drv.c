/* Writes in the call of port_command/2, and has put {Port, {data, Word}} into the
 * mailbox of the port's owner when that returns. It is there at once, but behind
 * whatever waited already. The write holds up a scheduler for as long as it takes. */
#include "drv_common.h"

#include <string.h>

static void output(ErlDrvData data, char *buf, ErlDrvSizeT size) {
    struct drv_port *port = (struct drv_port *)data;
    char *word = drv_word(drv_write(port, buf, size));
    driver_output(port->port, word, strlen(word));
}

static ErlDrvEntry entry = {
    .driver_name = "output_drv",
    .control = drv_control,
    .output = output,
    DRV_SHARED_ENTRY,
};

DRIVER_INIT(output_drv) { return &entry; }
