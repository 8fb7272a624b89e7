"""Tests of scripts/draw_figures.py: the pictures of docs/benchmarks.md are what its tables say. Run by CTest."""

import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "draw_figures.py"
sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPT.parent))
import draw_figures  # noqa: E402
from figures import bars, page  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
REAL = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
SMALL = """# Speeds

| machine | processor |
|---|---|
| Zen 4 | EPYC |
| Xeon with AMX | Sapphire Rapids |
| Xeon | the same, with a shorter name |

## Translation

| work | machine | tril: greedy / beam 4 | CTranslate2 | ratio | peak |
|---|---|---|---|---|---|
| tiny, `int8` | another Xeon with AMX | 1,000 / 90 | 400 / 100 | 2.5 / 0.9 | 9 MB |
| base | Zen 4 | 60 / 30.5 | 30 / 11 | 2.0 / 2.8 | |

![greedy and beam 4](figures/translation.svg)

## Models

Measured on a Zen 4. A Xenon
is no machine.

```
a command | of a shell, on a Xeon with AMX
```

| clients | tril: tokens per second | llama.cpp | ratio | tril: long prompts | llama.cpp | ratio |
|---|---|---|---|---|---|---|
| 4 | 300 | Q8_0 20 (4 slots) | 15 | | | |
| 16 <a> | 300 | 290 | 1.03 | 20 | 10 | 2.0 |

![by clients](figures/models.svg)
"""


def ran(folder, *options):
    """The exit status and the errors of the script over a folder's page."""
    with contextlib.redirect_stderr(io.StringIO()) as errors:
        code = draw_figures.main([str(folder / "page.md"), *options])
    return code, errors.getvalue()


class Folder:
    """A folder with a page, and with the pictures that the script draws of it."""

    def __init__(self, text):
        self.temporary = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.temporary.name)
        (self.path / "page.md").write_text(text, encoding="utf-8")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.temporary.cleanup()

    def pictures(self):
        return {file.name: file.read_bytes() for file in sorted((self.path / "figures").glob("*"))}


def pictures_of(text):
    return [(chart, xml.etree.ElementTree.fromstring(bars.svg(chart))) for chart in page.charts_of(text)]


def box(text):
    """Left, top, right and bottom of a text, by the widths of a wide font."""
    size = float(text.get("font-size"))
    width = bars.text_width(text.text or "", size) * (1.15 if text.get("font-weight") else 1)
    for part in text:
        width += float(part.get("dx", 0))
        width += bars.text_width(part.text, float(part.get("font-size", size))) * (1.15 if part.get("font-weight") else 1)
    left = float(text.get("x")) - {"end": 1, "middle": 0.5}.get(text.get("text-anchor"), 0) * width
    return left, float(text.get("y")) - 0.8 * size, left + width, float(text.get("y")) + 0.2 * size


def overlap(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def contrast(one, other):
    """By WCAG: from 1 to 21."""

    def luminance(colour):
        linear = []
        for at in (1, 3, 5):
            c = int(colour[at : at + 2], 16) / 255
            linear.append(c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4)
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


class ThePage(unittest.TestCase):
    def test_has_the_pictures_that_its_tables_give(self):
        done = subprocess.run(
            [sys.executable, "-B", str(SCRIPT), "docs/benchmarks.md", "--check"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=50,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_every_ratio_is_drawn(self):
        written, columns = 0, []
        for line in REAL.splitlines():
            cells = [cell.strip() for cell in line.split("|")]
            if "ratio" in cells:
                columns = [at for at, cell in enumerate(cells) if cell == "ratio"]
            elif not line.startswith("|"):
                columns = []
            written += sum(len(re.findall(r"[\d.]+", cells[at])) for at in columns)
        charts = page.charts_of(REAL)
        self.assertEqual(sum(len(w.bars) for chart in charts for g in chart.groups for w in g.works), written)
        self.assertEqual([chart.file for chart in charts], re.findall(r"\]\((figures/.*?)\)", REAL))
        self.assertGreater(written, 40)


class Drift(unittest.TestCase):
    def test_a_figure_that_changes_is_seen_until_it_is_drawn(self):
        with Folder(SMALL) as folder:
            self.assertEqual(ran(folder.path), (0, ""))
            self.assertEqual(ran(folder.path, "--check"), (0, ""))
            (folder.path / "page.md").write_text(SMALL.replace("60 / 30.5", "60 / 30.6"), encoding="utf-8")
            before = folder.pictures()
            code, errors = ran(folder.path, "--check")
            self.assertEqual(code, 1)
            self.assertIn("figures/translation.svg", errors)
            self.assertIn("make figures", errors)
            self.assertNotIn("models.svg", errors)
            self.assertEqual(folder.pictures(), before)  # --check writes nothing
            self.assertEqual(ran(folder.path), (0, ""))
            self.assertEqual(ran(folder.path, "--check"), (0, ""))

    def test_missing_pictures_and_those_without_a_table_are_named(self):
        with Folder(SMALL) as folder:
            ran(folder.path)
            (folder.path / "figures" / "models.svg").rename(folder.path / "figures" / "old.svg")
            code, errors = ran(folder.path, "--check")
            self.assertEqual(code, 1)
            self.assertRegex(errors, "models.svg: .*no file")
            self.assertRegex(errors, "old.svg: .*remove")

    def test_each_run_gives_the_same_bytes(self):
        drawn = []
        for seed in ("1", "2"):
            with Folder(REAL) as folder:
                environment = {**os.environ, "PYTHONHASHSEED": seed}
                subprocess.run(
                    [sys.executable, "-B", str(SCRIPT), "page.md"], cwd=folder.path, env=environment, check=True, timeout=50
                )
                drawn.append(folder.pictures())
        self.assertEqual(drawn[0], drawn[1])
        self.assertGreater(len(drawn[0]), 3)


class Charts(unittest.TestCase):
    def test_rows_become_bars_grouped_by_machine(self):
        translation, models = page.charts_of(SMALL)
        self.assertEqual([(g.machine, g.kind) for g in translation.groups], [("Zen 4", 0), ("another Xeon with AMX", 1)])
        self.assertEqual(translation.groups[1].works[0].label, "tiny, int8")
        self.assertEqual(
            translation.groups[1].works[0].bars,
            [page.Bar("greedy", "2.5", "1,000", "400"), page.Bar("beam 4", "0.9", "90", "100")],
        )
        self.assertEqual([w.label for w in models.groups[0].works], ["clients: 4", "clients: 16 <a>"])
        self.assertEqual(
            [[b.name for b in w.bars] for w in models.groups[0].works],
            [["tokens per second"], ["tokens per second", "long prompts"]],
        )
        self.assertEqual(models.groups[0].works[0].bars[0].peer, "Q8_0 20 (4 slots)")

    def test_the_title_has_the_machine_of_a_table_without_such_a_column(self):
        translation, models = page.charts_of(SMALL)
        self.assertIn("Zen 4", models.title)
        self.assertNotIn("Zen 4", translation.title)

    def test_new_machines_and_rows_need_no_change_of_the_script(self):
        text = SMALL.replace(
            "| Zen 4 | EPYC |\n", "| Zen 4 | EPYC |\n| Zen 40 | EPYC |\n" + "".join(f"| M{i} | |\n" for i in range(9))
        )
        text = text.replace("| base | Zen 4 |", "| base | a Zen 40 | 60 / 30 | 40 / 30 | 1.5 / 1.0 | |\n| base | the M8 |")
        translation, models = page.charts_of(text)
        self.assertEqual(
            [(g.machine, g.kind) for g in translation.groups], [("a Zen 40", 1), ("the M8", 10), ("another Xeon with AMX", 11)]
        )
        self.assertEqual(models.groups[0].kind, 0)
        xml.etree.ElementTree.fromstring(bars.svg(translation))

    def test_a_malformed_table_is_refused_with_its_line(self):
        row = "| base | Zen 4 | 60 / 30.5 | 30 / 11 | 2.0 / 2.8 | |"
        cases = [
            (row, row.replace("2.0 / 2.8", "2.0"), "2 numbers", '"2.0"'),
            (row, row.replace("2.0 / 2.8", "2.0, 2.8"), "greedy / beam 4", '"2.0, 2.8"'),
            (row, row.replace("2.0 / 2.8", "2.0 / twice"), "2 numbers", "twice"),
            (row, row.replace("2.0 / 2.8", "about 2.0 / 2.8"), "a number alone", '"about 2.0"'),
            (row, row.replace("2.0 / 2.8", "2.0 / 3.2"), "divided", "3.2"),
            (row, row.replace("60 / 30.5", "60 and 61 / 30.5"), "2 numbers", "60 and 61"),
            (row, row.replace("60 / 30.5", "as above"), "tril: greedy / beam 4", "as above"),
            (row, row.replace("30 / 11", ""), "CTranslate2", '""'),
            (row, row.replace("60 / 30.5 | 30 / 11 | 2.0 / 2.8", "| |"), "figures", "none"),
            (row, row.replace("30 / 11", "0 / 11"), "above 0", '"0"'),
            (row, row.replace("30 / 11", "-30 / 11"), "2 numbers", "-30"),
            (row, row.replace("| base ", ""), "6 cells", "5"),
            (row, row.replace("Zen 4", "Zen 6"), "Zen 4, Xeon with AMX, Xeon", "Zen 6"),
            (row, row.replace("Zen 4", "Zen 4 and a Xeon"), "one name", "Zen 4 and a Xeon"),
        ]
        for old, new, *parts in cases:
            self.refuses(SMALL.replace(old, new), 14, parts)
        header = "| work | machine | tril: greedy / beam 4 | CTranslate2 | ratio | peak |"
        self.refuses(SMALL.replace(header, header.replace("ratio", "ratios")), 11, ['"ratio"', '"ratios"'])
        self.refuses(SMALL.replace(header, header.replace("tril:", "we:")), 11, ['"tril"', "we: greedy"])
        self.refuses(SMALL.replace(header + "\n|---|---|---|---|---|---|", header), 11, ["|---|"])
        self.refuses(SMALL.replace("![greedy and beam 4](figures/translation.svg)", ""), 14, ["picture", "## Models"])
        self.refuses(SMALL.replace("![greedy and beam 4]", "![]"), 14, ["picture", "![]"])
        self.refuses(SMALL.replace("figures/models.svg", "figures/translation.svg"), 27, ["own", "figures/translation.svg"])
        self.refuses(SMALL.replace("on a Zen 4.", "here."), 27, ["machine", "Zen 4, Xeon with AMX"])
        self.refuses(SMALL.replace("on a Zen 4.", "on a Zen 4 and a Xeon."), 27, ["Zen 4, Xeon", "column"])
        self.refuses(SMALL.replace("tril: long prompts", "tril: " + "long " * 200), 27, ["room", "models.svg"])
        self.refuses(SMALL.replace("| machine | processor |", "| name | processor |"), 1, ["table of machines"])
        self.refuses("# A page without tables\n", 1, ['column "ratio"'])

    def test_the_program_ends_with_1(self):
        with Folder(SMALL.replace("2.0 / 2.8", "2.0 and 2.8")) as folder:
            done = subprocess.run(
                [sys.executable, "-B", str(SCRIPT), "page.md"], cwd=folder.path, capture_output=True, text=True, timeout=50
            )
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertTrue(done.stderr.startswith("page.md:14: "), done.stderr)
            (folder.path / "page.md").unlink()
            code, errors = ran(folder.path)
            self.assertEqual((code, len(errors.splitlines())), (1, 1))

    def refuses(self, text, line, parts):
        with self.subTest(parts=parts), Folder(text) as folder:
            code, errors = ran(folder.path)
            self.assertEqual(code, 1, errors)
            self.assertTrue(errors.startswith(f"{folder.path / 'page.md'}:{line}: "), errors)
            self.assertEqual(len(errors.splitlines()), 1, errors)
            self.assertIn("expected", errors)
            for part in parts:
                self.assertIn(part, errors)
            self.assertEqual(folder.pictures(), {})

    def test_rounded_figures_agree_with_a_rounded_ratio(self):
        for tril, peer, ratio in (("4.9", "2.9", "1.7"), ("145", "62", "2.4"), ("769", "51", "15"), ("2,448", "1,000", "2.4")):
            page.check_ratio(page.Row(1, []), page.Bar("", ratio, tril, peer))
        for tril, peer, ratio in (("16,225", "3,485", "4.6"), ("145", "62", "2.5"), ("769", "51", "16"), ("51", "769", "15")):
            with self.assertRaises(page.PageError):
                page.check_ratio(page.Row(1, []), page.Bar("", ratio, tril, peer))


class Pictures(unittest.TestCase):
    CROWDED = SMALL.replace("tiny, `int8`", "a name of many words, " * 6 + "W" * 90).replace(
        "tokens per second", "of many words " * 3
    )

    def test_texts_neither_overlap_nor_leave_the_picture(self):
        for chart, root in [*pictures_of(REAL), *pictures_of(SMALL), *pictures_of(self.CROWDED)]:
            boxes = [(text, box(text)) for text in root.iter(SVG + "text")]
            self.assertGreater(len(boxes), 4)
            for at, (text, a) in enumerate(boxes):
                said = "".join(text.itertext())
                self.assertTrue(
                    0 <= a[0] and a[2] <= float(root.get("width")) and a[3] <= float(root.get("height")), f"{chart.file}: {said}"
                )
                for other, b in boxes[:at]:
                    self.assertFalse(overlap(a, b), f"{chart.file}: {said} and {''.join(other.itertext())}")

    def test_no_text_lies_on_a_bar_or_on_the_line_at_1(self):
        for chart, root in [*pictures_of(REAL), *pictures_of(SMALL), *pictures_of(self.CROWDED)]:
            areas = [
                tuple(float(r.get(k)) for k in ("x", "y"))
                + (float(r.get("x")) + float(r.get("width")), float(r.get("y")) + float(r.get("height")))
                for r in root.iter(SVG + "rect")
                if r.get("class") != "back"
            ]
            areas += [tuple(float(line.get(k)) for k in ("x1", "y1", "x2", "y2")) for line in root.iter(SVG + "line")]
            for text in root.iter(SVG + "text"):
                for area in areas:
                    self.assertFalse(overlap(box(text), area), f"{chart.file}: {''.join(text.itertext())}")

    def test_bars_are_as_long_as_their_ratios(self):
        for chart, root in [*pictures_of(REAL), *pictures_of(SMALL)]:
            one = next(line for line in root.iter(SVG + "line") if line.get("class") == "one")
            zero = next(line for line in root.iter(SVG + "line") if line.get("class") == "zero")
            unit = float(one.get("x1")) - float(zero.get("x1"))
            lengths = [float(r.get("width")) for r in root.iter(SVG + "rect") if r.get("height") == str(bars.BAR)]
            ratios = [float(b.ratio) for g in chart.groups for w in g.works for b in w.bars]
            self.assertEqual(len(lengths), len(ratios))
            for length, ratio in zip(lengths, ratios):
                self.assertAlmostEqual(length, ratio * unit, delta=0.06 + 0.11 * ratio)  # one decimal is written

    def test_titles_and_descriptions_say_all(self):
        for chart, root in pictures_of(REAL):
            self.assertEqual(root.get("role"), "img")
            self.assertEqual(root.get("aria-labelledby"), f"{root[0].get('id')} {root[1].get('id')}")
            self.assertEqual((root[0].tag, root[0].text), (SVG + "title", chart.title))
            self.assertEqual(root[1].tag, SVG + "desc")
            for group in chart.groups:
                for work in group.works:
                    for part in (group.machine, work.label, *(text for bar in work.bars for text in bar)):
                        self.assertIn(part, root[1].text)

    def test_colours_stand_out_in_light_and_dark(self):
        for which, theme in enumerate((bars.LIGHT, bars.DARK)):
            for name in ("text", "faint"):
                self.assertGreaterEqual(contrast(theme[name], theme["back"]), 4.5)
            for colour in bars.COLOURS:
                self.assertGreaterEqual(contrast(colour[which], theme["back"]), 3)
        self.assertAlmostEqual(contrast("#000000", "#ffffff"), 21)


if __name__ == "__main__":
    unittest.main()
