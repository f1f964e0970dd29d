"""Reads what Google Benchmark wrote of list_walk_benchmark."""

import json
from typing import NamedTuple


class ResultError(Exception):
    """One sentence that says what is wrong with a file of results."""


class Walk(NamedTuple):
    kernel: str  # plain, unrolled, guess, or prefetch and its distance
    cells: int
    stride: int
    shuffled: bool
    ns: float  # for one cell
    bound_ns: float


def read_json(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except OSError as error:
        raise ResultError(f"cannot read {path}: {error.strerror}.") from error
    except ValueError as error:
        raise ResultError(f"{path} is no complete JSON file.") from error


def walks(document):
    """The walks of a parsed file: medians where benchmarks were repeated."""
    try:
        runs = document["benchmarks"]
        failed = [run for run in runs if run.get("error_occurred")]
        if failed:
            raise ResultError(f"{failed[0]['run_name']} failed: {failed[0]['error_message']}.")
        repeated = any(run["run_type"] == "aggregate" for run in runs)
        return [walk(run) for run in runs if wanted(run, repeated)]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ResultError("this is no result of list_walk_benchmark.") from error


def wanted(run, repeated):
    return run.get("aggregate_name") == "median" if repeated else run["run_type"] == "iteration"


def walk(run):
    """From a run named like BM_Prefetch/cells:1000/stride:16/shuffled:0/distance:8."""
    name, *arguments = run["run_name"].split("/")
    argument = dict(pair.split(":") for pair in arguments)
    kernel = " ".join([name.removeprefix("BM_").lower(), argument.get("distance", "")]).strip()
    return Walk(kernel, int(argument["cells"]), int(argument["stride"]), argument["shuffled"] == "1",
                1e9 / run["cells_per_second"], 1e9 / run["bound_cells_per_second"])
