/* What the drivers share: the state of a port, the control operations that all of
 * them answer, and the words in which a result reaches Erlang. */
#ifndef DRV_COMMON_H
#define DRV_COMMON_H

#include "drv_counters.h"
#include "drv_sink.h"

#include <erl_driver.h>

/* The numbers of port_control/3, as port_drivers.erl gives them. */
enum drv_operation { DRV_OPEN = 1, DRV_OPEN_TO_APPEND, DRV_COUNTERS, DRV_WRITE };

/* It lives as long as the port or any job that still writes: whoever lets go last
 * closes the sink. */
struct drv_port {
    ErlDrvPort port;
    unsigned int key; /* one thread does the jobs of one port, so they stay in order */
    volatile AO_t holders;
    int sink;
    struct drv_counters counters;
};

/* Callbacks of a driver's table. */
ErlDrvData drv_start(ErlDrvPort port, char *command);
void drv_stop(ErlDrvData data);

/* What the tables of all drivers have; the callbacks that tell them apart stand beside it. */
#define DRV_SHARED_ENTRY                                                                           \
    .start = drv_start, .stop = drv_stop, .extended_marker = ERL_DRV_EXTENDED_MARKER,              \
    .major_version = ERL_DRV_EXTENDED_MAJOR_VERSION,                                               \
    .minor_version = ERL_DRV_EXTENDED_MINOR_VERSION, .driver_flags = ERL_DRV_FLAG_USE_PORT_LOCKING

/* Opens the sink and gives the counters; all else is badarg (-1). */
ErlDrvSSizeT drv_control(ErlDrvData data, unsigned int operation, char *buf, ErlDrvSizeT size,
                         char **reply, ErlDrvSizeT room);

void drv_hold(struct drv_port *port);
void drv_release(struct drv_port *port);

/* Writes a buffer here and now, and counts it: 0 or an errno. */
int drv_write(struct drv_port *port, char *buf, size_t size);

/* The word for an errno: "ok" for 0, else as "enospc". */
char *drv_word(int error);

/* The word as the reply of a control operation: its size. */
ErlDrvSSizeT drv_reply_word(int error, char **reply, ErlDrvSizeT room);

#endif
