// The cost of an increment by libatomic_ops, by C11 and by ERTS's own code, on a counter shared by
// threads and on one of their own.

#include <benchmark/benchmark.h>
#include <cstdint>

#include "atomic_counters.h"

namespace {

constexpr int kMaxThreads = 2;

template <typename Counter> struct Padded {
    // Aligned as far apart as ERTS pads data that must not share a cache line.
    alignas(64) Counter counter;
};

template <typename Counter> Padded<Counter> counters[kMaxThreads];

template <typename Counter> struct Inc {
    static void on(Counter &counter) { counter.inc(); }
};

template <typename Counter> struct IncRead {
    static void on(Counter &counter) { benchmark::DoNotOptimize(counter.inc_read()); }
};

template <typename Counter> std::int64_t total() {
    std::int64_t sum = 0;
    for (const Padded<Counter> &padded : counters<Counter>)
        sum += padded.counter.read();
    return sum;
}

// When the first thread passes the end of the timed loop, all threads have left it; none enters
// before the first has reached it. So only the first thread resets and checks the counter.
template <typename Counter, template <typename> class Increment>
void count(benchmark::State &state, Counter &counter) {
    if (state.thread_index() == 0)
        for (Padded<Counter> &padded : counters<Counter>)
            padded.counter.reset();
    for (auto _ : state)
        Increment<Counter>::on(counter);
    if (state.thread_index() == 0 && total<Counter>() != state.iterations() * state.threads())
        state.SkipWithError("increments were lost");
    state.SetItemsProcessed(state.iterations());
}

void threads(benchmark::internal::Benchmark *benchmark) {
    benchmark->Threads(1)->Threads(kMaxThreads)->UseRealTime();
}

template <typename Counter, template <typename> class Increment>
void BM_Shared(benchmark::State &state) {
    count<Counter, Increment>(state, counters<Counter>[0].counter);
}
BENCHMARK_TEMPLATE(BM_Shared, ErtsCounter, Inc)->Apply(threads);
BENCHMARK_TEMPLATE(BM_Shared, C11Counter, Inc)->Apply(threads);
BENCHMARK_TEMPLATE(BM_Shared, LibatomicOpsCounter, Inc)->Apply(threads);
BENCHMARK_TEMPLATE(BM_Shared, ErtsCounter, IncRead)->Apply(threads);
BENCHMARK_TEMPLATE(BM_Shared, C11Counter, IncRead)->Apply(threads);
BENCHMARK_TEMPLATE(BM_Shared, LibatomicOpsCounter, IncRead)->Apply(threads);

template <typename Counter, template <typename> class Increment>
void BM_Padded(benchmark::State &state) {
    count<Counter, Increment>(state, counters<Counter>[state.thread_index()].counter);
}
BENCHMARK_TEMPLATE(BM_Padded, ErtsCounter, Inc)->Apply(threads);
BENCHMARK_TEMPLATE(BM_Padded, C11Counter, Inc)->Apply(threads);
BENCHMARK_TEMPLATE(BM_Padded, LibatomicOpsCounter, Inc)->Apply(threads);
BENCHMARK_TEMPLATE(BM_Padded, ErtsCounter, IncRead)->Apply(threads);
BENCHMARK_TEMPLATE(BM_Padded, C11Counter, IncRead)->Apply(threads);
BENCHMARK_TEMPLATE(BM_Padded, LibatomicOpsCounter, IncRead)->Apply(threads);

} // namespace
