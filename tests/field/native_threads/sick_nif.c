/* Threads that work all the time from the moment at which the module is loaded. */
#include <erl_nif.h>

static volatile unsigned long sink;

static void *compacts(void *start)
{
    unsigned long value = *(unsigned long *)start;
    for (;;) {
        value = value * 6364136223846793005UL + 1;
        sink = value;
    }
    return NULL;
}

static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)
{
    static unsigned long starts[3] = {1, 2, 3};
    static ErlNifTid threads[3];
    int i;
    (void)env, (void)data, (void)info;
    for (i = 0; i < 3; i++) {
        if (enif_thread_create("store_bg", &threads[i], compacts, &starts[i], NULL) != 0) return 1;
    }
    return 0;
}

static ERL_NIF_TERM fetch(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)env, (void)argc;
    return argv[0];
}

static ErlNifFunc functions[] = {{"fetch", 1, fetch, 0}};
ERL_NIF_INIT(sick, functions, load, NULL, NULL, NULL)
