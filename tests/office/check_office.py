"""Whether the programs whose documents tril translates find the same documents again: everything but the words is the same.

usage: cmake --build build --target document_in_capitals
       check_office.py build/tests/document_in_capitals [FILE...]
       (needs python-docx, python-pptx, openpyxl, lxml; LibreOffice and pandoc are used if they are installed)

Documents are made by python-docx, python-pptx, openpyxl, odfpy and ebooklib (make_samples.py), by pandoc, and by LibreOffice
from these; FILEs are added. Each is "translated" into capital letters. Checked are: the members of the archive and their order;
bytes of members without text; each XML member's elements without runs, and its words with their formats in order; what
python-docx, python-pptx and openpyxl read; the text that LibreOffice reads from both. Prints one line for each document.
"""
import collections
import io
import pathlib
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

# Elements that joining and dividing runs changes, and what a changed paragraph leaves out.
RUNS = {"r", "t", "rPr", "proofErr", "lastRenderedPageBreak", "rPh"}
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


def elements(xml):
    """How often each element with its attributes occurs."""
    root = lxml.etree.fromstring(xml)
    local = lambda e: lxml.etree.QName(e).localname
    written = lambda e: tuple(sorted((a, upper(v) if a in TEXTS else v) for a, v in e.attrib.items()))
    return collections.Counter((local(e), written(e)) for e in root.iter(lxml.etree.Element)
                               if local(e) not in RUNS and not any(local(a) == "rPr" for a in e.iterancestors()))


def check_members(source, result):
    before, after = zipfile.ZipFile(source), zipfile.ZipFile(result)
    assert before.namelist() == after.namelist(), "names or order of members differ"
    assert after.testzip() is None
    for name in before.namelist():
        old, new = before.read(name), after.read(name)
        assert before.getinfo(name).date_time == after.getinfo(name).date_time, name
        if old != new:
            assert elements(old) == elements(new), f"{name}: elements differ"


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


def soffice(directory, to, paths):
    subprocess.run(["soffice", f"-env:UserInstallation=file://{directory}/profile", "--headless", "--convert-to", to,
                    "--outdir", str(directory), *map(str, paths)], check=True, capture_output=True)


def office_text(path, directory):
    """What LibreOffice reads: text, or the rows of a sheet; slides as the XML of a flat file."""
    kinds = {".docx": "txt:Text (encoded):UTF8", ".odt": "txt:Text (encoded):UTF8", ".xlsx": "csv", ".ods": "csv",
             ".pptx": "fodp", ".odp": "fodp"}
    kind = kinds[path.suffix]
    out = directory / (path.stem + "." + kind.split(":")[0])
    out.unlink(missing_ok=True)
    soffice(directory, kind, [path])
    if kind != "fodp":
        return upper(out.read_text(encoding="utf-8-sig"))
    root = lxml.etree.parse(str(out)).getroot()
    return [upper("".join("".join(e.itertext()).split())) for e in root.iter("{*}p", "{*}h")]


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
    made = make_samples.make(directory) + make_described(directory)
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
        made += [p for p in others.iterdir() if p.is_file()]
        again = directory / "again"  # from one format to the other and back
        again.mkdir()
        for suffix, kind in ((".odt", "docx"), (".ods", "xlsx"), (".odp", "pptx")):
            soffice(again, kind, [p for p in others.iterdir() if p.suffix == suffix])
        made += [p for p in again.iterdir() if p.is_file()]
    return made


def main(program, files):
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        (root / "results").mkdir()
        (root / "sources").mkdir()
        for number, source in enumerate(make_documents(root / "sources") + [pathlib.Path(f) for f in files]):
            result = root / "results" / f"{number}{source.suffix}"
            try:
                subprocess.run([program, source, result], check=True)
                check_members(source, result)
                reader = READERS.get(source.suffix)
                if reader:
                    assert reader(source) == reader(result), f"{reader.__name__} differ"
                if shutil.which("soffice") and source.suffix != ".epub":
                    before, after = office_text(source, root), office_text(result, root)
                    assert before == after, f"LibreOffice reads\n{after}\ninstead of\n{before}"
                print(f"{source.parent.name}/{source.name}: same")
            except (AssertionError, subprocess.CalledProcessError) as error:
                print(f"{source.parent.name}/{source.name}: {error}")
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
