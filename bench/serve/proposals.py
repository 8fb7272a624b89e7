#!/usr/bin/env python3
"""Measures what proposed tokens gain in a server, on three kinds of work with a chat model: summaries and edits of text that is in the
prompt, whose answers repeat parts of it, and stories, which repeat little. Needs nothing but Python.

    python bench/serve/proposals.py MODEL --tril build/tril [--clients 1 4] [--rounds 2] -- --prompt-lookup 3
    python bench/serve/proposals.py MODEL --tril build/tril --predictions

Options after -- are passed to `tril serve`; with --predictions, requests for edits have the text to edit as their `prediction`. A server
that gets neither runs in turn with one that does; answers are greedy. Kinds of work that nothing is proposed for are left out. The texts are
this project's own pages and sources. Prints for each kind of work and number of clients: tokens per second without and with
proposals (the best of the rounds), their ratio, the accepted share, and how many answers are the same.
"""
import argparse
import concurrent.futures
import http.client
import json
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from parallel import Server, free_port  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]


def paragraphs(count):
    found = []
    for page in sorted((ROOT / "docs").glob("*.md")):
        for text in re.split(r"\n\s*\n", page.read_text()):
            if 500 < len(text) < 1200 and not text.startswith(("|", "#", "```", "-", "!")):
                found.append(text.strip())
                break
    return found[:count]


def functions(count):
    found = []
    for source in sorted((ROOT / "bench").glob("**/*.py")):
        for text in re.split(r"\n\n\n", source.read_text()):
            if text.startswith("def ") and 300 < len(text) < 900:
                found.append(text.strip())
                break
    return found[:count]


# By kind of work: the requests, and what their answers are likely to be.
def tasks(count):
    return {
        "summary": [("Summarise this text, and quote its most important sentence.\n\n" + t, None) for t in paragraphs(count)],
        "edit": [("Add a comment to this function, and print the whole function again.\n\n" + f, f) for f in functions(count)],
        "story": [(f"Write a short story about {who}.", None) for who in
                  ("a fox", "a lighthouse", "two sisters", "a lost key", "the sea", "a teacher", "a train", "winter")][:count],
    }


def ask(port, model, text, most, prediction=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    body = {"model": model, "messages": [{"role": "user", "content": text}], "temperature": 0, "max_tokens": most}
    if prediction:
        body["prediction"] = {"type": "content", "content": prediction}
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
    answer = json.loads(connection.getresponse().read())
    if "choices" not in answer:
        sys.exit(json.dumps(answer))
    return answer["choices"][0]["message"]["content"], answer["usage"]["completion_tokens"]


def counts(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    return [int(re.search(rf"^tril_{name}_tokens_total{{[^}}]*}} (\d+)", text, re.M)[1]) for name in ("proposed", "accepted")]


def measure(a, options, predictions):
    port = free_port()
    server = Server([a.tril, "serve", "-m", "lm=" + a.model, "--port", str(port), "--access-log", "none", "--threads",
                     str(a.threads), "--prefix-tokens", "0"] + options, port)
    results = {}
    try:
        while True:  # until the model is loaded
            try:
                ask(port, "lm", "Hello", 2)
                break
            except SystemExit:
                time.sleep(0.2)
        for kind, requests in tasks(a.tasks).items():
            if not a.options and not any(prediction for _, prediction in requests):
                continue
            for clients in a.clients:
                before, begun = counts(port), time.monotonic()
                with concurrent.futures.ThreadPoolExecutor(clients) as pool:
                    answers = list(pool.map(lambda r: ask(port, "lm", r[0], a.tokens, r[1] if predictions else None), requests))
                seconds = time.monotonic() - begun
                proposed, accepted = (n - m for n, m in zip(counts(port), before))
                results[kind, clients] = {"speed": sum(n for _, n in answers) / seconds, "proposed": proposed,
                                          "accepted": accepted, "texts": [t for t, _ in answers]}
    finally:
        server.stop()
    return results


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model")
    p.add_argument("--tril", required=True)
    p.add_argument("--clients", type=int, nargs="+", default=[1, 4])
    p.add_argument("--rounds", type=int, default=2)
    p.add_argument("--tasks", type=int, default=8)
    p.add_argument("--tokens", type=int, default=160, help="the most in an answer")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--predictions", action="store_true", help="requests for edits say what they expect")
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    a = p.parse_args(sys.argv[1:end])
    a.options = sys.argv[end + 1:]  # of tril serve
    if not a.options and not a.predictions:
        p.error("expected --predictions, or options of tril serve after --")
    best = {}
    for _ in range(a.rounds):
        for name, options in (("plain", []), ("proposals", a.options)):
            for key, result in measure(a, options, a.predictions and name == "proposals").items():
                old = best.setdefault(key, {}).get(name)
                if not old or result["speed"] > old["speed"]:
                    best[key][name] = result
    for (kind, clients), found in best.items():
        plain, with_them = found["plain"], found["proposals"]
        same = sum(x == y for x, y in zip(plain["texts"], with_them["texts"]))
        print(f"{kind}, {clients} at once: {plain['speed']:.0f} and {with_them['speed']:.0f} tokens/s, ratio "
              f"{with_them['speed'] / plain['speed']:.2f}; accepted {with_them['accepted']} of {with_them['proposed']}; "
              f"{same} of {len(plain['texts'])} answers are the same")


if __name__ == "__main__":
    main()
