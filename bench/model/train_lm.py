#!/usr/bin/env python3
"""Compares `tril bench train` with PyTorch on a language model: both train the same shape on the same text in turn, and the ratio
of their speeds is printed. A batch is so many sequences of the whole context. There is no dropout.

usage: train_lm.py TEXT --tril TRIL [--shape gpt2|llama] [--precision bf16|fp32] [--rounds 2] [--sequences 4] [--context 1024]
                   [--updates 8] [--skip 2] [--threads 2] [--work DIR]        (packages torch and tokenizers)

TEXT must be large enough for a vocabulary of 50,257 tokens: some 20 MB. PyTorch uses its fused attention and its fused AdamW, in
the precision by autocast or with all weights in it, with and without torch.compile: the fastest of these ways counts.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import time

# family, d_model, heads, heads of keys and values (as tril's new models have them), d_ff, layers, vocabulary: GPT-2 (124 M, shared
# embeddings), and a Llama (100 M, with its own output matrix)
SHAPES = {"gpt2": ("gpt2", 768, 12, 12, 3072, 12, 50257), "llama": ("llama", 640, 10, 2, 1984, 12, 32000)}


def make_tokenizer(a, folder):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    vocab = SHAPES[a.shape][6]
    t = Tokenizer(models.BPE())
    t.pre_tokenizer, t.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    t.train([a.text], trainers.BpeTrainer(vocab_size=vocab, special_tokens=["<|endoftext|>"], show_progress=False,
                                          initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    if t.get_vocab_size() != vocab:
        sys.exit(f"{a.text}: gives {t.get_vocab_size()} of {vocab} tokens: pass a larger text")
    os.makedirs(folder, exist_ok=True)
    t.save(os.path.join(folder, "tokenizer.json"))
    with open(os.path.join(folder, "tokenizer_config.json"), "w") as f:
        json.dump({"tokenizer_class": "GPT2Tokenizer", "eos_token": "<|endoftext|>", "bos_token": "<|endoftext|>"}, f)


def tril_speed(a, tokenizer):
    family, d, heads, _, ff, layers, _ = SHAPES[a.shape]
    ran = subprocess.run(
        [a.tril, "bench", "train", "--arch", family, "--train-sets", a.text, "--vocab", tokenizer, "--d-model", str(d),
         "--num-heads", str(heads), "--ffn-dim", str(ff), "--dec-depth", str(layers), "--max-length", str(a.context),
         "--max-tokens", str(a.context * a.sequences), "--dropout", "0", "--attention-dropout", "0", "--precision", a.precision,
         "--threads", str(a.threads), "--updates", str(a.updates), "--skip", str(a.skip)],
        capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(ran.stderr)
    f = json.loads(ran.stdout)
    return {"speed": f["target_tokens_per_second"], "peak_mib": f["peak_mib"], "parameters": f["parameters"], "loss": f["loss"]}


def torch_model(a):
    import torch
    import torch.nn.functional as F
    from torch import nn

    family, d, heads, kv, ff, layers, vocab = SHAPES[a.shape]
    gpt2 = family == "gpt2"

    def norm():
        return nn.LayerNorm(d) if gpt2 else nn.RMSNorm(d, eps=1e-6)

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = norm(), norm()
            self.qkv, self.out = nn.Linear(d, (heads + 2 * kv) * (d // heads), bias=gpt2), nn.Linear(d, d, bias=gpt2)
            self.up = nn.Linear(d, ff if gpt2 else 2 * ff, bias=gpt2)
            self.down = nn.Linear(ff, d, bias=gpt2)

        def forward(self, x, turn):
            rows, length, _ = x.shape
            qkv = self.qkv(self.norm1(x)).view(rows, length, heads + 2 * kv, d // heads).transpose(1, 2)
            q, k, v = qkv.split([heads, kv, kv], 1)
            if turn is not None:
                cos, sin = (t.to(q.dtype) for t in turn)
                q, k = (t * cos + torch.cat([-t[..., d // heads // 2:], t[..., :d // heads // 2]], -1) * sin for t in (q, k))
            if kv < heads:  # the fused attention of processors has one key for each query
                k, v = (t.repeat_interleave(heads // kv, 1) for t in (k, v))
            attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(attended.transpose(1, 2).reshape(rows, length, d))
            h = self.up(self.norm2(x))
            if gpt2:
                return x + self.down(F.gelu(h, approximate="tanh"))
            gate, up = h.chunk(2, -1)
            return x + self.down(F.silu(gate) * up)

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(vocab, d)
            nn.init.normal_(self.embed.weight, std=0.02)
            self.positions = nn.Embedding(a.context, d) if gpt2 else None
            self.layers = nn.ModuleList(Layer() for _ in range(layers))
            self.norm = norm()
            self.head = nn.Linear(d, vocab, bias=False)
            if gpt2:
                self.head.weight = self.embed.weight
            each = 10000.0 ** (-torch.arange(0, d // heads, 2) / (d // heads))
            angles = (torch.arange(a.context)[:, None] * each).repeat(1, 2)
            self.register_buffer("cos", angles.cos()), self.register_buffer("sin", angles.sin())

        def forward(self, ids):  # the loss, so that it is compiled too
            x = self.embed(ids)
            if gpt2:
                x = x + self.positions.weight[:ids.shape[1]]
            turn = None if gpt2 else (self.cos, self.sin)
            for layer in self.layers:
                x = layer(x, turn)
            logits = self.head(self.norm(x))[:, :-1].float()
            return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())

    return Decoder()


def torch_speed(a, tokenizer):
    import torch
    from tokenizers import Tokenizer

    torch.set_num_threads(a.threads)
    torch.manual_seed(1)
    with open(a.text, encoding="utf8", errors="replace") as f:
        ids = Tokenizer.from_file(os.path.join(tokenizer, "tokenizer.json")).encode(f.read(12 * a.context * a.sequences * a.updates)).ids
    of_batch = a.sequences * a.context
    batches = torch.tensor(ids[:of_batch * a.updates]).view(a.updates, a.sequences, a.context)
    model = torch_model(a)
    if a.way.startswith("all"):
        model = model.to(torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
    step = torch.compile(model) if a.way.endswith("compiled") else model
    begun = 0.0
    for i, batch in enumerate(batches):
        if i == a.skip:
            begun = time.perf_counter()
        with torch.autocast("cpu", torch.bfloat16, enabled=a.precision == "bf16" and a.way.startswith("autocast")):
            loss = step(batch)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return {"speed": of_batch * (a.updates - a.skip) / (time.perf_counter() - begun), "loss": loss.item(), "way": a.way,
            "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "parameters": sum(p.numel() for p in model.parameters())}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("text")
    p.add_argument("--tril", default="build/tril")
    p.add_argument("--shape", default="gpt2", choices=list(SHAPES))
    p.add_argument("--precision", default="bf16", choices=["bf16", "fp32"])
    p.add_argument("--work", default="/tmp/train_lm", help="where the tokenizers are made")
    for name, default in (("rounds", 2), ("sequences", 4), ("context", 1024), ("updates", 8), ("skip", 2), ("threads", 2)):
        p.add_argument(f"--{name}", type=int, default=default)
    p.add_argument("--way", help=argparse.SUPPRESS)
    a = p.parse_args()
    tokenizer = os.path.join(a.work, a.shape)
    if a.way:
        print(json.dumps(torch_speed(a, tokenizer)))
        return
    if not os.path.exists(os.path.join(tokenizer, "tokenizer.json")):
        make_tokenizer(a, tokenizer)

    def torch_run(way):
        ran = subprocess.run([sys.executable, __file__, *sys.argv[1:], "--way", way], capture_output=True, text=True, check=False)
        if ran.returncode:
            sys.exit(ran.stdout[-2000:] + ran.stderr[-2000:])
        return json.loads(ran.stdout.splitlines()[-1])

    ways = ["autocast", "autocast, compiled"] + (["all", "all, compiled"] if a.precision == "bf16" else [])
    ours, theirs = [], []
    for _ in range(a.rounds):
        ours.append(tril_speed(a, tokenizer))
        tried = [torch_run(way) for way in ways]
        for t in tried:
            print(f"PyTorch, {t['way']}: {t['speed']:.0f} tokens/s, loss {t['loss']:.3f}, {t['peak_mib']:.0f} MiB", flush=True)
        theirs.append(max(tried, key=lambda t: t["speed"]))
        ways = [theirs[0]["way"]]
        print(f"tril: {ours[-1]['speed']:.0f} tokens/s, loss {ours[-1]['loss']:.3f}, {ours[-1]['peak_mib']:.0f} MiB; ratio "
              f"{ours[-1]['speed'] / theirs[-1]['speed']:.2f}", flush=True)
    if ours[0]["parameters"] != theirs[0]["parameters"]:
        sys.exit(f"the shapes differ: {ours[0]['parameters']} and {theirs[0]['parameters']} parameters")
    best = [max(x["speed"] for x in each) for each in (ours, theirs)]
    memory = [max(x["peak_mib"] for x in each) for each in (ours, theirs)]
    print(f"{a.shape}, {ours[0]['parameters']:,} and {theirs[0]['parameters']:,} parameters, {a.precision}: tril {best[0]:.0f}, PyTorch "
          f"({ways[0]}) {best[1]:.0f} tokens/s, ratio {best[0] / best[1]:.2f}; memory {memory[0]:.0f} and {memory[1]:.0f} MiB, ratio "
          f"{memory[0] / memory[1]:.2f}")


if __name__ == "__main__":
    main()
