/* A write on its way: data that a thread of the VM's pool writes, and what is to be
 * said of it afterwards. */
#ifndef DRV_JOB_H
#define DRV_JOB_H

#include "drv_common.h"

/* From so many jobs of a port on it is busy, and who sends it more waits, until
 * only so many are left. */
enum { DRV_JOBS_HIGH = 64, DRV_JOBS_LOW = 16 };

struct drv_job {
    struct drv_port *port;
    int error;
    ErlDrvTermData caller; /* who is answered, where that is not the port's owner */
    char *tag;             /* a term in the external format, by driver_alloc, or NULL */
    size_t tag_size;
    int count;
    struct iovec *iov; /* both of count, behind the job in its block */
    ErlDrvBinary **binaries;
};

/* The job to write a vector. It keeps the binaries, each by a reference of its own,
 * and copies what is in none. NULL without memory. */
struct drv_job *drv_job_new(struct drv_port *port, const ErlIOVec *ev);

/* Gives the job to the pool, and makes the port busy where there are many. When it is
 * written, ready_async of the driver gets it and must end it; without a port by then,
 * it is gone by itself. False where the pool does not take it: then it is still the
 * caller's, who must end it. */
bool drv_job_submit(struct drv_job *job);

/* Lets go of all that the job holds, in a callback of its port. */
void drv_job_end(struct drv_job *job);

#endif
