"""Whether llama.cpp computes from tril's GGUF files what transformers computes from the directories.

usage: check_gguf_logits.py BUILD_DIR [DIRECTORY...]     needs numpy, safetensors and llama-cpp-py-sync (llama.cpp's library as a
       wheel, here b11739); a minute of one core. DIRECTORY: default all of tests/golden/hf

`BUILD_DIR/tril export --type f32` writes each directory that has an architecture. llama.cpp reads the file with a cache of
32-bit floats and evaluates the prompt of expected.safetensors. A line tells the largest difference between the logits, the spread
of the expected ones, and how many greedy tokens are equal until the end token. Fails if a model of a family without GELU differs by
more than 1e-4 of the spread, and one with GELU by 1e-3: llama.cpp looks GELU up in a table of 16-bit floats. Refusals are printed.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "hf"
ROUNDED = {"gpt_oss"}  # llama.cpp rounds the limits of yarn's ramp


class Model:
    """A file in llama.cpp, read token by token."""

    def __init__(self, path, vocabulary):
        import llama_cpp_py_sync._cffi_bindings as bindings
        self.lib, self.ffi, self.vocabulary = bindings.get_lib(), bindings.get_ffi(), vocabulary
        self.lib.llama_backend_init()
        model = self.lib.llama_model_load_from_file(str(path).encode(), self.lib.llama_model_default_params())
        if model == self.ffi.NULL:
            raise SystemExit("llama.cpp does not load the file")
        p = self.lib.llama_context_default_params()
        p.n_ctx = p.n_batch = p.n_ubatch = 64
        p.n_threads = p.n_threads_batch = 1
        p.type_k = p.type_v = p.flash_attn_type = 0  # F32, F32, off
        self.model, self.context, self.position = model, self.lib.llama_init_from_model(model, p), 0

    def logits(self, ids):
        batch = self.lib.llama_batch_init(len(ids), 0, 1)
        batch.n_tokens = len(ids)
        for i, token in enumerate(ids):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, self.position + i, 1, 1
            batch.seq_id[i][0] = 0
        if self.lib.llama_decode(self.context, batch) != 0:
            raise SystemExit("llama_decode fails")
        self.position += len(ids)
        row = lambda i: self.ffi.buffer(self.lib.llama_get_logits_ith(self.context, i), 4 * self.vocabulary)
        return np.stack([np.frombuffer(row(i), np.float32).copy() for i in range(len(ids))])


def compare(directory, path):
    """[difference, spread, equal greedy tokens, expected ones]; in a process of its own, as llama.cpp may abort."""
    from safetensors.numpy import load_file
    expected = load_file(directory / "expected.safetensors")
    end = json.loads((directory / "config.json").read_text()).get("eos_token_id")
    ids = [int(i) for i in expected["input_ids"][0]]
    greedy = [int(i) for i in expected["greedy"][0]][len(ids):]
    greedy = greedy[:greedy.index(end) + 1] if end in greedy else greedy
    wanted = expected["logits"][0]
    model = Model(path, wanted.shape[-1])
    got, equal = model.logits(ids), 0
    difference, last = float(np.abs(got - wanted).max()), got[-1]
    for token in greedy:
        if int(last.argmax()) != token:
            break
        equal += 1
        last = model.logits([token])[-1]
    return [difference, float(wanted.max() - wanted.min()), equal, len(greedy)]


def main(build, *directories):
    failed = 0
    for directory in map(pathlib.Path, directories or sorted(GOLDEN.iterdir())):
        if not (directory / "expected.safetensors").exists():
            continue
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, "m.gguf")
            done = subprocess.run([os.path.join(build, "tril"), "export", "--model", directory, "--to", path, "--type", "f32"],
                                  capture_output=True, text=True)
            if done.returncode:
                reason = done.stderr.strip().splitlines()[-1]
                if "no architecture" not in reason:
                    print(f"{directory.name:<20} {reason}")
                continue
            done = subprocess.run([sys.executable, __file__, "--one", directory, path], capture_output=True, text=True)
        try:
            difference, spread, equal, tokens = json.loads(done.stdout.strip().splitlines()[-1])
        except (ValueError, IndexError):
            failed += 1
            errors = [line for line in done.stderr.splitlines() if "error" in line or "ASSERT" in line]
            print(f"{directory.name:<20} FAILS: {(errors or done.stderr.splitlines()[-1:] or [''])[0][:200]}")
            continue
        config = (directory / "config.json").read_text()
        rough = "gelu" in config or directory.name in ROUNDED or json.loads(config)["model_type"] in ("bloom", "mpt")
        bad = difference > (1e-3 if rough else 1e-4) * spread or equal != tokens
        failed += bad
        print(f"{directory.name:<20} {difference:.1e} of {spread:.1f}; greedy {equal}/{tokens}{'  DIFFERS' if bad else ''}", flush=True)
    print("llama.cpp agrees with transformers" if not failed else f"{failed} models differ")
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        print(json.dumps(compare(pathlib.Path(sys.argv[2]), sys.argv[3])))
    else:
        sys.exit(main(*sys.argv[1:]))
