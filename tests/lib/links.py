"""Says which links of Markdown files lead nowhere: to no file of the repository, or to no heading of it."""

import pathlib
import re
import sys


def anchors(page):
    """The names of a page's headings, as they are made on GitHub."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    headings = re.findall(r"^#+ +(.*?) *$", text, flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(page):
    """The number of links of a page within the repository, and those that lead nowhere."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"[a-z]+:", link)]
    wrong = []
    for link in links:
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            wrong.append(f"{page}: {link}")
    return len(links), wrong


def main():
    """Looks at the files that are named."""
    found = [broken(pathlib.Path(name)) for name in sys.argv[1:]]
    wrong = [sentence for _, sentences in found for sentence in sentences]
    print("\n".join(wrong))
    print(f"{sum(number for number, _ in found)} links, {len(wrong)} lead nowhere")
    sys.exit(1 if wrong else 0)


main()
