#!/usr/bin/env python3
"""Draws the tables of docs/benchmarks.md that compare tril with a peer, as SVG pictures beside the page.

usage: draw_figures.py docs/benchmarks.md            writes the pictures that the page names, in docs/figures/
       draw_figures.py docs/benchmarks.md --check    writes nothing; exits with 1 where a picture is not as the page says

scripts/figures/page.py says what a table must look like. It needs nothing but Python, and gives the same bytes each time.
"""

import pathlib
import sys

from figures.bars import svg
from figures.page import PageError, charts_of


def main(arguments):
    pages = [a for a in arguments if a != "--check"]
    if len(pages) != 1 or pages[0].startswith("-"):
        print("usage: draw_figures.py docs/benchmarks.md [--check]", file=sys.stderr)
        return 2
    page = pathlib.Path(pages[0])
    try:
        pictures = {page.parent / chart.file: svg(chart) for chart in charts_of(page.read_text(encoding="utf-8"))}
    except PageError as error:
        print(f"{page}:{error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{page}: {error.strerror}", file=sys.stderr)
        return 1
    wrong = []
    for file in sorted((page.parent / "figures").glob("*.svg")):
        if file not in pictures:
            wrong.append(f"{file}: expected a table of {page} with this picture; found none: remove the file")
    for file, drawn in pictures.items():
        if "--check" not in arguments:
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(drawn.encode())
        elif not file.is_file():
            wrong.append(f"{file}: expected the picture of a table of {page}; found no file: run `make figures`")
        elif file.read_bytes() != drawn.encode():
            wrong.append(f"{file}: expected what the table of {page} gives; found another picture: run `make figures`")
    for text in wrong:
        print(text, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
