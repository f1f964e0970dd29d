/* The NIF of cons_spacing: arguments, terms and yielding. What is counted is in
 * cons_walk.c; what a term looks like in memory, in erts_layout.h. */
#include <erl_nif.h>

/* Nothing is used that OTP 25 does not have, the oldest release that experiments run on.
 * What names a newer interface than its own, a VM does not load. */
#undef ERL_NIF_MINOR_VERSION
#define ERL_NIF_MINOR_VERSION 16

#include "cons_walk.h"

#include <limits.h>
#include <string.h>

/* Steps between two looks at the clock, and the longest slice. A step takes 2
 * to 200 ns, a first touch of memory included. */
enum { STEPS_AT_ONCE = 256, SLOTS_AT_ONCE = 256, SLICE_MICROSECONDS = 300 };

/* A collection that somebody else asks for moves the list, and the walk is begun anew: so often,
 * and for so long, since each of them may take a second where the heap is large. */
enum { MAX_RESTARTS = 100, RESTARTS_MICROSECONDS = 2000000 };

/* Between the canary and its twin. */
enum { DEAD_WORDS = 8 };

enum { ADDRESSES_AT_ONCE = 1024 };

/* Why a load failed, for cons_spacing_nif.erl. */
enum load_error { LOAD_CELL = 1, LOAD_NIL, LOAD_TUPLE, LOAD_FLATMAP, LOAD_HASHMAP, LOAD_RESOURCE };

struct state {
    struct cons_walk walk;
    /* Two young terms with words between them that nothing refers to. A collection leaves no such
     * words, so it brings the two together, and no later one parts them. (One term alone comes
     * back to its place after two collections, where the heaps are of one size.) */
    ERL_NIF_TERM canary, twin;
    bool deep;
    bool walked;
    int restarts;
    ErlNifTime started;
};

static ErlNifResourceType *state_type;
static erts_term map_tag;

/* Memory is left only by a walk whose process was killed. A destructor cannot yield: it frees 4,096
 * blocks for each GiB of heap that was walked. */
static void state_destructor(ErlNifEnv *env, void *object) {
    (void)env;
    cons_walk_release(&((struct state *)object)->walk, SIZE_MAX);
}

static ERL_NIF_TERM walk_slice(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

static ERL_NIF_TERM next_slice(ErlNifEnv *env, ERL_NIF_TERM term, const struct state *state) {
    ERL_NIF_TERM argv[] = {term, state->canary, state->twin};
    return enif_schedule_nif(env, "walk", 0, walk_slice, 3, argv);
}

static ERL_NIF_TERM out_of_memory(ErlNifEnv *env) {
    return enif_raise_exception(env, enif_make_atom(env, "enomem"));
}

/* These are made last, so that nothing is allocated between them and the walk. */
static void make_canaries(ErlNifEnv *env, struct state *state) {
    ERL_NIF_TERM resource = enif_make_resource(env, state), dead[DEAD_WORDS];
    for (int i = 0; i < DEAD_WORDS; i++)
        dead[i] = enif_make_int(env, i);
    state->canary = enif_make_tuple1(env, resource);
    enif_make_tuple_from_array(env, dead, DEAD_WORDS);
    state->twin = enif_make_tuple1(env, resource);
}

static ERL_NIF_TERM begin(ErlNifEnv *env, struct state *state, ERL_NIF_TERM term) {
    make_canaries(env, state);
    state->walked = false;
    if (cons_walk_start(&state->walk, term, state->deep, map_tag) == CONS_WALK_NO_MEMORY)
        return out_of_memory(env);
    return next_slice(env, term, state);
}

static ERL_NIF_TERM histogram(ErlNifEnv *env, const struct spacing *spacing) {
    ERL_NIF_TERM list = enif_make_list(env, 0);
    for (int k = SPACING_BUCKETS - 1; k >= 0; k--)
        if (spacing->histogram[k] > 0)
            list =
                enif_make_list_cell(env,
                                    enif_make_tuple2(env, enif_make_uint64(env, UINT64_C(1) << k),
                                                     enif_make_uint64(env, spacing->histogram[k])),
                                    list);
    return list;
}

static ERL_NIF_TERM last_cell(ErlNifEnv *env, const struct cons_walk *walk) {
    return walk->last_cell == 0 ? enif_make_list(env, 0) : (ERL_NIF_TERM)walk->last_cell;
}

static ERL_NIF_TERM distances(ErlNifEnv *env, const struct spacing *spacing) {
    return enif_make_tuple9(
        env, enif_make_uint64(env, spacing->links), enif_make_double(env, spacing_mean(spacing)),
        enif_make_double(env, spacing_deviation(spacing)), enif_make_int64(env, spacing->min),
        enif_make_int64(env, spacing->max), enif_make_uint64(env, spacing->forward),
        enif_make_uint64(env, spacing->backward), enif_make_uint64(env, spacing->adjacent),
        histogram(env, spacing));
}

static ERL_NIF_TERM result(ErlNifEnv *env, const struct cons_walk *walk) {
    return enif_make_tuple8(
        env, enif_make_uint64(env, walk->cells), enif_make_uint64(env, walk->lists),
        enif_make_uint64(env, walk->words), enif_make_uint64(env, walk->touched.cache_lines),
        enif_make_uint64(env, walk->touched.pages), distances(env, &walk->spacing),
        enif_make_atom(env, walk->tail == CONS_TAIL_IMPROPER ? "improper" : "proper"),
        last_cell(env, walk));
}

/* True when this slice has lasted long enough. The time is charged as it was
 * used: a whole timeslice is about a millisecond. */
static bool slice_is_over(ErlNifEnv *env, ErlNifTime started, ErlNifTime *charged) {
    ErlNifTime now = enif_monotonic_time(ERL_NIF_USEC);
    int percent = (int)((now - *charged) / 10);
    if (percent > 0) {
        *charged = now;
        if (enif_consume_timeslice(env, percent > 100 ? 100 : percent))
            return true;
    }
    return now - started >= SLICE_MICROSECONDS;
}

static enum cons_walk_result walk_for_a_slice(ErlNifEnv *env, struct cons_walk *walk) {
    ErlNifTime started = enif_monotonic_time(ERL_NIF_USEC), charged = started;
    for (;;) {
        enum cons_walk_result walked = cons_walk_steps(walk, STEPS_AT_ONCE);
        if (walked != CONS_WALK_MORE || slice_is_over(env, started, &charged))
            return walked;
    }
}

/* The memory of a long walk is given back in slices as well. */
static bool release_for_a_slice(ErlNifEnv *env, struct cons_walk *walk) {
    ErlNifTime started = enif_monotonic_time(ERL_NIF_USEC), charged = started;
    for (;;) {
        if (cons_walk_release(walk, SLOTS_AT_ONCE))
            return true;
        if (slice_is_over(env, started, &charged))
            return false;
    }
}

static struct state *state_of(ErlNifEnv *env, ERL_NIF_TERM canary) {
    const ERL_NIF_TERM *elements;
    void *state;
    int arity;
    if (!enif_get_tuple(env, canary, &arity, &elements) || arity != 1 ||
        !enif_get_resource(env, elements[0], state_type, &state))
        return NULL;
    return state;
}

typedef ERL_NIF_TERM slice(ErlNifEnv *, int, const ERL_NIF_TERM[]);
typedef ERL_NIF_TERM ending(ErlNifEnv *, struct state *, ERL_NIF_TERM);

/* walk(Term, {State}): gives the memory of the walk back, then ends with the term. */
static ERL_NIF_TERM give_back(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[], slice *again,
                              ending *end) {
    struct state *state = state_of(env, argv[1]);
    if (state == NULL)
        return enif_make_badarg(env);
    if (release_for_a_slice(env, &state->walk))
        return end(env, state, argv[0]);
    return enif_schedule_nif(env, "walk", 0, again, argc, argv);
}

static ERL_NIF_TERM returned(ErlNifEnv *env, struct state *state, ERL_NIF_TERM result) {
    (void)env;
    (void)state;
    return result;
}

static ERL_NIF_TERM raised(ErlNifEnv *env, struct state *state, ERL_NIF_TERM reason) {
    (void)state;
    return enif_raise_exception(env, reason);
}

static ERL_NIF_TERM release_slice(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) {
    return give_back(env, argc, argv, release_slice, returned);
}

static ERL_NIF_TERM restart_slice(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) {
    return give_back(env, argc, argv, restart_slice, begin);
}

static ERL_NIF_TERM failed_slice(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) {
    return give_back(env, argc, argv, failed_slice, raised);
}

static ERL_NIF_TERM failed(ErlNifEnv *env, const char *reason, ERL_NIF_TERM canary) {
    ERL_NIF_TERM arguments[] = {enif_make_atom(env, reason), canary};
    return failed_slice(env, 2, arguments);
}

static bool may_restart(struct state *state) {
    return ++state->restarts <= MAX_RESTARTS &&
           enif_monotonic_time(ERL_NIF_USEC) - state->started <= RESTARTS_MICROSECONDS;
}

/* walk(Term, {State}, {State}): goes on with a walk, unless the term was moved since. */
static ERL_NIF_TERM walk_slice(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) {
    struct state *state = state_of(env, argv[1]);
    if (state == NULL)
        return enif_make_badarg(env);
    if (argv[1] != state->canary || argv[2] != state->twin)
        return may_restart(state) ? restart_slice(env, argc, argv) : failed(env, "moved", argv[1]);
    switch (walk_for_a_slice(env, &state->walk)) {
    case CONS_WALK_NO_MEMORY:
        return failed(env, "enomem", argv[1]);
    case CONS_WALK_MORE:
        return next_slice(env, argv[0], state);
    default: {
        ERL_NIF_TERM arguments[] = {result(env, &state->walk), argv[1]};
        return release_slice(env, 2, arguments);
    }
    }
}

/* walk(Term, Deep): one list, or with Deep true every list inside the term. */
static ERL_NIF_TERM walk(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) {
    char deep[sizeof "false"];
    if (argc != 2 || !enif_get_atom(env, argv[1], deep, sizeof deep, ERL_NIF_LATIN1) ||
        (strcmp(deep, "true") != 0 && !enif_is_list(env, argv[0])))
        return enif_make_badarg(env);
    struct state *state = enif_alloc_resource(state_type, sizeof *state);
    if (state == NULL)
        return out_of_memory(env);
    memset(state, 0, sizeof *state);
    state->deep = strcmp(deep, "true") == 0;
    state->started = enif_monotonic_time(ERL_NIF_USEC);
    ERL_NIF_TERM first = begin(env, state, argv[0]);
    enif_release_resource(state);
    return first;
}

/* addresses(Rest, Found): goes on. A collection in between moves the cells that are found already.
 */
static ERL_NIF_TERM addresses_slice(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) {
    ERL_NIF_TERM list = argv[0], found = argv[1];
    (void)argc;
    for (int left = ADDRESSES_AT_ONCE; erts_is_cons(list); list = erts_cell(list)[1]) {
        if (left-- == 0) {
            ERL_NIF_TERM arguments[] = {list, found};
            enif_consume_timeslice(env, 5);
            return enif_schedule_nif(env, "addresses", 0, addresses_slice, 2, arguments);
        }
        found = enif_make_list_cell(env, enif_make_uint64(env, (uintptr_t)erts_cell(list)), found);
    }
    return found;
}

/* addresses(List): where each cell lies, the last one first: for models in tests. */
static ERL_NIF_TERM addresses(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) {
    if (argc != 1 || !enif_is_list(env, argv[0]))
        return enif_make_badarg(env);
    ERL_NIF_TERM arguments[] = {argv[0], enif_make_list(env, 0)};
    return addresses_slice(env, 2, arguments);
}

static bool cell_is_known(ErlNifEnv *env) {
    ERL_NIF_TERM head = enif_make_int(env, 42), tail = enif_make_list(env, 0);
    ERL_NIF_TERM cons = enif_make_list_cell(env, head, tail);
    return erts_is_cons(cons) && !erts_is_boxed(cons) && erts_cell(cons)[0] == head &&
           erts_cell(cons)[1] == tail && erts_make_cons(erts_cell(cons)) == cons;
}

static bool nil_is_known(ErlNifEnv *env) {
    ERL_NIF_TERM nil = enif_make_list(env, 0);
    return erts_is_nil(nil) && !erts_is_cons(nil) && !erts_is_boxed(nil);
}

static bool tuple_is_known(ErlNifEnv *env) {
    ERL_NIF_TERM one = enif_make_int(env, 1), two = enif_make_int(env, 2);
    ERL_NIF_TERM tuple = enif_make_tuple3(env, one, two, one);
    const erts_term *box = erts_box(tuple);
    return erts_is_boxed(tuple) && !erts_is_cons(tuple) && erts_make_boxed(box) == tuple &&
           erts_is_tuple_header(box[0]) && erts_tuple_arity(box[0]) == 3 && box[1] == one &&
           box[2] == two && box[3] == one;
}

/* A map of so many keys, of which each has a list of one cell as its value. */
static bool make_map(ErlNifEnv *env, int size, ERL_NIF_TERM *map) {
    *map = enif_make_new_map(env);
    for (int i = 0; i < size; i++) {
        ERL_NIF_TERM key = enif_make_int(env, i);
        if (!enif_make_map_put(env, *map, key, enif_make_list1(env, key), map))
            return false;
    }
    return true;
}

/* Whether a walk finds just the lists that are known to be in the map. */
static bool map_is_known(ErlNifEnv *env, int size) {
    ERL_NIF_TERM map;
    if (!make_map(env, size, &map) || !erts_is_boxed(map))
        return false;
    struct cons_walk walk;
    bool known = cons_walk_start(&walk, map, true, map_tag) != CONS_WALK_NO_MEMORY &&
                 cons_walk_steps(&walk, SIZE_MAX) == CONS_WALK_DONE &&
                 walk.lists == (uint64_t)size && walk.cells == (uint64_t)size;
    cons_walk_release(&walk, SIZE_MAX);
    return known;
}

static bool learn_map_tag(ErlNifEnv *env) {
    ERL_NIF_TERM map = enif_make_new_map(env);
    if (!erts_is_boxed(map))
        return false;
    map_tag = erts_header_tag(*erts_box(map));
    return true;
}

static int verify_layout(ErlNifEnv *env) {
    if (!cell_is_known(env))
        return LOAD_CELL;
    if (!nil_is_known(env))
        return LOAD_NIL;
    if (!tuple_is_known(env))
        return LOAD_TUPLE;
    if (!learn_map_tag(env) || !map_is_known(env, 3))
        return LOAD_FLATMAP;
    return map_is_known(env, 1000) ? 0 : LOAD_HASHMAP;
}

static int load(ErlNifEnv *env, void **priv_data, ERL_NIF_TERM info) {
    (void)priv_data;
    (void)info;
    state_type = enif_open_resource_type(env, NULL, "cons_spacing_walk", state_destructor,
                                         ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER, NULL);
    return state_type == NULL ? LOAD_RESOURCE : verify_layout(env);
}

static int upgrade(ErlNifEnv *env, void **priv_data, void **old_priv_data, ERL_NIF_TERM info) {
    (void)old_priv_data;
    return load(env, priv_data, info);
}

static ErlNifFunc functions[] = {{"walk", 2, walk, 0}, {"addresses", 1, addresses, 0}};

ERL_NIF_INIT(cons_spacing_nif, functions, load, NULL, upgrade, NULL)
