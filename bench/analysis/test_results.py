"""Tests of reading the benchmarks' results, and of what is drawn of them."""

import unittest

from plot import script
from results import ResultError, Walk, walks


def run(name, rate, bound, **more):
    return {"run_name": name, "run_type": "iteration", "cells_per_second": rate,
            "bound_cells_per_second": bound, **more}


DENSE = "BM_Plain/cells:1000/stride:16/shuffled:0"
SHUFFLED = "BM_Prefetch/cells:1000/stride:136/shuffled:1/distance:8"


class WalksTest(unittest.TestCase):
    def test_a_name_tells_kernel_and_layout(self):
        found = walks({"benchmarks": [run(DENSE, 5e8, 1e9), run(SHUFFLED, 1e8, 2e8)]})
        self.assertEqual(found, [Walk("plain", 1000, 16, False, 2.0, 1.0),
                                 Walk("prefetch 8", 1000, 136, True, 10.0, 5.0)])

    def test_of_repeated_runs_only_the_median_counts(self):
        repeated = [run(DENSE, 1e8, 1e9), run(DENSE, 9e8, 1e9)] + \
            [run(DENSE, rate, 1e9, run_type="aggregate", aggregate_name=name)
             for name, rate in (("mean", 3e8), ("median", 5e8), ("stddev", 1e7))]
        self.assertEqual([walk.ns for walk in walks({"benchmarks": repeated})], [2.0])

    def test_a_kernel_that_miscounted_is_an_error(self):
        failed = run(DENSE, 5e8, 1e9, error_occurred=True, error_message="counted 7 cells")
        with self.assertRaisesRegex(ResultError, "counted 7 cells"):
            walks({"benchmarks": [failed]})

    def test_other_files_are_an_error(self):
        for document in [], {}, None, {"benchmarks": [{"run_name": "BM_Other"}]}, {"benchmarks": [7]}:
            with self.subTest(document=document), self.assertRaises(ResultError):
                walks(document)


class ScriptTest(unittest.TestCase):
    FOUND = [Walk("plain", 1000, 16, False, 2.0, 1.0), Walk("guess", 1000, 16, False, 0.5, 0.25),
             Walk("plain", 1000, 136, True, 90.0, 80.0), Walk("plain", 30, 16, False, 7.0, 1.0)]

    def test_a_panel_for_each_layout_of_that_size(self):
        text = script(self.FOUND, 1000)
        self.assertIn('"plain" 2.0000 1.0000\n"guess" 0.5000 0.2500\n', text)
        self.assertIn("136 bytes from cell to cell, in random order", text)
        self.assertNotIn("7.0000", text)

    def test_a_size_that_was_not_measured_is_an_error(self):
        with self.assertRaises(ResultError):
            script(self.FOUND, 31)


if __name__ == "__main__":
    unittest.main()
