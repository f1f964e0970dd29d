/* How the Erlang VM lays out terms in memory, as far as walking lists needs it.
 *
 * No other file knows a tag. The layout is no part of the NIF interface, so
 * cons_spacing_nif.c compares it at load time with terms that the VM itself
 * made, and does not load where they differ. Sources: erts/emulator/beam/
 * erl_term.h and erl_map.h of OTP 25 to 29. */
#ifndef ERTS_LAYOUT_H
#define ERTS_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uintptr_t erts_term;

enum { ERTS_CELL_BYTES = 2 * sizeof(erts_term) };

static inline bool erts_is_cons(erts_term term) { return (term & 3) == 1; }
static inline bool erts_is_boxed(erts_term term) { return (term & 3) == 2; }
static inline bool erts_is_nil(erts_term term) { return term == 0x3B; }

/* Objects lie at multiples of 8. VMs that cannot tell literals by their addresses, among
 * them OTP's debug and asan ones, set a third bit in terms that point to them. */
static inline const erts_term *erts_object(erts_term term) {
    return (const erts_term *)(term & ~(erts_term)7);
}
static inline const erts_term *erts_cell(erts_term cons) { return erts_object(cons); }
static inline const erts_term *erts_box(erts_term boxed) { return erts_object(boxed); }
static inline erts_term erts_make_cons(const erts_term *cell) { return (erts_term)cell + 1; }
static inline erts_term erts_make_boxed(const erts_term *box) { return (erts_term)box + 2; }

static inline bool erts_is_tuple_header(erts_term header) { return (header & 0x3F) == 0; }
static inline size_t erts_tuple_arity(erts_term header) { return header >> 6; }

/* The tag of a map's header has moved between releases, so it is learned from
 * a map at load time. Behind it come two bits of kind, eight that say whether a
 * word with the map's size follows, and a bitmap of the children. */
static inline erts_term erts_header_tag(erts_term header) { return header & 0x3F; }

enum erts_map_kind { ERTS_FLATMAP = 0, ERTS_HASHMAP_NODE = 1 };

static inline unsigned erts_map_kind(erts_term header) { return (header >> 6) & 3; }
static inline size_t erts_map_node_offset(erts_term header) { return 1 + ((header >> 8) & 0xFF); }
static inline size_t erts_map_node_children(erts_term header) {
    return (size_t)__builtin_popcount((unsigned)(header >> 16) & 0xFFFF);
}

/* A small map is its header, its size, a tuple of keys and the values. */
enum { ERTS_FLATMAP_SIZE_WORD = 1, ERTS_FLATMAP_KEYS_WORD = 2 };

#endif
