"""Tests of the comparison of rankings, on fixed times: nothing is measured here."""

import unittest

from ranking import benchmark_times, check_benchmarks, check_summary, disagreements, unexpected, vm_cases, vm_times
from results import ResultError, Walk

CELLS = 3_000_000
NS = {("plain", 16): 3.0, ("plain", 136): 20.0, ("prefetch 128", 136): 6.5, ("guess", 136): 7.0}
WALKS = [Walk(kernel, CELLS, stride, False, ns, 1.0) for (kernel, stride), ns in NS.items()]
OTHERS = [Walk("plain", CELLS, 136, True, 200.0, 1.0), Walk("plain", 1000, 16, False, 1.7, 1.0)]


def case(dense, hibernated, prefetched, cells=CELLS + 1, value_words=14, key="value"):
    medians = [("stock", "length_dense", dense), ("stock", "length_hibernated", hibernated),
               ("prefetch", "length_hibernated", prefetched), ("prefetch", "length_dense", "none")]
    return {"params": {"cells": cells, "value_words": value_words, "prefetch_distance": -1},
            "rows": [{"label": label, "metric": metric,
                      key: "none" if median == "none" else median * cells}
                     for label, metric, median in medians]}


class RankingTest(unittest.TestCase):
    def setUp(self):
        self.benchmark = benchmark_times(WALKS + OTHERS, CELLS)

    def test_times_are_of_that_size_and_in_order(self):
        self.assertEqual(self.benchmark, {"stock, dense": 3.0, "stock, hibernated": 20.0,
                                          "prefetch, hibernated": 6.5, "guess, hibernated": 7.0})

    def test_the_expected_ranking(self):
        self.assertEqual(unexpected(self.benchmark), [])

    def test_a_kernel_that_gains_nothing_is_named(self):
        self.assertEqual(unexpected({**self.benchmark, "guess, hibernated": 20.0}),
                         [("guess, hibernated", "stock, hibernated")])

    def test_a_vm_that_ranks_alike_agrees_whatever_its_times(self):
        vm = vm_times(case(dense=10.0, hibernated=900.0, prefetched=850.0))
        self.assertEqual(disagreements(self.benchmark, vm), [])

    def test_a_summary_of_an_older_format_is_read(self):
        self.assertEqual(vm_times(case(3.0, 20.0, 6.5, key="median")), vm_times(case(3.0, 20.0, 6.5)))

    def test_rows_without_a_value_are_an_error(self):
        with self.assertRaises(ResultError):
            vm_times(case(3.0, 20.0, 6.5, key="floor"))

    def test_a_vm_that_ranks_otherwise_disagrees(self):
        vm = vm_times(case(dense=3.0, hibernated=20.0, prefetched=21.0))
        self.assertEqual(disagreements(self.benchmark, vm), [("prefetch, hibernated", "stock, hibernated")])

    def test_only_cases_of_the_same_layout_and_size_are_compared(self):
        same = case(3.0, 20.0, 6.5)
        cases = [same, case(3.0, 20.0, 6.5, cells=300_001), case(3.0, 20.0, 6.5, value_words=3)]
        self.assertEqual(vm_cases({"cases": cases}, [1000, CELLS]), [(CELLS, same)])

    def test_no_summary_is_an_error(self):
        for document in [], {}, {"cases": [{}]}:
            with self.subTest(document=document), self.assertRaises(ResultError):
                vm_cases(document, [CELLS])

    def test_a_summary_is_judged_before_the_benchmarks_run(self):
        check_summary({"cases": [case(3.0, 20.0, 6.5)]})
        other = case(3.0, 20.0, 6.5)
        other["rows"] = [row for row in other["rows"] if row["label"] == "stock"][:1]
        for cases in [], [case(3.0, 20.0, 6.5, value_words=3)], [other], [{}], [case(3.0, 20.0, 6.5, key="floor")]:
            with self.subTest(cases=cases), self.assertRaises(ResultError):
                check_summary({"cases": cases})

    def test_a_partial_run_is_an_error(self):
        with self.assertRaises(ResultError):
            check_benchmarks(OTHERS, CELLS)


if __name__ == "__main__":
    unittest.main()
