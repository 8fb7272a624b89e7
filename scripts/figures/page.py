"""The tables of a page that compare tril with a peer, as charts of bars.

What a table must look like to be drawn:

- A column `ratio` stands right of the peer's column, and this right of tril's: `tril | llama.cpp | ratio`. A table may have
  several such groups.
- If a row has several figures, the header of tril's column names them, and " / " separates names and figures:
  `tril: greedy / beam 4`, `80,404 / 21,055`. A name alone (`tril: tokens per second`) says what is measured.
- A cell has one number for each name; words beside it, such as the peer's name, are drawn too. All cells of a group may be empty.
- A ratio is tril's figure divided by the peer's: the script computes it again, and refuses one that is wrong.
- The columns left of the figures say what a row is. A column `machine` says where it was measured. Without one, the text between
  the heading and the table does: the paragraph that is nearest above and names a machine.
- A machine is known by its kind, which is a name in the first column of the page's table of machines. So "another Xeon with AMX"
  is of the kind "Xeon with AMX". A kind has a colour by its place in that table. Each different cell of a column `machine` is a
  group of bars.
- The picture's line follows the table: ![what it shows](figures/NAME.svg)
"""

import re
from fractions import Fraction
from typing import NamedTuple

NUMBER = re.compile(r"(?<![\w.,-])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?!\w|[.,]\d)")  # a word, such as bf16, has none
PICTURE = re.compile(r"!\[([^\]]*)\]\((figures/[a-z0-9-]+\.svg)\)")


class PageError(Exception):
    """What is wrong with the page. The text begins with the line's number."""


class Row(NamedTuple):
    line: int  # of the page, from 1
    cells: list


class Table(NamedTuple):
    heading: str
    above: list  # the section's paragraphs before the table, each one text
    line: int
    header: list
    rows: list
    picture: str  # the line that follows the table, or ""


class Bar(NamedTuple):
    name: str  # which of a row's figures this is; "" if there is one
    ratio: str  # as on the page
    tril: str
    peer: str


class Work(NamedTuple):
    """A row of a table: a label and its bars."""

    label: str
    bars: list


class Group(NamedTuple):
    machine: str  # as on the page
    kind: int  # a place in the table of machines
    works: list


class Chart(NamedTuple):
    line: int
    file: str  # relative to the page
    title: str
    groups: list
    names_machines: bool  # whether groups need a heading


def cells_of(line):
    return [c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def plain(text):
    """Markdown's marks removed: code, bold, and links, of which the text stays."""
    return re.sub(r"[`*]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)).strip()


def read_tables(lines):
    """All tables of a page, with what stands around them."""
    tables, heading, above, fenced, at = [], "", [""], False, 0
    while at < len(lines):
        line = lines[at]
        if line.lstrip().startswith("```"):
            fenced = not fenced
            above.append("")
        elif fenced:
            pass
        elif line.startswith("#"):
            heading, above = plain(line.lstrip("#")), [""]
        elif line.startswith("|"):
            begin = at
            while at < len(lines) and lines[at].startswith("|"):
                at += 1
            following = next((text for text in lines[at:] if text.strip()), "")
            rows = [Row(begin + 1 + i, cells_of(text)) for i, text in enumerate(lines[begin:at])]
            has_rule = len(rows) > 1 and all(re.fullmatch(r":?-+:?", c) for c in rows[1].cells)
            tables.append(Table(heading, list(above), begin + 1, rows[0].cells, rows[2:] if has_rule else [], following))
            continue
        elif line.strip() and not PICTURE.fullmatch(line.strip()):
            above[-1] += " " + plain(line)
        else:
            above.append("")
        at += 1
    return tables


def kinds_of(tables):
    """The names in the table of machines, in its order."""
    for table in tables:
        if table.header[:1] == ["machine"] and "ratio" not in table.header and table.rows:
            return [plain(row.cells[0]) for row in table.rows]
    raise PageError('1: expected a table of machines, whose first column is "machine"; found none')


def kinds_in(text, kinds):
    """The places of all kinds that a text names. "Zen 4" is not in "Zen 40", nor the shorter of two names in the longer."""
    longest_first = sorted(kinds, key=len, reverse=True)
    pattern = "|".join(rf"(?<!\w){re.escape(kind)}(?!\w)" for kind in longest_first)
    return sorted({kinds.index(name) for name in re.findall(pattern, text)})


def figures_of(row, column, header, names):
    """The parts of a cell, one for each name, each a text with exactly one number outside of parentheses."""
    cell = plain(row.cells[column])
    parts = cell.split(" / ")
    if len(parts) != len(names) or any(len(numbers_in(part)) != 1 for part in parts):
        wanted = "one number" if len(names) == 1 else f'{len(names)} numbers with " / " between ({" / ".join(names)})'
        raise PageError(
            f'{row.line}: column "{header}": expected {wanted}; found "{cell}". Give each further figure a row of its own'
        )
    return parts


def numbers_in(text):
    return NUMBER.findall(re.sub(r"\([^)]*\)", "", text))


def bounds(text):
    """The least and the greatest number that is rounded to the one in a text."""
    number = numbers_in(text)[0].replace(",", "")
    half = Fraction(1, 2 * 10 ** len(number.partition(".")[2]))
    return Fraction(number) - half, Fraction(number) + half


def check_ratio(row, bar):
    """A ratio must follow from its two figures, of which each may be rounded."""
    tril, peer, ratio = (bounds(text) for text in (bar.tril, bar.peer, bar.ratio))
    if min(tril[0], peer[0], ratio[0]) < 0:
        raise PageError(f'{row.line}: expected figures above 0; found "{bar.tril}", "{bar.peer}", "{bar.ratio}"')
    least, greatest = tril[0] / peer[1], tril[1] / peer[0]
    if ratio[1] < least or ratio[0] > greatest:
        raise PageError(
            f'{row.line}: column "ratio": expected "{bar.tril}" divided by "{bar.peer}", {float(least):.4g} to '
            f"{float(greatest):.4g}; found {bar.ratio}"
        )


def ratio_columns(table):
    """Where a table has ratios: [(column of the ratio, names of its figures)]; none if it compares nothing."""
    found = []
    for column, header in enumerate(table.header):
        if header != "ratio" and header.partition(":")[0].strip().lower() in ("ratio", "ratios"):
            raise PageError(f'{table.line}: expected the header "ratio"; found "{header}". Name figures in tril\'s column')
        if header != "ratio":
            continue
        ours, _, names = (table.header[column - 2] if column >= 2 else "").partition(":")
        if ours.strip() != "tril":
            raise PageError(
                f'{table.line}: expected the columns "tril" or "tril: NAME / NAME", the peer\'s, and "ratio", in this order; '
                f'found "{" | ".join(table.header)}"'
            )
        found.append((column, [name.strip() for name in names.split(" / ")]))
    return found


def bars_of(table, row, columns):
    bars = []
    for column, names in columns:
        if not any(row.cells[column - 2 : column + 1]):
            continue
        parts = [figures_of(row, c, table.header[c], names) for c in range(column - 2, column + 1)]
        for name, tril, peer, ratio in zip(names, *parts):
            if not NUMBER.fullmatch(ratio):
                raise PageError(f'{row.line}: column "ratio": expected a number alone; found "{ratio}"')
            check_ratio(row, Bar(name, ratio, tril, peer))
            bars.append(Bar(name, ratio, tril, peer))
    if not bars:
        raise PageError(f'{row.line}: expected figures in the columns "tril", the peer\'s and "ratio"; found none')
    return bars


def label_of(table, row, first):
    """What a row is: its cells left of the figures. One that begins with a number gets its column's name."""
    said = []
    for header, cell in zip(table.header[:first], row.cells):
        if header != "machine" and cell:
            said.append(f"{header}: {plain(cell)}" if cell[0].isdigit() else plain(cell))
    return ", ".join(said)


def one_kind(text, kinds, line):
    found = kinds_in(text, kinds)
    if len(found) != 1:
        raise PageError(
            f'{line}: column "machine": expected a text with one name of the table of machines ({", ".join(kinds)}); found "{text}"'
        )
    return found[0]


def kind_above(table, kinds):
    """The kind of machine that the nearest paragraph above a table names."""
    for paragraph in reversed(table.above):
        found = kinds_in(paragraph, kinds)
        if len(found) == 1:
            return found[0]
        if found:
            raise PageError(
                f'{table.line}: the paragraph above names {", ".join(kinds[k] for k in found)}: expected one of them, or a column '
                f'"machine" in the table'
            )
    raise PageError(
        f'{table.line}: expected a column "machine", or the name of a machine in the text between the heading and the table; found '
        f'neither. The names: {", ".join(kinds)}'
    )


def title_of(table, columns, kind):
    """What is compared: with the machine, if one holds for the whole table, and the unit, if there is one."""
    peers = list(dict.fromkeys(table.header[column - 1] for column, _ in columns))
    names = [name for _, names in columns for name in names]
    unit = f", {names[0]}" if len(names) == 1 and names[0] else ""
    return f"{table.heading}, by {table.header[0]}: tril beside {', '.join(peers)}{unit}" + (f" ({kind})" if kind else "")


def chart_of(table, columns, kinds):
    picture = PICTURE.fullmatch(table.picture.strip())
    if not picture or not picture[1].strip():
        raise PageError(
            f"{table.rows[-1].line if table.rows else table.line}: expected the table's picture below it, as "
            f'![what it shows](figures/NAME.svg); found "{table.picture}"'
        )
    if not table.rows:
        raise PageError(f"{table.line}: expected a line |---| and rows below the table's header; found none")
    where = table.header.index("machine") if "machine" in table.header else None
    above = kind_above(table, kinds) if where is None else None
    first = columns[0][0] - 2
    groups = {}
    for row in table.rows:
        if len(row.cells) != len(table.header):
            raise PageError(f"{row.line}: expected {len(table.header)} cells, as the table's header has; found {len(row.cells)}")
        machine = kinds[above] if where is None else plain(row.cells[where])
        kind = above if where is None else one_kind(machine, kinds, row.line)
        group = groups.setdefault(machine, Group(machine, kind, []))
        group.works.append(Work(label_of(table, row, first), bars_of(table, row, columns)))
    named = sum(len(names) for _, names in columns) > 1
    if not named:  # the title says the only name
        for group in groups.values():
            group.works[:] = [Work(w.label, [b._replace(name="") for b in w.bars]) for w in group.works]
    in_order = sorted(groups.values(), key=lambda g: g.kind)  # stable: machines of a kind stay as on the page
    title = title_of(table, columns, kinds[above] if where is None else "")
    return Chart(table.line, picture[2], title, in_order, where is not None)


def charts_of(text):
    """The charts of a page, in its order."""
    tables = read_tables(text.splitlines())
    drawn = [(table, ratio_columns(table)) for table in tables]
    drawn = [(table, columns) for table, columns in drawn if columns]
    if not drawn:
        raise PageError('1: expected a table with a column "ratio"; found none')
    kinds, charts = kinds_of(tables), []
    for table, columns in drawn:
        charts.append(chart_of(table, columns, kinds))
        if charts[-1].file in [c.file for c in charts[:-1]]:
            raise PageError(f"{table.line}: expected a picture of the table's own; {charts[-1].file} is that of a table above")
    return charts
