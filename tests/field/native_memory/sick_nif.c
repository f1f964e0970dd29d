/* Takes memory of the system, behind the back of the VM, and never gives it back. */
#include <erl_nif.h>
#include <stdlib.h>
#include <string.h>

static ERL_NIF_TERM take(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    unsigned megabytes, i;
    (void)argc;
    if (!enif_get_uint(env, argv[0], &megabytes)) return enif_make_badarg(env);
    for (i = 0; i < megabytes; i++) {
        char *block = malloc(1 << 20);
        if (block == NULL) return enif_make_badarg(env);
        memset(block, 1, 1 << 20);
    }
    return enif_make_atom(env, "ok");
}

static ErlNifFunc functions[] = {{"take", 1, take, ERL_NIF_DIRTY_JOB_CPU_BOUND}};
ERL_NIF_INIT(sick, functions, NULL, NULL, NULL, NULL)
