#!/usr/bin/env python3
"""Measures language models served to many clients at once: `tril serve` and, in turn, llama-server of llama.cpp or ik_llama.cpp on
the same GGUF file. Needs nothing but Python.

    python bench/serve/parallel.py model.gguf --tril build/tril --peer llama-server --clients 1 4 16 64

Each client sends one streamed completion after another, of the same length for all (the end token is forbidden). The prompts are
random letters; with --shared N, the first N characters are the same in all, as a system prompt is. Prints tokens per second of all
clients, the median time of a request, and the time to its first token, as JSON, and then the ratios.
"""
import argparse
import http.client
import json
import os
import random
import shutil
import socket
import string
import subprocess
import sys
import tempfile
import threading
import time


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    def __init__(self, command, port):
        self.port = port
        self.log = tempfile.TemporaryFile("w+")
        self.folder = tempfile.TemporaryDirectory()  # llama-server leaves a file where it is started
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, cwd=self.folder.name)
        while not self.answers():
            if self.process.poll() is not None:
                self.log.seek(0)
                sys.exit(self.log.read())
            time.sleep(0.05)

    def answers(self):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except OSError:
            return False

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


def tril(o, clients):
    port = free_port()
    return Server([o.tril, "serve", "--model", o.file, "--port", str(port), "--access-log", "none", "--threads", str(o.threads),
                   "--batch-size", str(clients)], port)


def peer(o, clients):
    port = free_port()
    tokens = clients * (o.prompt + o.generate + 64)  # all clients share them
    return Server([o.peer, "-m", o.file, "--port", str(port), "-t", str(o.threads), "-np", str(clients), "-c", str(tokens),
                   *o.peer_options.split()], port)


class Client(threading.Thread):
    """Sends requests until told to stop, and keeps the times of those that ended."""

    def __init__(self, o, port, number):
        super().__init__(daemon=True)
        self.o, self.port, self.number, self.random = o, port, number, random.Random(number)
        self.ended, self.first, self.whole, self.tokens, self.error = threading.Event(), [], [], 0, None

    def run(self):
        shared = "".join(random.Random(0).choices(string.ascii_lowercase, k=self.o.shared))
        try:
            while not self.ended.is_set():
                own = "".join(self.random.choices(string.ascii_lowercase, k=self.o.prompt - self.o.shared))
                self.request(shared + own)
        except (OSError, http.client.HTTPException, RuntimeError) as error:
            self.error = error

    def request(self, prompt):
        body = {"prompt": prompt, "max_tokens": self.o.generate, "min_tokens": self.o.generate, "ignore_eos": True,
                "temperature": 0, "stream": True, "cache_prompt": True}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        begun, first, done = time.monotonic(), None, False
        connection.request("POST", "/v1/completions", json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        if answer.status != 200:
            raise RuntimeError(f"status {answer.status}: {answer.read().decode()}")
        for line in answer:
            if line.startswith(b"data:") and first is None:
                first = time.monotonic()
            done = line.startswith(b"data: [DONE]")
            if done:
                break
        connection.close()
        if not done:
            raise RuntimeError("the stream ended early")
        if not self.ended.is_set():
            self.first.append(first - begun), self.whole.append(time.monotonic() - begun)
            self.tokens += self.o.generate


def measure(o, start, clients):
    server = start(o, clients)
    try:
        all_clients = [Client(o, server.port, i) for i in range(clients)]
        begun = time.monotonic()
        for c in all_clients:
            c.start()
        time.sleep(o.seconds)
        for c in all_clients:
            c.ended.set()
        seconds = time.monotonic() - begun
        for c in all_clients:
            c.join()
            if c.error:
                sys.exit(f"client {c.number}: {c.error}")
    finally:
        server.stop()
    first = sorted(t for c in all_clients for t in c.first)
    whole = sorted(t for c in all_clients for t in c.whole)
    if not whole:
        sys.exit(f"no request of {clients} clients ended within {o.seconds} seconds: pass more --seconds or a smaller --generate")
    at = lambda values, q: round(1e3 * values[min(len(values) - 1, int(q * len(values)))], 1)
    return {"tokens_per_second": round(sum(c.tokens for c in all_clients) / seconds, 1), "requests": len(whole),
            "request_p50_ms": at(whole, 0.5), "first_token_p50_ms": at(first, 0.5), "first_token_p99_ms": at(first, 0.99)}


def program(name):
    found = shutil.which(name)
    if not found:
        raise argparse.ArgumentTypeError(f"there is no program {name}")
    return os.path.abspath(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=os.path.abspath,
                        help="GGUF file with a tokenizer of bytes, such as that of language/peers.py make")
    parser.add_argument("--tril", type=program, required=True)
    parser.add_argument("--peer", type=program, help="llama-server")
    parser.add_argument("--peer-options", default="", help="more options of llama-server: --peer-options=-rtr")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 4, 16, 64])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--prompt", type=int, default=64, help="characters; about as many tokens for random letters")
    parser.add_argument("--shared", type=int, default=0, help="of them, those that all prompts have in common")
    parser.add_argument("--generate", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=1)
    o = parser.parse_args()
    if not 0 <= o.shared <= o.prompt:
        parser.error("--shared: expected at most --prompt")
    for clients in o.clients:
        for _ in range(o.rounds):
            ours = measure(o, tril, clients)
            print(json.dumps({"clients": clients, "server": "tril", **ours}), flush=True)
            if not o.peer:
                continue
            theirs = measure(o, peer, clients)
            print(json.dumps({"clients": clients, "server": "peer", **theirs}), flush=True)
            ratio = {k: round(ours[k] / theirs[k], 2) for k in ours if k != "requests"}
            print(json.dumps({"clients": clients, "tril / peer": ratio}), flush=True)


if __name__ == "__main__":
    main()
