#!/usr/bin/env python3
"""Makes real texts of 20 languages and more, to measure language detection with: strings that translators of free software
wrote, from the message catalogues of Debian packages. The texts are under the licences of their packages: for measurements
only, never part of the project.

  make_texts.py --work DIR --out DIR [--each 1000]

It needs apt-get, dpkg-deb and Python 3.9 (standard library only). Packages go to --work, and nothing is installed. Texts of one half
of the packages go to OUT/dev, for fitting the confidence, those of the other half to OUT/test, for the table. Each has a file for
each language, with a text a line, spread evenly over four lengths where there are enough.
"""
import argparse
import collections
import glob
import hashlib
import os
import random
import re
import struct
import subprocess
import unicodedata

# By code: the names of the catalogues' folders.
MAIN = {"en": "en", "de": "de", "fr": "fr", "es": "es", "it": "it", "pt": "pt_BR pt", "nl": "nl", "sv": "sv", "da": "da", "pl": "pl",
        "cs": "cs", "hu": "hu", "ro": "ro", "ru": "ru", "uk": "uk", "el": "el", "tr": "tr", "ja": "ja", "zh": "zh_CN", "ko": "ko"}
MORE = {"nb": "nb no", "nn": "nn", "fi": "fi", "et": "et", "lt": "lt", "lv": "lv", "sk": "sk", "sl": "sl", "hr": "hr", "sr": "sr",
        "bg": "bg", "mk": "mk", "be": "be", "ca": "ca", "gl": "gl", "eu": "eu", "ga": "ga", "id": "id", "vi": "vi",
        "ar": "ar", "fa": "fa", "he": "he", "hi": "hi", "mr": "mr", "zh-Hant": "zh_TW", "eo": "eo", "is": "is"}
DEV = "vlc-l10n freeciv-data gedit-common aisleriot nautilus-data"
TEST = "gnucash-common evolution-common gnome-control-center-data epiphany-browser-data gimp-data coreutils"
LENGTHS = ((0, 20), (20, 50), (50, 100), (100, 10 ** 9))


def read_mo(data):
    """(English, translation) pairs of a GNU message catalogue; of plurals, the last form."""
    order = {b"\xde\x12\x04\x95": "<", b"\x95\x04\x12\xde": ">"}.get(data[:4])
    if order is None:
        return
    count, ids, strings = struct.unpack(order + "8x3I", data[:20])
    for i in range(count):
        pair = []
        for table in (ids, strings):
            length, at = struct.unpack_from(order + "2I", data, table + 8 * i)
            pair.append(data[at:at + length].decode("utf-8", "replace"))
        if pair[0] and pair[1]:
            yield pair[0].rsplit("\4", 1)[-1].split("\0")[-1], pair[1].split("\0")[-1]


def cleaned(text):
    """The text as a reader sees it, or None if it is no plain text."""
    text = unicodedata.normalize("NFC", re.sub(r"\s+", " ", re.sub(r"\(_\w\)|\(&\w\)", "", text)).strip())
    text = re.sub(r"[_&](?=\w)", "", text)
    text = re.sub(r"^\?\w+:", "", text)
    if re.search(r"[%<>{}\\|=@#$\ufffd]|https?:|--|\bGNU\b|[A-Z]{4,}", text):
        return None
    letters = sum(unicodedata.category(c)[0] in "LM" for c in text)
    return text if letters >= 3 and letters >= 0.6 * len(text) else None


def texts_of(packages, work, languages):
    found = {code: {} for code in languages}
    for package in packages.split():
        folder = os.path.join(work, "unpacked", package)
        if not os.path.isdir(folder):
            subprocess.run(["apt-get", "-q", "download", package], cwd=work, check=True, stdout=subprocess.DEVNULL)
            subprocess.run(["dpkg-deb", "-x", glob.glob(os.path.join(work, package + "_*.deb"))[0], folder], check=True)
        for code, names in languages.items():
            for name in names.split():
                for path in sorted(glob.glob(folder + f"/**/locale/{name}/LC_MESSAGES/*.mo", recursive=True)):
                    for english, other in read_mo(open(path, "rb").read()):
                        english, other = cleaned(english), cleaned(other)
                        if english and other and english.casefold() != other.casefold():
                            found[code][other] = found["en"][english] = True
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--each", type=int, default=1000, help="texts of a language")
    args = parser.parse_args()
    os.makedirs(os.path.join(args.work, "unpacked"), exist_ok=True)
    languages = {**MAIN, **MORE}
    for part, packages in (("dev", DEV), ("test", TEST)):
        found = texts_of(packages, os.path.abspath(args.work), languages)
        times = collections.Counter(text.casefold() for texts in found.values() for text in texts)
        os.makedirs(os.path.join(args.out, part), exist_ok=True)
        for code, texts in found.items():
            # A text that two languages share has no answer.
            own = [text for text in texts if times[text.casefold()] == 1]
            order = sorted(own, key=lambda t: hashlib.sha256(t.encode()).digest())
            by_length = [[t for t in order if low <= len(t) < high] for low, high in LENGTHS]
            chosen, left = [], args.each
            for k, texts_of_length in sorted(enumerate(by_length), key=lambda kt: len(kt[1])):
                share = left // (len(LENGTHS) - len(chosen))
                chosen.append(texts_of_length[:share])
                left -= len(chosen[-1])
            lines = [t for texts_of_length in chosen for t in texts_of_length]
            random.Random(1).shuffle(lines)
            with open(os.path.join(args.out, part, code), "w", encoding="utf-8") as out:
                out.write("".join(line + "\n" for line in lines))
            print(part, code, len(lines), [sum(low <= len(t) < high for t in lines) for low, high in LENGTHS])


if __name__ == "__main__":
    main()
