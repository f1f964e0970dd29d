#include "drv_common.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

ErlDrvData drv_start(ErlDrvPort port, char *command) {
    (void)command; /* the sink comes by DRV_OPEN, which can say why it cannot be opened */
    struct drv_port *state = driver_alloc(sizeof *state);
    if (state == NULL) {
        errno = ENOMEM;
        return ERL_DRV_ERROR_ERRNO;
    }
    memset(state, 0, sizeof *state);
    state->port = port;
    state->key = driver_async_port_key(port);
    state->sink = DRV_SINK_NONE;
    state->holders = 1;
    set_port_control_flags(port, PORT_CONTROL_FLAG_BINARY);
    return (ErlDrvData)state;
}

void drv_stop(ErlDrvData data) { drv_release((struct drv_port *)data); }

void drv_hold(struct drv_port *port) { AO_fetch_and_add1_full(&port->holders); }

void drv_release(struct drv_port *port) {
    if (AO_fetch_and_sub1_full(&port->holders) > 1)
        return;
    if (port->sink != DRV_SINK_NONE)
        close(port->sink); /* nobody is left to be told that it failed */
    driver_free(port);
}

int drv_write(struct drv_port *port, char *buf, size_t size) {
    struct iovec iov = {.iov_base = buf, .iov_len = size};
    size_t written;
    int error = drv_sink_write(port->sink, &iov, 1, &written);
    drv_counters_wrote(&port->counters, error, written);
    return error;
}

char *drv_word(int error) { return error == 0 ? "ok" : erl_errno_id(error); }

static ErlDrvSSizeT reply(const void *bytes, size_t size, char **reply, ErlDrvSizeT room) {
    if (size > room)
        return -1;
    memcpy(*reply, bytes, size);
    return (ErlDrvSSizeT)size;
}

ErlDrvSSizeT drv_reply_word(int error, char **to, ErlDrvSizeT room) {
    const char *word = drv_word(error);
    return reply(word, strlen(word), to, room);
}

static int open_sink(struct drv_port *port, const char *name, size_t size, bool append) {
    if (port->sink != DRV_SINK_NONE)
        return EALREADY;
    if (memchr(name, '\0', size) != NULL)
        return EINVAL;
    char *path = driver_alloc(size + 1);
    if (path == NULL)
        return ENOMEM;
    memcpy(path, name, size);
    path[size] = '\0';
    port->sink = drv_sink_open(path, append);
    int error = port->sink == DRV_SINK_NONE ? errno : 0;
    driver_free(path);
    return error;
}

static ErlDrvSSizeT reply_counters(const struct drv_port *port, char **to, ErlDrvSizeT room) {
    unsigned char encoded[DRV_COUNTERS_SIZE];
    drv_counters_encode(&port->counters, encoded);
    return reply(encoded, sizeof encoded, to, room);
}

ErlDrvSSizeT drv_control(ErlDrvData data, unsigned int operation, char *buf, ErlDrvSizeT size,
                         char **to, ErlDrvSizeT room) {
    struct drv_port *port = (struct drv_port *)data;
    switch (operation) {
    case DRV_OPEN:
    case DRV_OPEN_TO_APPEND:
        return drv_reply_word(open_sink(port, buf, size, operation == DRV_OPEN_TO_APPEND), to,
                              room);
    case DRV_COUNTERS:
        return reply_counters(port, to, room);
    default:
        return -1;
    }
}
