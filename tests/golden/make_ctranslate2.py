#!/usr/bin/env python3
"""Writes ctranslate2/: tiny models as CTranslate2's converters write them, and what CTranslate2 computes with them.

usage: make_ctranslate2.py HF_DIR MARIAN_DIR OUT_DIR     needs ctranslate2 4.8, transformers, torch, sentencepiece, pyyaml; a minute

Each NAME.TYPE is the model HF_DIR/NAME (make_hf.py) with weights of TYPE. Its pieces are made up, one for each id. expected.json has,
as ids and computed in float32 whatever the type:
  translation models: sources; targets and the log-probability of each of their tokens and of the end; of each source the best of four
                      beams, with its score
  language models:    texts, the log-probability of each token but the first; and what greedy search adds to each text
opus/ is MARIAN_DIR/opus (make_marian.py) as Marian's converter writes it, with its source.spm and target.spm; argos/ is MARIAN_DIR/spm as
a package of Argos Translate holds it, unpacked. texts.json of both: texts and their translations by the best of four beams.
"""
import json
import pathlib
import random
import shutil
import sys
import tempfile

import ctranslate2
import numpy as np
import sentencepiece
import transformers
import yaml
from ctranslate2.converters import MarianConverter, TransformersConverter

CASES = {"marian": ["float32", "int8", "int16", "float16", "bfloat16", "int8_float32", "int8_float16", "int8_bfloat16"],
         "m2m100": ["float32"], "bart": ["float32"], "mbart": ["float16"], "pegasus": ["bfloat16"],
         "t5": ["int8_float16"], "t5_v1_1": ["float32"], "mt5": ["int8"],
         "llama": ["float32", "int8"], "mistral_swa": ["float16"], "qwen2": ["int8"], "qwen3": ["float32"],
         "gemma": ["float16"], "gpt2": ["float32"], "opt": ["int8"]}
LENGTH = 12


class Pieces:
    """Stands for a tokenizer: names for the ids of a config."""

    def __init__(self, config):
        names = [f"<p{i}>" for i in range(config.vocab_size)]
        for key, name in [("bos_token_id", "<s>"), ("eos_token_id", "</s>"), ("pad_token_id", "<pad>")]:
            at = getattr(config, key, None)
            if at is not None and at >= 0:
                names[at] = name
        start = getattr(config, "decoder_start_token_id", None)
        self.unk_token_id = next(i for i, n in enumerate(names) if n.startswith("<p") and n != "<pad>" and i != start)
        names[self.unk_token_id] = "<unk>"
        self.names = names
        self.unk_token, self.eos_token, self.pad_token = "<unk>", "</s>", "<pad>"
        self.bos_token = "<s>" if "<s>" in names else "</s>"
        self.special_tokens_map, self.num_madeup_words = {}, 0

    def get_vocab(self):
        return {n: i for i, n in enumerate(self.names)}

    def convert_ids_to_tokens(self, i):
        return None if i is None else self.names[i]


class Converter(TransformersConverter):
    def load_tokenizer(self, _, path, **arguments):
        return Pieces(transformers.AutoConfig.from_pretrained(path))

    def load_model(self, kind, path, **arguments):
        model = super().load_model(kind, path, **arguments)
        config = model.config
        if config.model_type in ("bart", "mbart", "pegasus"):  # as configs of transformers 4 said
            config.normalize_before = config.model_type != "bart"
            config.normalize_embedding = config.model_type != "pegasus"
        if config.model_type == "mbart":
            config.tokenizer_class = "MBart50Tokenizer"  # whose translations begin with a fixed token
        return model

    def _load(self):
        spec = super()._load()
        # The converter of OPT rounds the number of pieces up.
        if hasattr(spec, "_vocabulary"):
            spec._vocabulary = spec._vocabulary[:spec.get_vocabulary_size()]
        return spec


def translations(model, names, draw):
    translator = ctranslate2.Translator(str(model), compute_type="float32", inter_threads=1, intra_threads=1)
    number = {n: i for i, n in enumerate(names)}
    ordinary = [n for n in names if n.startswith("<p") and n != "<pad>"]
    sources = [[draw.choice(ordinary) for _ in range(n)] + ["</s>"] for n in (3, 7, 1, 10)]
    targets = [[draw.choice(ordinary) for _ in range(n)] for n in (4, 2, 9, 6)]
    scored = translator.score_batch(sources, targets)
    best = translator.translate_batch(sources, beam_size=4, min_decoding_length=0, max_decoding_length=LENGTH, return_scores=True,
                                      return_end_token=True)

    def numbers(tokens):
        return [number[t] for t in tokens]
    return {"sources": [numbers(s) for s in sources], "targets": [numbers(t) for t in targets],
            "log_probs": [list(s.log_probs) for s in scored], "length": LENGTH,
            "best": [numbers(r.hypotheses[0]) for r in best], "scores": [r.scores[0] for r in best]}


def texts(model, names, draw):
    lengths = (4, 4, 4) if "mistral" in model.name else (5, 9, 2)  # CTranslate2 scores none beyond a sliding window, here 4
    generator = ctranslate2.Generator(str(model), compute_type="float32", inter_threads=1, intra_threads=1)
    number = {n: i for i, n in enumerate(names)}
    ordinary = [n for n in names if n.startswith("<p") and n != "<pad>"]
    prompts = [[draw.choice(ordinary) for _ in range(n)] for n in lengths]
    scored = generator.score_batch(prompts)
    more = [generator.generate_batch([p], beam_size=1, max_length=LENGTH, include_prompt_in_result=False)[0] for p in prompts]
    return {"texts": [[number[t] for t in p] for p in prompts], "log_probs": [list(s.log_probs) for s in scored], "length": LENGTH,
            "greedy": [list(r.sequences_ids[0]) for r in more]}


def marian(out, weights, vocabularies, spm):
    """Writes what Marian's converter makes, and translations of texts."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for i, pieces in enumerate(vocabularies):
            paths.append(f"{folder}/{i}.yml")
            pathlib.Path(paths[-1]).write_text("".join(f"{json.dumps(p, ensure_ascii=False)}: {n}\n" for n, p in enumerate(pieces)))
        arrays = dict(np.load(weights))
        yml = arrays["special:model.yml"]  # the converter takes one zero at its end, and Marian writes as many as there is room
        arrays["special:model.yml"] = np.append(yml[yml != 0], np.zeros(1, yml.dtype))
        np.savez(f"{folder}/model.npz", **arrays)
        MarianConverter(f"{folder}/model.npz", paths).convert(str(out))
    source, target = (sentencepiece.SentencePieceProcessor(model_file=str(s)) for s in spm)
    translator = ctranslate2.Translator(str(out), compute_type="float32")
    texts = ["the old dog sees a cat.", "a man finds the red tree and the bird today.", "the small horse often likes a green bird."]
    found = translator.translate_batch([source.encode(t, out_type=str) for t in texts], beam_size=4, min_decoding_length=0)
    return {"texts": texts, "translations": [target.decode(r.hypotheses[0]) for r in found]}


def toolkit_models(files, out):
    opus, spm = files / "opus", files / "spm"
    numbered = yaml.safe_load((opus / "opus.vocab.yml").read_text())
    pieces = sorted(numbered, key=numbered.get)
    shutil.rmtree(out / "opus", ignore_errors=True)
    texts = marian(out / "opus", next(opus.glob("*.npz")), [pieces, pieces], [opus / "source.spm", opus / "target.spm"])
    (out / "opus/texts.json").write_text(json.dumps(texts, ensure_ascii=False) + "\n")
    for name in ("source.spm", "target.spm"):
        shutil.copy(opus / name, out / "opus" / name)

    shutil.rmtree(out / "argos", ignore_errors=True)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(spm / "vocab.spm"))
    pieces = [processor.id_to_piece(i) for i in range(processor.get_piece_size())]
    (out / "argos").mkdir(parents=True)
    texts = marian(out / "argos/model", spm / "model.npz", [pieces, pieces], [spm / "vocab.spm"] * 2)
    (out / "argos/texts.json").write_text(json.dumps(texts, ensure_ascii=False) + "\n")
    shutil.copy(spm / "vocab.spm", out / "argos/sentencepiece.model")
    metadata = {"package_version": "1.0", "argos_version": "1.9", "from_code": "en", "from_name": "English", "to_code": "de", "to_name": "German"}
    (out / "argos/metadata.json").write_text(json.dumps(metadata, indent=2) + "\n")


def seeds(out):
    """seeds/: model.bin of each kind as small as they can be, for the fuzzer."""
    common = {"vocab_size": 11, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    bart = {**common, "d_model": 8, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
            "encoder_ffn_dim": 8, "decoder_ffn_dim": 8, "max_position_embeddings": 6, "decoder_start_token_id": 2}
    llama = {**common, "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "max_position_embeddings": 6}
    configs = {"bart": transformers.BartConfig(**bart), "pegasus": transformers.PegasusConfig(**bart),
               "t5": transformers.T5Config(**common, d_model=8, d_kv=4, d_ff=8, num_layers=2, num_heads=2, decoder_start_token_id=0),
               "llama": transformers.LlamaConfig(**llama, num_key_value_heads=1),
               "gpt2": transformers.GPT2Config(**common, n_embd=8, n_layer=1, n_head=2, n_positions=6),
               "opt": transformers.OPTConfig(**{**llama, "ffn_dim": 8, "word_embed_proj_dim": 4, "do_layer_norm_before": False})}
    to = pathlib.Path(out) / "seeds"
    to.mkdir(exist_ok=True)
    for name, config in configs.items():
        for kind in ("float32", "int8", "int16"):
            with tempfile.TemporaryDirectory() as folder:
                model = transformers.AutoModelForSeq2SeqLM if config.is_encoder_decoder else transformers.AutoModelForCausalLM
                model.from_config(config).save_pretrained(f"{folder}/hf")
                Converter(f"{folder}/hf").convert(f"{folder}/ct2", quantization=kind)
                shutil.copy(f"{folder}/ct2/model.bin", to / f"{name}.{kind}.bin")


def main(hf, marian_files, out):
    pathlib.Path(out).mkdir(parents=True, exist_ok=True)
    toolkit_models(pathlib.Path(marian_files), pathlib.Path(out))
    seeds(out)
    for name, types in CASES.items():
        for kind in types:
            to = pathlib.Path(out) / f"{name}.{kind}"
            shutil.rmtree(to, ignore_errors=True)
            Converter(str(pathlib.Path(hf) / name)).convert(str(to), quantization=kind)
            lm = (to / "vocabulary.json").exists()
            file = to / ("vocabulary.json" if lm else "shared_vocabulary.json")
            names = json.loads(file.read_text())
            file.write_text(json.dumps(names) + "\n")
            expected = (texts if lm else translations)(to, names, random.Random(name))
            (to / "expected.json").write_text(json.dumps(expected) + "\n")
            print(to.name)


main(*sys.argv[1:])
