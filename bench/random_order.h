#ifndef ERTSLAB_BENCH_RANDOM_ORDER_H
#define ERTSLAB_BENCH_RANDOM_ORDER_H

#include <cstddef>
#include <vector>

// The numbers from 0 to count - 1, shuffled; the same at every call.
std::vector<std::size_t> random_order(std::size_t count);

#endif
