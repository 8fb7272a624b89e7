"""Whether CTranslate2 loads what `tril export --format ctranslate2` writes, and takes the same tokens as tril.

usage: check_ctranslate2.py BUILD_DIR [WORK_DIR]      (needs ctranslate2 4.8, torch, transformers; two minutes of two cores)

Builds nothing: BUILD_DIR/tril is used. For each family that the format has, a random model of `transformers` with a tokenizer of
tests/golden/hf/tokenizers is exported in float32 and in int8. Three sequences of greedy tokens must be equal for each of several
texts:
  float32: tril from the original directory, tril from the export, CTranslate2 from the export
  int8:    tril from the export with the dequantised weights (--precision fp32), CTranslate2 with compute_type float32
In int8 both programs also round the inputs of products, each in its own way, and random models have near ties. So the part of the
tokens before the first difference is printed there, and does not decide. A window is checked with prompts within it: CTranslate2
reads a longer prompt in pieces, and its results for them differ from those of `transformers`, also with its own converter.
"""
import dataclasses
import json
import pathlib
import subprocess
import sys
import tempfile

import ctranslate2
import torch
import transformers

TOKENIZERS = pathlib.Path(__file__).resolve().parent.parent / "golden" / "hf" / "tokenizers"
TEXTS = ["The quick brown fox.", "A dog", "one two three four five six seven", "x", "Is it so? No, it is not."]
SHORT = {"mistral_window": ["A dog", "x", "is"]}
LENGTH = 24
LLAMA = dict(hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
             max_position_embeddings=128, initializer_range=0.2)
BART = dict(d_model=48, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64,
            decoder_ffn_dim=64, max_position_embeddings=64, init_std=0.3)
T5 = dict(d_model=48, d_kv=8, d_ff=64, num_layers=2, num_decoder_layers=2, num_heads=4, relative_attention_num_buckets=8,
          relative_attention_max_distance=16)
# case: the class of its configuration, its values, and the tokenizer
LANGUAGE = {
    "llama": ("LlamaConfig", LLAMA, "bpe_llama2"),
    "llama_tied": ("LlamaConfig", {**LLAMA, "tie_word_embeddings": True, "head_dim": 32}, "bytelevel_llama3"),
    "llama_linear": ("LlamaConfig", {**LLAMA, "rope_parameters": dict(rope_type="linear", rope_theta=5000.0, factor=2.0)},
                     "bpe_llama2"),
    "llama_biases": ("LlamaConfig", {**LLAMA, "attention_bias": True, "mlp_bias": True}, "bpe_llama2"),
    "mistral": ("MistralConfig", {**LLAMA, "sliding_window": None}, "bpe_llama2"),
    "mistral_window": ("MistralConfig", {**LLAMA, "sliding_window": 8}, "bpe_llama2"),
    "llama_rows": ("LlamaConfig", {**LLAMA, "vocab_size": 608}, "bpe_llama2"),
    "qwen2": ("Qwen2Config", LLAMA, "bytelevel_qwen2"),
    "qwen3": ("Qwen3Config", {**LLAMA, "head_dim": 32}, "bytelevel_qwen2"),
    "gemma": ("GemmaConfig", {**LLAMA, "head_dim": 16}, "bpe_llama2"),
    "gpt2": ("GPT2Config", dict(n_embd=64, n_layer=2, n_head=4, n_positions=128, initializer_range=0.2), "bytelevel_gpt2"),
    "opt": ("OPTConfig", dict(hidden_size=64, word_embed_proj_dim=64, ffn_dim=96, num_hidden_layers=2, num_attention_heads=4,
                              max_position_embeddings=128, init_std=0.2), "bytelevel_gpt2"),
    "opt_350m": ("OPTConfig", dict(hidden_size=64, word_embed_proj_dim=32, ffn_dim=96, num_hidden_layers=2, num_attention_heads=4,
                                   max_position_embeddings=128, init_std=0.2, do_layer_norm_before=False), "bytelevel_gpt2"),
}
TRANSLATION = {
    "t5": ("T5Config", {**T5, "feed_forward_proj": "relu"}, "unigram_t5"),
    "t5_v1_1": ("T5Config", {**T5, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}, "unigram_t5"),
    "t5_rows": ("T5Config", {**T5, "feed_forward_proj": "relu", "vocab_size": 410}, "unigram_t5"),
    "mt5": ("MT5Config", {**T5, "feed_forward_proj": "gated-gelu"}, "unigram_t5"),
    "umt5": ("UMT5Config", {**T5, "feed_forward_proj": "gated-gelu"}, "unigram_t5"),
    "bart": ("BartConfig", BART, "unigram_t5"),
    "mbart": ("MBartConfig", {**BART, "scale_embedding": True}, "unigram_t5"),
    "m2m_100": ("M2M100Config", {**BART, "scale_embedding": True}, "unigram_t5"),
    "pegasus": ("PegasusConfig", {**BART, "scale_embedding": True}, "unigram_t5"),
    "plbart": ("PLBartConfig", BART, "unigram_t5"),
    "mvp": ("MvpConfig", BART, "unigram_t5"),
    "blenderbot": ("BlenderbotConfig", BART, "unigram_t5"),
}


def make_model(case, directory, seed):
    kind, values, name = {**LANGUAGE, **TRANSLATION}[case]
    directory.mkdir(parents=True)
    file = directory / "tokenizer.json"
    file.write_text((TOKENIZERS / name / "tokenizer.json").read_text())
    bos, eos = {"bpe_llama2": ("<s>", "</s>"), "unigram_t5": ("<pad>", "</s>")}.get(name, ("<|endoftext|>",) * 2)
    unk = {"unk_token": "<unk>"} if name in ("bpe_llama2", "unigram_t5") else {}
    pad = {"pad_token": "<pad>"} if name == "unigram_t5" else {}
    (directory / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": bos, "eos_token": eos, "clean_up_tokenization_spaces": False,
         **unk, **pad}))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(file), bos_token=bos, eos_token=eos, **unk, **pad)
    torch.manual_seed(seed)
    ids = dict(bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id)
    if case in TRANSLATION:
        ids.update(pad_token_id=tokenizer.pad_token_id, decoder_start_token_id=tokenizer.pad_token_id)
    config = getattr(transformers, kind)(**{"vocab_size": len(tokenizer), **values, **ids})
    auto = transformers.AutoModelForSeq2SeqLM if case in TRANSLATION else transformers.AutoModelForCausalLM
    model = auto.from_config(config).eval()
    with torch.no_grad():
        for weight_name, p in model.named_parameters():
            if p.dim() == 1:
                p.add_(0.1 * torch.randn_like(p))
            if case in TRANSLATION and ("shared" in weight_name or "lm_head" in weight_name):
                p.normal_(0, 0.5)
    model.save_pretrained(directory)
    (directory / "generation_config.json").write_text(json.dumps(ids))


def tril(build, *arguments, text=None):
    done = subprocess.run([str(build / "tril"), *map(str, arguments), "-q"], capture_output=True, text=True, input=text)
    if done.returncode:
        raise SystemExit(f"tril {' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()] if done.stdout.startswith("{") else done.stdout


@dataclasses.dataclass
class Translation:
    text: str
    tokens: int
    log_prob: float

    def __eq__(self, other):
        return (self.text, self.tokens) == (other.text, other.tokens) and abs(self.log_prob - other.log_prob) < 2e-3


def texts_of(case):
    return SHORT.get(case, TEXTS)


def by_tril(build, case, model, *more):
    """For each text the greedy tokens, without the end; of a translation its text, the number of its tokens, and its score."""
    if case in LANGUAGE:
        lines = tril(build, "generate", "-m", model, "--max-new-tokens", LENGTH, "--json", "--logprobs", 0, "--no-echo", *more,
                     text="\n".join(texts_of(case)) + "\n")
        found = [line["generations"][0] for line in lines]
        return [[t["id"] for t in g["logprobs"]][:-1 if g["finish_reason"] == "stop" else None] for g in found]
    lines = tril(build, "translate", "-m", model, "-b", 1, "--max-length", LENGTH, "--max-length-factor", 0, "--json", *more,
                 text="\n".join(texts_of(case)) + "\n")
    found = [line["translations"][0] for line in lines]
    return [Translation(t["text"], t["tokens"], t["log_prob"]) for t in found]


def by_ctranslate2(build, case, model, original, compute_type):
    pieces = [line["pieces"] for line in tril(build, "tokenize", "-m", original, "--json", "--special-tokens", *texts_of(case))]
    if case in LANGUAGE:
        generator = ctranslate2.Generator(str(model), compute_type=compute_type, intra_threads=1)
        return [list(generator.generate_batch([p], beam_size=1, max_length=LENGTH, include_prompt_in_result=False)[0].sequences_ids[0])
                for p in pieces]
    translator = ctranslate2.Translator(str(model), compute_type=compute_type, intra_threads=1)
    vocabulary = json.loads((model / "shared_vocabulary.json").read_text())
    found = []
    for p in pieces:
        best = translator.translate_batch([p], beam_size=1, max_decoding_length=LENGTH, min_decoding_length=0, length_penalty=0,
                                          return_scores=True, return_end_token=True)[0]
        ids = " ".join(str(vocabulary.index(t)) for t in best.hypotheses[0])
        found.append(Translation(tril(build, "detokenize", "-m", original, text=ids + "\n").removesuffix("\n"), len(best.hypotheses[0]),
                                 best.scores[0]))
    return found


def same(a, b):
    return f"{sum(x == y for x, y in zip(a, b))}/{len(a)}"


def equal_part(a, b):
    """The part of a's tokens before the first that differs from b's; of translations the part that are equal."""
    if isinstance(a[0], Translation):
        return sum((x.text, x.tokens) == (y.text, y.tokens) for x, y in zip(a, b)) / len(a)
    equal = sum(next((i for i, (s, t) in enumerate(zip(x, y)) if s != t), min(len(x), len(y))) for x, y in zip(a, b))
    return equal / sum(map(len, a))


def main(build, work=None):
    build = pathlib.Path(build)
    work = pathlib.Path(work or tempfile.mkdtemp())
    failed = 0
    for number, case in enumerate([*LANGUAGE, *TRANSLATION]):
        original = work / case
        make_model(case, original, 20 + number)
        notes = []
        for kind in ("f32", "int8"):
            exported = work / f"{case}-{kind}"
            tril(build, "export", "-m", original, "--to", exported, "--format", "ctranslate2", "--type", kind)
            ours = by_tril(build, case, exported, "--precision", "fp32")
            wanted = by_tril(build, case, original, "--precision", "fp32") if kind == "f32" else ours
            theirs = by_ctranslate2(build, case, exported, original, "float32")
            if case == "t5_rows":  # its probabilities are shared with the rows that are left out
                wanted = [dataclasses.replace(w, log_prob=o.log_prob) for w, o in zip(wanted, ours)]
            notes += [f"{kind}: tril {same(wanted, ours)}, CTranslate2 {same(wanted, theirs)}"]
            failed += (wanted != ours) + (wanted != theirs)
            if wanted != theirs:
                at = next(i for i, (a, b) in enumerate(zip(wanted, theirs)) if a != b)
                notes.append(f"first at {at}: {wanted[at]} and {theirs[at]}")
        theirs = by_ctranslate2(build, case, exported, original, "int8_float32")
        ours = by_tril(build, case, exported, "--precision", "int8", "--cache-precision", "fp32")
        notes.append(f"rounded: {equal_part(ours, theirs):.0%}")
        print(f"{case:<16}", "; ".join(notes), flush=True)
    print(f"{failed} differ" if failed else "no differences")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
