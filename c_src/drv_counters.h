/* What a port has done so far. Threads of the VM's pool count while others read;
 * libatomic_ops makes each counter whole, and nothing more is promised: those that
 * are read together need not be of the same instant. */
#ifndef DRV_COUNTERS_H
#define DRV_COUNTERS_H

#include <atomic_ops.h>
#include <stddef.h>

struct drv_counters {
    volatile AO_t writes; /* that were complete */
    volatile AO_t bytes;  /* that the sink took, also of writes that failed */
    volatile AO_t errors; /* writes that failed */
    volatile AO_t jobs;   /* on their way now */
};

enum { DRV_COUNTERS_SIZE = 4 * 8 };

/* Counts one write that ended with error (0 for none) after so many bytes. */
void drv_counters_wrote(struct drv_counters *counters, int error, size_t bytes);

/* Both return how many jobs are on their way afterwards. */
size_t drv_counters_job_begins(struct drv_counters *counters);
size_t drv_counters_job_ends(struct drv_counters *counters);

/* Writes them to DRV_COUNTERS_SIZE bytes: in the order above, 64 bits each, most
 * significant byte first. */
void drv_counters_encode(const struct drv_counters *counters, unsigned char *to);

#endif
