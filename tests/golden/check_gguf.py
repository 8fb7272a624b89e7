#!/usr/bin/env python3
"""Runs models in tril and in llama.cpp and compares them: logits, greedy tokens, tokens of texts.

usage: check_gguf.py TRIL MODEL...     MODEL: a directory (exported first, as --type says) or a GGUF file
Needs numpy and llama-cpp-python. Directories of golden/hf are compared by their expected.safetensors (which
`transformers` computed) too. Exits with 1 where greedy tokens differ.
"""
import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile

import llama_cpp as L
import numpy as np


@L.llama_log_callback
def quiet(level, text, data):
    if level >= 4:
        sys.stderr.write(text.decode(errors="replace"))


class LlamaCpp:
    """One model of llama.cpp, its cache in 32 bits, without flash attention."""

    def __init__(self, path, n_ctx=512, threads=1):
        p = L.llama_model_default_params()
        p.n_gpu_layers = 0
        self.model = L.llama_model_load_from_file(path.encode(), p)
        if not self.model:
            raise SystemExit(f"llama.cpp does not load {path}")
        c = L.llama_context_default_params()
        c.n_ctx = c.n_batch = c.n_ubatch = n_ctx
        c.n_threads = c.n_threads_batch = threads
        c.type_k = c.type_v = 0
        c.flash_attn_type = 0
        self.context = L.llama_init_from_model(self.model, c)
        self.vocab = L.llama_model_get_vocab(self.model)
        self.size = L.llama_vocab_n_tokens(self.vocab)

    def logits(self, ids):
        L.llama_memory_clear(L.llama_get_memory(self.context), True)
        b = L.llama_batch_init(len(ids), 0, 1)
        b.n_tokens = len(ids)
        for i, t in enumerate(ids):
            b.token[i], b.pos[i], b.n_seq_id[i], b.logits[i] = t, i, 1, 1
            b.seq_id[i][0] = 0
        if L.llama_decode(self.context, b) != 0:
            raise SystemExit("llama.cpp does not decode")
        out = np.array(np.ctypeslib.as_array(L.llama_get_logits(self.context), shape=(len(ids), self.size)))
        L.llama_batch_free(b)
        return out

    def greedy(self, ids, n):
        ids = list(ids)
        begin = len(ids)
        while len(ids) < begin + n:
            ids.append(int(self.logits(ids)[-1].argmax()))
            if L.llama_vocab_is_eog(self.vocab, ids[-1]):
                break
        return ids[begin:]

    def tokenize(self, text, add_special=False):
        raw = text.encode()
        room = (L.llama_token * (len(raw) + 16))()
        n = L.llama_tokenize(self.vocab, raw, len(raw), room, len(room), add_special, True)
        return list(room[:n])

    def text(self, ids):
        raw = b""
        for t in ids:
            room = ctypes.create_string_buffer(512)
            raw += room.raw[: L.llama_token_to_piece(self.vocab, t, room, len(room), 0, False)]
        return raw.decode(errors="replace")

    def has_vocabulary(self):
        return L.llama_vocab_type(self.vocab) != 0


def run(*command, stdin=None):
    done = subprocess.run(command, input=stdin, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def against_expected(llama, directory):
    """Logits and greedy tokens of `transformers` against llama.cpp's of the exported file."""
    from safetensors.numpy import load_file
    e = load_file(os.path.join(directory, "expected.safetensors"))
    ids = e["input_ids"][0]
    ids = ids[: int(e["attention_mask"][0].sum())]
    expected, got = e["logits"][0][: len(ids)], llama.logits(ids)
    greedy = [int(t) for t in e["greedy"][0][len(e["input_ids"][0]):]]
    ends = json.load(open(os.path.join(directory, "config.json"))).get("eos_token_id")
    if ends in greedy:  # what follows is padding
        greedy = greedy[: greedy.index(ends) + 1]
    return float(np.abs(expected - got).max()), llama.greedy(ids, len(greedy)) == greedy


def generated(tril, path, prompt, n, precision):
    """The text of tril's greedy continuation."""
    line = run(tril, "generate", "-m", path, "-p", prompt, "--max-new-tokens", str(n), "--json", "-b", "1",
               "--precision", precision, "--threads", "1")
    return json.loads(line)["generations"][0]["text"]


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("tril")
    args.add_argument("models", nargs="+")
    args.add_argument("--type", default="f32")
    args.add_argument("--prompts", nargs="*", default=["ROMEO:", "First Citizen:\nBefore we", "The king"])
    args.add_argument("--tokens", type=int, default=40)
    args.add_argument("--precision", default="fp32")
    args.add_argument("--verbose", action="store_true")
    o = args.parse_args()
    L.llama_log_set(quiet, ctypes.c_void_p(0))
    L.llama_backend_init()
    failed = False
    for model in o.models:
        with tempfile.TemporaryDirectory() as folder:
            path = model
            if os.path.isdir(model):
                path = os.path.join(folder, "model.gguf")
                run(o.tril, "export", "-m", model, "--gguf", path, "--type", o.type)
            llama = LlamaCpp(path)
            report = {"model": model, "type": o.type}
            if os.path.exists(os.path.join(model, "expected.safetensors")):
                report["logits"], report["greedy"] = against_expected(llama, model)
                failed |= not report["greedy"]
            if llama.has_vocabulary():
                same = 0
                for prompt in o.prompts:
                    theirs = llama.text(llama.greedy(llama.tokenize(prompt, add_special=True), o.tokens))
                    mine = generated(o.tril, path, prompt, o.tokens, o.precision)
                    if o.verbose:
                        print(json.dumps({"prompt": prompt, "llama.cpp": theirs, "tril": mine}), file=sys.stderr)
                    same += mine == theirs
                report["prompts"], report["equal"] = len(o.prompts), same
                failed |= same != len(o.prompts)
            print(json.dumps(report), flush=True)
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
