/* The walk over heaps that a fuzzer makes up: make fuzz. Every byte string is a
 * heap of cells, tuples and maps that a VM could have; the sanitizers see each
 * access outside of it. */
#include "cons_walk.h"

#include <stdlib.h>
#include <string.h>

enum { MAP_TAG = 0x2C, WORDS = 4096, TERMS = 1024, LARGEST = 17, LITERAL = 4 };

struct heap {
    erts_term words[WORDS];
    size_t used, cells;
    erts_term terms[TERMS]; /* what later ones may hold */
    size_t count;
};

struct input {
    const uint8_t *next, *end;
};

static uint8_t take(struct input *input) { return input->next < input->end ? *input->next++ : 0; }

/* Two bytes choose among all terms there are, and among immediates. */
static erts_term any_term(struct heap *heap, struct input *input) {
    size_t chosen = (size_t)take(input) << 8 | take(input);
    if (heap->count == 0 || chosen % 4 == 0)
        return chosen % 8 == 0 ? 0x3B : (erts_term)chosen << 4 | 0xF;
    return heap->terms[chosen / 4 % heap->count];
}

static void fill(struct heap *heap, struct input *input, erts_term *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        words[i] = any_term(heap, input);
}

static erts_term add_cell(struct heap *heap, struct input *input, erts_term *at) {
    fill(heap, input, at, 2);
    heap->used += 2;
    heap->cells++;
    return erts_make_cons(at);
}

static erts_term add_tuple(struct heap *heap, struct input *input, erts_term *at) {
    size_t arity = take(input) % LARGEST;
    at[0] = (erts_term)arity << 6;
    fill(heap, input, &at[1], arity);
    heap->used += 1 + arity;
    return erts_make_boxed(at);
}

/* The keys' tuple lies behind the map. */
static erts_term add_flat_map(struct heap *heap, struct input *input, erts_term *at) {
    size_t size = take(input) % LARGEST;
    erts_term *keys = &at[3 + size];
    at[0] = (erts_term)ERTS_FLATMAP << 6 | MAP_TAG;
    at[1] = size;
    at[2] = erts_make_boxed(keys);
    fill(heap, input, &at[3], size);
    keys[0] = (erts_term)size << 6;
    fill(heap, input, &keys[1], size);
    heap->used += 4 + 2 * size;
    return erts_make_boxed(at);
}

static erts_term add_map_node(struct heap *heap, struct input *input, erts_term *at) {
    unsigned bitmap = (unsigned)take(input) << 8 | take(input);
    size_t with_size = take(input) & 1, children = (size_t)__builtin_popcount(bitmap);
    at[0] = (erts_term)bitmap << 16 | (erts_term)with_size << 8 |
            (erts_term)ERTS_HASHMAP_NODE << 6 | MAP_TAG;
    if (with_size)
        at[1] = children;
    fill(heap, input, &at[1 + with_size], children);
    heap->used += 1 + with_size + children;
    return erts_make_boxed(at);
}

static erts_term add_one(struct heap *heap, struct input *input, unsigned kind) {
    erts_term *at = &heap->words[heap->used];
    switch (kind) {
    case 0:
        return add_tuple(heap, input, at);
    case 1:
        return add_flat_map(heap, input, at);
    case 2:
        return add_map_node(heap, input, at);
    default:
        return add_cell(heap, input, at);
    }
}

static void add(struct heap *heap, struct input *input) {
    unsigned chosen = take(input);
    erts_term literal = chosen & 8 ? LITERAL : 0, term = add_one(heap, input, chosen % 8);
    heap->terms[heap->count++] = term | literal;
}

/* So many steps at once; 0 stops in the middle. */
static struct cons_walk walked(erts_term term, bool deep, size_t steps) {
    struct cons_walk walk;
    enum cons_walk_result result = cons_walk_start(&walk, term, deep, MAP_TAG);
    while (result == CONS_WALK_MORE && steps > 0)
        result = cons_walk_steps(&walk, steps);
    if (steps == 0)
        cons_walk_steps(&walk, WORDS / 4);
    return walk;
}

static void release(struct cons_walk *walk) {
    while (!cons_walk_release(walk, 7))
        continue;
}

static void hold(bool holds) {
    if (!holds)
        abort();
}

static void judge(const struct heap *heap, erts_term term, bool deep) {
    struct cons_walk whole = walked(term, deep, SIZE_MAX), steps = walked(term, deep, 3),
                     stopped = walked(term, deep, 0);
    /* Unlike a VM's, a cell here may be both a map's pair and a list's, and counts twice then. */
    hold(whole.cells <= heap->cells && whole.lists <= whole.cells);
    hold(whole.words <= heap->used + 2 * heap->cells);
    hold(whole.spacing.links >= whole.cells - whole.lists);
    hold(whole.spacing.forward + whole.spacing.backward == whole.spacing.links);
    hold(steps.cells == whole.cells && steps.lists == whole.lists && steps.words == whole.words);
    hold(memcmp(&steps.spacing, &whole.spacing, sizeof whole.spacing) == 0);
    hold(stopped.cells <= whole.cells);
    release(&whole);
    release(&steps);
    release(&stopped);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct heap *heap = calloc(1, sizeof *heap);
    struct input input = {data, data + size};
    hold(heap != NULL);
    while (input.next < input.end && heap->count < TERMS && heap->used + 4 + 2 * LARGEST <= WORDS)
        add(heap, &input);
    for (size_t i = heap->count; i > 0 && i + 8 > heap->count; i--) {
        judge(heap, heap->terms[i - 1], true);
        if (erts_is_cons(heap->terms[i - 1]))
            judge(heap, heap->terms[i - 1], false);
    }
    free(heap);
    return 0;
}
