"""A chart as an SVG picture: horizontal bars, a line at 1, and the figures beside the bars.

Texts are placed by the widths of a wide font, so that they do not overlap in others. The colours follow the reader's choice of
light or dark, and the picture has a background of its own.
"""

from fractions import Fraction
from typing import NamedTuple
from xml.sax.saxutils import escape

from .page import PageError

WIDTH, MARGIN, GAP = 760, 12, 6
TEXT, SMALL = 12, 11  # font sizes
BAR, PITCH, LEADING = 12, 16, 15  # heights of a bar, of it with the space below, and of a line of text
LABELS = 280  # the greatest width of the column of labels
LIGHT = {"back": "#ffffff", "text": "#1f2328", "faint": "#59636e"}
DARK = {"back": "#151b23", "text": "#f0f6fc", "faint": "#9ea7b3"}
# The kinds' colours, on light and on dark.
COLOURS = (
    ("#1668b4", "#58a6ff"),
    ("#b35900", "#e8a33d"),
    ("#0f7b5f", "#3fb98f"),
    ("#9a3b8f", "#d98fd0"),
    ("#b3282d", "#ff8b85"),
    ("#5d6772", "#a5b0bc"),
)
# Widths of DejaVu Sans, one of the wider fonts that "sans-serif" may be, in hundredths of the font size.
WIDE = {**dict.fromkeys("ijl.,:;|' I", 34), **dict.fromkeys("ft/()[]-r", 42), **dict.fromkeys("mwMW%+=<>~^#@&", 100)}


def text_width(text, size):
    """The most that a text may take."""
    return sum(WIDE.get(c, 79 if c.isupper() else 64 if c.isascii() else 100) for c in text) * size / 100


def wrapped(text, size, width):
    """Lines of a text that fit a width. Only a word that is too long by itself is broken."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if text_width(longer, size) <= width:
            lines[-1] = longer
            continue
        lines += [word] if lines[-1] else []
        lines[-1] = word
        while text_width(lines[-1], size) > width and len(lines[-1]) > 1:
            fits = max(n for n in range(1, len(lines[-1])) if n == 1 or text_width(lines[-1][:n], size) <= width)
            lines[-1:] = [lines[-1][:fits], lines[-1][fits:]]
    return lines


def style(kinds):
    def rules(colours, which):
        bars = "".join(f" .k{k} {{ fill: {COLOURS[k % len(COLOURS)][which]} }}" for k in kinds)
        return (
            f".back {{ fill: {colours['back']} }} text {{ fill: {colours['text']} }} .faint {{ fill: {colours['faint']} }} "
            f".zero {{ stroke: {colours['faint']} }} .one {{ stroke: {colours['text']}; stroke-width: 1.5 }} "
            f".gap {{ stroke: {colours['back']}; stroke-width: 4.5 }}{bars}"
        )

    return f"<style>\n{rules(LIGHT, 0)}\n@media (prefers-color-scheme: dark) {{ {rules(DARK, 1)} }}\n</style>"


def write(x, y, text, extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}"{extra}>{escape(text)}</text>'


def figures_beside(bar):
    return f"{bar.tril} : {bar.peer}"


def width_beside(bar):
    """Of what stands right of a bar. The ratio is bold, and bold text is wider."""
    return GAP + 1.15 * text_width(bar.ratio, TEXT) + GAP + text_width(figures_beside(bar), SMALL)


class Layout(NamedTuple):
    """Where the columns of a chart are, in pixels."""

    labels: float
    label_width: float
    names: float  # where the bars' names end
    bars: float
    unit: float  # the length of a bar of 1


def layout_of(chart):
    """Bars are as long as the texts beside them allow. No such text begins left of the line at 1, and all end at the margin."""
    works = [work for group in chart.groups for work in group.works]
    bars = [bar for work in works for bar in work.bars]
    labels = MARGIN + (MARGIN if chart.names_machines else 0)
    label_width = min(LABELS, max(text_width(work.label, TEXT) for work in works))
    names = labels + label_width + 2 * GAP + max(text_width(bar.name, SMALL) for bar in bars)
    room = WIDTH - MARGIN - names - GAP
    unit = min((room - width_beside(bar)) / max(1, float(value(bar))) for bar in bars)
    if unit <= 0:
        raise PageError(
            f"{chart.line}: expected shorter names of figures, or shorter cells; found no room for the bars of {chart.file}"
        )
    return Layout(labels, label_width, names, names + GAP, unit)


def value(bar):
    return Fraction(bar.ratio.replace(",", ""))


def drawn_bar(bar, y, kind, at):
    length = float(value(bar)) * at.unit
    beside = at.bars + max(length, at.unit) + GAP
    middle = y + BAR - 2
    parts = [f'<rect class="k{kind}" x="{at.bars:.1f}" y="{y:.1f}" width="{length:.1f}" height="{BAR}"/>']
    if bar.name:
        parts.insert(0, write(at.names, middle, bar.name, f' font-size="{SMALL}" text-anchor="end"'))
    figures = f'<tspan class="faint" dx="{GAP}" font-size="{SMALL}">{escape(figures_beside(bar))}</tspan>'
    ratio = f'<tspan font-weight="bold">{escape(bar.ratio)}</tspan>'
    parts.append(f'<text x="{beside:.1f}" y="{middle:.1f}" font-size="{TEXT}">{ratio}{figures}</text>')
    return parts


def drawn_group(group, y, at):
    """The rows of a machine from y on, and where they end."""
    parts, begin = [], y
    for work in group.works:
        lines = wrapped(work.label, TEXT, at.label_width + 0.1)
        parts += [write(at.labels, y + BAR - 2 + i * LEADING, line, f' font-size="{TEXT}"') for i, line in enumerate(lines)]
        for i, bar in enumerate(work.bars):
            parts += drawn_bar(bar, y + i * PITCH, group.kind, at)
        y += max(PITCH * len(work.bars), LEADING * len(lines)) + GAP
    end = y - GAP
    for name, x in (("zero", at.bars), ("gap", at.bars + at.unit), ("one", at.bars + at.unit)):
        parts.append(f'<line class="{name}" x1="{x:.1f}" x2="{x:.1f}" y1="{begin - 3:.1f}" y2="{end:.1f}"/>')
    return parts, end


def description_of(chart):
    """All that the picture shows, for those who hear it."""
    said = []
    for group in chart.groups:
        for work in group.works:
            for bar in work.bars:
                what = ", ".join(text for text in (work.label, bar.name) if text)
                said.append(f"{what}, on {group.machine}: {bar.ratio} (tril {bar.tril}, peer {bar.peer})")
    return "Bars of how many times as fast as the peer tril is. " + "; ".join(said) + "."


def svg(chart):
    at, parts, y = layout_of(chart), [], 24
    for line in wrapped(chart.title, 1.15 * 14, WIDTH - 2 * MARGIN):
        parts.append(write(MARGIN, y, line, ' font-size="14" font-weight="bold"'))
        y += 18
    hint = (
        "Bars: tril's figure divided by the peer's, so longer is faster; both figures stand beside them. The line is at 1: equal."
    )
    parts.append(write(MARGIN, y, hint, f' font-size="{SMALL}" class="faint"'))
    y += 12
    for group in chart.groups:
        if chart.names_machines:
            parts.append(f'<rect class="k{group.kind}" x="{MARGIN}" y="{y + 2:.1f}" width="10" height="10"/>')
            for line in wrapped(group.machine, 1.15 * TEXT, WIDTH - 2 * MARGIN - 16):
                parts.append(write(MARGIN + 16, y + 11, line, f' font-size="{TEXT}" font-weight="bold"'))
                y += LEADING
            y += 7
        else:
            y += 4
        drawn, y = drawn_group(group, y, at)
        parts += drawn
        y += 8
    parts.append(write(at.bars + at.unit, y + 8, "1", f' font-size="{SMALL}" text-anchor="middle"'))
    height = round(y + 18)
    kinds = sorted({group.kind for group in chart.groups})
    begin = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
        f'aria-labelledby="title description" font-family="sans-serif">'
    )
    head = [
        begin,
        f'<title id="title">{escape(chart.title)}</title>',
        f'<desc id="description">{escape(description_of(chart))}</desc>',
        style(kinds),
        '<rect class="back" width="100%" height="100%" rx="6"/>',
    ]
    return "\n".join([*head, *parts, "</svg>"]) + "\n"
