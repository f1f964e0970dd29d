// Three implementations of a counter. Each can be incremented, and incremented returning its new
// value, both with a full barrier, as by erts_atomic_inc_mb and erts_atomic_inc_read_mb.
#ifndef ERTSLAB_BENCH_ATOMIC_COUNTERS_H
#define ERTSLAB_BENCH_ATOMIC_COUNTERS_H

#include <atomic>
#include <atomic_ops.h>
#include <cstdint>

// The C11 model, whose operations have other names in C++.
class C11Counter {
  public:
    void inc() { value_.fetch_add(1); }
    std::int64_t inc_read() { return value_.fetch_add(1) + 1; }
    std::int64_t read() const { return value_.load(); }
    void reset() { value_.store(0); }

  private:
    std::atomic<std::int64_t> value_{0};
};

// The calls that ERTS makes if it is configured --with-libatomic_ops: see
// erts/include/internal/libatomic_ops/ethr_atomic.h. It has no increment that returns nothing, so
// ethread discards the value.
class LibatomicOpsCounter {
  public:
    void inc() { inc_read(); }
    std::int64_t inc_read() {
        return static_cast<std::int64_t>(AO_fetch_and_add1_full(&value_)) + 1;
    }
    std::int64_t read() const { return static_cast<std::int64_t>(AO_load_full(&value_)); }
    void reset() { AO_store_full(&value_, 0); }

  private:
    volatile AO_t value_ = 0;
};

// ERTS's own code: on x86-64 modelled on inc_mb and add_return_mb in
// erts/include/internal/i386/atomic.h, on other processors the compiler's builtins, as in
// erts/include/internal/gcc/ethr_atomic.h.
class ErtsCounter {
  public:
#ifdef __x86_64__
    void inc() { __asm__ volatile("lock; incq %0" : "+m"(value_) : : "cc", "memory"); }
    std::int64_t inc_read() {
        std::int64_t added = 1;
        __asm__ volatile("lock; xaddq %0, %1" : "+r"(added), "+m"(value_) : : "cc", "memory");
        return added + 1;
    }
#else
    void inc() { __atomic_add_fetch(&value_, 1, __ATOMIC_SEQ_CST); }
    std::int64_t inc_read() { return __atomic_add_fetch(&value_, 1, __ATOMIC_SEQ_CST); }
#endif
    std::int64_t read() const { return value_; }
    void reset() { value_ = 0; }

  private:
    volatile std::int64_t value_ = 0;
};

#endif
