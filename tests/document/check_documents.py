#!/usr/bin/env python3
"""Translates small documents with `tril translate` and reads the results with the readers that people use.

  check_documents.py TRIL MODEL [--to de]

Needs lxml, polib, ruamel.yaml, PyYAML, translate-toolkit and TexSoup. MODEL is any directory that translates. For each format, the
result must be read, must have the structure of its source, and its texts must be the translations of the source's texts, as in a
document of plain text.
"""
import argparse
import csv
import io
import json
import os
import plistlib
import subprocess
import sys
import tempfile

import yaml
import ruamel.yaml
import TexSoup
from lxml import etree
from translate.storage import aresource, properties, resx, tmx, ts2, xliff

SENTENCES = ["A dog runs in the snow.", "Two men play football.", "The red ball is on the grass."]


def shape(value):
    """A value of YAML with its strings left out."""
    if isinstance(value, dict):
        return {key: shape(v) for key, v in value.items()}
    if isinstance(value, list):
        return [shape(v) for v in value]
    return str if isinstance(value, str) else value


def strings(value):
    if isinstance(value, dict):
        return [s for v in value.values() for s in strings(v)]
    if isinstance(value, list):
        return [s for v in value for s in strings(v)]
    return [value] if isinstance(value, str) else []


class Checks:
    def __init__(self, options):
        self.options = options
        self.folder = tempfile.mkdtemp()
        self.texts = self.document("lines.txt", "\n".join(SENTENCES) + "\n").splitlines()
        self.failures = 0

    def file(self, name, text, encoding):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding=encoding, newline="") as f:
            f.write(text)
        return path

    def tril(self, args):
        ran = subprocess.run([self.options.tril, "translate", "-m", self.options.model, "-b", "1", *args],
                             capture_output=True, text=True)
        if ran.returncode:
            sys.exit(ran.stderr)
        return ran.stdout

    def document(self, name, text, more=(), encoding="utf-8"):
        out = os.path.join(self.folder, "out-" + name)
        self.tril([self.file(name, text, encoding), "--to", self.options.to, "-o", out, *more])
        with open(out, encoding=encoding, newline="") as f:
            return f.read()

    def equal(self, what, got, expected):
        good = got == expected
        print(f"{what}: {'ok' if good else 'DIFFERS'}")
        if not good:
            self.failures += 1
            print(f"  got      {got!r}\n  expected {expected!r}")

    def xliff(self):
        a, b, c = SENTENCES
        for version, text in (
                ("1.2", f'<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" datatype="plaintext" '
                        f'source-language="en"><body><trans-unit id="1"><source>{a}</source></trans-unit><trans-unit id="2">'
                        f'<source>{b}</source><target>kept</target></trans-unit><trans-unit id="3"><source>{c}</source>'
                        f'<target state="new"/></trans-unit></body></file></xliff>'),
                ("2.0", f'<xliff version="2.0" xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang="en"><file id="f">'
                        f'<unit id="1"><segment><source>{a}</source></segment><segment><source>{b}</source><target>kept</target>'
                        f'</segment><segment state="initial"><source>{c}</source></segment></unit></file></xliff>')):
            out = self.document(f"x{version}.xlf", text)
            tree = etree.fromstring(out.encode())
            targets = [t.text for t in tree.iter("{*}target")]
            self.equal(f"XLIFF {version}, lxml", targets, [self.texts[0], "kept", self.texts[2]])
            if version == "1.2":
                store = xliff.xlifffile.parsestring(out.encode())
                self.equal("XLIFF 1.2, translate-toolkit", [u.target for u in store.units], targets)
                self.equal("XLIFF 1.2, target language", store.gettargetlanguage(), self.options.to)

    def tmx(self):
        units = "".join(f'<tu><tuv xml:lang="en"><seg>{s}</seg></tuv></tu>' for s in SENTENCES)
        head = '<header creationtool="x" creationtoolversion="1" segtype="sentence" o-tmf="x" adminlang="en" srclang="en" datatype="x"/>'
        out = self.document("x.tmx", f'<tmx version="1.4">{head}<body>{units}</body></tmx>')
        store = tmx.tmxfile.parsestring(out.encode())
        self.equal("TMX, translate-toolkit", [(u.source, u.target) for u in store.units], list(zip(SENTENCES, self.texts)))

    def yaml(self):
        a, b, c = SENTENCES
        text = (f"en:\n  plain: {a}\n  single: '{b}' # note\n  list: [\"{c}\", 12, yes]\n  literal: |\n    {a}\n    {b}\n"
                f"  folded: >-\n    {c}\n  date: 2001-12-14\n")
        out = self.document("x.yml", text)
        for reader, load in (("PyYAML", yaml.safe_load), ("ruamel.yaml", lambda t: ruamel.yaml.YAML(typ="safe").load(t))):
            before, after = load(text)["en"], load(out)[self.options.to]
            self.equal(f"YAML, structure, {reader}", shape(after), shape(before))
            d, e, f = self.texts
            # "yes" is a string in YAML 1.2.
            self.equal(f"YAML, texts, {reader}", [s for s in strings(after) if s != "yes"], [d, e, f, f"{d}\n{e}\n", f])

    def csv(self):
        rows = [["id", "text", "note"]] + [[str(i), s, 'a "b", c'] for i, s in enumerate(SENTENCES)]
        text = io.StringIO()
        csv.writer(text).writerows(rows)
        out = self.document("x.csv", text.getvalue(), ["--columns", "text"])
        expected = [rows[0]] + [[r[0], t, r[2]] for r, t in zip(rows[1:], self.texts)]
        self.equal("CSV, Python's csv", list(csv.reader(io.StringIO(out, newline=""))), expected)

    def gettext(self):
        import polib
        out = self.document("x.po", 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n' +
                            "".join(f'msgid "{s}"\nmsgstr ""\n\n' for s in SENTENCES))
        self.equal("gettext, polib", [e.msgstr for e in polib.pofile(out)], self.texts)

    def android(self):
        a, b, c = SENTENCES
        text = (f'<?xml version="1.0" encoding="utf-8"?>\n<resources xmlns:tools="http://schemas.android.com/tools">\n'
                f'    <string name="a" tools:ignore="x">{a}</string>\n    <string name="id" translatable="false">kept id</string>\n'
                f'    <plurals name="p">\n        <item quantity="one">{b}</item>\n        <item quantity="other">{c}</item>\n'
                f'    </plurals>\n</resources>\n')
        out = self.document("strings.xml", text)
        store = aresource.AndroidResourceFile()
        store.parse(out.encode())
        d, e, f = self.texts
        # The toolkit undoes Android's escapes.
        self.equal("Android, translate-toolkit", [u.target for u in store.units if u.istranslatable()], [d, [e, f]])
        strings = [s.text for s in etree.fromstring(out.encode()).iter("string")]
        self.equal("Android, lxml", strings, [d.replace("'", "\\'").replace('"', '\\"'), "kept id"])

    def apple(self):
        text = "/* a note */\n" + "".join(f'// {i}\n"k{i}" = "{s}";\n' for i, s in enumerate(SENTENCES))
        for encoding, personality in (("utf-8", "strings-utf8"), ("utf-16", "strings")):
            out = self.document(f"{encoding}.strings", text, encoding=encoding)
            store = properties.propfile(personality=personality)
            store.parse(out.encode(encoding))
            self.equal(f"Apple strings in {encoding}, translate-toolkit", [u.source for u in store.units if u.name], self.texts)

    def plural_forms(self):
        rule = {"NSStringFormatSpecTypeKey": "NSStringPluralRuleType", "NSStringFormatValueTypeKey": "d"}
        entries = {s: {"NSStringLocalizedFormatKey": "%#@n@", "n": {**rule, "other": s}} for s in SENTENCES}
        out = plistlib.loads(self.document("x.stringsdict", plistlib.dumps(entries, sort_keys=False).decode()))
        self.equal("Apple plural forms, plistlib", [out[s]["n"]["other"] for s in SENTENCES], self.texts)
        self.equal("the added form", [out[s]["n"]["one"] for s in SENTENCES], self.texts)

    def catalogue(self):
        text = {"sourceLanguage": "en", "strings": {s: {} for s in sorted(SENTENCES)}, "version": "1.0"}
        out = json.loads(self.document("x.xcstrings", json.dumps(text, indent=2)))
        got = {key: s["localizations"][self.options.to]["stringUnit"]["value"] for key, s in out["strings"].items()}
        self.equal("Apple string catalogue, Python's json", got, dict(zip(SENTENCES, self.texts)))

    def qt(self):
        messages = "".join(f"<message><source>{s}</source><translation type=\"unfinished\"></translation></message>"
                           for s in SENTENCES[:2])
        done = "<message><source>kept</source><translation>behalten</translation></message>"
        plural = (f'<message numerus="yes"><source>{SENTENCES[2]}</source><translation type="unfinished"><numerusform></numerusform>'
                  f"<numerusform></numerusform></translation></message>")
        out = self.document("x.ts", f'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n<TS version="2.1"><context><name>M</name>'
                                    f"{messages}{done}{plural}</context></TS>\n")
        store = ts2.tsfile.parsestring(out.encode())
        d, e, f = self.texts
        self.equal("Qt Linguist, translate-toolkit", [u.target for u in store.units], [d, e, "behalten", [f, f]])
        self.equal("Qt Linguist, for review", [u.isfuzzy() for u in store.units], [True, True, False, True])
        self.equal("Qt Linguist, target language", store.gettargetlanguage(), self.options.to)

    def dotnet(self):
        data = "".join(f'<data name="k{i}" xml:space="preserve"><value>{s}</value></data>' for i, s in enumerate(SENTENCES))
        other = '<data name="f" type="System.Int32"><value>7</value></data>'
        out = self.document("x.resx", f'<?xml version="1.0" encoding="utf-8"?>\n<root>{data}{other}</root>\n')
        store = resx.RESXFile.parsestring(out.encode())
        self.equal(".NET resources, translate-toolkit", [u.target for u in store.units][:3], self.texts)

    def latex(self):
        a, b, c = SENTENCES
        text = (f"\\documentclass{{article}}\n\\begin{{document}}\n\\section{{{a}}}\n{b}\n\\begin{{equation}}x\\end{{equation}}\n"
                f"\\begin{{itemize}}\\item {c}\\end{{itemize}}\n\\end{{document}}\n")
        out = self.document("x.tex", text)
        before, after = TexSoup.TexSoup(text), TexSoup.TexSoup(out)
        names = lambda soup: [d.name for d in soup.descendants if hasattr(d, "name")]
        self.equal("LaTeX, structure, TexSoup", names(after), names(before))
        self.equal("LaTeX, texts", [t in out for t in self.texts], [True] * 3)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tril")
    parser.add_argument("model")
    parser.add_argument("--to", default="de")
    checks = Checks(parser.parse_args())
    for check in (checks.xliff, checks.tmx, checks.yaml, checks.csv, checks.gettext, checks.latex, checks.android,
                  checks.apple, checks.plural_forms, checks.catalogue, checks.qt, checks.dotnet):
        check()
    sys.exit(1 if checks.failures else 0)


if __name__ == "__main__":
    main()
