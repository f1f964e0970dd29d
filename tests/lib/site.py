"""Says which links of a site's HTML pages lead nowhere: to no file of the site, or to no place in it."""

import functools
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pages import report


class Page(HTMLParser):
    """What a page links to or loads, and the names of its places."""

    def __init__(self, file):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(file.read_text())

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src"):
                self.links.append(value)
            elif name == "id":
                self.places.add(value)


read = functools.lru_cache(None)(Page)


def broken(page):
    """The number of a page's links within the site, and those that lead nowhere."""
    links = [link for link in map(urlsplit, read(page.resolve()).links) if not link.scheme and not link.netloc]
    wrong = []
    for link in links:
        target = (page.parent / unquote(link.path)).resolve() if link.path else page.resolve()
        if not target.is_file() or (link.fragment and target.suffix == ".html" and unquote(link.fragment) not in read(target).places):
            wrong.append(f"{page}: {link.geturl()}")
    return len(links), wrong


report(broken, "links", "lead nowhere")
