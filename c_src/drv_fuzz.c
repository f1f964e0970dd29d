/* The writes of drv_sink over vectors and systems that a fuzzer makes up: make fuzz. The
 * linker puts the writev below in place of the system's: it takes as much as the input says,
 * is interrupted, or fails, and what it takes must be the data, in order and once. */
#include "drv_counters.h"
#include "drv_sink.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 16, PARTS = 3 * IOV_MAX };

struct input {
    const uint8_t *next, *end;
};

static struct {
    struct input input;
    char taken[BYTES];
    size_t count;
    int error; /* of the last call, 0 for none */
} sink;

static uint8_t take(struct input *input) { return input->next < input->end ? *input->next++ : 0; }

static void hold(bool holds) {
    if (!holds)
        abort();
}

/* A vector whose parts have sizes of 0 to 255, each in memory of its own, so that the
 * sanitizers see an access beside it. */
static int make_vector(struct input *input, struct iovec *iov, char *data, size_t *size) {
    int count = (take(input) << 8 | take(input)) % PARTS;
    *size = 0;
    for (int i = 0; i < count; i++) {
        size_t length = i % 8 == 0 ? take(input) : (size_t)i % 3;
        if (*size + length > BYTES)
            length = 0;
        iov[i] = (struct iovec){.iov_base = malloc(length), .iov_len = length};
        hold(length == 0 || iov[i].iov_base != NULL);
        for (size_t k = 0; k < length; k++)
            ((char *)iov[i].iov_base)[k] = data[*size + k] = (char)(*size + k + 7 * (size_t)i);
        *size += length;
    }
    return count;
}

static size_t length_of(const struct iovec *iov, int count) {
    size_t length = 0;
    for (int i = 0; i < count; i++)
        length += iov[i].iov_len;
    return length;
}

static ssize_t fails(int error) {
    sink.error = errno = error;
    return -1;
}

/* As the system: from 1 byte to all that there is, or an error. */
ssize_t __wrap_writev(int fd, const struct iovec *iov, int count);

ssize_t __wrap_writev(int fd, const struct iovec *iov, int count) {
    (void)fd;
    uint8_t chosen = take(&sink.input);
    size_t wanted = length_of(iov, count);
    hold(count > 0 && count <= IOV_MAX && wanted > 0);
    sink.error = 0;
    if (chosen == 1)
        return fails(EINTR);
    if (chosen == 2)
        return fails(ENOSPC);
    if (chosen == 3)
        return 0;
    size_t allowed = chosen == 0 ? wanted : 1 + (size_t)chosen * take(&sink.input) % wanted,
           left = allowed;
    for (int i = 0; left > 0; i++) {
        size_t part = iov[i].iov_len < left ? iov[i].iov_len : left;
        hold(sink.count + part <= BYTES);
        if (part > 0)
            memcpy(&sink.taken[sink.count], iov[i].iov_base, part);
        sink.count += part;
        left -= part;
    }
    return (ssize_t)allowed;
}

static uint64_t decoded(const unsigned char *from) {
    uint64_t count = 0;
    for (int i = 0; i < 8; i++)
        count = count << 8 | from[i];
    return count;
}

static void judge_counters(int error, size_t written) {
    struct drv_counters counters = {0};
    unsigned char encoded[DRV_COUNTERS_SIZE];
    hold(drv_counters_job_begins(&counters) == 1);
    drv_counters_wrote(&counters, error, written);
    hold(drv_counters_job_ends(&counters) == 0);
    drv_counters_encode(&counters, encoded);
    hold(decoded(encoded) == (error == 0) && decoded(&encoded[8]) == written);
    hold(decoded(&encoded[16]) == (error != 0) && decoded(&encoded[24]) == 0);
}

/* The first bytes are taken off as a tag is, the rest is written. */
static void judge(struct iovec *iov, int count, const char *data, size_t size) {
    static char front[512];
    size_t wanted = 2 * (size_t)take(&sink.input), written;
    size_t off = drv_iovec_take(iov, count, take(&sink.input) % 2 ? front : NULL, wanted);
    hold(off == (wanted < size ? wanted : size));
    hold(length_of(iov, count) == size - off);
    int error = drv_sink_write(0, iov, count, &written);
    hold(written == sink.count && memcmp(sink.taken, data + off, written) == 0);
    if (error == 0)
        hold(written == size - off && length_of(iov, count) == 0);
    else
        hold(error == ENOSPC ? sink.error == ENOSPC : error == EIO && sink.error == 0);
    judge_counters(error, written);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static struct iovec iov[PARTS], kept[PARTS];
    static char data[BYTES];
    size_t length;
    sink.input = (struct input){bytes, bytes + size};
    sink.count = 0;
    sink.error = 0;
    int count = make_vector(&sink.input, iov, data, &length);
    memcpy(kept, iov, sizeof kept);
    judge(iov, count, data, length);
    for (int i = 0; i < count; i++)
        free(kept[i].iov_base);
    return 0;
}
