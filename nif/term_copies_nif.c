/* Copies terms as native code does, for the soak of copies: into an environment of no process
 * and back, and as messages; on a scheduler and on a dirty one, where the process may be killed
 * meanwhile. */
#include <erl_nif.h>
#include <stddef.h>

/* The same term by way of an environment of no process. */
static ERL_NIF_TERM copy(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) {
    (void)argc;
    ErlNifEnv *between = enif_alloc_env();
    if (between == NULL)
        return enif_raise_exception(env, enif_make_atom(env, "enomem"));
    ERL_NIF_TERM back = enif_make_copy(env, enif_make_copy(between, argv[0]));
    enif_free_env(between);
    return back;
}

/* Sends the term to a process, and says whether that was there. */
static ERL_NIF_TERM send(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) {
    (void)argc;
    ErlNifPid to;
    if (!enif_get_local_pid(env, argv[0], &to))
        return enif_make_badarg(env);
    return enif_make_atom(env, enif_send(env, &to, NULL, argv[1]) ? "true" : "false");
}

/* The same from an environment that is given away with the message, as threads do. */
static ERL_NIF_TERM send_away(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) {
    (void)argc;
    ErlNifPid to;
    if (!enif_get_local_pid(env, argv[0], &to))
        return enif_make_badarg(env);
    ErlNifEnv *away = enif_alloc_env();
    if (away == NULL)
        return enif_raise_exception(env, enif_make_atom(env, "enomem"));
    int sent = enif_send(env, &to, away, enif_make_copy(away, argv[1]));
    enif_free_env(away);
    return enif_make_atom(env, sent ? "true" : "false");
}

static ErlNifFunc functions[] = {
    {"copy", 1, copy, 0},           {"copy_dirty", 1, copy, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"send", 2, send, 0},           {"send_dirty", 2, send, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"send_away", 2, send_away, 0}, {"send_away_dirty", 2, send_away, ERL_NIF_DIRTY_JOB_IO_BOUND}};

ERL_NIF_INIT(term_copies_nif, functions, NULL, NULL, NULL, NULL)
