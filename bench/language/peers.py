#!/usr/bin/env python3
"""Compares `tril bench generate` with ik_llama.cpp or OpenVINO GenAI on one GGUF file: both run in turn, and the ratios of their
speeds are printed, round by round and of the best rounds.

usage: peers.py make FILE.gguf --type q4_k_m|q5_k_m|q6_k|iq4_xs|mxfp4_moe|q4_0|q8_0|bf16 [--shape 200m|1b|7b] [--context 4096]
                                                                  a Llama of random weights (package gguf)
       peers.py run FILE.gguf --tril TRIL --peer ik|openvino      (package ik-llama-cpp-python, or openvino-genai)
                [--threads 1] [--rounds 3] [--prompt 256] [--generate 64] [--precision NAME]
                [--llama-bench PROGRAM]                           ik's own program, which repacks the weights, in place of the package
       peers.py loss FILE.gguf --tril TRIL --text TEXT [--begin 1]
                                                                  mean negative log-likelihood beside ik_llama.cpp's
"""
import argparse
import json
import math
import os
import re
import resource
import subprocess
import sys
import time


# The types of the files that `make` writes: the blocks of most weights, and of the finer ones.
TYPES = {"q4_k_m": ("Q4_K", "Q6_K"), "q5_k_m": ("Q5_K", "Q6_K"), "q6_k": ("Q6_K", "Q6_K"), "iq4_xs": ("IQ4_XS", "Q6_K"),
         "mxfp4_moe": ("MXFP4", "Q8_0"), "q4_0": ("Q4_0", "Q4_0"), "q8_0": ("Q8_0", "Q8_0"), "bf16": ("BF16", "BF16")}
# d_model, d_ff, layers, heads, heads of keys and values, vocabulary: those of Llama 3.2 1B and Llama 2 7B, and a small one
SHAPES = {"200m": (1024, 2816, 12, 16, 4, 32000), "1b": (2048, 8192, 16, 32, 8, 128256), "7b": (4096, 11008, 32, 32, 32, 32000)}


def make(a):
    import gguf
    import numpy as np

    d, ff, layers, heads, kv, vocab = SHAPES[a.shape]
    kinds = gguf.GGMLQuantizationType
    rng = np.random.default_rng(1)
    w = gguf.GGUFWriter(a.file, "llama")
    w.add_block_count(layers), w.add_context_length(a.context), w.add_embedding_length(d), w.add_feed_forward_length(ff)
    w.add_head_count(heads), w.add_head_count_kv(kv), w.add_layer_norm_rms_eps(1e-5), w.add_rope_freq_base(10000.0)
    w.add_rope_dimension_count(d // heads), w.add_vocab_size(vocab)
    w.add_file_type(getattr(gguf.LlamaFileType, f"MOSTLY_{a.type.upper()}"))  # OpenVINO asks for it
    # Bytes as GPT-2 writes them, and names that no text contains.
    shown = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174]
    names = [chr(b) for b in shown] + [chr(256 + i) for i in range(256 - len(shown))] + ["t0", "t1"]
    w.add_tokenizer_model("gpt2"), w.add_tokenizer_pre("gpt-2"), w.add_token_merges(["t 0", "t 1"])
    w.add_token_list(names + [f"<{i}>" for i in range(len(names), vocab)])
    w.add_token_types([1] * vocab)
    w.add_bos_token_id(vocab - 3), w.add_eos_token_id(vocab - 2), w.add_pad_token_id(vocab - 1), w.add_add_bos_token(False)

    def add(name, n, k, kind):  # random blocks whose values have a standard deviation of about 0.02
        values, size = gguf.GGML_QUANT_SIZES[kind]
        b = rng.integers(0, 256, (n * k // values, size), dtype=np.uint8) if kind != kinds.BF16 else None

        def half(at, v):
            b[:, at:at + 2] = np.full(len(b), v, np.float16).view(np.uint8).reshape(-1, 2)

        if kind in (kinds.Q4_K, kinds.Q5_K):  # d s q - e m; s and m are 31 on average, q 7.5 or 15.5
            mean, deviation = (7.5, 4.6) if kind == kinds.Q4_K else (15.5, 9.2)
            half(0, 0.02 / 31 / deviation), half(2, 0.02 / 31 * mean / deviation)
        elif kind == kinds.BF16:
            b = (rng.standard_normal((n, k), np.float32) * np.float32(0.02)).view(np.uint32) >> 16
            b = b.astype(np.uint16).view(np.uint8)
        elif kind == kinds.Q6_K:
            half(208, 0.02 / 18 / 74)
        elif kind == kinds.IQ4_XS:
            half(0, 0.02 / 18 / 70)
        elif kind == kinds.MXFP4:
            b[:, 0] = 120  # the scale: 2^-7
        else:
            half(0, 0.02 / (74 if kind == kinds.Q8_0 else 4.6))
        w.add_tensor(name, b.reshape(n, -1), raw_dtype=kind)

    base, more = (kinds[name] for name in TYPES[a.type])
    add("token_embd.weight", vocab, d, base), add("output.weight", vocab, d, more)
    w.add_tensor("output_norm.weight", np.ones(d, np.float32))
    for i in range(layers):  # as llama.cpp's Q4_K_M: an eighth of the layers at each end and every third between
        b, eighth = f"blk.{i}.", layers // 8
        finer = more if i < eighth or i >= 7 * eighth or (i - eighth) % 3 == 2 else base
        for norm in ("attn_norm", "ffn_norm"):
            w.add_tensor(f"{b}{norm}.weight", np.ones(d, np.float32))
        add(b + "attn_q.weight", d, d, base), add(b + "attn_k.weight", d * kv // heads, d, base)
        add(b + "attn_v.weight", d * kv // heads, d, finer), add(b + "attn_output.weight", d, d, base)
        add(b + "ffn_gate.weight", ff, d, base), add(b + "ffn_up.weight", ff, d, base)
        add(b + "ffn_down.weight", d, ff, finer)
    w.write_header_to_file(), w.write_kv_data_to_file(), w.write_tensors_to_file(), w.close()


def peak_mib():
    return int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1]) / 1024


class Ik:
    """A model in ik_llama.cpp, by its C interface."""

    def __init__(self, a, context):
        import ik_llama_cpp._ctypes_api as api

        self.api = api
        api.llama_backend_init()
        self.model = api.llama_model_load_from_file(a.file.encode(), api.llama_model_default_params())
        if not self.model:
            sys.exit(f"ik_llama.cpp cannot read {a.file}")
        self.options = api.llama_context_default_params()
        self.options.n_ctx, self.options.n_batch, self.options.n_ubatch = context, 512, 512
        self.options.n_threads = self.options.n_threads_batch = a.threads
        self.context = None

    def begin(self):
        if self.context:
            self.api.llama_free(self.context)
        self.context = self.api.llama_init_from_model(self.model, self.options)

    def decode(self, ids, start, every=False):
        b = self.api.llama_batch_init(len(ids), 0, 1)
        b.n_tokens = len(ids)
        for i, t in enumerate(ids):
            b.token[i], b.pos[i], b.n_seq_id[i], b.logits[i] = t, start + i, 1, int(every or i + 1 == len(ids))
            b.seq_id[i][0] = 0
        if self.api.llama_decode(self.context, b) != 0:
            sys.exit("ik_llama.cpp: decoding failed")
        self.api.llama_get_logits_ith(self.context, -1)
        self.api.llama_batch_free(b)


def ik_speed(a):
    ik = Ik(a, a.prompt + a.generate + 8)
    ik.begin()
    start = time.perf_counter()
    ik.decode([(7 * i) % 1000 + 5 for i in range(a.prompt)], 0)
    prompt = a.prompt / (time.perf_counter() - start)
    start = time.perf_counter()
    for i in range(a.generate):
        ik.decode([11], a.prompt + i)
    return {"prompt": prompt, "generate": a.generate / (time.perf_counter() - start), "peak_mib": peak_mib()}


def llama_bench_speed(a):
    ran = subprocess.run([a.llama_bench, "-m", a.file, "-p", str(a.prompt), "-n", str(a.generate), "-t", str(a.threads), "-r", "1",
                          "-rtr", "1", "-o", "json"], capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(ran.stderr[-2000:])
    speeds = {bool(test["n_prompt"]): test["avg_ts"] for test in json.loads(ran.stdout[ran.stdout.index("["):])}
    return {"prompt": speeds[True], "generate": speeds[False],
            "peak_mib": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024}


def openvino_speed(a):
    import numpy as np
    import openvino
    import openvino_genai

    options = {"INFERENCE_NUM_THREADS": a.threads, "NUM_STREAMS": "1"}
    pipe = openvino_genai.LLMPipeline(a.file, "CPU", **options)
    config = openvino_genai.GenerationConfig(max_new_tokens=a.generate, ignore_eos=True, do_sample=False)
    for start in (300, 2000):  # the first one compiles; the second one finds none of its tokens in a cache
        ids = np.array([[(7 * i) % 1000 + start for i in range(a.prompt)]], dtype=np.int64)
        m = pipe.generate(openvino_genai.TokenizedInputs(openvino.Tensor(ids), openvino.Tensor(np.ones_like(ids))), config)
    m = m.perf_metrics
    first, other = m.get_ttft().mean / 1000, m.get_tpot().mean / 1000
    return {"prompt": a.prompt / first, "generate": 1 / other, "peak_mib": peak_mib()}


def tril_speed(a):
    more = ["--precision", a.precision] if a.precision else []
    ran = subprocess.run([a.tril, "bench", "generate", "--model", a.file, "--threads", str(a.threads), "--prompt-length",
                          str(a.prompt), "--new-tokens", str(a.generate + 1), "--repeat", "1", *more],
                         capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(ran.stderr)
    f = json.loads(ran.stdout)
    return {"prompt": f["prompt_tokens_per_second"], "generate": f["generate_tokens_per_second"], "peak_mib": f["peak_mib"],
            "precision": f["precision"], "share": f["share_of_bandwidth"]}


def run(a):
    if a.inside:
        theirs = {"ik": llama_bench_speed if a.llama_bench else ik_speed, "openvino": openvino_speed}
        print(json.dumps(theirs[a.peer](a)))
        return
    ours, theirs = [], []
    for _ in range(a.rounds):
        ours.append(tril_speed(a))
        ran = subprocess.run([sys.executable, __file__, *sys.argv[1:], "--inside"], capture_output=True, text=True, check=False)
        if ran.returncode:
            sys.exit(ran.stdout[-2000:] + ran.stderr[-2000:])
        theirs.append(json.loads(ran.stdout.splitlines()[-1]))
    print(f"{os.path.basename(a.file)}, {a.threads} thread(s), precision {ours[0]['precision']}, {a.rounds} rounds")
    for what in ("prompt", "generate"):
        ratios = sorted(x[what] / y[what] for x, y in zip(ours, theirs))
        best = max(x[what] for x in ours), max(y[what] for y in theirs)
        print(f"{what}: tril {best[0]:.1f}, {a.peer} {best[1]:.1f} tokens/s, ratio of the best {best[0] / best[1]:.2f}, "
              f"of a round {ratios[0]:.2f} ... {ratios[len(ratios) // 2]:.2f} ... {ratios[-1]:.2f}")
    print(f"peak: tril {max(x['peak_mib'] for x in ours):.0f}, {a.peer} {max(y['peak_mib'] for y in theirs):.0f} MiB; file "
          f"{os.path.getsize(a.file) / 2**20:.0f} MiB; share of the bandwidth {max(x['share'] for x in ours):.2f}")


def loss(a):
    """The mean negative log-likelihood of a text's tokens after the begin token; both read the ids that tril makes of it."""
    import numpy as np

    def tril(*more):
        ran = subprocess.run([a.tril, *more], capture_output=True, text=True, check=False)
        if ran.returncode:
            sys.exit(ran.stderr)
        return ran.stdout

    ids = [a.begin] + [int(i) for line in tril("tokenize", "-m", a.file, "-q", "-i", a.text).splitlines()
                       for i in line.split()]
    ik = Ik(a, len(ids) + 8)
    ik.begin()
    vocab = ik.api.llama_vocab_n_tokens(ik.api.llama_model_get_vocab(ik.model))
    theirs = 0.0
    for first in range(0, len(ids) - 1, 256):
        part = ids[first:min(first + 256, len(ids) - 1)]
        ik.decode(part, first, every=True)
        for i in range(len(part)):
            row = np.ctypeslib.as_array(ik.api.llama_get_logits_ith(ik.context, i), (vocab,)).astype(np.float64)
            theirs -= row[ids[first + i + 1]] - row.max() - math.log(np.exp(row - row.max()).sum())
    theirs /= len(ids) - 1
    for precision in ("fp32", a.precision):
        more = ["--precision", precision] if precision else []
        f = json.loads(tril("perplexity", "-m", a.file, "-i", a.text, "--begin", "--json", "--threads", str(a.threads), *more))
        if f["tokens"] != len(ids) - 1:
            sys.exit(f"tril scored {f['tokens']} tokens of {len(ids) - 1}: pass a text of one line without its newline")
        ours = f["cross_entropy"]
        print(f"{precision or 'as served'}: tril {ours:.6f}, ik_llama.cpp {theirs:.6f} nats a token, "
              f"difference {100 * (ours / theirs - 1):+.4f}%")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", choices=["make", "run", "loss"])
    p.add_argument("file")
    p.add_argument("--type", default="q4_k_m", choices=list(TYPES))
    p.add_argument("--shape", default="200m", choices=list(SHAPES))
    p.add_argument("--tril", default="build/tril")
    p.add_argument("--peer", default="ik", choices=["ik", "openvino"])
    for name, default in (("threads", 1), ("rounds", 3), ("prompt", 256), ("generate", 64), ("context", 4096)):
        p.add_argument(f"--{name}", type=int, default=default)
    p.add_argument("--precision")
    p.add_argument("--llama-bench", help="the program llama-bench of ik_llama.cpp, compiled for this processor")
    p.add_argument("--text", help="a text of one line, without its newline")
    p.add_argument("--begin", type=int, default=1, help="the id of the begin token")
    p.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.llama_bench and a.peer != "ik":
        p.error("--llama-bench is a program of the peer ik")
    {"make": make, "run": run, "loss": loss}[a.what](a)


if __name__ == "__main__":
    main()
