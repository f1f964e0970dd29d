#include "list_heap.h"

#include <cstddef>
#include <cstdlib>
#include <new>

#include "random_order.h"

namespace {

// The values of a list take space between its cells, but a walk never reads them, so a small
// integer represents each.
constexpr Term kSmallZero = 0xF;

char *cache_line_aligned(std::size_t bytes) {
    std::size_t whole_lines = (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
    void *memory = std::aligned_alloc(kCacheLine, whole_lines);
    if (memory == nullptr)
        throw std::bad_alloc();
    return static_cast<char *>(memory);
}

} // namespace

void ListHeap::Free::operator()(void *memory) const { std::free(memory); }

ListHeap::ListHeap(const Layout &layout)
    : layout_(layout), memory_(cache_line_aligned(layout.cells * layout.stride)) {
    if (layout_.shuffled)
        link_shuffled();
    else
        link_in_order();
}

void ListHeap::link_in_order() {
    for (std::size_t slot = layout_.cells; slot-- > 0;)
        push(slot);
}

void ListHeap::link_shuffled() {
    for (std::size_t slot : random_order(layout_.cells))
        push(slot);
}

void ListHeap::push(std::size_t slot) {
    Cell *cell = new (memory_.get() + slot * layout_.stride) Cell{kSmallZero, list_};
    list_ = reinterpret_cast<Term>(cell) + kTagList;
}

std::size_t ListHeap::bytes_touched() const {
    std::size_t lines = 0, previous = SIZE_MAX;
    for (std::size_t slot = 0; slot < layout_.cells; slot++) {
        std::size_t line = (slot * layout_.stride + offsetof(Cell, cdr)) / kCacheLine;
        lines += line != previous;
        previous = line;
    }
    return lines * kCacheLine;
}
