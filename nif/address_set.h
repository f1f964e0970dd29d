/* A set of word addresses that also counts the cache lines and pages it touches. */
#ifndef ADDRESS_SET_H
#define ADDRESS_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_set_leaf;

struct address_set {
    struct address_set_leaf **slots;
    size_t capacity;
    size_t leaves;
    struct address_set_leaf *last;
    uint64_t cache_lines; /* of 64 bytes */
    uint64_t pages;       /* of 4 KiB */
};

enum address_set_result { ADDRESS_PRESENT, ADDRESS_ADDED, ADDRESS_NO_MEMORY };

/* An all-zero set is empty. Addresses are those of words: multiples of 8. */
enum address_set_result address_set_add(struct address_set *set, uintptr_t address);

/* Releases up to so many slots; true when nothing is left. */
bool address_set_release(struct address_set *set, size_t slots);

#endif
