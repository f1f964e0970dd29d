#include "random_order.h"

#include <algorithm>
#include <numeric>
#include <random>

std::vector<std::size_t> random_order(std::size_t count) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), std::mt19937_64(977953779));
    return order;
}
