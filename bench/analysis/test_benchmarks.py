"""Runs each kernel and counter once, briefly: what they count is tested, not how fast."""

import json
import pathlib
import subprocess
import unittest

BUILT = pathlib.Path(__file__).resolve().parents[2] / "build" / "bench"


def run(program, pattern):
    done = subprocess.run([BUILT / program, f"--benchmark_filter={pattern}", "--benchmark_min_time=0.0001",
                           "--benchmark_format=json"], text=True, capture_output=True, check=True)
    return json.loads(done.stdout)["benchmarks"]


@unittest.skipUnless(BUILT.is_dir(), "nothing is built; run bench/build")
class BenchmarksTest(unittest.TestCase):
    def check(self, program, pattern, expected):
        found = run(program, pattern)
        self.assertEqual([each["name"] for each in found if each.get("error_occurred")], [])
        self.assertEqual(len(found), expected)

    def test_every_kernel_counts_the_cells_of_every_layout(self):
        self.check("list_walk_benchmark", "cells:(1000|30000)/", 2 * 4 * 13)

    def test_no_counter_loses_increments(self):
        self.check("atomic_counter_benchmark", ".", 24)


if __name__ == "__main__":
    unittest.main()
