#!/usr/bin/env python3
"""How fast `tril pull` downloads a model from a hub on the loopback, beside `hf download` and curl.

    python bench/hub/pull.py --tril build/tril [--hf hf] [--megabytes 1024] [--rate 0] [--repeat 3]
    needs huggingface_hub for `hf`, and curl; three times the size in free disk

The hub answers as huggingface.co does: the model's data, the tree of its files, and the files, large ones behind a redirect
to a store on another port, with ranges. --rate limits each connection, in megabytes per second, as a distant server does; 0: no
limit. tril and hf check sums, and write the cache of Hugging Face; curl only writes the files, one after the other. They take turns, and
the fastest of --repeat runs counts. Prints the megabytes per second of each.
"""
import argparse
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

COMMIT = "1" * 40
REPO = "acme/model"
CHUNK = 1 << 20


class Files:
    def __init__(self, folder, megabytes, parts):
        self.folder = folder
        names = [f"model-{i + 1:05d}-of-{parts:05d}.safetensors" for i in range(parts)]
        block = os.urandom(CHUNK)
        for i, name in enumerate(names):
            header = json.dumps({f"w{i}": {"dtype": "U8", "shape": [megabytes // parts * CHUNK], "data_offsets": [0, megabytes // parts * CHUNK]}})
            with open(folder / name, "wb") as f:
                f.write(len(header).to_bytes(8, "little") + header.encode())
                for j in range(megabytes // parts):
                    f.write(j.to_bytes(4, "little") + block[4:])
        index = {"metadata": {}, "weight_map": {f"w{i}": name for i, name in enumerate(names)}}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))
        (folder / "config.json").write_text(json.dumps({"model_type": "llama"}))
        self.sums = {}
        for path in folder.iterdir():
            large = path.suffix == ".safetensors"
            sum = hashlib.sha256() if large else hashlib.sha1(f"blob {path.stat().st_size}\0".encode())
            with open(path, "rb") as f:
                while data := f.read(CHUNK):
                    sum.update(data)
            self.sums[path.name] = (large, sum.hexdigest(), path.stat().st_size)

    def tree(self):
        entries = []
        for name, (large, sum, size) in sorted(self.sums.items()):
            entry = {"type": "file", "path": name, "size": size, "oid": "0" * 40 if large else sum}
            if large:
                entry["lfs"] = {"oid": sum, "sha256": sum, "size": size, "pointerSize": 134}
            entries.append(entry)
        return entries


def handler(files, store, rate):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *arguments):
            pass

        def answer(self, status, headers, body=b""):
            self.send_response(status)
            for key, value in ({"Content-Length": len(body), "X-Repo-Commit": COMMIT} | headers).items():
                self.send_header(key, str(value))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def do_HEAD(self):
            self.do_GET()

        def do_GET(self):
            path = self.path.split("?")[0]
            if path.startswith(f"/api/models/{REPO}/tree/"):
                return self.answer(200, {"Content-Type": "application/json"}, json.dumps(files.tree()).encode())
            if path.startswith(f"/api/models/{REPO}"):
                about = {"id": REPO, "modelId": REPO, "sha": COMMIT, "private": False, "gated": False, "tags": [],
                         "siblings": [{"rfilename": entry["path"], "blobId": entry["oid"]} |
                                      {key: entry[key] for key in ("size", "lfs") if key in entry} for entry in files.tree()]}
                return self.answer(200, {"Content-Type": "application/json"}, json.dumps(about).encode())
            name = path.rsplit("/", 1)[-1]
            if name not in files.sums:
                return self.answer(404, {"X-Error-Code": "EntryNotFound"})
            large, sum, size = files.sums[name]
            tag = {"ETag": f'"{sum}"'}
            if path.startswith("/store/"):
                return self.send_file(name, size, tag)
            if large:
                return self.answer(302, {"Location": f"{store()}/store/{name}", "X-Linked-ETag": f'"{sum}"', "X-Linked-Size": size} | tag)
            return self.send_file(name, size, tag)

        def send_file(self, name, size, headers):
            first, last, status = 0, size - 1, 200
            if found := re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "")):
                first, last, status = int(found[1]), int(found[2] or last), 206
                headers = headers | {"Content-Range": f"bytes {first}-{last}/{size}"}
            left = last + 1 - first
            self.send_response(status)
            for key, value in (headers | {"Content-Length": left, "Accept-Ranges": "bytes", "X-Repo-Commit": COMMIT}).items():
                self.send_header(key, str(value))
            self.end_headers()
            if self.command == "HEAD":
                return
            with open(files.folder / name, "rb") as f:
                begun, sent = time.perf_counter(), 0
                while sent < left:
                    count = os.sendfile(self.connection.fileno(), f.fileno(), first + sent, min(CHUNK, left - sent))
                    if count == 0:
                        return
                    sent += count
                    if rate > 0:
                        time.sleep(max(0, sent / (rate * 1e6) - (time.perf_counter() - begun)))

    return Handler


def serve(files, store, rate):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(files, store, rate))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tril", default="build/tril")
    parser.add_argument("--hf", default=shutil.which("hf"))
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--parts", type=int, default=4)
    parser.add_argument("--rate", type=float, default=0)
    parser.add_argument("--repeat", type=int, default=3)
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        (work / "served").mkdir()
        files = Files(work / "served", o.megabytes, o.parts)
        store = serve(files, None, o.rate)
        hub = serve(files, lambda: store, o.rate)
        environment = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
        environment |= {"HF_ENDPOINT": hub, "HF_HOME": str(work / "home"), "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_XET": "1",
                        "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
        urls = [part for name in files.sums for part in ("-o", str(work / "copy" / name), f"{hub}/{REPO}/resolve/{COMMIT}/{name}")]
        commands = {"tril": [o.tril, "pull", "-q", REPO], "curl": ["curl", "-sSfL", "--create-dirs", *urls]}
        if o.hf:
            commands["hf"] = [o.hf, "download", REPO]
        total = sum(size for _, _, size in files.sums.values())
        best = {}
        for _ in range(o.repeat):
            for name, command in commands.items():
                for folder in ("home", "copy"):
                    shutil.rmtree(work / folder, ignore_errors=True)
                begun = time.perf_counter()
                done = subprocess.run(command, env=environment, capture_output=True, text=True)
                seconds = time.perf_counter() - begun
                if done.returncode != 0:
                    sys.exit(f"{name} failed: {done.stderr[-2000:]}")
                kept = work / ("copy" if name == "curl" else "home")
                if sum(p.stat().st_size for p in kept.rglob("*") if p.is_file() and not p.is_symlink()) < total:
                    sys.exit(f"{name} has not downloaded all files")
                best[name] = min(seconds, best.get(name, seconds))
        for name, seconds in best.items():
            print(f"{name:<5} {seconds:7.2f} s {total / seconds / 1e6:8.0f} MB/s")


if __name__ == "__main__":
    main()
