"""Says which shell blocks of Markdown pages bash does not parse, as those that were wrapped like prose."""

import re
import subprocess
import textwrap

from pages import report


def unparsable(page):
    """The number of a page's shell blocks, and those that bash does not parse."""
    text = page.read_text()
    blocks = list(re.finditer(r"^ *```sh\n(.*?)^ *```", text, flags=re.M | re.S))
    wrong = []
    for block in blocks:
        said = subprocess.run(["bash", "-n"], input=textwrap.dedent(block[1]), capture_output=True, text=True, check=False)
        if said.returncode or said.stderr:
            first = text.count("\n", 0, block.start(1)) + 1
            wrong.append(f"{page}:{first}: {said.stderr.splitlines()[0]}")
    return len(blocks), wrong


report(unparsable, "blocks", "do not parse")
