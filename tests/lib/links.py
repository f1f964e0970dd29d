"""Says which links of Markdown files lead nowhere: to no file of the repository, or to no heading of it."""

import re

from pages import report


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


report(broken, "links", "lead nowhere")
