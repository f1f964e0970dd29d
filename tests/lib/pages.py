"""Looks at Markdown pages, and says what is wrong in them."""

import pathlib
import sys


def report(look, things, fault):
    """Looks at the pages that the command line names. `look` gives how many such things a page has, and what is wrong with some."""
    found = [look(pathlib.Path(name)) for name in sys.argv[1:]]
    faults = [sentence for _, sentences in found for sentence in sentences]
    print("\n".join(faults))
    print(f"{sum(number for number, _ in found)} {things}, {len(faults)} {fault}")
    sys.exit(1 if faults else 0)
