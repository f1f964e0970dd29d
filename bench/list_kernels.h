// Ways to walk a list; each returns the number of its cells, as length/1 does.
#ifndef ERTSLAB_BENCH_LIST_KERNELS_H
#define ERTSLAB_BENCH_LIST_KERNELS_H

#include <cstddef>

#include "list_heap.h"

// The loop of the stock VM.
std::size_t walk_plain(Term list);

// The same, with four cells per round.
std::size_t walk_unrolled(Term list);

// Prefetches the cell `distance` cells ahead, assuming that the list continues at the same stride:
// the loop of otp_patches/length-prefetch.patch.
std::size_t walk_prefetch(Term list, std::size_t distance);

// Continues at the guessed address of the next cell while the real address is still being loaded.
std::size_t walk_guess(Term list);

#endif
