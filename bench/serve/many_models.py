#!/usr/bin/env python3
"""Measures `tril serve` with many models in bounded memory: peak memory, the latency of the first request to a model that is
not loaded and of the next one, and requests lost under load. Needs nothing but Python.

    python bench/serve/many_models.py --tril build/tril --model models/base --copies 30 --memory 2GiB

The models are hard links to the files of one directory under different names. The server does not know this: it loads each of
them. Prints one JSON object.
"""
import argparse
import collections
import http.client
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time


def milliseconds(values):
    values = sorted(values)
    at = lambda q: round(1e3 * values[min(len(values) - 1, int(q * len(values)))], 1)
    return {"p50": at(0.5), "p90": at(0.9), "p99": at(0.99), "max": at(1)}


class Server:
    def __init__(self, o, folder):
        log = folder / "log"
        command = [o.tril, "serve", "--models", str(folder / "all"), "--port", "0", "--access-log", "none",
                   "--model-memory", o.memory, "--threads", str(o.threads)]
        if o.precision:
            command += ["--precision", o.precision]
        begun = time.time()
        self.process = subprocess.Popen(command, stderr=open(log, "w"))
        while True:
            said = log.read_text()
            if self.process.poll() is not None:
                sys.exit(said)
            if "listening on" in said:
                self.port = int(said.split("127.0.0.1:")[1].split()[0])
                if ask(self.connect(), "GET", "/ready")[0] == 200:
                    break
            time.sleep(0.01)
        self.start_seconds = time.time() - begun

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def models(self):
        return ask(self.connect(), "GET", "/v1/models")[1]["data"]

    def memory_mib(self, key):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(key + ":"):
                return round(int(line.split()[1]) / 1024)
        return None


def ask(connection, method, path, body=None):
    connection.request(method, path, json.dumps(body) if body else None)
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def load(server, o, names, body):
    """Clients that ask for the k-th model with probability ~ 1 / k: statuses, latencies, and the most accounted memory."""
    statuses, latencies, lock, accounted = collections.Counter(), [], threading.Lock(), 0
    until = time.time() + o.seconds
    weights = [1 / (k + 1) for k in range(len(names))]

    def client(seed):
        draw, own = random.Random(seed), server.connect()
        while time.time() < until:
            begun = time.time()
            try:
                status = ask(own, "POST", "/translate", body(draw.choices(names, weights)[0]))[0]
            except Exception as error:  # counted as lost
                status, own = type(error).__name__, server.connect()
            with lock:
                statuses[status] += 1
                latencies.append(time.time() - begun)

    clients = [threading.Thread(target=client, args=(i,)) for i in range(o.clients)]
    for one in clients:
        one.start()
    while any(one.is_alive() for one in clients):
        accounted = max(accounted, sum(m["memory_bytes"] for m in server.models()))
        time.sleep(0.2)
    return statuses, latencies, accounted


def measure(server, o, names):
    body = lambda name: {"q": o.text, "model": name, "beam_size": 1, "max_length": o.max_length}
    before = server.memory_mib("VmRSS")
    cold, warm, connection = [], [], server.connect()
    for name in names:
        for latencies in cold, warm:
            begun = time.time()
            status, answer = ask(connection, "POST", "/translate", body(name))
            latencies.append(time.time() - begun)
            assert status == 200, answer
    loads = sum(m["loads"] for m in server.models())
    statuses, latencies, accounted = load(server, o, names, body)
    models = server.models()
    requests = sum(statuses.values())
    return {"models": o.copies, "bound": o.memory, "precision": o.precision or "as stored",
            "largest_model_mib": round(max(m["memory_bytes"] for m in models) / 2**20, 1),
            "loaded_at_the_end": sum(m["state"] == "ready" for m in models),
            "start_seconds": round(server.start_seconds, 2), "rss_before_mib": before,
            "peak_rss_mib": server.memory_mib("VmHWM"), "peak_accounted_mib": round(accounted / 2**20),
            "cold_ms": milliseconds(cold), "warm_ms": milliseconds(warm),
            "under_load": {"clients": o.clients, "requests": requests, "lost": requests - statuses[200],
                           "statuses": {str(k): v for k, v in statuses.items()},
                           "loads": sum(m["loads"] for m in models) - loads, "ms": milliseconds(latencies)}}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tril", default="build/tril")
    p.add_argument("--model", required=True, help="directory of a translation model")
    p.add_argument("--copies", type=int, default=30)
    p.add_argument("--memory", default="2GiB")
    p.add_argument("--precision", default="")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--clients", type=int, default=8)
    p.add_argument("--seconds", type=float, default=20, help="duration of the load")
    p.add_argument("--text", default="the old dog runs through the snow and two men play with a red ball.")
    p.add_argument("--max-length", type=int, default=16)
    o = p.parse_args()

    folder = pathlib.Path(tempfile.mkdtemp(dir=pathlib.Path(o.model).resolve().parent))
    server = None
    try:
        names = [f"m{i:02}" for i in range(o.copies)]
        for name in names:
            shutil.copytree(o.model, folder / "all" / name, copy_function=os.link)
        server = Server(o, folder)
        print(json.dumps(measure(server, o, names)))
    finally:
        if server:
            server.process.terminate()
            server.process.wait()
        shutil.rmtree(folder)


main()
