// What this machine's memory can do at a footprint.
#ifndef ERTSLAB_BENCH_MACHINE_BOUND_H
#define ERTSLAB_BENCH_MACHINE_BOUND_H

#include <cstddef>

struct MachineBound {
    double load_seconds;          // from one load to the next whose address it gives
    double read_bytes_per_second; // read in order, with loads that wait for nothing
};

// Measured at the first call for a footprint, kept for later ones.
const MachineBound &machine_bound(std::size_t bytes);

#endif
