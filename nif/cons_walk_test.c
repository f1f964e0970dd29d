/* The walk against heaps that are made by hand, and against a slow model of
 * random layouts. It ends with status 1 at the first difference. */
#include "cons_walk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPECT(condition) expect((condition), #condition, __LINE__)

enum { MAP_TAG = 0x2C };

static const erts_term NIL = 0x3B;

static void expect(bool holds, const char *condition, int line) {
    if (!holds) {
        fprintf(stderr, "line %d: %s does not hold\n", line, condition);
        exit(1);
    }
}

static erts_term small(unsigned value) { return ((erts_term)value << 4) | 0xF; }

static erts_term *new_heap(size_t words) {
    erts_term *heap = calloc(words, sizeof *heap);
    expect(heap != NULL, "memory for a heap", __LINE__);
    return heap;
}

static erts_term cons(erts_term *cell, erts_term head, erts_term tail) {
    cell[0] = head;
    cell[1] = tail;
    return erts_make_cons(cell);
}

static erts_term tuple2(erts_term *box, erts_term first, erts_term second) {
    box[0] = 2 << 6;
    box[1] = first;
    box[2] = second;
    return erts_make_boxed(box);
}

static struct cons_walk walked(erts_term term, bool deep, size_t steps_at_once) {
    struct cons_walk walk;
    EXPECT(cons_walk_start(&walk, term, deep, MAP_TAG) == CONS_WALK_MORE);
    enum cons_walk_result result;
    do
        result = cons_walk_steps(&walk, steps_at_once);
    while (result == CONS_WALK_MORE);
    EXPECT(result == CONS_WALK_DONE);
    return walk;
}

static void release(struct cons_walk *walk) {
    while (!cons_walk_release(walk, 7))
        continue;
}

static void test_empty_list(void) {
    struct cons_walk walk = walked(NIL, false, 1);
    EXPECT(walk.cells == 0 && walk.last_cell == 0 && walk.touched.pages == 0);
    release(&walk);
}

static void test_improper_list(void) {
    erts_term *heap = new_heap(4);
    erts_term list = cons(&heap[0], small(1), cons(&heap[2], small(2), small(3)));
    struct cons_walk walk = walked(list, false, 1);
    EXPECT(walk.cells == 2 && walk.tail == CONS_TAIL_IMPROPER);
    EXPECT(walk.last_cell == erts_make_cons(&heap[2]));
    EXPECT(walk.spacing.forward == 1 && walk.spacing.adjacent == 1 && walk.spacing.min == 16);
    release(&walk);
    free(heap);
}

/* What points to a literal may say so by a third bit, which a term that is given back keeps. */
static void test_literal_pointers(void) {
    enum { LITERAL = 4 };
    erts_term *heap = new_heap(9);
    erts_term last = cons(&heap[2], small(2), NIL) | LITERAL;
    erts_term list = cons(&heap[0], small(1), last);
    struct cons_walk walk = walked(tuple2(&heap[4], list, small(3)) | LITERAL, true, 1);
    EXPECT(walk.lists == 1 && walk.cells == 2 && walk.words == 3 + 2 * 2);
    EXPECT(walk.spacing.adjacent == 1 && walk.last_cell == last);
    release(&walk);
    free(heap);
}

/* {[A|S], [B|S]}: the shared tail S is counted once, the link to it twice. */
static void test_shared_tail(void) {
    erts_term *heap = new_heap(11);
    erts_term shared = cons(&heap[0], small(1), cons(&heap[2], small(2), NIL));
    erts_term left = cons(&heap[4], small(3), shared), right = cons(&heap[6], small(4), shared);
    struct cons_walk walk = walked(tuple2(&heap[8], left, right), true, 1);
    EXPECT(walk.lists == 2 && walk.cells == 4 && walk.spacing.links == 3);
    EXPECT(walk.words == 4 * 2 + 3);
    release(&walk);
    free(heap);
}

static void test_shared_box_is_entered_once(void) {
    erts_term *heap = new_heap(8);
    erts_term inner = tuple2(&heap[0], cons(&heap[6], small(1), NIL), NIL);
    struct cons_walk walk = walked(tuple2(&heap[3], inner, inner), true, 1);
    EXPECT(walk.lists == 1 && walk.cells == 1 && walk.words == 8);
    release(&walk);
    free(heap);
}

/* A leaf of a hash map is a cell, but no list. */
static void test_map_node_pairs_are_no_lists(void) {
    erts_term *heap = new_heap(9);
    erts_term pair = cons(&heap[3], small(1), cons(&heap[5], small(2), NIL));
    heap[0] = (erts_term)1 << 16 | (erts_term)1 << 8 | (erts_term)3 << 6 | MAP_TAG;
    heap[1] = small(1);
    heap[2] = pair;
    struct cons_walk walk = walked(erts_make_boxed(heap), true, 1);
    EXPECT(walk.lists == 1 && walk.cells == 1 && walk.words == 3 + 2 + 2);
    release(&walk);
    free(heap);
}

static void test_flat_map(void) {
    erts_term *heap = new_heap(9);
    erts_term keys = (heap[4] = 1 << 6, heap[5] = small(7), erts_make_boxed(&heap[4]));
    heap[0] = (erts_term)1 << 8 | MAP_TAG;
    heap[1] = 1;
    heap[2] = keys;
    heap[3] = cons(&heap[6], small(1), NIL);
    struct cons_walk walk = walked(erts_make_boxed(heap), true, 1);
    EXPECT(walk.lists == 1 && walk.cells == 1 && walk.words == 4 + 2 + 2);
    release(&walk);
    free(heap);
}

static void test_deep_nesting_needs_no_stack(void) {
    enum { DEPTH = 100000 };
    erts_term *heap = new_heap(2 * DEPTH), term = NIL;
    for (size_t i = 0; i < DEPTH; i++)
        term = cons(&heap[2 * i], term, NIL);
    struct cons_walk walk = walked(term, true, 1000);
    EXPECT(walk.cells == DEPTH && walk.lists == DEPTH && walk.room == 64);
    release(&walk);
    free(heap);
}

static void shuffle(size_t *order, size_t length) {
    for (size_t i = length - 1; i > 0; i--) {
        size_t other = (size_t)rand() % (i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

static uint64_t distinct(const erts_term *heap, const bool *used, size_t words, uintptr_t unit) {
    uint64_t count = 0;
    uintptr_t previous = UINTPTR_MAX;
    for (size_t i = 0; i < words; i++)
        if (used[i] && (uintptr_t)&heap[i] / unit != previous) {
            previous = (uintptr_t)&heap[i] / unit;
            count++;
        }
    return count;
}

/* A list whose cells lie anywhere in a heap, every third word of which may begin one. */
static void test_random_layout(size_t cells, size_t words) {
    erts_term *heap = new_heap(words), list = NIL;
    bool *used = calloc(words, sizeof *used);
    size_t slots = words / 3, *order = calloc(slots, sizeof *order);
    EXPECT(used != NULL && order != NULL);
    for (size_t i = 0; i < slots; i++)
        order[i] = 3 * i;
    shuffle(order, slots);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < cells; i++) {
        size_t at = order[i];
        if (i > 0) {
            double distance = 8.0 * ((double)order[i - 1] - (double)at);
            sum += distance;
            squares += distance * distance;
        }
        list = cons(&heap[at], small((unsigned)i), list);
        used[at] = used[at + 1] = true;
    }
    struct cons_walk walk = walked(list, false, 13);
    double links = cells > 1 ? (double)(cells - 1) : 1, mean = sum / links;
    EXPECT(walk.cells == cells && walk.spacing.links == cells - 1);
    EXPECT(fabs(spacing_mean(&walk.spacing) - mean) < 1e-6);
    EXPECT(fabs(spacing_deviation(&walk.spacing) - sqrt(squares / links - mean * mean)) < 1e-3);
    EXPECT(walk.touched.cache_lines == distinct(heap, used, words, 64));
    EXPECT(walk.touched.pages == distinct(heap, used, words, 4096));
    release(&walk);
    free(order);
    free(used);
    free(heap);
}

int main(void) {
    srand(2010);
    test_empty_list();
    test_improper_list();
    test_literal_pointers();
    test_shared_tail();
    test_shared_box_is_entered_once();
    test_map_node_pairs_are_no_lists();
    test_flat_map();
    test_deep_nesting_needs_no_stack();
    for (size_t cells = 1; cells < 20000; cells = cells * 3 + 1)
        test_random_layout(cells, 3 * cells + 30000);
    puts("cons_walk: all tests passed");
    return 0;
}
