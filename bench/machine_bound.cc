#include "machine_bound.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

#include "list_heap.h"
#include "random_order.h"

namespace {

constexpr int kRounds = 10;
constexpr std::size_t kLoadsPerRound = 1 << 20;
constexpr std::size_t kLinesAhead = 64;

struct alignas(kCacheLine) Line {
    Line *next;
};
using Lines = std::vector<Line>;

// One cycle through all lines, in random order, which no prefetcher can follow.
Lines random_cycle(std::size_t bytes) {
    Lines lines(bytes / sizeof(Line));
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

std::uintptr_t number(const Line &line) { return reinterpret_cast<std::uintptr_t>(line.next); }

// One load per line, with four sums, so that no addition waits for the previous one.
std::uintptr_t read_lines(const Lines &lines) {
    std::uintptr_t a = 0, b = 0, c = 0, d = 0;
    for (std::size_t i = 0; i + 4 <= lines.size(); i += 4) {
        a += number(lines[i]);
        b += number(lines[i + 1]);
        c += number(lines[i + 2]);
        d += number(lines[i + 3]);
    }
    return a + b + c + d;
}

// The processor's own prefetchers stop at the end of a page; these prefetches go on.
std::uintptr_t read_lines_ahead(const Lines &lines) {
    std::uintptr_t sum = 0;
    for (const Line &line : lines) {
        __builtin_prefetch(&line + kLinesAhead);
        sum += number(line);
    }
    return sum;
}

// Makes the compiler compute the value.
template <typename Value> void use(const Value &value) {
    __asm__ volatile("" : : "m"(value) : "memory");
}

// The fastest of several rounds, because a bound is the speed of the undisturbed machine.
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

double dependent(const Lines &lines) {
    const Line *line = chase(lines.data(), lines.size());
    double seconds = fastest_seconds([&] {
        line = chase(line, kLoadsPerRound);
        use(line);
    });
    return seconds / kLoadsPerRound;
}

template <typename Read> double independent(const Lines &lines, Read read) {
    std::size_t passes = std::max<std::size_t>(kLoadsPerRound / lines.size(), 1);
    double seconds = fastest_seconds([&] {
        for (std::size_t pass = 0; pass < passes; pass++)
            use(read(lines));
    });
    return seconds / static_cast<double>(passes * lines.size());
}

MachineBound measure(std::size_t bytes) {
    Lines lines = random_cycle(bytes);
    return {dependent(lines),
            std::min(independent(lines, read_lines), independent(lines, read_lines_ahead))};
}

} // namespace

const MachineBound &machine_bound(std::size_t bytes) {
    static std::map<std::size_t, MachineBound> measured;
    auto found = measured.find(bytes);
    if (found == measured.end())
        found = measured.emplace(bytes, measure(bytes)).first;
    return found->second;
}
