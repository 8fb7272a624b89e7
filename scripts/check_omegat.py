"""OmegaT itself with tril: its connector to Google's API against `tril serve`, and a project that tril translates as TMX.

usage: check_omegat.py TRIL MODEL        (MODEL translates English to German, such as that of `tril demo translation`)

Needs OmegaT 3.6 (Debian's package omegat), a JDK, openssl, and the right to listen on port 443: OmegaT's connector asks
www.googleapis.com; a hosts file maps that name to this machine for Java. Exits 77 if one of these is missing.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

JAR = "/usr/share/omegat/OmegaT.jar"
KEY = "key-of-omegat"
HOSTS = ("www.googleapis.com", "translation.googleapis.com", "localhost")
TEXTS = ["A dog runs.", 'A <t0>dog</t0> runs & <t1/>sees "a ball".', "The dog & the ball"]

# The connector's method is protected, and its constructor wants a menu of OmegaT's window.
CALLER = """
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import org.omegat.core.machinetranslators.Google2Translate;
import org.omegat.util.Language;

public class Caller {
  public static void main(String[] texts) throws Exception {
    Field unsafe = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
    unsafe.setAccessible(true);
    Object google = ((sun.misc.Unsafe) unsafe.get(null)).allocateInstance(Google2Translate.class);
    Field cache = Google2Translate.class.getSuperclass().getDeclaredField("cache");
    cache.setAccessible(true);
    cache.set(google, new java.util.HashMap<String, String>());
    Method translate = Google2Translate.class.getDeclaredMethod("translate", Language.class, Language.class, String.class);
    translate.setAccessible(true);
    java.io.PrintStream out = new java.io.PrintStream(System.out, true, "UTF-8");
    for (String text : texts) out.println(translate.invoke(google, new Language("en-US"), new Language("de-DE"), text));
  }
}
"""
PROJECT = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<omegat><project version="1.0"><source_dir>__DEFAULT__</source_dir><target_dir>__DEFAULT__</target_dir>
<tm_dir>__DEFAULT__</tm_dir><glossary_dir>__DEFAULT__</glossary_dir><glossary_file>__DEFAULT__</glossary_file>
<dictionary_dir>__DEFAULT__</dictionary_dir><source_lang>EN-US</source_lang><target_lang>DE-DE</target_lang>
<sentence_seg>true</sentence_seg></project></omegat>
"""
PAGE = ("<html><head><title>A dog</title></head><body><p>A <b>dog</b> runs &amp; sees a <i>ball</i>.</p>"
        "<p>The men see a dog. It is old.</p></body></html>")


def check(ok, what):
    print(("ok    " if ok else "WRONG ") + what, flush=True)
    if not ok:
        sys.exit(1)


def run(*words, **more):
    return subprocess.run([str(w) for w in words], check=True, text=True, capture_output=True, **more).stdout


def omegat(work, *words):
    run("java", "-Djava.awt.headless=true", f"-Duser.home={work}", "-jar", JAR, *words)


def check_project(program, model, work):
    project = work / "project"
    for folder in ("source", "target", "tm/auto", "glossary", "dictionary", "omegat"):
        (project / folder).mkdir(parents=True)
    (project / "omegat.project").write_text(PROJECT)
    (project / "source/page.html").write_text(PAGE)
    (project / "source/text.txt").write_text("A dog runs in the snow. The ball is red.\nThe men see a dog.\n")
    waiting, done = work / "waiting.tmx", project / "tm/auto/tril.tmx"
    omegat(work, project, "--mode=console-createpseudotranslatetmx", f"--pseudotranslatetmx={waiting}",
           "--pseudotranslatetype=empty")
    empty = waiting.read_text().count("<seg></seg>")
    check(empty >= 5, f"OmegaT's project has {empty} segments without a translation")
    run(program, "translate", "-m", model, waiting, "--to", "de", "-o", done, "-q")
    check(done.read_text().count("<seg></seg>") == 0, "tril translates all of them")
    omegat(work, project, "--mode=console-translate")
    text, page = (project / "target/text.txt").read_text(), (project / "target/page.html").read_text()
    segs = re.findall(r"<seg>(.*?)</seg>", done.read_text(), re.S)
    memory = dict(zip(segs[::2], segs[1::2]))
    for source in ("A dog runs in the snow.", "The ball is red.", "The men see a dog."):
        check(memory[source] in text, f"in the target, {source!r}: {memory[source]!r}")
    tags = ("<b>", "</b>", "<i>", "</i>")
    check(memory["A dog"] in page and all(page.count(tag) == 1 for tag in tags), f"tags: {page[-200:]!r}")
    again = work / "again.html"
    run(program, "translate", "-m", model, project / "target/page.html", "--to", "de", "-o", again, "-q")
    check(again.read_text().count("<b>") == 1, "tril reads what OmegaT writes")


def check_connector(program, model, work):
    names = ",".join(f"DNS:{host}" for host in HOSTS)
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj",
        "/CN=localhost", "-addext", f"subjectAltName={names}", cwd=work)
    run("keytool", "-importcert", "-noprompt", "-alias", "tril", "-file", "cert.pem", "-keystore", "trust", "-storepass", "changeit",
        cwd=work)
    (work / "hosts").write_text("127.0.0.1 " + " ".join(HOSTS) + "\n")
    (work / "Caller.java").write_text(CALLER)
    run("javac", "-nowarn", "-cp", JAR, "Caller.java", cwd=work)
    log = work / "access.log"
    server = subprocess.Popen([program, "serve", "-m", f"de={model}", "--languages", "de=en:de", "--port", "443", "--tls-certificate",
                               work / "cert.pem", "--tls-key", work / "key.pem", "--access-log", log, "-q"],
                              env=os.environ | {"TRIL_API_KEY": KEY})
    try:
        health = ["curl", "--silent", "--fail", "--cacert", work / "cert.pem", "https://localhost/health"]
        while subprocess.run(health, capture_output=True).returncode != 0:
            if server.poll() is not None:
                sys.exit("check_omegat: the server has ended; is port 443 taken?")
            time.sleep(0.1)

        def ask(key, *texts):
            return subprocess.run(["java", "-Djdk.net.hosts.file=hosts", "-Djavax.net.ssl.trustStore=trust",
                                   "-Djavax.net.ssl.trustStorePassword=changeit", f"-Dgoogle.api.key={key}", "-cp", f".:{JAR}",
                                   "Caller", *texts],
                                  cwd=work, text=True, capture_output=True, encoding="utf-8").stdout.splitlines()

        answers = ask(KEY, *TEXTS)
        expected = [json.loads(line)["translatedText"] for line in run("curl", "-s", "--cacert", work / "cert.pem", "-H",
                    f"X-API-Key: {KEY}", "--json", json.dumps({"q": TEXTS, "source": "en", "target": "de", "format": "html"}),
                    "https://localhost/translate").splitlines()][0]
        # OmegaT replaces the references of HTML by their characters.
        check([a for a in answers if a] and len(answers) == len(TEXTS), f"OmegaT's connector: {answers}")
        for got, own in zip(answers, expected):
            plain = own.replace("&quot;", '"').replace("&amp;", "&")
            check("".join(got.split()) == "".join(plain.split()), f"OmegaT shows {got!r}")
        check(all(answers[1].count(tag) == 1 for tag in ("<t0>", "</t0>", "<t1/>")), "OmegaT's tags come back")
        refused = ask("wrong-key", TEXTS[0])
        check(refused and "401" in refused[0], f"a wrong key: {refused}")
    finally:
        server.terminate()
        server.wait()


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    missing = [p for p in ("java", "javac", "keytool", "openssl", "curl") if not shutil.which(p)]
    missing += [] if os.path.exists(JAR) else ["omegat"]
    if missing:
        print(f"check_omegat: {', '.join(missing)}: not installed", file=sys.stderr)
        sys.exit(77)
    program, model = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:])
    with tempfile.TemporaryDirectory() as work:
        check_project(program, model, pathlib.Path(work))
        check_connector(program, model, pathlib.Path(work))


main()
