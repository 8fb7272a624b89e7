"""Whether llama.cpp cuts texts as tril does, with the vocabularies that `tril export` writes, and reads its quantised matrices.

usage: check_gguf_vocabularies.py BUILD_DIR     needs numpy, safetensors and llama-cpp-py-sync (as check_gguf_logits.py); a minute

Each tokenizer of tests/golden/hf/tokenizers gets a small random llama. `tril export` writes it as f32, f16, bf16, q8_0 and q4_0.
 1. Ids of 500 texts (letters, emoji, Chinese, spaces, control characters) by llama.cpp and by `tril tokenize`, both from the file.
    The directory's own ids may differ: docs/gguf.md says which rules a file cannot express.
 2. Logits of the quantised file, and of the f32 file of what `tril export` reads from it. Both have the same values, but llama.cpp
    rounds activations to 8 bits before it multiplies them by quantised matrices.
"""
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import check_gguf_logits as logits

TOKENIZERS = logits.GOLDEN / "tokenizers"
REFUSED = {"bytelevel_llama3": "it adds more than one token at an end of a text", "spm_unigram": "its model is unigram",
           "unigram_t5": "it is neither byte-level BPE nor SentencePiece"}  # what a GGUF file cannot express
PARTS = ["the", "The", " quick", "brown\u2019s", "fox", "12", "1234567", "\u00fcber", "Stra\u00dfe", "\u654f\u6377\u7684", "\u68d5\u8272\u72d0\u72f8",
         "\u3053\u3093\u306b\u3061\u306f", "\uc548\ub155", "\u0417\u0434\u0440\u0430\u0432", "\u0645\u0631\u062d\u0628\u0627", "\U0001f600", "\U0001f44d\U0001f3fd",
         "\U0001f468\u200d\U0001f469\u200d\U0001f467", " ", "  ", "   ", "\t", "\u00a0", "\u3000", "\u200b", "\x01", "\x07", "\x7f", "\x1b[0m", "don't",
         "'ll", "...", "!?", "a@b.c", "http://x.y/z", "$5.00", "{}", "<b>", "\\n", "\u00bd", "\u2014", "\u201cso\u201d"]


def texts():
    rng = random.Random(1)
    return [rng.choice(("", " ")).join(rng.choices(PARTS, k=rng.randint(1, 9))) for _ in range(500)]


def make_model(folder, tokenizer):
    """A llama whose vocabulary is the tokenizer's."""
    from safetensors.numpy import save_file
    shutil.copytree(tokenizer, folder)
    size = 1 + max(max(v for v in (case["ids"] or [0])) for case in json.loads((folder / "cases.json").read_text()))
    if (folder / "tokenizer.json").exists():
        t = json.loads((folder / "tokenizer.json").read_text())
        vocab = t["model"]["vocab"]
        ids = list(vocab.values()) if isinstance(vocab, dict) else list(range(len(vocab)))
        size = max(size, 1 + max(ids + [token["id"] for token in t["added_tokens"]]))
    else:
        (folder / "spm.model").rename(folder / "tokenizer.model")
        size = max(size, 600)
    d, ff = 64, 96
    rng = np.random.default_rng(1)
    matrix = lambda *shape: (rng.standard_normal(shape) / shape[-1] ** 0.5).astype(np.float32)
    weights = {"model.embed_tokens.weight": matrix(size, d), "lm_head.weight": matrix(size, d), "model.norm.weight": np.ones(d, np.float32)}
    for i in range(2):
        at = f"model.layers.{i}."
        for name, shape in (("self_attn.q_proj", (d, d)), ("self_attn.k_proj", (d, d)), ("self_attn.v_proj", (d, d)), ("self_attn.o_proj", (d, d)),
                            ("mlp.gate_proj", (ff, d)), ("mlp.up_proj", (ff, d)), ("mlp.down_proj", (d, ff))):
            weights[at + name + ".weight"] = matrix(*shape)
        for name in ("input_layernorm", "post_attention_layernorm"):
            weights[at + name + ".weight"] = np.ones(d, np.float32)
    save_file(weights, folder / "model.safetensors")
    config = dict(model_type="llama", architectures=["LlamaForCausalLM"], vocab_size=size, hidden_size=d, intermediate_size=ff, num_hidden_layers=2,
                  num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=64, bos_token_id=1, eos_token_id=2)
    (folder / "config.json").write_text(json.dumps(config))
    return size


def tril(build, *arguments, text=None):
    done = subprocess.run([str(build / "tril"), *map(str, arguments)], capture_output=True, text=True, input=text)
    if done.returncode:
        raise ValueError(done.stderr.strip().splitlines()[-1])
    return done.stdout


def ids_of_tril(build, model, lines):
    out = tril(build, "tokenize", "--model", model, "--json", text="\n".join(lines) + "\n")
    return [json.loads(line)["ids"] for line in out.splitlines()]


def ids_of_llama(model, line):
    """Without special tokens around the text, but with those that it spells out."""
    vocab, raw = model.lib.llama_model_get_vocab(model.model), line.encode()
    tokens = model.ffi.new("llama_token[]", len(raw) + 8)
    n = model.lib.llama_tokenize(vocab, raw, len(raw), tokens, len(raw) + 8, False, True)
    return [int(tokens[i]) for i in range(n)]


def check(build, tokenizer, work):
    """Prints a line for a vocabulary, and returns whether all agree."""
    folder, lines = work / tokenizer.name, texts()
    size = make_model(folder, tokenizer)
    try:
        for kind in ("f32", "f16", "bf16", "q8_0", "q4_0"):
            tril(build, "export", "--model", folder, "--to", work / f"{tokenizer.name}.{kind}.gguf", "--type", kind)
    except ValueError as reason:
        expected = REFUSED.get(tokenizer.name)
        fine = expected is not None and f"{expected}: a GGUF file cannot express this" in str(reason)
        print(f"{tokenizer.name:<20} {'' if fine else 'UNEXPECTED: '}{reason}")
        return fine
    if tokenizer.name in REFUSED:
        print(f"{tokenizer.name:<20} UNEXPECTED: is written, but should be refused")
        return False
    file = work / f"{tokenizer.name}.f32.gguf"
    model = logits.Model(file, size)
    of_llama = [ids_of_llama(model, line) for line in lines]
    of_directory, of_file = ids_of_tril(build, folder, lines), ids_of_tril(build, file, lines)
    other = [line for line, a, b in zip(lines, of_llama, of_file) if a != b]
    print(f"{tokenizer.name:<20} ids: {len(lines) - len(other)} of {len(lines)} as llama.cpp's; directory and file agree on "
          f"{sum(a == b for a, b in zip(of_directory, of_file))}{'; first: ' + repr(other[0]) if other else ''}")
    prompt, fine = of_file[0][:8] or [5], not other
    exact = model.logits(prompt)
    spread = float(exact.max() - exact.min())
    for kind, most in (("f16", 2e-3), ("bf16", 1.5e-2), ("q8_0", 2e-2), ("q4_0", 6e-2)):
        quantised = work / f"{tokenizer.name}.{kind}.gguf"
        tril(build, "export", "--model", quantised, "--to", work / f"{tokenizer.name}.{kind}")
        tril(build, "export", "--model", work / f"{tokenizer.name}.{kind}", "--to", work / "again.gguf", "--type", "f32")
        got, same = logits.Model(quantised, size).logits(prompt), logits.Model(work / "again.gguf", size).logits(prompt)
        difference, lost = float(np.abs(got - same).max()), float(np.abs(same - exact).max())
        bad = difference > most * spread
        fine = fine and not bad
        print(f"    {kind:<5} {difference / spread:.1e} of the spread from its own values; rounding costs {lost / spread:.1e}{'  DIFFERS' if bad else ''}", flush=True)
    return fine


def main(build):
    with tempfile.TemporaryDirectory() as work:
        tokenizers = sorted(TOKENIZERS.iterdir())
        results = [check(pathlib.Path(build), t, pathlib.Path(work)) for t in tokenizers]
    compared = [t.name for t in tokenizers if t.name not in REFUSED]
    if len(compared) < 5:
        print(f"only {len(compared)} vocabularies were compared")
    return 0 if all(results) and len(compared) >= 5 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
