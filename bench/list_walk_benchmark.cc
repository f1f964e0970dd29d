// The speed of walking a list, by layout, size and kernel, and the limit that this machine sets.

#include <algorithm>
#include <benchmark/benchmark.h>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "list_heap.h"
#include "list_kernels.h"
#include "machine_bound.h"

namespace {

constexpr std::size_t kInnermostCache = 16 * 1024;

// The value that a kernel needs before it can start on the next cell.
enum class Needs { kLoadedCdr, kGuess };

// The heap of the previous benchmark if its layout is the same, because a heap is up to 400 MB.
const ListHeap &heap_for(const Layout &layout) {
    static std::unique_ptr<ListHeap> heap;
    if (!heap || !(heap->layout() == layout)) {
        heap.reset();
        heap = std::make_unique<ListHeap>(layout);
    }
    return *heap;
}

Layout layout_of(const benchmark::State &state) {
    return {static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)),
            state.range(2) != 0};
}

// The least time that this machine needs for one cell. For any kernel, each cell costs a load, and
// each line with a cell must be fetched. If loads need not wait for each other, the limit is the
// bandwidth of this footprint. A kernel that starts from the loaded CDR also waits one load-to-use
// latency per cell. If cells lie regularly, that is the latency of the innermost cache, because a
// prefetch by the processor or the program can have fetched each of them. If cells are shuffled, it
// is the latency of the footprint. Then all guesses are wrong, so a guessing kernel waits as well.
double bound_seconds(const ListHeap &heap, Needs needs) {
    const MachineBound &inner = machine_bound(kInnermostCache);
    const MachineBound &outer = machine_bound(heap.bytes_touched());
    double cells_per_line = static_cast<double>(heap.layout().cells * kCacheLine) /
                            static_cast<double>(heap.bytes_touched());
    double bandwidth = std::max(outer.independent / cells_per_line, inner.independent);
    if (heap.layout().shuffled)
        return std::max(bandwidth, outer.dependent);
    return needs == Needs::kGuess ? bandwidth : std::max(bandwidth, inner.dependent);
}

// chase_cells_per_second is not a bound: it is the speed if each cell waits for a load from this
// footprint, as without any prefetching.
void report(benchmark::State &state, const ListHeap &heap, Needs needs) {
    using benchmark::Counter;
    double cells = static_cast<double>(heap.layout().cells);
    double bound = bound_seconds(heap, needs);
    state.counters["cells_per_second"] = Counter(cells, Counter::kIsIterationInvariantRate);
    state.counters["bound_cells_per_second"] = 1 / bound;
    state.counters["share_of_bound"] = Counter(cells * bound, Counter::kIsIterationInvariantRate);
    state.counters["chase_cells_per_second"] = 1 / machine_bound(heap.bytes_touched()).dependent;
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(heap.bytes_touched()));
}

// Times the walk after checking its count against the plain walk and the layout.
template <typename Walk> void run(benchmark::State &state, Needs needs, Walk walk) {
    const Layout layout = layout_of(state);
    const ListHeap &heap = heap_for(layout);
    std::size_t expected = walk_plain(heap.list()), counted = walk(heap.list());
    if (expected != layout.cells || counted != expected) {
        state.SkipWithError(("counted " + std::to_string(counted) + " cells").c_str());
        return;
    }
    for (auto _ : state)
        benchmark::DoNotOptimize(walk(heap.list()));
    report(state, heap, needs);
}

// 16: cells side by side, as built. 40 and 136: each cell followed by its value, a tuple of 2 or
// 14, as after a full collection.
std::vector<Layout> layouts() {
    std::vector<Layout> all;
    for (std::size_t cells : {1'000, 30'000, 300'000, 3'000'000})
        for (Layout shape : {Layout{0, 16, false}, {0, 40, false}, {0, 136, false}, {0, 136, true}})
            all.push_back({cells, shape.stride, shape.shuffled});
    return all;
}

std::vector<std::int64_t> arguments(const Layout &layout) {
    return {static_cast<std::int64_t>(layout.cells), static_cast<std::int64_t>(layout.stride),
            layout.shuffled};
}

void each_layout(benchmark::internal::Benchmark *benchmark) {
    benchmark->ArgNames({"cells", "stride", "shuffled"})->Unit(benchmark::kMicrosecond);
    for (const Layout &layout : layouts())
        benchmark->Args(arguments(layout));
}

void each_layout_and_distance(benchmark::internal::Benchmark *benchmark) {
    benchmark->ArgNames({"cells", "stride", "shuffled", "distance"});
    benchmark->Unit(benchmark::kMicrosecond);
    for (const Layout &layout : layouts()) {
        for (std::int64_t distance = 1; distance <= 512; distance *= 2) {
            std::vector<std::int64_t> with_distance = arguments(layout);
            with_distance.push_back(distance);
            benchmark->Args(with_distance);
        }
    }
}

void BM_Plain(benchmark::State &state) { run(state, Needs::kLoadedCdr, walk_plain); }
BENCHMARK(BM_Plain)->Apply(each_layout);

void BM_Unrolled(benchmark::State &state) { run(state, Needs::kLoadedCdr, walk_unrolled); }
BENCHMARK(BM_Unrolled)->Apply(each_layout);

void BM_Prefetch(benchmark::State &state) {
    std::size_t distance = static_cast<std::size_t>(state.range(3));
    run(state, Needs::kLoadedCdr, [=](Term list) { return walk_prefetch(list, distance); });
}
BENCHMARK(BM_Prefetch)->Apply(each_layout_and_distance);

void BM_Guess(benchmark::State &state) { run(state, Needs::kGuess, walk_guess); }
BENCHMARK(BM_Guess)->Apply(each_layout);

} // namespace
