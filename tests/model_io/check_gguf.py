"""Whether llama.cpp and tril take the same GGUF files for the same models and cut the same texts into the same tokens.

usage: check_gguf.py BUILD_DIR [WORK_DIR]      (needs torch, transformers, llama-cpp-python, gguf; two minutes of two cores)

Builds nothing: BUILD_DIR/tril and BUILD_DIR/bench/encode_ids are used. Three things are held against each other:
 1. For each family that llama.cpp has and each tokenizer of tests/golden/hf/tokenizers a random model of `transformers`,
    exported by `tril export`: ids of several hundred texts (transformers, llama.cpp, tril from the directory, tril from the
    file), and 64 greedy tokens behind a prompt (the same four).
 2. Vocabularies written by the gguf package with every name of a pre-tokenizer that tril knows: ids of the same texts.
 3. Each exported file as `tril export` makes a directory of it: greedy tokens of transformers.
Fails where one differs that docs/gguf.md does not name.
"""
import contextlib
import io
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unicodedata

import gguf
import llama_cpp
import numpy as np
import torch
import transformers

TOKENIZERS = pathlib.Path(__file__).resolve().parent.parent / "golden" / "hf" / "tokenizers"
PROMPT = "The 12 quick brown foxes\u2019 \u00fcber-jump"
TEMPLATE = "{{ bos_token }}{% for m in messages %}[{{ m['role'] }}] {{ m['content'] }}\n{% endfor %}"
SMALL = dict(hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
             max_position_embeddings=256, initializer_range=0.2)
# family: its configuration's class, what it has besides the sizes, and the tokenizers that its models have
FAMILIES = {
    "llama": ("LlamaConfig", {}, ("bpe_llama2", "bpe_metaspace", "bytelevel_gpt2", "bytelevel_llama3", "bytelevel_qwen2")),
    "llama3": ("LlamaConfig", dict(tie_word_embeddings=True, rope_parameters=dict(
        rope_type="llama3", rope_theta=10000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
        original_max_position_embeddings=64)), ("bytelevel_llama3",)),
    "mistral": ("MistralConfig", dict(sliding_window=None), ("bpe_llama2",)),
    "mixtral": ("MixtralConfig", dict(num_local_experts=4, sliding_window=None), ("bpe_llama2",)),
    "qwen2": ("Qwen2Config", {}, ("bytelevel_qwen2",)),
    "qwen3": ("Qwen3Config", dict(head_dim=16), ("bytelevel_qwen2",)),
    "gemma": ("GemmaConfig", dict(head_dim=16), ("bpe_llama2",)),
    "gemma2": ("Gemma2Config", dict(head_dim=16, query_pre_attn_scalar=16, sliding_window=32), ("bpe_llama2",)),
    "olmo2": ("Olmo2Config", {}, ("bytelevel_llama3",)),
    "granite": ("GraniteConfig", dict(embedding_multiplier=3.0, residual_multiplier=0.5, attention_multiplier=0.3,
                                      logits_scaling=2.0), ("bytelevel_gpt2",)),
    "phi3": ("Phi3Config", dict(pad_token_id=0), ("bpe_llama2",)),
    "gpt2": ("GPT2Config", dict(n_embd=64, n_layer=2, n_head=4, n_positions=256), ("bytelevel_gpt2",)),
}
PRE = {"gpt-2": "bytelevel_gpt2", "llama-bpe": "bytelevel_llama3", "dbrx": "bytelevel_llama3", "qwen2": "bytelevel_qwen2",
       "stablelm2": "bytelevel_qwen2", "smollm": "bytelevel_gpt2", "refact": "bytelevel_gpt2", "gpt-4o": "bytelevel_llama3",
       "tekken": "bytelevel_llama3", "deepseek-coder": "bytelevel_gpt2", "seed-coder": "bytelevel_gpt2",
       "default": "bytelevel_gpt2"}


def texts(seed=1):
    """Texts without line breaks at all, then some with them."""
    fixed = ["Hello, world!", "  two  spaces   and more    ", "it's we'LL they've I'M don'T", "1 12 123 1234 12345 3.14 1,000,000",
             "na\u00efve caf\u00e9 \u00fcber Stra\u00dfe", "\u4f60\u597d\uff0c\u4e16\u754c\u3002 \u65e5\u672c\u8a9e \ud55c\uad6d\uc5b4",
             "\u041f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440", "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 emoji",
             "tab\there", "a\u00a0b\u3000c", "snake_case camelCase HTTPServer XMLHttp", "x=y+1;//comment", "...!!! ??? --- ___",
             "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35 \u0928\u092e\u0938\u094d\u0924\u0947 \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627", " leading", "trailing ", "a"]
    rng = random.Random(seed)
    pool = list("abcdefghijklmnopqrstuvwxyzABCDEFGHIJ      0123456789.,;:'\"!?-_()[]{}/\\@#$%^&*+=<>|~`\t") + list(
        "\u00e4\u00f6\u00fc\u00df\u00e9\u0142\u0431\u0436\u4e2d\u6587\u3042\u30ab\uac00\u0e01\u0905\u093f\u05d0\u0627\u00b2\u2160\u0663\u2026\u2019\U0001f600\u00a0\u200d")
    lines = fixed + ["".join(rng.choice(pool) for _ in range(rng.randint(1, 60))) for _ in range(300)]
    lines = [unicodedata.normalize("NFC", t) for t in lines]  # llama.cpp has no normal forms
    whole = ["a\nb\n\nc\n\n\n  d", "x \n y\r\nz\t\n", "def f(x):\n    if x:\n        return 1\n\n", "\n", "  \n\n  "]
    return lines, whole


def save_tokenizer(name, directory):
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "tokenizer.json").write_text((TOKENIZERS / name / "tokenizer.json").read_text())
    spm = name.startswith("bpe")
    bos, eos = ("<s>", "</s>") if spm else ("<|endoftext|>",) * 2
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": bos, "eos_token": eos, "chat_template": TEMPLATE,
              "clean_up_tokenization_spaces": False}
    if spm:
        config["unk_token"] = "<unk>"
    (directory / "tokenizer_config.json").write_text(json.dumps(config))
    return transformers.PreTrainedTokenizerFast(tokenizer_file=str(directory / "tokenizer.json"), bos_token=bos, eos_token=eos)


def make_model(family, tokenizer, directory, seed):
    kind, more, _ = FAMILIES[family]
    torch.manual_seed(seed)
    sizes = {} if family == "gpt2" else dict(SMALL)
    config = getattr(transformers, kind)(**{**sizes, **more}, vocab_size=len(tokenizer) + 5,
                                         bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id)
    config._attn_implementation = "eager"
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.dim() == 1:
                p.add_(0.1 * torch.randn_like(p))
    model.save_pretrained(directory)
    (directory / "generation_config.json").write_text(
        json.dumps({"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}))
    return model


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def tril_ids(build, model, lines, whole, work):
    """Each text's ids as tril has them, without what stands around a text."""
    def encode(text, *more):
        (work / "text").write_bytes(text.encode())
        run(build / "bench" / "encode_ids", model, work / "text", work / "ids", *more)
        ids, result = np.fromfile(work / "ids", dtype=np.int32), []
        while len(ids):
            result.append(ids[1:1 + ids[0]].tolist())
            ids = ids[1 + ids[0]:]
        return result
    return encode("\n".join(lines) + "\n") + [encode(t, "--whole")[0] for t in whole]


def open_llama(path, **more):
    with contextlib.redirect_stderr(io.StringIO()):
        return llama_cpp.Llama(str(path), n_ctx=256, n_threads=2, verbose=False, **more)


def greedy_llama(model, ids, n, tokens):
    model.reset()
    model.eval(ids)
    out = []
    for _ in range(n):
        scores = np.array(llama_cpp.llama_get_logits(model.ctx)[:tokens])
        out.append(int(scores.argmax()))
        model.eval(out[-1:])
    return out


def greedy_torch(model, ids, n, tokens):
    """Of the ids that are tokens: a model may have more rows, which tril never takes."""
    with torch.no_grad():
        out = list(ids)
        for _ in range(n):
            out.append(int(model(torch.tensor([out])).logits[0, -1, :tokens].argmax()))
    return out[len(ids):]


def greedy_tril(build, model, n):
    out = json.loads(run(build / "tril", "generate", "--model", model, "--prompt", PROMPT, "--max-new-tokens", n, "--precision",
                         "fp32", "--json", "--logprobs", 0))
    return [t["id"] for t in out["generations"][0]["logprobs"]]


class Report:
    def __init__(self):
        self.failed = 0

    def compare(self, what, wanted, **others):
        notes = []
        for name, got in others.items():
            wrong = [i for i, (a, b) in enumerate(zip(wanted, got)) if a != b] + [-1] * (len(wanted) != len(got))
            notes.append(f"{name} {len(wanted) - len(wrong)}/{len(wanted)}")
            self.failed += bool(wrong)
            if wrong:
                notes.append(f"first at {wrong[0]}: {wanted[wrong[0]]} and {got[wrong[0]]}")
        print(f"{what:<34}", "; ".join(notes), flush=True)


def until(ids, end):
    return ids[:ids.index(end) + 1] if end in ids else ids


def check_models(build, work, report):
    lines, whole = texts()
    for number, (family, (_, _, names)) in enumerate(FAMILIES.items()):
        for name in names:
            directory = work / f"{family}-{name}"
            tokenizer = save_tokenizer(name, directory)
            model = make_model(family, tokenizer, directory, 10 + number)
            file = work / f"{family}-{name}.gguf"
            run(build / "tril", "export", "--model", directory, "--to", file, "--type", "f32", "--name", "test")
            llama = open_llama(file)
            texts_of = lines, whole
            if name == "bpe_metaspace":  # puts no mark before a blank, which GGUF cannot say
                texts_of = tuple([t for t in part if not t.startswith(" ")] for part in texts_of)
            every = texts_of[0] + texts_of[1]
            hf = [tokenizer.encode(t, add_special_tokens=False) for t in every]
            report.compare(f"{family}, {name}: ids", hf,
                           llama_cpp=[llama.tokenize(t.encode(), add_bos=False, special=True) for t in every],
                           tril=tril_ids(build, directory, *texts_of, work), gguf=tril_ids(build, file, *texts_of, work))
            ids = tokenizer.encode(PROMPT)
            framed = llama.tokenize(PROMPT.encode(), add_bos=True, special=True)
            report.compare(f"{family}, {name}: prompt", [ids], llama_cpp=[framed])
            n, end, tokens = 64, tokenizer.eos_token_id, len(tokenizer)
            back = work / f"{family}-{name}-back"
            run(build / "tril", "export", "--model", file, "--to", back)
            again = transformers.AutoModelForCausalLM.from_pretrained(back, attn_implementation="eager").eval()
            again_ids = transformers.AutoTokenizer.from_pretrained(back).encode(PROMPT)
            report.compare(f"{family}, {name}: 64 greedy tokens", until(greedy_torch(model, ids, n, tokens), end),
                           llama_cpp=until(greedy_llama(llama, ids, n, tokens), end), tril=greedy_tril(build, directory, n),
                           gguf=greedy_tril(build, file, n), directory=until(greedy_torch(again, again_ids, n, tokens), end))
            if llama.metadata.get("tokenizer.chat_template") != TEMPLATE:
                raise SystemExit(f"{file}: its chat template is another")


def check_names(build, work, report):
    lines, whole = texts(2)
    for pre, name in PRE.items():
        tokenizer = json.loads((TOKENIZERS / name / "tokenizer.json").read_text())
        vocabulary = {**tokenizer["model"]["vocab"], **{t["content"]: t["id"] for t in tokenizer["added_tokens"]}}
        tokens = sorted(vocabulary, key=vocabulary.get)
        special = {t["content"] for t in tokenizer["added_tokens"]}
        path = work / f"pre-{pre}.gguf"
        w = gguf.GGUFWriter(str(path), "llama")
        w.add_block_count(1), w.add_context_length(64), w.add_embedding_length(32), w.add_feed_forward_length(32)
        w.add_head_count(1), w.add_layer_norm_rms_eps(1e-5), w.add_rope_dimension_count(32), w.add_vocab_size(len(tokens))
        w.add_tokenizer_model("gpt2"), w.add_tokenizer_pre(pre), w.add_token_list(tokens)
        w.add_token_types([3 if t in special else 1 for t in tokens])
        w.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in tokenizer["model"]["merges"]])
        w.add_bos_token_id(tokens.index("<|endoftext|>")), w.add_eos_token_id(tokens.index("<|endoftext|>"))
        w.add_tensor("token_embd.weight", np.zeros((len(tokens), 32), dtype=np.float32))
        w.write_header_to_file(), w.write_kv_data_to_file(), w.write_tensors_to_file(), w.close()
        llama = open_llama(path, vocab_only=True)
        report.compare(f"{pre}: ids", [llama.tokenize(t.encode(), add_bos=False, special=True) for t in lines + whole],
                       tril=tril_ids(build, path, lines, whole, work))


def main(build, work=None):
    report = Report()
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(work or temporary)
        work.mkdir(parents=True, exist_ok=True)
        check_names(pathlib.Path(build), work, report)
        check_models(pathlib.Path(build), work, report)
    print("all the same" if not report.failed else f"{report.failed} comparisons differ")
    return 1 if report.failed else 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    sys.exit(main(*sys.argv[1:]))
