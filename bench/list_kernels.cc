#include "list_kernels.h"

namespace {

inline Term cdr(Term list) { return *cdr_address(list); }

// A prefetch never faults, so the address may be anything.
inline void prefetch(Term address) { __builtin_prefetch(reinterpret_cast<const void *>(address)); }

// Makes the compiler forget what it knows about the value.
inline void hide(Term &value) { __asm__("" : "+r"(value)); }

} // namespace

std::size_t walk_plain(Term list) {
    std::size_t cells = 0;
    for (; is_list(list); list = cdr(list))
        cells++;
    return cells;
}

std::size_t walk_unrolled(Term list) {
    for (std::size_t cells = 0;; cells += 4) {
        if (!is_list(list))
            return cells;
        if (!is_list(list = cdr(list)))
            return cells + 1;
        if (!is_list(list = cdr(list)))
            return cells + 2;
        if (!is_list(list = cdr(list)))
            return cells + 3;
        list = cdr(list);
    }
}

std::size_t walk_prefetch(Term list, std::size_t distance) {
    std::size_t cells = 0;
    while (is_list(list)) {
        Term next = cdr(list);
        prefetch(reinterpret_cast<Term>(cdr_address(list)) + (next - list) * distance);
        list = next;
        cells++;
    }
    return cells;
}

// If the guess is right, nothing waits for the loaded CDR but a branch, which is predicted. For
// that the next round must start from the guess. It is hidden from the compiler, which would
// otherwise use the equal CDR in its place. A round continues only with a value that was compared,
// so no wrongly guessed address is read.
std::size_t walk_guess(Term list) {
    std::size_t cells = 0;
    Term stride = sizeof(Cell);
    while (is_list(list)) {
        Term next = cdr(list);
        Term guess = list + stride;
        Term taken = guess;
        hide(taken);
        if (__builtin_expect(next != guess, false)) {
            stride = next - list;
            taken = next;
            hide(taken);
        }
        list = taken;
        cells++;
    }
    return cells;
}
