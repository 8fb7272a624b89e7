#!/usr/bin/env python3
"""Writes byt5_cases.json: texts, ids and decoded texts of `transformers`' ByT5Tokenizer, for three forms of its
configuration, and what it makes of ids whose bytes are no text.

usage: make_byt5_cases.py [OUT]     needs transformers; the tests that read the file do not."""
import json
import os
import sys
import tempfile

from transformers import ByT5Tokenizer

here = os.path.dirname(os.path.abspath(__file__))
TEXTS = ["", "Hello, world!", "Hi <extra_id_0> there </s> x", "  a  </s>  b", "a<unk> b", "é中😀\n\tz", "a <pad> b",
         "x\u0000y<extra_id_3>  z", "<extra_id_124><extra_id_12>4", "</s><pad></s>", "\ufffd\u00a0</s>\u3000x"]
IDS = [[3 + 0xE9, 3 + 65, 3 + 0xC3], [3 + 0xE4, 3 + 0xB8, 3 + 66, 259, 3 + 0xAD], [0, 1, 2, 261, 258, 3]]
PLAIN = {name: {"content": text, "lstrip": False, "rstrip": False, "normalized": True, "single_word": False,
                "__type": "AddedToken"} for name, text in [("pad_token", "<pad>"), ("eos_token", "</s>"), ("unk_token", "<unk>")]}
CONFIGS = {
    "class alone": {"tokenizer_class": "ByT5Tokenizer"},
    "as published": PLAIN | {"tokenizer_class": "ByT5Tokenizer", "extra_ids": 125,
                             "additional_special_tokens": [f"<extra_id_{i}>" for i in range(125)]},
    "other sentinels": {"tokenizer_class": "ByT5Tokenizer", "extra_ids": 2, "pad_token": "<p>",
                        "additional_special_tokens": ["<extra_id_1>", "<extra_id_0>", "<sep>"]},
}


def cases_of(tokenizer):
    cases = [{"text": text, "ids": tokenizer(text).input_ids} for text in TEXTS]
    for case in cases:
        case["decoded"] = tokenizer.decode(case["ids"], skip_special_tokens=True, clean_up_tokenization_spaces=False)
    for ids in IDS:
        cases.append({"ids": ids, "decoded": tokenizer.decode(ids, skip_special_tokens=True)})
    return {"size": len(tokenizer), "cases": cases}


def main():
    all = []
    for name, config in CONFIGS.items():
        with tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, "tokenizer_config.json"), "w") as f:
                json.dump(config, f)
            tokenizer = ByT5Tokenizer.from_pretrained(directory)
            all.append({"name": name, "config": config} | cases_of(tokenizer))
            tokenizer.save_pretrained(directory)
            saved = {}
            for file in sorted(os.listdir(directory)):
                with open(os.path.join(directory, file)) as f:
                    saved[file] = json.load(f)
            if name == "class alone":
                all.append({"name": "as transformers 5 saves it", "files": saved}
                           | cases_of(ByT5Tokenizer.from_pretrained(directory)))
    with open(sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "byt5_cases.json"), "w", encoding="ascii") as f:
        json.dump(all, f, separators=(",", ":"))
        f.write("\n")


main()
