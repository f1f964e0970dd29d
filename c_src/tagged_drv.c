/* As async_drv, with one difference: the data begins with a term that the caller
 * chose, and the answer {Tag, ok | {error, Posix}} carries it back to that caller.
 * Where the term is a reference that the caller has just made, the VM knows that no
 * message before it can be the answer, and the receive begins behind them.
 *
 * What comes: 16 bits of size, most significant byte first, the term in the external
 * format, the data. */
#include "drv_job.h"

#include <errno.h>

static bool take_tag(struct drv_job *job) {
    unsigned char size[2];
    if (drv_iovec_take(job->iov, job->count, (char *)size, sizeof size) != sizeof size)
        return false;
    job->tag_size = (size_t)size[0] << 8 | size[1];
    job->tag = driver_alloc(job->tag_size + 1); /* never of 0 bytes, which may be NULL */
    if (job->tag == NULL)
        return false;
    return drv_iovec_take(job->iov, job->count, job->tag, job->tag_size) == job->tag_size;
}

static int send_term(const struct drv_job *job, ErlDrvTermData *term, int words) {
    return erl_drv_send_term(driver_mk_port(job->port->port), job->caller, term, words);
}

#define TAG_OF(job) ERL_DRV_EXT2TERM, (ErlDrvTermData)(job)->tag, (job)->tag_size

static int send_ok(const struct drv_job *job) {
    ErlDrvTermData term[] = {TAG_OF(job), ERL_DRV_ATOM, driver_mk_atom("ok"), ERL_DRV_TUPLE, 2};
    return send_term(job, term, sizeof term / sizeof *term);
}

static int send_error(const struct drv_job *job) {
    ErlDrvTermData term[] = {TAG_OF(job),
                             ERL_DRV_ATOM,
                             driver_mk_atom("error"),
                             ERL_DRV_ATOM,
                             driver_mk_atom(drv_word(job->error)),
                             ERL_DRV_TUPLE,
                             2,
                             ERL_DRV_TUPLE,
                             2};
    return send_term(job, term, sizeof term / sizeof *term);
}

/* A caller that is gone needs no answer. One whose tag is no term cannot be answered,
 * and the port ends rather than let it wait. */
static void answer(const struct drv_job *job) {
    if ((job->error == 0 ? send_ok(job) : send_error(job)) < 0)
        driver_failure_atom(job->port->port, "bad_tag");
}

static void outputv(ErlDrvData data, ErlIOVec *ev) {
    struct drv_port *port = (struct drv_port *)data;
    struct drv_job *job = drv_job_new(port, ev);
    if (job == NULL) {
        driver_failure_posix(port->port, ENOMEM);
        return;
    }
    job->caller = driver_caller(port->port);
    if (!take_tag(job)) {
        drv_job_end(job);
        driver_failure_atom(port->port, "bad_tag");
    } else if (!drv_job_submit(job)) {
        job->error = EAGAIN;
        answer(job);
        drv_job_end(job);
    }
}

static void ready_async(ErlDrvData data, ErlDrvThreadData thread_data) {
    (void)data;
    struct drv_job *job = (struct drv_job *)thread_data;
    answer(job);
    drv_job_end(job);
}

static ErlDrvEntry entry = {
    .driver_name = "tagged_drv",
    .control = drv_control,
    .outputv = outputv,
    .ready_async = ready_async,
    DRV_SHARED_ENTRY,
};

DRIVER_INIT(tagged_drv) { return &entry; }
