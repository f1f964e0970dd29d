"""The settings of Sphinx for './build.sh site'.

The navigation is no list of its own: it comes from the links of the index of all pages, doc/README.md.
"""

import re
from pathlib import Path

project = "ertslab"
extensions = ["myst_parser"]
root_doc = "README"
exclude_patterns = ["**/CHANGELOG.md"]
myst_heading_anchors = 6  # the anchors that GitHub makes
suppress_warnings = ["misc.highlighting_failure"]  # a shell's prompt within Erlang
html_theme = "furo"
html_title = "ertslab"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_static_path = ["static"]
html_css_files = ["site.css"]

# The pages whose links to other pages are their chapters.
CHAPTERS = ["doc/results/README", "otp_patches/README"]


def links(text):
    """The text and the path of each link to a page."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return [(name.replace("`", ""), path) for name, path in re.findall(r"\[([^\]]+)\]\(([^)#:\s]+)\.md[^)]*\)", text)]


class Navigation:
    """Which page stands where. The first link to a page gives its place and its name."""

    def __init__(self, source):
        self.source = source.resolve()
        self.placed = {"README"}
        index = self.text("doc/README")
        self.sections = [("", self.chapters("", "[All pages](doc/README.md)"))]
        for section in re.split(r"^## ", index, flags=re.M)[1:]:
            title, _, text = section.partition("\n")
            self.sections.append((title.strip(), self.chapters("doc", text)))
        self.sections[-1][1].extend(self.chapters("", "[How to begin](CONTRIBUTING.md)"))
        self.below = {page: self.chapters(str(Path(page).parent), self.text(page)) for page in CHAPTERS}

    def text(self, page):
        """What a page says."""
        return (self.source / f"{page}.md").read_text()

    def chapters(self, folder, text):
        """The pages that a text links to and that have no place yet."""
        found = []
        for name, path in links(text):
            page = str((self.source / folder / path).resolve().relative_to(self.source))
            if page not in self.placed:
                self.placed.add(page)
                found.append((name, page))
        return found


def tree(entries, *options):
    """A table of contents in Markdown."""
    return "\n\n" + "\n".join(["```{toctree}", *options, "", *entries, "```"]) + "\n"


def named(entries):
    """Entries with the names that they have in the navigation."""
    return [f"{name} </{page}>" for name, page in entries]


def add_contents(app, page, text):
    """Adds to a page the tables of what stands below it."""
    navigation = app.ertslab_navigation
    if page == "README":
        text[0] += "".join(tree(named(entries), ":hidden:", *([f":caption: {title}"] if title else []))
                           for title, entries in navigation.sections if entries)
    elif page in navigation.below:
        text[0] += tree(named(navigation.below[page]), ":hidden:")
    library = re.fullmatch(r"erl_src/(\w+)/README", page)
    if library:
        modules = sorted((Path(app.srcdir) / "reference" / library[1]).glob("*.md"), key=lambda file: (file.stem == "internal", file.stem))
        text[0] += "\n\n## The modules\n" + tree([f"/reference/{library[1]}/{file.stem}" for file in modules], ":maxdepth: 1")


def begin(app):
    """Reads the index before the pages."""
    app.ertslab_navigation = Navigation(Path(app.srcdir))


def add_index(app, failed):
    """The first page also has the name that a browser looks for in a folder."""
    if not failed:
        (Path(app.outdir) / "index.html").write_text((Path(app.outdir) / "README.html").read_text())


def setup(app):
    """Called by Sphinx."""
    app.connect("builder-inited", begin)
    app.connect("source-read", lambda app, page, text: add_contents(app, page, text))
    app.connect("build-finished", add_index)
