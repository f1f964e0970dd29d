// A heap with one list on it, in the same layout as in the VM.
#ifndef ERTSLAB_BENCH_LIST_HEAP_H
#define ERTSLAB_BENCH_LIST_HEAP_H

#include <cstddef>
#include <cstdint>
#include <memory>

// Terms, tags and NIL are those of OTP's erts/emulator/beam/erl_term.h.
using Term = std::uint64_t;

constexpr Term kTagMask = 0x3;
constexpr Term kTagList = 0x1;
constexpr Term kNil = 0x3B;
constexpr std::size_t kCacheLine = 64;

// A cons cell: two words, and no header.
struct Cell {
    Term car;
    Term cdr;
};
static_assert(sizeof(Cell) == 16, "a cons cell is two words of eight bytes");

inline bool is_list(Term term) { return (term & kTagMask) == kTagList; }

inline const Term *cdr_address(Term list) {
    return &reinterpret_cast<const Cell *>(list - kTagList)->cdr;
}

// The distance between cells in bytes. A shuffled list has the same cells in the same places,
// linked in random order.
struct Layout {
    std::size_t cells;
    std::size_t stride;
    bool shuffled;
};

inline bool operator==(const Layout &a, const Layout &b) {
    return a.cells == b.cells && a.stride == b.stride && a.shuffled == b.shuffled;
}

class ListHeap {
  public:
    explicit ListHeap(const Layout &layout);

    const Layout &layout() const { return layout_; }
    Term list() const { return list_; }

    // The bytes that a walk moves: a whole cache line for each line with a CDR.
    std::size_t bytes_touched() const;

  private:
    void link_in_order();
    void link_shuffled();
    void push(std::size_t slot);

    struct Free {
        void operator()(void *memory) const;
    };

    Layout layout_;
    std::unique_ptr<char, Free> memory_;
    Term list_ = kNil;
};

#endif
