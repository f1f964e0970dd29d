#include "machine_bound.h"

#include <algorithm>
#include <chrono>
#include <emmintrin.h>
#include <map>
#include <vector>

#include "list_heap.h"
#include "random_order.h"

namespace {

constexpr int kRounds = 5;
constexpr std::size_t kLoadsPerRound = 1 << 20;
constexpr std::size_t kBytesPerRound = std::size_t{1} << 28;

struct alignas(kCacheLine) Line {
    Line *next;
};

// One cycle through every line, in random order: no prefetcher follows it.
std::vector<Line> random_cycle(std::size_t bytes) {
    std::vector<Line> lines(std::max<std::size_t>(bytes / sizeof(Line), 1));
    std::vector<std::size_t> order = random_order(lines.size());
    for (std::size_t i = 0; i < order.size(); i++)
        lines[order[i]].next = &lines[order[(i + 1) % order.size()]];
    return lines;
}

const Line *chase(const Line *line, std::size_t loads) {
    for (; loads > 0; loads--)
        line = line->next;
    return line;
}

__m128i read_all(const std::vector<Line> &lines) {
    __m128i a = _mm_setzero_si128(), b = a, c = a, d = a;
    for (const Line &line : lines) {
        const __m128i *words = reinterpret_cast<const __m128i *>(&line);
        a = _mm_xor_si128(a, _mm_load_si128(words));
        b = _mm_xor_si128(b, _mm_load_si128(words + 1));
        c = _mm_xor_si128(c, _mm_load_si128(words + 2));
        d = _mm_xor_si128(d, _mm_load_si128(words + 3));
    }
    return _mm_xor_si128(_mm_xor_si128(a, b), _mm_xor_si128(c, d));
}

// Makes the compiler compute the value.
template <typename Value> void use(const Value &value) {
    __asm__ volatile("" : : "m"(value) : "memory");
}

// The fastest of some rounds, as a bound is what the machine does undisturbed.
template <typename Work> double fastest_seconds(Work work) {
    double fastest = 1e9;
    for (int round = 0; round < kRounds; round++) {
        auto start = std::chrono::steady_clock::now();
        work();
        std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        fastest = std::min(fastest, took.count());
    }
    return fastest;
}

double load_seconds(const std::vector<Line> &lines) {
    const Line *line = chase(lines.data(), lines.size());
    double seconds = fastest_seconds([&] {
        line = chase(line, kLoadsPerRound);
        use(line);
    });
    return seconds / kLoadsPerRound;
}

double read_bytes_per_second(const std::vector<Line> &lines) {
    std::size_t bytes = lines.size() * sizeof(Line);
    std::size_t passes = std::max<std::size_t>(kBytesPerRound / bytes, 1);
    double seconds = fastest_seconds([&] {
        for (std::size_t pass = 0; pass < passes; pass++)
            use(read_all(lines));
    });
    return static_cast<double>(bytes * passes) / seconds;
}

MachineBound measure(std::size_t bytes) {
    std::vector<Line> lines = random_cycle(bytes);
    return {load_seconds(lines), read_bytes_per_second(lines)};
}

} // namespace

const MachineBound &machine_bound(std::size_t bytes) {
    static std::map<std::size_t, MachineBound> measured;
    auto found = measured.find(bytes);
    if (found == measured.end())
        found = measured.emplace(bytes, measure(bytes)).first;
    return found->second;
}
