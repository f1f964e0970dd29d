#include "drv_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static bool set_blocking(int fd) {
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0;
}

int drv_sink_open(const char *path, bool append) {
    int how = O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | (append ? O_APPEND : O_TRUNC);
    int fd;
    do
        fd = open(path, how, 0666);
    while (fd < 0 && errno == EINTR);
    if (fd >= 0 && !set_blocking(fd)) {
        int error = errno;
        close(fd);
        errno = error;
        return DRV_SINK_NONE;
    }
    return fd;
}

size_t drv_iovec_take(struct iovec *iov, int count, char *to, size_t size) {
    size_t taken = 0;
    for (int i = 0; i < count && taken < size; i++) {
        size_t part = iov[i].iov_len < size - taken ? iov[i].iov_len : size - taken;
        if (part == 0)
            continue;
        if (to != NULL)
            memcpy(to + taken, iov[i].iov_base, part);
        iov[i].iov_base = (char *)iov[i].iov_base + part;
        iov[i].iov_len -= part;
        taken += part;
    }
    return taken;
}

/* Past what is written already. */
static void skip_empty(struct iovec **iov, int *count) {
    while (*count > 0 && (*iov)->iov_len == 0) {
        ++*iov;
        --*count;
    }
}

int drv_sink_write(int fd, struct iovec *iov, int count, size_t *written) {
    *written = 0;
    for (skip_empty(&iov, &count); count > 0; skip_empty(&iov, &count)) {
        ssize_t part = writev(fd, iov, count < IOV_MAX ? count : IOV_MAX);
        if (part < 0 && errno == EINTR)
            continue;
        if (part < 0)
            return errno;
        if (part == 0)
            return EIO; /* nothing taken and no error: asking again might never end */
        *written += (size_t)part;
        drv_iovec_take(iov, count, NULL, (size_t)part);
    }
    return 0;
}
