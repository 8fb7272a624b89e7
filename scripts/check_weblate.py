"""Weblate's own classes of machine translation against a running server: LibreTranslate, DeepL with a glossary, Google, Microsoft, OpenAI.

  pip install weblate openai       (its backups and fonts need headers: what fails to build may be left out)
  tril serve -m de=DIR plays=DIR --languages de=en:de --port 8080 &
  python3 scripts/check_weblate.py --port 8080 [--writer plays] [--key KEY] [--certificate FILE]

The units have placeholders, which Weblate hides from services and puts back. No database and no site is needed. Microsoft's class asks
over https only: its part needs the server's certificate (for localhost). Exits 77 if Weblate is not installed.
"""
import argparse
import importlib
import os
import sys
import unittest.mock

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, default=8080)
parser.add_argument("--writer", help="name of a language model with a chat template")
parser.add_argument("--key", default="none")
parser.add_argument("--certificate", help="the server speaks https with this certificate (PEM)")
args = parser.parse_args()
scheme = "https" if args.certificate else "http"
base = f"{scheme}://localhost:{args.port}"
if args.certificate:
    os.environ["REQUESTS_CA_BUNDLE"] = os.environ["SSL_CERT_FILE"] = os.path.abspath(args.certificate)

# Weblate draws badges with Cairo and Pango; nothing of it is used here.
for name in ("cairo", "gi", "gi.repository"):
    try:
        importlib.import_module(name)
    except ImportError:
        sys.modules[name] = unittest.mock.MagicMock()

try:
    import weblate
except ImportError as missing:
    print(f"check_weblate: {missing}", file=sys.stderr)
    sys.exit(77)

import django
from django.conf import settings
import weblate.settings_example as example

options = {name: getattr(example, name) for name in dir(example) if name.isupper()}
options |= {"DATABASES": {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}, "SECRET_KEY": "x",
            "CACHES": {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}, "SITE_DOMAIN": "localhost",
            "DATA_DIR": os.path.join(os.getcwd(), "weblate-data"), "LOGGING": {}, "LOGGING_CONFIG": None, "DEBUG": False}
settings.configure(**options)
django.setup()

import weblate.glossary.models
import weblate.machinery.google as google
from weblate.checks.tests.test_checks import MockUnit
from weblate.machinery.base import MachineTranslationError
from weblate.machinery.deepl import DeepLTranslation
from weblate.machinery.libretranslate import LibreTranslateTranslation
from weblate.machinery.microsoft import MicrosoftCognitiveTranslation
from weblate.machinery.openai import OpenAITranslation


def check(ok, what):
    print(("ok    " if ok else "WRONG ") + what)
    if not ok:
        sys.exit(1)


def unit(text, flags="python-format", **more):
    made = MockUnit(source=text, code="de", flags=flags, **more)
    made.translated = False
    return made


def translated(service, text, **more):
    """The translations of a unit and of a plural by the service, as an editor sees them."""
    results = service.translate(unit(text, **more))
    check(len(results) >= 1 and results[0], f"{service.name}: {text!r}: {[r['text'] for r in results[0]]}")
    return results[0][0]["text"]


def batch(service, texts):
    units = [unit(t) for t in texts]
    service.batch_translate(units)
    for u, text in zip(units, texts):
        check(u.machinery and u.machinery["translation"][0] is not None, f"{service.name}: batch: {text!r}: {u.machinery['translation']}")
    return [u.machinery["translation"][0] for u in units]


def check_service(service):
    check(service.is_supported(*service.get_languages(unit("a").translation.component.source_language, unit("a").translation.language)),
          f"{service.name}: languages {sorted(map(str, service.supported_languages))[:6]}")
    service.validate_settings()
    check(True, f"{service.name}: validate_settings")
    for text, marks in (("A dog runs.", []), ("The %(name)s has %(n)d dogs.", ["%(name)s", "%(n)d"]), ("A %s & <b>a ball</b>", ["%s"])):
        got = translated(service, text)
        check(all(got.count(mark) == 1 for mark in marks), f"{service.name}: placeholders {marks} are kept: {got!r}")
    several = batch(service, ["A dog.", "A ball.", "A dog runs with %s."])
    check(several[2].count("%s") == 1, f"{service.name}: a batch")


key = {"key": "" if args.key == "none" else args.key}
weblate.glossary.models.get_glossary_tsv = lambda translation: ""
check_service(LibreTranslateTranslation({"url": base, **key}))
deepl = {"url": base + "/v2/", "key": args.key, "formality": "default"}
check_service(DeepLTranslation(deepl))
weblate.glossary.models.get_glossary_tsv = lambda translation: "dog\tball"
check("ball" in translated(DeepLTranslation(deepl | {"context": "Animals."}), "A dog runs."), "DeepL: Weblate's glossary is made and used")
weblate.glossary.models.get_glossary_tsv = lambda translation: ""
for mistake in ({"key": "wrong-key"},) if args.key != "none" else ():
    for service in (LibreTranslateTranslation({"url": base, **mistake}), DeepLTranslation(deepl | mistake)):
        try:
            service.translate(unit("A dog runs."))
            check(False, f"{service.name}: a wrong key is refused")
        except MachineTranslationError as error:
            check("key" in str(error).lower() or "403" in str(error), f"{service.name}: {error}")
google.GOOGLE_API_ROOT = base + "/language/translate/v2/"  # Weblate has no setting for it
check_service(google.GoogleTranslation({"key": args.key}))
if args.certificate:
    host = f"localhost:{args.port}"
    azure = MicrosoftCognitiveTranslation({"key": args.key, "base_url": host, "endpoint_url": host, "region": "", "category": "general"})
    check_service(azure)
    with_term, term = unit("A dog runs."), unit("dog", target="Katze")
    term.glossary_positions, with_term.glossary_terms = ((2, 5),), [term]
    got = azure.translate(with_term)[0][0]["text"]
    check(got.count("Katze") == 1 and "<" not in got, f"Azure AI Translator: Weblate's glossary: {got!r}")
if args.writer:
    service = OpenAITranslation({"key": args.key, "base_url": base + "/v1", "model": "custom", "custom_model": args.writer,
                                 "persona": "", "style": ""})
    translated(service, "A dog.")
