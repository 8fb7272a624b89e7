"""Whether damaged office files are refused, or written so that other programs still find the same document.

usage: cmake --build build --target document_in_capitals
       check_mutations.py build/tests/document_in_capitals [--each N] [--seed N] [--keep DIR] [--only NAME]
       (needs openpyxl, python-pptx, python-docx, odfpy, ebooklib, lxml)

Documents of make_samples.py and check_office.py are damaged N times each: in one member of the archive (bytes, pieces, tags,
attributes and references are changed, removed or doubled) or in the archive itself. Each is "translated" into capital letters.
Right is: an error in one line, and no result; or a result that the format's program opens with the same structure, wherever it
opens the damaged file; and if it does not, a result whose every member is as well-formed as before. What this program refuses,
LibreOffice is asked about, if it is installed: the result has to have the same structure there, too. Prints a line for each
document, what was wrong, and what tril accepts and neither program opens; these damaged files are kept in DIR.
"""
import argparse
import contextlib
import io
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import warnings
import zipfile

import ebooklib.epub
import lxml.etree
import odf.opendocument
import odf.teletype
import odf.text

import check_office
import make_samples

TAG_PIECES = [b"<", b">", b"/>", b"&", b"&amp;", b"&#0;", b"&#65;", b"&x;", b'"', b"]]>", b"<!--", b"-->", b"<a>", b"</a>", b"<?x?>",
              b"<![CDATA[x]]>", b"\xff", b"\xc3", b"\0", b"  ", b"\n", b"<w:t>x</w:t>", b"<text:span>x</text:span>", b"<a:t>x</a:t>", b"<b/>"]


def odt_words(path):
    document = odf.opendocument.load(str(path))
    paragraphs = document.getElementsByType(odf.text.P) + document.getElementsByType(odf.text.H)
    return [(p.tagName, sorted((k[1], v) for k, v in p.attributes.items()), check_office.upper(odf.teletype.extractText(p)))
            for p in paragraphs]


def epub_parts(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = ebooklib.epub.read_epub(str(path))
    return ([(i.get_id(), i.file_name, i.media_type) for i in book.get_items()], book.spine,
            [check_office.upper(t[0]) for t in book.get_metadata("DC", "title")])


READERS = check_office.READERS | {".odt": odt_words, ".epub": epub_parts}


def damaged(data, choose):
    """The bytes with one to three changes."""
    for _ in range(choose.choice([1, 1, 2, 3])):
        at = choose.randrange(len(data) + 1)
        end = min(len(data), at + choose.choice([1, 1, 3, 10, 50, 300]))
        kind = choose.randrange(8)
        if kind == 0:
            data = data[:at] + data[end:]
        elif kind == 1:
            data = data[:end] + data[at:end] + data[end:]
        elif kind == 2:
            data = data[:at] + choose.choice(TAG_PIECES) + data[at:]
        elif kind == 3:
            data = data[:at] + bytes([choose.randrange(256)]) + data[at + 1:]
        elif kind == 4:
            data = data[:at]
        else:  # a whole tag, attribute or text: the document may stay well-formed
            begin = data.find(choose.choice([b"<", b" ", b">"]), at)
            stop = data.find(choose.choice([b">", b'" ', b"<"]), begin + 1)
            if begin >= 0 and stop >= 0:
                piece = data[begin:stop + 1]
                data = (data[:begin] + data[stop + 1:], data[:begin] + piece + piece + data[stop + 1:],
                        data[:at] + piece + data[at:])[kind - 5]
    return data


def damage(source, result, choose):
    """Writes the document with one damaged, missing, doubled or renamed member, or with a damaged archive."""
    kind = choose.randrange(20)
    if kind == 0:
        result.write_bytes(damaged(source.read_bytes(), choose))
        return
    with zipfile.ZipFile(source) as before, zipfile.ZipFile(result, "w") as after, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of doubled names
        members = before.infolist()
        texts = [m for m in members if m.filename.endswith((".xml", ".xhtml", ".rels", ".opf", ".ncx", ".html"))]
        chosen = choose.choice(texts if kind < 18 else members)
        for member in members:
            data = before.read(member)
            if member is chosen:
                if kind == 1:
                    continue
                if kind == 2:
                    after.writestr(member, data)
                if kind == 3:
                    member.filename = member.filename.swapcase()
                if kind > 3:
                    data = damaged(data, choose)
            after.writestr(member, data)


def well_formed(path):
    """The names of the members that are well-formed XML."""
    names = []
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                try:
                    lxml.etree.fromstring(archive.read(name))
                    names.append(name)
                except lxml.etree.Error:
                    pass
    except Exception:  # zipfile raises many kinds for damaged archives
        return []
    return names


def read(reader, path):
    """What a program reads, or None if it does not."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # odfpy prints what it cannot read
            return reader(path)
    except Exception:  # any: these programs have no common one
        return None


def reason(reader, path):
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            reader(path)
        return "read"
    except Exception as error:  # any, as above
        return f"{type(error).__name__}: {str(error)[:90]}"


def damaged_members(document, path):
    """The names of the members that differ."""
    def contents(p):
        try:
            with zipfile.ZipFile(p) as archive:
                return {n: archive.read(n) for n in archive.namelist()}
        except Exception:  # as above
            return {}
    before, after = contents(document), contents(path)
    return [n for n in sorted(before.keys() | after.keys()) if before.get(n) != after.get(n)] if after else ["the archive"]


def judge_in_office(office, pairs):
    """What LibreOffice makes of files that their program refuses, and of their translations: "same", "unread", or what is wrong."""
    flat, _ = office.read([p for pair in pairs for p in pair], printing=False)
    said = []
    for source, result in pairs:
        if source not in flat:
            said.append("unread")
        elif result not in flat:
            said.append("LibreOffice opens the damaged file, but not the result")
        else:
            before, after = (check_office.structure(flat[p], with_words=True) for p in (source, result))
            said.append("same" if before == after else "LibreOffice finds another structure than the damaged file's")
    return said


def judge(program, source, result, reader):
    """What became of a document: "refused", "same", "unread"; or what is wrong with it."""
    result.unlink(missing_ok=True)
    try:
        run = subprocess.run([program, source, result], capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "it takes more than a minute"
    error = run.stderr.decode("utf-8", "replace")
    if run.returncode == 1:
        return "refused" if error.count("\n") == 1 and not result.exists() else f"refused with {error!r}, result {result.exists()}"
    if run.returncode != 0:
        return f"exit status {run.returncode}: {error[-300:]}"
    before = read(reader, source)
    if before is not None:
        after = read(reader, result)
        if after is None:
            return "the result cannot be opened, but the damaged file can"
        if before != after:
            return "another structure than the damaged file's"
    if missing := [n for n in well_formed(source) if n not in well_formed(result)]:
        return f"no longer well-formed: {missing}"
    return "unread" if before is None else "same"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program"), p.add_argument("--each", type=int, default=200), p.add_argument("--seed", type=int, default=1)
    p.add_argument("--keep", type=pathlib.Path), p.add_argument("--only", default="", help="begin of a document's name")
    a = p.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        (root / "sources").mkdir()
        documents = make_samples.make(root / "sources") + check_office.make_described(root / "sources")
        office = check_office.LibreOffice(root) if shutil.which("soffice") else None

        def keep(source, number):
            if a.keep:
                a.keep.mkdir(exist_ok=True)
                shutil.copy(source, a.keep / f"{number}-{source.name}")

        for document in documents:
            reader = READERS.get(document.suffix)
            if not reader or not document.name.startswith(a.only):
                continue
            counts, unread = {"refused": 0, "same": 0, "unread": 0}, []
            for number in range(a.seed, a.seed + a.each):
                directory = root / f"{number}-{document.name}"
                directory.mkdir()
                source, result = directory / document.name, directory / f"result{document.suffix}"
                damage(document, source, random.Random(f"{document.name} {number}"))
                said = judge(a.program, source, result, reader)
                if said == "unread" and office and document.suffix in check_office.FILTERS:
                    unread.append((number, source, result))
                elif said in counts:
                    counts[said] += 1
                else:
                    wrong += 1
                    print(f"{document.name} {number}: {said}")
                    keep(source, number)
            in_office = 0
            for (number, source, _), said in zip(unread, judge_in_office(office, [u[1:] for u in unread]) if unread else []):
                if said == "same":
                    in_office += 1
                elif said == "unread":
                    counts["unread"] += 1
                    print(f"{document.name} {number}: accepted, and opened by neither: {damaged_members(document, source)}, "
                          f"{reason(reader, source)}")
                    keep(source, number)
                else:
                    wrong += 1
                    print(f"{document.name} {number}: {said}")
                    keep(source, number)
            print(f"{document.name}: {counts['refused']} refused, {counts['same']} the same in {reader.__name__}, {in_office} only in "
                  f"LibreOffice, {counts['unread']} that no other program opens", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
