"""Says which rows of Markdown tables have another number of cells than their header, as by a bar that is not escaped."""

import re

from pages import report


def uneven(page):
    """The number of rows of a page's tables, and those that do not fit their header."""
    text = re.sub(r"^ *```.*?^ *```", lambda block: "\n" * block[0].count("\n"), page.read_text(), flags=re.M | re.S)
    rows, wrong, cells = 0, [], None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("|"):
            cells = None
            continue
        rows += 1
        found = len(re.findall(r"(?<!\\)\|", line)) - 1
        cells = cells or found
        if found != cells:
            wrong.append(f"{page}:{number}: {found} cells, and the header has {cells}")
    return rows, wrong


report(uneven, "rows", "do not fit")
