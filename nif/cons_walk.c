#include "cons_walk.h"

#include <stdlib.h>

/* What is left to do inside one object. A frame is taken off before its last
 * word is visited, so that nested lists do not deepen the stack. */
enum frame_kind { FRAME_WORDS, FRAME_MAP_NODE, FRAME_SPINE };

struct cons_walk_frame {
    const erts_term *next; /* a word, or the current cell of a spine */
    erts_term left;        /* how many words, or the term of that cell, which is not 0 */
    enum frame_kind kind;
};

static bool push(struct cons_walk *walk, enum frame_kind kind, const erts_term *next,
                 erts_term left) {
    if (left == 0)
        return true;
    if (walk->depth == walk->room) {
        size_t room = walk->room == 0 ? 64 : 2 * walk->room;
        struct cons_walk_frame *frames = realloc(walk->frames, room * sizeof *frames);
        if (frames == NULL)
            return false;
        walk->frames = frames;
        walk->room = room;
    }
    walk->frames[walk->depth++] = (struct cons_walk_frame){next, left, kind};
    return true;
}

/* Counts a cell; a cell that was counted before is shared. */
static enum address_set_result note_cell(struct cons_walk *walk, const erts_term *cell) {
    enum address_set_result result = address_set_add(&walk->touched, (uintptr_t)&cell[0]);
    if (result != ADDRESS_ADDED)
        return result;
    walk->cells++;
    walk->words += 2;
    return address_set_add(&walk->touched, (uintptr_t)&cell[1]) == ADDRESS_NO_MEMORY
               ? ADDRESS_NO_MEMORY
               : ADDRESS_ADDED;
}

static bool start_spine(struct cons_walk *walk, erts_term cons) {
    switch (note_cell(walk, erts_cell(cons))) {
    case ADDRESS_PRESENT:
        return true;
    case ADDRESS_NO_MEMORY:
        return false;
    default:
        walk->lists++;
        return push(walk, FRAME_SPINE, erts_cell(cons), cons);
    }
}

static bool push_map(struct cons_walk *walk, const erts_term *box) {
    if (erts_map_kind(box[0]) == ERTS_FLATMAP) {
        size_t words = box[ERTS_FLATMAP_SIZE_WORD] + 1;
        walk->words += ERTS_FLATMAP_KEYS_WORD + words;
        return push(walk, FRAME_WORDS, &box[ERTS_FLATMAP_KEYS_WORD], words);
    }
    size_t offset = erts_map_node_offset(box[0]), children = erts_map_node_children(box[0]);
    walk->words += offset + children;
    return push(walk, FRAME_MAP_NODE, &box[offset], children);
}

/* Inside a hash map, tuples are nodes of keys whose hashes collide. */
static bool visit_box(struct cons_walk *walk, const erts_term *box, enum frame_kind inside) {
    bool is_map = erts_header_tag(box[0]) == walk->map_tag;
    if (!is_map && !erts_is_tuple_header(box[0]))
        return true;
    enum address_set_result result = address_set_add(&walk->boxes, (uintptr_t)box);
    if (result != ADDRESS_ADDED)
        return result == ADDRESS_PRESENT;
    if (is_map)
        return push_map(walk, box);
    walk->words += 1 + erts_tuple_arity(box[0]);
    return push(walk, inside, &box[1], erts_tuple_arity(box[0]));
}

/* A hash map keeps a key and its value in a cell that belongs to no list. */
static bool visit_pair(struct cons_walk *walk, const erts_term *cell) {
    enum address_set_result result = address_set_add(&walk->boxes, (uintptr_t)cell);
    if (result != ADDRESS_ADDED)
        return result == ADDRESS_PRESENT;
    walk->words += 2;
    return push(walk, FRAME_WORDS, cell, 2);
}

static bool visit(struct cons_walk *walk, erts_term term, enum frame_kind inside) {
    if (erts_is_boxed(term))
        return visit_box(walk, erts_box(term), inside);
    if (!erts_is_cons(term))
        return true;
    return inside == FRAME_MAP_NODE ? visit_pair(walk, erts_cell(term)) : start_spine(walk, term);
}

static bool end_spine(struct cons_walk *walk, erts_term tail) {
    walk->last_cell = walk->frames[--walk->depth].left;
    walk->tail = erts_is_nil(tail) ? CONS_TAIL_PROPER : CONS_TAIL_IMPROPER;
    return !walk->deep || visit(walk, tail, FRAME_WORDS);
}

static bool follow_spine(struct cons_walk *walk, const erts_term *cell, erts_term tail) {
    const erts_term *next = erts_cell(tail);
    spacing_add(&walk->spacing, (int64_t)((intptr_t)next - (intptr_t)cell));
    switch (note_cell(walk, next)) {
    case ADDRESS_PRESENT:
        walk->depth--;
        return true;
    case ADDRESS_NO_MEMORY:
        return false;
    default:
        walk->frames[walk->depth - 1] = (struct cons_walk_frame){next, tail, FRAME_SPINE};
        return true;
    }
}

static bool step_spine(struct cons_walk *walk, const erts_term *cell) {
    erts_term head = cell[0], tail = cell[1];
    bool ok = erts_is_cons(tail) ? follow_spine(walk, cell, tail) : end_spine(walk, tail);
    return ok && (!walk->deep || visit(walk, head, FRAME_WORDS));
}

static bool step(struct cons_walk *walk) {
    struct cons_walk_frame *frame = &walk->frames[walk->depth - 1];
    if (frame->kind == FRAME_SPINE)
        return step_spine(walk, frame->next);
    enum frame_kind inside = frame->kind;
    erts_term term = *frame->next++;
    if (--frame->left == 0)
        walk->depth--;
    return visit(walk, term, inside);
}

enum cons_walk_result cons_walk_start(struct cons_walk *walk, erts_term term, bool deep,
                                      erts_term map_tag) {
    *walk = (struct cons_walk){.deep = deep, .map_tag = map_tag};
    return visit(walk, term, FRAME_WORDS) ? CONS_WALK_MORE : CONS_WALK_NO_MEMORY;
}

enum cons_walk_result cons_walk_steps(struct cons_walk *walk, size_t steps) {
    for (; walk->depth > 0 && steps > 0; steps--)
        if (!step(walk))
            return CONS_WALK_NO_MEMORY;
    return walk->depth == 0 ? CONS_WALK_DONE : CONS_WALK_MORE;
}

bool cons_walk_release(struct cons_walk *walk, size_t blocks) {
    free(walk->frames);
    walk->frames = NULL;
    walk->depth = walk->room = 0;
    return address_set_release(&walk->touched, blocks) && address_set_release(&walk->boxes, blocks);
}
