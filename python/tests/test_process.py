"""What concerns the whole process: Ctrl-C, messages, the time of import, memory, the program."""

import logging
import os
import signal
import subprocess
import sys
import textwrap
import time
import types

import pytest

import tril


def run(code, *args):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *args], capture_output=True, text=True, timeout=120, check=False
    )


def test_interrupts_stop_long_calls(model):
    done = run(
        """
        import os, signal, sys, threading, time, tril
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell runs the tests in the background
        t = tril.Translator(sys.argv[1], threads=2)
        texts = ["one two three four five six seven"] * 200000
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        begin = time.time()
        try:
            t.translate(texts, beam_size=8, min_length=100, max_length=200)
        except KeyboardInterrupt:
            print("interrupted", time.time() - begin < 20)
        print(t.translate("one two").text != "")
        """,
        model,
    )
    assert done.stdout.split() == ["interrupted", "True", "True"], done.stderr


def test_interrupts_stop_streams_and_training(language_model, corpus, tmp_path):
    done = run(
        """
        import os, signal, sys, threading, time, tril
        signal.signal(signal.SIGINT, signal.default_int_handler)  # as above
        g = tril.Generator(sys.argv[1], threads=1)
        interrupt = lambda: os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(0.3, interrupt).start()
        try:
            while True:
                list(g.stream("one", max_new_tokens=100))
        except KeyboardInterrupt:
            print("stream")
        threading.Timer(1.5, interrupt).start()
        try:
            tril.train(sys.argv[3], train_sets=[sys.argv[2] + "/train.en", sys.argv[2] + "/train.de"], vocab_size=64,
                       d_model=16, num_heads=2, ffn_dim=16, enc_depth=1, dec_depth=1, after="1000000u", threads=1)
        except KeyboardInterrupt:
            print("training")
        """,
        language_model,
        str(corpus),
        str(tmp_path / "m"),
    )
    assert done.stdout.split() == ["stream", "training"], done.stderr


def test_messages_go_to_the_logger(small_run, tmp_path, caplog):
    with caplog.at_level(logging.INFO, logger="tril"):
        tril.train(tmp_path / "m", after="2u", **small_run)
    assert any("parameters" in record.message for record in caplog.records)


def test_import_is_fast_and_needs_no_numpy():
    done = run(
        """
        import sys, time
        begin = time.perf_counter()
        import tril
        print(time.perf_counter() - begin, "numpy" in sys.modules)
        """
    )
    seconds, numpy_there = done.stdout.split()
    assert numpy_there == "False"
    assert float(seconds) < float(os.environ.get("TRIL_IMPORT_SECONDS", "2")), done.stdout


def test_certifi_is_used_where_the_system_has_no_certificates(monkeypatch):
    # monkeypatch restores the environment, which the function may change.
    for name in ("CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        monkeypatch.setenv(name, "")
    monkeypatch.setitem(sys.modules, "certifi", types.SimpleNamespace(where=lambda: "/certifi.pem"))
    monkeypatch.setattr(tril._common._tril, "system_certificates", lambda: "/system.pem")
    tril._common.find_certificates()
    assert not os.environ["SSL_CERT_FILE"]
    monkeypatch.setattr(tril._common._tril, "system_certificates", lambda: "")
    tril._common.find_certificates()
    assert os.environ["SSL_CERT_FILE"] == "/certifi.pem"
    monkeypatch.setenv("SSL_CERT_FILE", "/mine.pem")
    tril._common.find_certificates()
    assert os.environ["SSL_CERT_FILE"] == "/mine.pem"


def test_the_program_is_there(model):
    def tril_program(*args, text=""):
        return subprocess.run(
            [sys.executable, "-m", "tril", *args], input=text, capture_output=True, text=True, timeout=120, check=False
        )

    assert tril_program("--version").stdout.strip() == f"tril {tril.__version__}"
    assert tril_program("translate", "-m", model, text="one two\n").stdout.strip()
    assert tril_program("translat").returncode == 2
    done = tril_program("translate", "-m", "none-such")
    assert done.returncode == 1 and "none-such" in done.stderr


def memory():
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_calls_do_not_leak(translator, generator, texts):
    """10,000 calls with TRIL_SOAK_CALLS=10000; 300 without."""
    calls = int(os.environ.get("TRIL_SOAK_CALLS", "300"))

    def each(number):
        translator.translate(texts[number % len(texts)], beam_size=2, alignment="soft").attention
        translator.score(texts[:1], texts[:1])
        translator.logits([1, 2, 3], [4])
        generator.trace("one two", only="*.weights")["decoder.0.self.weights"]
        "".join(generator.stream("one", max_new_tokens=3))
        try:
            translator.translate("one", beam_sise=1)
        except tril.Error:
            pass

    for number in range(100):
        each(number)
    before = memory()
    for number in range(calls):
        each(number)
    assert memory() - before < 8_000_000 + 100 * calls


def test_forms_of_options_are_up_to_date():
    source = os.environ.get("TRIL_SOURCE")
    if not source:
        pytest.skip("TRIL_SOURCE is the source tree, which has the generator")
    sys.path.insert(0, source + "/python/tools")
    import make_options

    with open(source + "/python/tril/_options.py", encoding="utf-8") as f:
        assert f.read() == make_options.text(), "run python/tools/make_options.py"


def test_stubs_are_up_to_date(tmp_path):
    source = os.environ.get("TRIL_SOURCE")
    pytest.importorskip("nanobind")
    if not source:
        pytest.skip("TRIL_SOURCE is the source tree, which has the stubs")
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "tril._tril", "-o", tmp_path / "stub"], check=True)
    with open(source + "/python/tril/_tril.pyi", encoding="utf-8") as f:
        assert f.read() == (tmp_path / "stub").read_text(encoding="utf-8"), "run python -m nanobind.stubgen"
