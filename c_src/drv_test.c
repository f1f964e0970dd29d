/* The counters and the sink without a VM. It ends with status 1 at the first
 * difference. */
#include "drv_counters.h"
#include "drv_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define EXPECT(condition) expect((condition), #condition, __LINE__)

enum { THREADS = 4, COUNTED = 100000, PARTS = 2 * IOV_MAX + 100, MEGABYTE = 1 << 20 };

static char folder[] = "/tmp/drv_test.XXXXXX";

static void expect(bool holds, const char *condition, int line) {
    if (!holds) {
        fprintf(stderr, "line %d: %s does not hold\n", line, condition);
        exit(1);
    }
}

static const char *path(const char *name) {
    static char text[sizeof folder + 32];
    snprintf(text, sizeof text, "%s/%s", folder, name);
    return text;
}

static size_t size_of(const char *file) {
    struct stat status;
    EXPECT(stat(file, &status) == 0);
    return (size_t)status.st_size;
}

static int opened(const char *file, bool append) {
    int fd = drv_sink_open(file, append);
    EXPECT(fd >= 0);
    return fd;
}

static int write_text(int fd, char *text, size_t *written) {
    struct iovec iov = {.iov_base = text, .iov_len = strlen(text)};
    return drv_sink_write(fd, &iov, 1, written);
}

static void *count(void *counters) {
    for (int i = 0; i < COUNTED; i++) {
        drv_counters_job_begins(counters);
        drv_counters_wrote(counters, i % 4 == 0 ? ENOSPC : 0, 3);
        drv_counters_job_ends(counters);
    }
    return NULL;
}

static void test_counters_of_many_threads(void) {
    struct drv_counters counters = {0};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        EXPECT(pthread_create(&threads[i], NULL, count, &counters) == 0);
    for (int i = 0; i < THREADS; i++)
        EXPECT(pthread_join(threads[i], NULL) == 0);
    EXPECT(counters.writes == THREADS * COUNTED * 3 / 4);
    EXPECT(counters.errors == THREADS * COUNTED / 4);
    EXPECT(counters.bytes == THREADS * COUNTED * 3);
    EXPECT(counters.jobs == 0);
}

static void test_counters_encoded(void) {
    struct drv_counters counters = {.writes = 1, .bytes = 0x0102030405060708, .errors = 256};
    unsigned char encoded[DRV_COUNTERS_SIZE];
    static const unsigned char wanted[DRV_COUNTERS_SIZE] = {
        [7] = 1, [8] = 1, 2, 3, 4, 5, 6, 7, 8, [22] = 1, [31] = 1};
    EXPECT(drv_counters_job_begins(&counters) == 1);
    drv_counters_encode(&counters, encoded);
    EXPECT(memcmp(encoded, wanted, sizeof wanted) == 0);
    EXPECT(drv_counters_job_ends(&counters) == 0);
}

/* More parts than one call of the system takes, some of them empty. */
static void test_many_parts(void) {
    static char bytes[PARTS], read_back[PARTS];
    static struct iovec iov[2 * PARTS];
    for (int i = 0; i < PARTS; i++) {
        bytes[i] = (char)('a' + i % 26);
        iov[2 * i] = (struct iovec){.iov_base = &bytes[i], .iov_len = 1};
    }
    size_t written;
    int fd = opened(path("parts"), false);
    EXPECT(drv_sink_write(fd, iov, 2 * PARTS, &written) == 0 && written == PARTS);
    EXPECT(close(fd) == 0);
    FILE *file = fopen(path("parts"), "rb");
    EXPECT(file != NULL && fread(read_back, 1, PARTS, file) == PARTS && fgetc(file) == EOF);
    EXPECT(memcmp(bytes, read_back, PARTS) == 0);
    fclose(file);
}

static void test_nothing_is_written_well(void) {
    size_t written = 1;
    EXPECT(drv_sink_write(DRV_SINK_NONE, NULL, 0, &written) == 0 && written == 0);
}

static void test_append_and_begin_anew(void) {
    size_t written;
    for (int i = 0; i < 3; i++) {
        int fd = opened(path("again"), i != 2);
        EXPECT(write_text(fd, "abc", &written) == 0 && written == 3);
        EXPECT(close(fd) == 0);
        EXPECT(size_of(path("again")) == (i == 1 ? 6u : 3u));
    }
}

static void test_what_cannot_be_opened(void) {
    EXPECT(drv_sink_open(folder, false) == DRV_SINK_NONE && errno == EISDIR);
    EXPECT(drv_sink_open(path("none/file"), false) == DRV_SINK_NONE && errno == ENOENT);
    EXPECT(mkfifo(path("unread"), 0600) == 0);
    EXPECT(drv_sink_open(path("unread"), false) == DRV_SINK_NONE && errno == ENXIO);
}

static void test_full_disk(void) {
    size_t written = 1;
    int fd = opened("/dev/full", false);
    EXPECT(write_text(fd, "abc", &written) == ENOSPC && written == 0);
    EXPECT(close(fd) == 0);
    EXPECT(write_text(DRV_SINK_NONE, "abc", &written) == EBADF && written == 0);
}

/* The system takes what there is room for, and refuses the rest at the next call. */
static void test_short_write(void) {
    struct rlimit before, small;
    EXPECT(getrlimit(RLIMIT_FSIZE, &before) == 0 && signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    small = (struct rlimit){.rlim_cur = 4, .rlim_max = before.rlim_max};
    int fd = opened(path("small"), false);
    size_t written;
    EXPECT(setrlimit(RLIMIT_FSIZE, &small) == 0);
    int error = write_text(fd, "abcdef", &written);
    EXPECT(setrlimit(RLIMIT_FSIZE, &before) == 0);
    EXPECT(error == EFBIG && written == 4 && size_of(path("small")) == 4);
    EXPECT(close(fd) == 0);
}

static void interrupt(int number) { (void)number; }

static void *read_slowly(void *ends) {
    static char bytes[4096];
    size_t sum = 0;
    ssize_t part;
    while ((part = read(*(int *)ends, bytes, sizeof bytes)) > 0 || (part < 0 && errno == EINTR))
        sum += part < 0 ? 0 : (size_t)part;
    return (void *)sum;
}

/* A pipe takes a part at a time, and an alarm every 100 us interrupts. */
static void test_interrupted(void) {
    static char bytes[MEGABYTE];
    struct sigaction action = {.sa_handler = interrupt};
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    int ends[2];
    pthread_t reader;
    void *sum;
    struct iovec iov = {.iov_base = bytes, .iov_len = sizeof bytes};
    size_t written;
    EXPECT(pipe(ends) == 0 && sigaction(SIGALRM, &action, NULL) == 0);
    EXPECT(setitimer(ITIMER_REAL, &often, NULL) == 0);
    EXPECT(pthread_create(&reader, NULL, read_slowly, ends) == 0);
    EXPECT(drv_sink_write(ends[1], &iov, 1, &written) == 0 && written == MEGABYTE);
    EXPECT(close(ends[1]) == 0 && pthread_join(reader, &sum) == 0 && (size_t)sum == MEGABYTE);
    EXPECT(setitimer(ITIMER_REAL, &never, NULL) == 0 && close(ends[0]) == 0);
}

static void test_take(void) {
    char a[] = "ab", c[] = "cdef", taken[8] = {0};
    struct iovec iov[] = {{a, 2}, {NULL, 0}, {c, 4}};
    EXPECT(drv_iovec_take(iov, 3, taken, 3) == 3 && strcmp(taken, "abc") == 0);
    EXPECT(drv_iovec_take(iov, 3, NULL, 1) == 1 && *(char *)iov[2].iov_base == 'e');
    EXPECT(drv_iovec_take(iov, 3, taken, 8) == 2 && memcmp(taken, "ef", 2) == 0);
    EXPECT(drv_iovec_take(iov, 3, taken, 1) == 0);
}

static void remove_files(void) {
    const char *names[] = {"parts", "again", "unread", "small"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path(names[i]));
    rmdir(folder);
}

int main(void) {
    EXPECT(mkdtemp(folder) != NULL && atexit(remove_files) == 0);
    test_counters_of_many_threads();
    test_counters_encoded();
    test_many_parts();
    test_nothing_is_written_well();
    test_append_and_begin_anew();
    test_what_cannot_be_opened();
    test_full_disk();
    test_short_write();
    test_interrupted();
    test_take();
    puts("The counters and the sink are as they should be.");
    return 0;
}
