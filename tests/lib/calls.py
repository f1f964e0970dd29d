"""Says which calls on Markdown pages name a command or an option that ./ertslab or ./build.sh does not have."""

import functools
import re
import shlex
import subprocess

from pages import report

END = re.compile(r"^(&&|\|\||[|;&<>]|[<>].*|--)$")


@functools.lru_cache(None)
def help_of(program, *words):
    """What the program says of a command, or of all."""
    return subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=False).stdout


def calls(page):
    """The calls in the shell blocks and in the code spans of a page, without what the shell or another VM takes."""
    text = page.read_text().replace("\\\n", " ")
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```", text, flags=re.M | re.S)
    lines = [part for block in blocks for line in block.splitlines() for part in re.split(r" && |; ", line)]
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S))
    for line in [line.strip() for line in lines] + spans:
        if re.match(r"(\./ertslab|dist/ertslab|~/ertslab/ertslab|\./build\.sh) [a-z]", line):
            try:
                words = shlex.split(line.replace("\\|", "|"), comments=True)
            except ValueError:  # an expression that goes on in the next line
                words = line.split("'")[0].split()
            end = next((n for n, word in enumerate(words) if END.match(word)), len(words))
            yield words[0], words[1:end]


def wrong(page):
    """The calls of a page, and those that are wrong."""
    found = list(calls(page))
    faults = []
    for program, words in found:
        program = "./build.sh" if program.endswith("build.sh") else "./ertslab"
        verb, options = words[0].rstrip("`"), [word.split("=")[0] for word in words[1:] if re.match(r"--[a-z]", word)]
        if not re.search(rf"^  {re.escape(verb)}(\s|$)", help_of(program), flags=re.M):
            faults.append(f"{page}: {program} has no '{verb}'")
            continue
        text = help_of(program, verb)
        faults += [f"{page}: {program} {verb} has no {option}" for option in options
                   if option != "--help" and not re.search(rf"(?<![a-z-]){option}(?![a-z-])", text)]
    return len(found), faults


report(wrong, "calls", "wrong")
