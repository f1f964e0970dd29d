#include "drv_counters.h"

#include <stdint.h>

void drv_counters_wrote(struct drv_counters *counters, int error, size_t bytes) {
    AO_fetch_and_add1(error == 0 ? &counters->writes : &counters->errors);
    AO_fetch_and_add(&counters->bytes, bytes);
}

size_t drv_counters_job_begins(struct drv_counters *counters) {
    return AO_fetch_and_add1(&counters->jobs) + 1;
}

size_t drv_counters_job_ends(struct drv_counters *counters) {
    return AO_fetch_and_sub1(&counters->jobs) - 1;
}

static unsigned char *encode(uint64_t count, unsigned char *to) {
    for (int shift = 56; shift >= 0; shift -= 8)
        *to++ = (unsigned char)(count >> shift);
    return to;
}

void drv_counters_encode(const struct drv_counters *counters, unsigned char *to) {
    to = encode(AO_load(&counters->writes), to);
    to = encode(AO_load(&counters->bytes), to);
    to = encode(AO_load(&counters->errors), to);
    encode(AO_load(&counters->jobs), to);
}
