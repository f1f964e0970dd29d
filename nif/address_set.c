#include "address_set.h"

#include <stdlib.h>
#include <string.h>

/* A bit a word: a byte of the bitmap is a cache line and 64 bytes are a page,
 * so both are counted without further tables. A leaf of 4 KiB covers 256 KiB of
 * addresses. With these sizes a heap of 1 GiB has 4,096 leaves, and doubling
 * the table of leaves takes some ten microseconds. */
enum { LEAF_ADDRESS_BITS = 18, LEAF_BYTES = 1 << (LEAF_ADDRESS_BITS - 6), PAGE_BYTES = 64 };

struct address_set_leaf {
    uintptr_t index;
    uint8_t bits[LEAF_BYTES];
};

static size_t first_slot(uintptr_t index, size_t capacity) {
    return (size_t)((uint64_t)index * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (capacity - 1);
}

static struct address_set_leaf **find_slot(struct address_set_leaf **slots, size_t capacity,
                                           uintptr_t index) {
    size_t slot = first_slot(index, capacity);
    while (slots[slot] != NULL && slots[slot]->index != index)
        slot = (slot + 1) & (capacity - 1);
    return &slots[slot];
}

static bool grow(struct address_set *set) {
    size_t capacity = set->capacity == 0 ? 64 : 2 * set->capacity;
    struct address_set_leaf **slots = calloc(capacity, sizeof *slots);
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < set->capacity; i++)
        if (set->slots[i] != NULL)
            *find_slot(slots, capacity, set->slots[i]->index) = set->slots[i];
    free(set->slots);
    set->slots = slots;
    set->capacity = capacity;
    return true;
}

static struct address_set_leaf *leaf_of(struct address_set *set, uintptr_t index) {
    if (set->last != NULL && set->last->index == index)
        return set->last;
    if (2 * set->leaves >= set->capacity && !grow(set))
        return NULL;
    struct address_set_leaf **slot = find_slot(set->slots, set->capacity, index);
    if (*slot == NULL) {
        *slot = calloc(1, sizeof **slot);
        if (*slot == NULL)
            return NULL;
        (*slot)->index = index;
        set->leaves++;
    }
    return set->last = *slot;
}

static bool is_new_page(const struct address_set_leaf *leaf, size_t byte) {
    static const uint8_t untouched[PAGE_BYTES];
    return memcmp(&leaf->bits[byte & ~(size_t)(PAGE_BYTES - 1)], untouched, PAGE_BYTES) == 0;
}

enum address_set_result address_set_add(struct address_set *set, uintptr_t address) {
    struct address_set_leaf *leaf = leaf_of(set, address >> LEAF_ADDRESS_BITS);
    if (leaf == NULL)
        return ADDRESS_NO_MEMORY;
    size_t word = (address & ((1 << LEAF_ADDRESS_BITS) - 1)) >> 3;
    uint8_t *line = &leaf->bits[word >> 3];
    uint8_t bit = (uint8_t)(1 << (word & 7));
    if (*line & bit)
        return ADDRESS_PRESENT;
    if (*line == 0) {
        set->cache_lines++;
        set->pages += is_new_page(leaf, word >> 3);
    }
    *line |= bit;
    return ADDRESS_ADDED;
}

bool address_set_release(struct address_set *set, size_t slots) {
    set->last = NULL;
    for (; set->capacity > 0 && slots > 0; slots--)
        free(set->slots[--set->capacity]);
    if (set->capacity > 0)
        return false;
    free(set->slots);
    *set = (struct address_set){0};
    return true;
}
