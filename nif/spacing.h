/* Statistics of the signed distances between consecutive cells, in bytes. */
#ifndef SPACING_H
#define SPACING_H

#include <stdint.h>

enum { SPACING_BUCKETS = 64 };

/* Aligned as the VM aligns the resources of a NIF, to 8 bytes and not to 16. */
__extension__ typedef __int128 spacing_sum __attribute__((aligned(8)));

struct spacing {
    uint64_t links; /* pairs of consecutive cells */
    uint64_t forward, backward, adjacent;
    int64_t min, max;
    spacing_sum sum, sum_of_squares;
    uint64_t histogram[SPACING_BUCKETS]; /* [k]: 2^k <= |distance| < 2^(k+1) */
};

/* An all-zero spacing is empty. A distance is never 0. */
void spacing_add(struct spacing *spacing, int64_t distance);

/* Both are 0 without a link. The deviation is that of the whole, not of a sample. */
double spacing_mean(const struct spacing *spacing);
double spacing_deviation(const struct spacing *spacing);

#endif
