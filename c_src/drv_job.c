#include "drv_job.h"

#include <string.h>

static bool keep_part(struct drv_job *job, const ErlIOVec *ev, int i) {
    size_t size = ev->iov[i].iov_len;
    ErlDrvBinary *binary = ev->binv[i];
    job->iov[i] = (struct iovec){.iov_base = ev->iov[i].iov_base, .iov_len = size};
    if (binary != NULL) {
        driver_binary_inc_refc(binary);
    } else if (size > 0) {
        binary = driver_alloc_binary(size);
        if (binary == NULL)
            return false;
        memcpy(binary->orig_bytes, ev->iov[i].iov_base, size);
        job->iov[i].iov_base = binary->orig_bytes;
    }
    job->binaries[i] = binary;
    return true;
}

static struct drv_job *allocate(size_t count) {
    size_t vector = count * sizeof(struct iovec), pointers = count * sizeof(ErlDrvBinary *);
    struct drv_job *job = driver_alloc(sizeof *job + vector + pointers);
    if (job == NULL)
        return NULL;
    memset(job, 0, sizeof *job + vector + pointers);
    job->iov = (struct iovec *)(job + 1);
    job->binaries = (ErlDrvBinary **)(job->iov + count);
    job->count = (int)count;
    return job;
}

/* How many jobs of its port are left. */
static size_t release(struct drv_job *job) {
    for (int i = 0; i < job->count; i++)
        if (job->binaries[i] != NULL)
            driver_free_binary(job->binaries[i]);
    if (job->tag != NULL)
        driver_free(job->tag);
    size_t left = drv_counters_job_ends(&job->port->counters);
    drv_release(job->port);
    driver_free(job);
    return left;
}

struct drv_job *drv_job_new(struct drv_port *port, const ErlIOVec *ev) {
    struct drv_job *job = allocate((size_t)ev->vsize);
    if (job == NULL)
        return NULL;
    job->port = port;
    drv_hold(port);
    drv_counters_job_begins(&port->counters);
    for (int i = 0; i < ev->vsize; i++)
        if (!keep_part(job, ev, i)) {
            release(job);
            return NULL;
        }
    return job;
}

/* In a thread of the pool, where the port may be gone already. */
static void write_it(void *data) {
    struct drv_job *job = data;
    size_t written;
    job->error = drv_sink_write(job->port->sink, job->iov, job->count, &written);
    drv_counters_wrote(&job->port->counters, job->error, written);
}

static void release_it(void *data) { release(data); }

/* Without threads the pool writes and answers before it returns, and the job is gone. */
bool drv_job_submit(struct drv_job *job) {
    struct drv_port *port = job->port;
    if (AO_load(&port->counters.jobs) >= DRV_JOBS_HIGH)
        set_busy_port(port->port, 1);
    return driver_async(port->port, &port->key, write_it, job, release_it) >= 0;
}

void drv_job_end(struct drv_job *job) {
    ErlDrvPort port = job->port->port; /* the state may go with the job */
    if (release(job) == DRV_JOBS_LOW)
        set_busy_port(port, 0);
}
