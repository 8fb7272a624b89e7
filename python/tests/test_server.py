import json
import time
import urllib.request

import pytest

import tril


def ask(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def test_a_server_translates_like_a_translator(model, texts, translator):
    with tril.serve(f"numbers={model}", port=0, threads=1) as server:
        assert server.port > 0
        for attempt in range(100):
            try:
                told = ask(server.url + "/translate", {"q": texts[:3], "source": "auto", "target": "de"})
                break
            except urllib.error.HTTPError:
                time.sleep(0.1)
        assert told["translatedText"] == [t.text for t in translator.translate(texts[:3])]
    with pytest.raises(OSError):
        urllib.request.urlopen(server.url + "/health", timeout=5)


def test_mistakes_are_named(tmp_path, model):
    with pytest.raises(tril.Error, match="prot: is not an argument here.*did you mean port"):
        tril.serve(model, prot=1)
    with pytest.raises(tril.Error, match="none"):
        tril.serve(tmp_path / "none", port=0).wait()
