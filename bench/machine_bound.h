// The speed of this machine's memory at a footprint.
#ifndef ERTSLAB_BENCH_MACHINE_BOUND_H
#define ERTSLAB_BENCH_MACHINE_BOUND_H

#include <cstddef>

// Seconds for each cache line read, the fastest way.
struct MachineBound {
    double dependent;   // in random order, each load giving the address of the next
    double independent; // in address order, no load waiting for another: the bandwidth
};

// Measured at the first call for a footprint, kept for later ones.
const MachineBound &machine_bound(std::size_t bytes);

#endif
