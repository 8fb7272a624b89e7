"""Whether the programs whose documents tril translates find the same documents again: everything but the words is the same.

usage: cmake --build build --target document_in_capitals
       check_office.py build/tests/document_in_capitals [FILE...]
       check_office.py --translate "build/tril translate -m MODEL --to de" [FILE...]
       (needs python-docx, python-pptx, openpyxl, lxml; LibreOffice and pandoc are used if they are installed)

Documents are made by python-docx, python-pptx, openpyxl, odfpy and ebooklib (make_samples.py, rich_documents.py), by pandoc, and
by LibreOffice from these; FILEs are added. Each is "translated" into capital letters, or by the given command. Checked are: the
members of the archive and their order; bytes of members without text; each XML member's elements without runs. LibreOffice opens
both documents, prints both as PDF, and reads the same structure from both: paragraphs with their styles, lists, tables and cells,
slides and shapes, and no formats of words that the source lacks. In capital letters, the words are the same too, with the same
format each; so they are for python-docx, python-pptx and openpyxl. Prints one line for each document.
"""
import argparse
import collections
import io
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import zipfile

import docx
import lxml.etree
import openpyxl
import pptx

import make_samples
import rich_documents

# Elements that joining and dividing runs changes, and what a changed paragraph leaves out.
RUNS = {"r", "t", "rPr", "proofErr", "lastRenderedPageBreak", "rPh"}
STYLE = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}style-name"  # a span with no other attribute is a run of OpenDocument
# Attributes that are translated.
TEXTS = {"descr", "title", "alt"}
PICTURE = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8ffff3f0005fe02fe"
                        "dccc59e70000000049454e44ae426082")
MARKDOWN = """# A short *letter*

The dog runs in the **deep** snow.[^1] Two men [play football](http://example.org) now.

[^1]: The snow of yesterday.

- one point
- second point

| Name | Price |
|---|---|
| A red ball | 12 |
"""


def upper(text):
    return text.upper() if text else text


def elements(xml, words):
    """How often each element with its attributes occurs. @param words  what becomes of a translated attribute"""
    root = lxml.etree.fromstring(xml)
    local = lambda e: lxml.etree.QName(e).localname
    written = lambda e: tuple(sorted((a, words(v) if a in TEXTS else v) for a, v in e.attrib.items()))
    is_run = lambda e: local(e) in RUNS or (local(e) == "span" and e.attrib.keys() == [STYLE])
    return collections.Counter((local(e), written(e)) for e in root.iter(lxml.etree.Element)
                               if not is_run(e) and not any(local(a) == "rPr" for a in e.iterancestors()))


def check_members(source, result, words):
    before, after = zipfile.ZipFile(source), zipfile.ZipFile(result)
    assert before.namelist() == after.namelist(), "names or order of members differ"
    assert after.testzip() is None
    for name in before.namelist():
        old, new = before.read(name), after.read(name)
        assert before.getinfo(name).date_time == after.getinfo(name).date_time, name
        if old != new:
            lost, more = elements(old, words), elements(new, words)
            assert lost == more, f"{name}: elements differ: lost {list((lost - more).items())[:3]}, more {list((more - lost).items())[:3]}"


def properties(document):
    p = document.core_properties
    return [upper(t) for t in (p.title, p.subject, p.keywords, p.comments)], p.author, p.created, p.category


def docx_words(path):
    """Each paragraph's style and characters with their formats, without white space."""
    def of(paragraph):
        words = []
        for run in paragraph._p.iter("{*}r"):
            run = docx.text.run.Run(run, paragraph)
            words += [(c, run.bold, run.italic, run.underline, run.style and run.style.name) for c in upper(run.text) if not c.isspace()]
        return paragraph.style and paragraph.style.name, words
    document = docx.Document(path)
    lists = [document.paragraphs]
    lists += [c.paragraphs for t in document.tables for row in t.rows for c in row.cells]
    lists += [part.paragraphs for s in document.sections for part in (s.header, s.footer)]
    return [[of(p) for p in paragraphs] for paragraphs in lists], properties(document)


def pptx_words(path):
    def of(frame):
        return [[(c, r.font.bold, r.font.italic) for r in p.runs for c in upper(r.text) if not c.isspace()]
                for p in frame.paragraphs]
    document = pptx.Presentation(path)
    slides = document.slides
    frames = [s.text_frame for slide in slides for s in slide.shapes if s.has_text_frame]
    frames += [slide.notes_slide.notes_text_frame for slide in slides if slide.has_notes_slide]
    return [of(f) for f in frames if f is not None], properties(document)


def xlsx_cells(path):
    def value(v):
        return upper(v) if isinstance(v, str) and not v.startswith("=") else v
    return [(sheet.title, [[(value(c.value), c.data_type, c.number_format, upper(c.comment.text) if c.comment else None)
                            for c in row] for row in sheet.iter_rows()]) for sheet in openpyxl.load_workbook(path)]


READERS = {".docx": docx_words, ".pptx": pptx_words, ".xlsx": xlsx_cells}


# The options with which LibreOffice opens a file, so that it does not read a damaged one as plain text; and its flat form of it.
FILTERS = {".docx": ("MS Word 2007 XML", "fodt"), ".odt": ("writer8", "fodt"), ".xlsx": ("Calc MS Excel 2007 XML", "fods"),
           ".ods": ("calc8", "fods"), ".pptx": ("Impress MS PowerPoint 2007 XML", "fodp"), ".odp": ("impress8", "fodp")}


def soffice(directory, to, paths):
    """Converts documents of one kind. LibreOffice leaves out those that it cannot open."""
    if paths:
        subprocess.run(["soffice", f"-env:UserInstallation=file://{directory}/profile", "--headless",
                        f"--infilter={FILTERS[paths[0].suffix][0]}", "--convert-to", to, "--outdir", str(directory),
                        *map(str, paths)], check=True, capture_output=True)


def local_name(element):
    return lxml.etree.QName(element).localname if isinstance(element.tag, str) else ""


def attribute(element, name):
    return next((v for a, v in element.attrib.items() if lxml.etree.QName(a).localname == name), None)


def styles_of(root):
    """The properties of text of each style, with those of the style that it refines; without its language."""
    parts = {}
    faces = {attribute(f, "name"): attribute(f, "font-family") for f in root.iter("{*}font-face")}
    for style in root.iter("{*}style"):
        names = {local: value for name, value in style.attrib.items() for local in [lxml.etree.QName(name).localname]}
        own = {}
        for properties in style.iterchildren("{*}text-properties"):
            own |= {n: faces.get(v, v) for name, v in properties.attrib.items() for n in [lxml.etree.QName(name).localname]
                    if not n.startswith(("language", "country", "script", "rsid", "paragraph-rsid"))}
        parts[names["family"], names["name"]] = names.get("parent-style-name"), own

    def merged(family, name, depth=0):
        parent, own = parts.get((family, name), (None, {}))
        return (merged(family, parent, depth + 1) if parent and depth < 20 else {}) | own
    return {key: merged(*key) for key in parts}


KEPT_ATTRIBUTES = {"value-type", "value", "formula", "number-columns-spanned", "number-rows-spanned", "number-columns-repeated",
                   "number-rows-repeated", "outline-level", "href", "style-name", "presentation-class"}


def has_content(cell):
    return len(cell) > 0 or attribute(cell, "value-type") is not None


def structure(flat, with_words):
    """What a flat OpenDocument file has: elements in their order; for each paragraph its kind, the elements in it and its
    characters with their formats, or only its formats."""
    root = lxml.etree.parse(str(flat), lxml.etree.XMLParser(huge_tree=True)).getroot()
    styles, found = styles_of(root), []

    def fixed(properties):
        return tuple(sorted(properties.items()))

    def add_words(text, properties, runs):
        words = "".join(upper(text or "").split())
        if words:
            form = fixed(properties)
            runs.extend((c, form) for c in words)

    def add_inline(element, properties, inner, runs):
        add_words(element.text, properties, runs)
        for child in element:
            name = local_name(child)
            if name in ("p", "h"):
                add_block(child)
            elif name:
                if name not in ("span", "s", "soft-page-break"):
                    inner.append(name)
                add_inline(child, properties | styles.get(("text", attribute(child, "style-name")), {}), inner, runs)
            add_words(child.tail, properties, runs)

    def add_block(element):
        name = local_name(element)
        if name in ("p", "h"):
            inner, runs = [], []
            own = styles.get(("paragraph", attribute(element, "style-name")), {})
            place = len(found)
            add_inline(element, own, inner, runs)
            formats = tuple(runs) if with_words else frozenset(f for _, f in runs)
            found.insert(place, (name, attribute(element, "outline-level"), tuple(sorted(inner)), formats))
            return
        if name in ("table-row", "table-cell") and not any(has_content(e) for e in element.iter("{*}table-cell")):
            return  # LibreOffice groups the empty cells of a sheet as it likes
        kept = {n: v for a, v in element.attrib.items() for n in [lxml.etree.QName(a).localname] if n in KEPT_ATTRIBUTES}
        kept.pop("style-name", None)  # automatic names are numbers
        if name not in ("binary-data", "soft-page-break", "table-column"):
            found.append((name, tuple(sorted(kept.items()))))
        for child in element:
            if local_name(child):
                add_block(child)

    for part in ("{*}master-styles", "{*}body"):
        for element in root.iterchildren(part):
            add_block(element)
    return found


def pages(pdf):
    return len(re.findall(rb"/Type\s*/Page[^s]", pdf.read_bytes()))


class LibreOffice:
    """What LibreOffice makes of documents, in a directory of its own."""

    def __init__(self, root):
        self.root = root / "libreoffice"
        self.root.mkdir()

    def read(self, paths, printing=True):
        """Their flat forms and PDFs. A path is missing if LibreOffice does not open the document."""
        flat, printed, by_suffix = {}, {}, collections.defaultdict(list)
        for path in paths:
            if path.suffix in FILTERS:
                copy = self.root / f"{len(list(self.root.glob('in*')))}{path.suffix}"
                copy = copy.with_name("in" + copy.name)
                shutil.copy(path, copy)
                by_suffix[path.suffix].append((path, copy))
        for suffix, copies in by_suffix.items():
            for to, made in ((FILTERS[suffix][1], flat), ("pdf", printed))[:2 if printing else 1]:
                soffice(self.root, to, [copy for _, copy in copies])
                for path, copy in copies:
                    out = copy.with_suffix("." + to)
                    if out.exists():
                        made[path] = out.rename(out.with_name(out.stem + suffix[1:] + "." + to))
        return flat, printed


def difference(old, new):
    """What differs between two blocks, in a line or two."""
    if old[:3] != new[:3] or old[0] not in ("p", "h"):
        return f"{str(new)[:300]} instead of {str(old)[:300]}"
    if isinstance(old[3], frozenset):
        return f"the formats {sorted(new[3] - old[3])} instead of {sorted(old[3] - new[3])}"
    words = ["".join(c for c, _ in block[3]) for block in (new, old)]
    if words[0] != words[1]:
        return f"{words[0]!r} instead of {words[1]!r}"
    (c, before), (_, after) = next((a, b) for a, b in zip(old[3], new[3]) if a != b)
    return f"{c!r} in {words[0]!r} with {sorted(set(after) - set(before))} instead of {sorted(set(before) - set(after))}"


def is_translation(old, new, suffix):
    """Whether a paragraph has what its source has, but for formats of words to which no word of the translation corresponds; a link
    is such a format in PPTX. Words of OpenDocument that belong to no <text:span> have the format of their paragraph."""
    if old[0] not in ("p", "h") or old[:2] != new[:2]:
        return False
    inner = [tuple(name for name in block[2] if name != "a") for block in (old, new)]
    return inner[0] == inner[1] and (new[3] <= old[3] or suffix in (".odt", ".odp"))


def check_in_office(source, result, read, with_words):
    flat, printed = read
    assert source in flat and source in printed, "LibreOffice does not open the source"
    assert result in flat and result in printed, "LibreOffice opens the source, but not the result"
    before, after = structure(flat[source], with_words), structure(flat[result], with_words)
    for old, new in zip(before, after):
        assert old == new or (not with_words and is_translation(old, new, source.suffix)), \
            f"LibreOffice finds {difference(old, new)}"
    assert len(before) == len(after), f"LibreOffice finds {len(after)} blocks instead of {len(before)}"
    assert pages(printed[result]) > 0
    if source.suffix in (".pptx", ".odp"):
        assert pages(printed[source]) == pages(printed[result]), "another number of pages"
    return len(before)


def describe(document):
    p = document.core_properties
    p.title, p.subject, p.keywords, p.comments, p.author = "The dog & the snow", "Two men", "dog, snow", "A note.", "Ann Smith"


def make_described(directory):
    """Documents with properties, and with pictures that have alternative texts."""
    document = docx.Document()
    document.add_paragraph("A red ball: ").add_run().add_picture(io.BytesIO(PICTURE))
    for drawing in document.element.body.iter("{*}docPr", "{*}cNvPr"):
        drawing.set("descr", 'A "red" ball\nin the snow')
    describe(document)
    document.save(directory / "described.docx")
    document = pptx.Presentation()
    slide = document.slides.add_slide(document.slide_layouts[5])
    slide.shapes.title.text = "A red ball"
    slide.shapes.add_picture(io.BytesIO(PICTURE), 0, 0)._element.nvPicPr.cNvPr.set("descr", 'A "red" ball\nin the snow')
    describe(document)
    document.save(directory / "described.pptx")
    return [directory / "described.docx", directory / "described.pptx"]


def make_documents(directory):
    made = make_samples.make(directory) + make_described(directory) + rich_documents.make(directory)
    if shutil.which("pandoc"):
        for kind in ("docx", "odt", "epub", "pptx"):
            path = directory / f"pandoc.{kind}"
            subprocess.run(["pandoc", "-f", "markdown", "-o", path, "--metadata", "title=A title"], input=MARKDOWN, text=True,
                           check=True)
            made.append(path)
    if shutil.which("soffice"):
        others = directory / "office"
        others.mkdir()
        for suffix, kind in ((".docx", "odt"), (".odt", "docx"), (".xlsx", "ods"), (".pptx", "odp")):
            soffice(others, kind, [p for p in made if p.suffix == suffix])
        made += sorted(p for p in others.iterdir() if p.is_file())
        again = directory / "again"  # from one format to the other and back
        again.mkdir()
        for suffix, kind in ((".odt", "docx"), (".ods", "xlsx"), (".odp", "pptx")):
            soffice(again, kind, [p for p in others.iterdir() if p.suffix == suffix])
        made += sorted(p for p in again.iterdir() if p.is_file())
    return made


def main():
    p = argparse.ArgumentParser()
    p.add_argument("files", nargs="*"), p.add_argument("--translate")
    a = p.parse_args()
    program = None if a.translate else a.files.pop(0)
    words = (lambda v: "") if a.translate else upper
    failed, results = 0, []
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        (root / "results").mkdir()
        (root / "sources").mkdir()
        for number, source in enumerate(make_documents(root / "sources") + [pathlib.Path(f) for f in a.files]):
            result = root / "results" / f"{number}{source.suffix}"
            command = [program, source, result] if program else [*shlex.split(a.translate), source, "--output", result]
            run = subprocess.run(command, capture_output=True, text=True)
            if run.returncode == 0:
                results.append((source, result))
            else:
                print(f"{source.parent.name}/{source.name}: {run.stderr[-500:]}")
                failed += 1
        read = LibreOffice(root).read([p for pair in results for p in pair]) if shutil.which("soffice") else None
        for source, result in results:
            blocks = ""
            try:
                check_members(source, result, words)
                reader = READERS.get(source.suffix)
                if reader and program:
                    assert reader(source) == reader(result), f"{reader.__name__} differ"
                if read and source.suffix in FILTERS:
                    blocks = f", {check_in_office(source, result, read, with_words=not a.translate)} blocks in LibreOffice"
                print(f"{source.parent.name}/{source.name}: same{blocks}", flush=True)
            except AssertionError as error:
                print(f"{source.parent.name}/{source.name}: {error}", flush=True)
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
