/* Walks the cells of one list, or of every list inside a term, some steps at a
 * time. It reads memory through erts_layout.h alone and calls nothing of the VM. */
#ifndef CONS_WALK_H
#define CONS_WALK_H

#include "address_set.h"
#include "erts_layout.h"
#include "spacing.h"

struct cons_walk_frame;

enum cons_walk_tail { CONS_TAIL_PROPER, CONS_TAIL_IMPROPER };

struct cons_walk {
    bool deep;
    erts_term map_tag;
    struct spacing spacing;
    uint64_t lists; /* spines, each counted up to where it joins another */
    uint64_t cells;
    uint64_t words;           /* of cells, tuples and maps */
    enum cons_walk_tail tail; /* of the spine that ended last */
    erts_term last_cell;      /* its last cell, 0 while none ended */
    struct address_set touched;
    struct address_set boxes;
    struct cons_walk_frame *frames;
    size_t depth, room;
};

enum cons_walk_result { CONS_WALK_MORE, CONS_WALK_DONE, CONS_WALK_NO_MEMORY };

/* An all-zero walk can be started. A walk that is not deep wants a list (cons
 * or nil) and sees its spine alone. map_tag is the tag of a map's header.
 * Terms must not move until the walk is done or started anew. */
enum cons_walk_result cons_walk_start(struct cons_walk *walk, erts_term term, bool deep,
                                      erts_term map_tag);
enum cons_walk_result cons_walk_steps(struct cons_walk *walk, size_t steps);

/* Releases up to so many blocks of memory; true when nothing is left. */
bool cons_walk_release(struct cons_walk *walk, size_t blocks);

#endif
