#include "spacing.h"

#include "erts_layout.h"

#include <math.h>

static unsigned bucket(uint64_t distance) { return 63 - (unsigned)__builtin_clzll(distance | 1); }

void spacing_add(struct spacing *spacing, int64_t distance) {
    uint64_t apart = distance < 0 ? -(uint64_t)distance : (uint64_t)distance;
    if (spacing->links == 0 || distance < spacing->min)
        spacing->min = distance;
    if (spacing->links == 0 || distance > spacing->max)
        spacing->max = distance;
    spacing->links++;
    spacing->forward += distance > 0;
    spacing->backward += distance < 0;
    spacing->adjacent += apart == ERTS_CELL_BYTES;
    spacing->sum += distance;
    spacing->sum_of_squares += (spacing_sum)distance * distance;
    spacing->histogram[bucket(apart)]++;
}

static long double exact_mean(const struct spacing *spacing) {
    return spacing->links == 0 ? 0 : (long double)spacing->sum / (long double)spacing->links;
}

double spacing_mean(const struct spacing *spacing) { return (double)exact_mean(spacing); }

double spacing_deviation(const struct spacing *spacing) {
    if (spacing->links == 0)
        return 0;
    long double mean = exact_mean(spacing);
    long double variance =
        (long double)spacing->sum_of_squares / (long double)spacing->links - mean * mean;
    return variance > 0 ? (double)sqrtl(variance) : 0;
}
