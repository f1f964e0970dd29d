/* Writes in a thread of the VM's pool, and answers {Port, {data, Word}} when it is
 * done: the protocol of OTP's own file driver before OTP 21. The answer goes to the
 * port's owner and holds nothing that is new to it, so that who waits for it looks
 * at every message that came before. */
#include "drv_job.h"

#include <errno.h>
#include <string.h>

static void answer(struct drv_port *port, int error) {
    char *word = drv_word(error);
    driver_output(port->port, word, strlen(word));
}

static void outputv(ErlDrvData data, ErlIOVec *ev) {
    struct drv_port *port = (struct drv_port *)data;
    struct drv_job *job = drv_job_new(port, ev);
    if (job == NULL) {
        answer(port, ENOMEM);
    } else if (!drv_job_submit(job)) {
        answer(port, EAGAIN);
        drv_job_end(job);
    }
}

static void ready_async(ErlDrvData data, ErlDrvThreadData thread_data) {
    struct drv_job *job = (struct drv_job *)thread_data;
    answer((struct drv_port *)data, job->error);
    drv_job_end(job);
}

static ErlDrvEntry entry = {
    .driver_name = "async_drv",
    .control = drv_control,
    .outputv = outputv,
    .ready_async = ready_async,
    DRV_SHARED_ENTRY,
};

DRIVER_INIT(async_drv) { return &entry; }
