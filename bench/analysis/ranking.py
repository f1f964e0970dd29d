#!/usr/bin/env python3
"""Checks which walk is faster than which: in the benchmarks, and alike in the VM.

Times differ from machine to machine and from the VM to its benchmarks; what is
faster than what does not, or the benchmarks explain nothing.
"""

import argparse
import sys

from results import ResultError, read_json, walks

# What can be compared between the benchmarks and the VM: a name, the benchmark's kernel and
# stride, the VM's variant and metric.
WALKS = {
    "stock, dense": (("plain", 16), ("stock", "length_dense")),
    "stock, hibernated": (("plain", 136), ("stock", "length_hibernated")),
    "prefetch, hibernated": (("prefetch 128", 136), ("prefetch", "length_hibernated")),
    "guess, hibernated": (("guess", 136), ("speculate", "length_hibernated")),
}

# (the faster, the slower). Guessing and prefetching are too close to each other to be ranked.
EXPECTED = [
    ("stock, dense", "prefetch, hibernated"),
    ("stock, dense", "guess, hibernated"),
    ("prefetch, hibernated", "stock, hibernated"),
    ("guess, hibernated", "stock, hibernated"),
]

# A value of this many words puts cells 136 bytes from each other.
VALUE_WORDS = 14


def benchmark_times(all_walks, cells):
    """Name => ns a cell, of the benchmarks at this size."""
    found = {(walk.kernel, walk.stride): walk.ns
             for walk in all_walks if walk.cells == cells and not walk.shuffled}
    return {name: found[key] for name, (key, _) in WALKS.items() if key in found}


def value(row):
    """What a row says of its arm: "value" since format 2 of a summary, before that "median"."""
    if "value" in row:
        return row["value"]
    return row["median"]


def vm_times(case):
    """Name => ns a cell, of a case of summary.json, as far as it has the variants."""
    try:
        found = {(row["label"], row["metric"]): value(row) for row in case["rows"]}
    except (KeyError, TypeError) as error:
        raise ResultError("this is no summary of './ertslab compare hibernate'.") from error
    return {name: found[key] / case["params"]["cells"]
            for name, (_, key) in WALKS.items() if isinstance(found.get(key), (int, float))}


def comparable(*times):
    return [pair for pair in EXPECTED if all(name in some for some in times for name in pair)]


def unexpected(times):
    """The expected pairs that these times do not show."""
    return [(fast, slow) for fast, slow in comparable(times) if times[fast] >= times[slow]]


def disagreements(benchmark, vm):
    """The pairs that benchmark and VM rank in opposite ways."""
    return [(a, b) for a, b in comparable(benchmark, vm)
            if (benchmark[a] < benchmark[b]) != (vm[a] < vm[b])]


def vm_cases(summary, sizes):
    """(benchmark size, case) where both have about the same number of cells."""
    try:
        return [(size, case) for size in sizes for case in summary["cases"]
                if case["params"]["value_words"] == VALUE_WORDS
                and abs(case["params"]["cells"] - size) <= size // 100]
    except (KeyError, TypeError) as error:
        raise ResultError("this is no summary of './ertslab compare hibernate'.") from error


def table(cells, who, times):
    ranked = sorted(times.items(), key=lambda item: item[1])
    return [f"{who}, {cells} cells, from the fastest, ns a cell:"] + \
        [f"  {name:<21} {ns:8.2f}" for name, ns in ranked]


def check_benchmarks(all_walks, cells):
    times = benchmark_times(all_walks, cells)
    if not comparable(times):
        raise ResultError(f"the benchmarks lack the walks of {cells} cells that are compared.")
    print("\n".join(table(cells, "benchmarks", times)))
    return [f"benchmarks, {cells} cells: '{fast}' is not faster than '{slow}'"
            for fast, slow in unexpected(times)]


def check_vm(all_walks, cells, case):
    vm, benchmark = vm_times(case), benchmark_times(all_walks, cells)
    if not comparable(benchmark, vm):
        raise ResultError("the comparison lacks the variants that are compared, stock and prefetch.")
    print("\n".join(table(case["params"]["cells"], "VM", vm)))
    return [f"{cells} cells: benchmarks and VM disagree on whether '{a}' is faster than '{b}'"
            for a, b in disagreements(benchmark, vm)]


def check_summary(document):
    """Refuses a summary that no result of the benchmarks could be compared with."""
    try:
        cases = [case for case in document["cases"]
                 if case["params"]["value_words"] == VALUE_WORDS and case["params"]["cells"] > 0]
    except (KeyError, TypeError) as error:
        raise ResultError("this is no summary of './ertslab compare hibernate'.") from error
    if not cases:
        raise ResultError(f"the comparison has no list of {VALUE_WORDS}-tuples (--param value_words={VALUE_WORDS}).")
    if not any(comparable(vm_times(case)) for case in cases):
        raise ResultError("the comparison lacks the variants that are compared, stock and prefetch.")


def check(results, summary):
    """What is wrong with the ranking, a line each; summary may be None."""
    found = walks(read_json(results))
    sizes = sorted({walk.cells for walk in found})
    wrong = check_benchmarks(found, max(sizes, default=0))
    cases = vm_cases(read_json(summary), sizes) if summary else []
    if summary and not cases:
        raise ResultError(f"{summary} has no list of {VALUE_WORDS}-tuples as long as the benchmarks'.")
    return wrong + [line for cells, case in cases for line in check_vm(found, cells, case)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs="?", help="the JSON file of list_walk_benchmark; without it, only the summary is judged")
    parser.add_argument("--vm", metavar="SUMMARY", help="summary.json of './ertslab compare hibernate'")
    options = parser.parse_args()
    if options.vm:
        check_summary(read_json(options.vm))
    if not options.results:
        return
    wrong = check(options.results, options.vm)
    if wrong:
        raise ResultError("; ".join(wrong) + ".")
    print("The ranking is as expected" + (", and the VM's is the same." if options.vm else "."))


if __name__ == "__main__":
    try:
        main()
    except ResultError as problem:
        sys.exit(f"ertslab bench-ranking: {problem}")
