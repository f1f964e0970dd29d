/* The file that a driver writes to. It calls nothing of the VM. */
#ifndef DRV_SINK_H
#define DRV_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

enum { DRV_SINK_NONE = -1 };

/* Opens path for writing, made if need be; the file descriptor, or DRV_SINK_NONE
 * and errno. A pipe that nobody reads is ENXIO, where a plain open would wait. */
int drv_sink_open(const char *path, bool append);

/* Writes all of the vector, which is used up by it, however often the system takes
 * only a part or is interrupted. 0 or an errno; *written counts the bytes that were
 * taken in either case. */
int drv_sink_write(int fd, struct iovec *iov, int count, size_t *written);

/* Takes up to so many bytes off the front of a vector, to a buffer unless that is
 * NULL. How many there were. */
size_t drv_iovec_take(struct iovec *iov, int count, char *to, size_t size);

#endif
