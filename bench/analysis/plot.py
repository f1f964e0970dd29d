#!/usr/bin/env python3
"""Draws nanoseconds a cell, by kernel and layout, with the bound of each."""

import argparse
import subprocess
import sys

from results import ResultError, read_json, walks

HEADER = """set terminal svg size 1000,760 font 'sans,13' background '#ffffff'
set style fill solid noborder
set boxwidth 0.8
set grid ytics
set border 3
set tics nomirror
set xtics rotate by 60 right
set ylabel 'ns a cell'
set yrange [0:*]
set offsets 0, 0, graph 0.25, 0
set key top right horizontal
set multiplot layout 2,2 title "Walking a list of {cells} cells"
"""

PANEL = """$panel{index} << EOD
{rows}
EOD
set title "{title}"
plot $panel{index} using 0:2:xtic(1) with boxes lc rgb '#1b6ca8' title 'measured', \\
     $panel{index} using ($0-0.4):3:(0.8):(0) with vectors nohead lw 3 lc rgb '#d9822b' title 'bound'
"""


def title(stride, shuffled):
    return f"{stride} bytes from cell to cell{', in random order' if shuffled else ''}"


def panel(index, layout, layout_walks):
    rows = "\n".join(f'"{walk.kernel}" {walk.ns:.4f} {walk.bound_ns:.4f}' for walk in layout_walks)
    return PANEL.format(index=index, rows=rows, title=title(*layout))


def script(all_walks, cells):
    """The gnuplot script: a panel a layout, a bar a kernel."""
    layouts = {}
    for walk in all_walks:
        if walk.cells == cells:
            layouts.setdefault((walk.stride, walk.shuffled), []).append(walk)
    if not layouts:
        raise ResultError(f"there is no walk of {cells} cells.")
    panels = [panel(index, *item) for index, item in enumerate(layouts.items())]
    return HEADER.format(cells=cells) + "".join(panels) + "unset multiplot\n"


def draw(gnuplot_script):
    """The SVG that gnuplot makes of a script."""
    try:
        done = subprocess.run(["gnuplot"], input=gnuplot_script, text=True, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise ResultError("gnuplot is missing; './build.sh deps' installs it.") from error
    if done.returncode != 0:
        raise ResultError(f"gnuplot failed: {' '.join(done.stderr.split())}")
    return done.stdout


def write(path, text):
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ResultError(f"cannot write {path}: {error.strerror}.") from error


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", help="the JSON file of list_walk_benchmark")
    parser.add_argument("--svg", required=True, help="the picture to write")
    parser.add_argument("--cells", type=int, help="the size of list to draw; the largest by default")
    options = parser.parse_args()
    found = walks(read_json(options.results))
    cells = options.cells or max((walk.cells for walk in found), default=0)
    write(options.svg, draw(script(found, cells)))


if __name__ == "__main__":
    try:
        main()
    except ResultError as problem:
        sys.exit(f"ertslab bench-plot: {problem}")
