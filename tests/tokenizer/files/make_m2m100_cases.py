#!/usr/bin/env python3
"""Writes tests/tokenizer/files/m2m100_cases: what M2M100Tokenizer (transformers 5) makes of texts with characters that vocab.json has
and its SentencePiece model lacks.

usage: make_m2m100_cases.py GOLDEN_TOKENIZERS OUT      needs transformers and sentencepiece; the tests do not

Three directories: bpe (byte pairs, as M2M100 has them; its model is trained here), unigram and bytes (of the golden models
spm_unigram and spm_bpe; the latter falls back to bytes, so that nothing is unknown). wmt21 has the languages of WMT 2021."""
import io
import json
import pathlib
import random
import shutil
import sys

import sentencepiece
from transformers import M2M100Tokenizer

SENTENCES = ["the quick brown fox jumps over the lazy dog", "der schnelle braune Fuchs und der faule Hund",
             "we translate the sentences of the old book", "敏捷的狐狸跳过了懒狗"] * 20
BEYOND = ["麒", "雛", "嶋", "쉘", "₫", "👨", "♮", "麒麟", "👨👩", "▁▁", "<0x41>", "♮♮♮"]  # alone, in a row, and never
KNOWN_ALONE = ["麟", "👩", "€"]  # in no vocabulary


def train():
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(SENTENCES), model_writer=model, vocab_size=120, model_type="bpe",
                                             normalization_rule_name="identity", bos_id=0, eos_id=1, unk_id=2, pad_id=-1,
                                             num_threads=1, minloglevel=2)
    return model.getvalue()


def texts(rng):
    fixed = ["麒", "a 麒 b", "麒麟", "麒麒", "麒雛", "麟麒", "the 麒fox雛", "♮♮♮", "♮♮", "♮♮♮♮", "👨👩", "👨 👩", "👨\u200d👩", "₫5 € 쉘嶋", "",
             " ", "  麒  ", "麒\n雛", "</s>麒<unk>雛", "fox麒fox", "①麒②", "<0x41>", "한국어 쉘", "麒 " * 30, "麟" * 40 + "麒"]
    parts = BEYOND[:7] + KNOWN_ALONE + ["the", " fox", " ", "狐狸", "und ", ".", "x", "麟"]
    return fixed + ["".join(rng.choice(parts) for _ in range(rng.randint(1, 12))) for _ in range(40)]


def main(golden, out):
    golden, out = pathlib.Path(golden), pathlib.Path(out)
    models = {"bpe": train(), "wmt21": None, "unigram": golden / "spm_unigram" / "spm.model", "bytes": golden / "spm_bpe" / "spm.model"}
    for name, model in models.items():
        folder, work = out / name, out / (name + ".work")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        work.mkdir()
        data = models["bpe"] if model is None else model if isinstance(model, bytes) else model.read_bytes()
        (work / "sentencepiece.bpe.model").write_bytes(data)
        if name == "bpe":
            (folder / "sentencepiece.bpe.model").write_bytes(data)
        spm = sentencepiece.SentencePieceProcessor(model_proto=data)
        pieces = [spm.id_to_piece(i) for i in range(len(spm)) if i % 11 != 7 or spm.is_byte(i)]
        order = dict.fromkeys(["<s>", "<pad>", "</s>", "<unk>", *reversed(pieces), *BEYOND])
        (folder / "vocab.json").write_text(json.dumps({p: i for i, p in enumerate(order)}) + "\n")
        config = {"tokenizer_class": "M2M100Tokenizer", "src_lang": "en", "tgt_lang": "de"}
        if name == "wmt21":
            config["language_codes"] = "wmt21"
        (folder / "tokenizer_config.json").write_text(json.dumps(config) + "\n")
        for file in ("vocab.json", "tokenizer_config.json"):
            shutil.copy(folder / file, work)
        hf = M2M100Tokenizer.from_pretrained(work)
        cases = []
        for text in texts(random.Random(7)):
            ids = hf.encode(text, add_special_tokens=False)
            cases.append({"text": text, "ids": ids, "decoded": hf.decode(ids, skip_special_tokens=True)})
        languages = {code: hf.get_lang_id(code) for code in ("en", "ja", "de")}
        lines = ",\n".join(json.dumps(c) for c in cases)
        (folder / "cases.json").write_text(f'{{"languages": {json.dumps(languages)}, "texts": [\n{lines}]}}\n')
        shutil.rmtree(work)


main(*sys.argv[1:])
