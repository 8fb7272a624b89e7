"""Write tests/tokenizer/files/marian_cases: what Hugging Face's MarianTokenizer (transformers 5, without sacremoses) makes of odd texts.

usage: make_marian_cases.py GOLDEN_TOKENIZERS OUT
Two directories, of the golden SentencePiece models: joint (BPE with byte fallback on the source side, unigram without on the
target side, one vocab.json with a language code) and separate (a vocabulary for each side).
"""
import json
import pathlib
import random
import shutil
import sys
import warnings

warnings.filterwarnings("ignore")

import sentencepiece
from transformers import MarianTokenizer


def pieces(path):
    model = sentencepiece.SentencePieceProcessor(model_file=str(path))
    special = (model.unk_id(), model.eos_id(), model.pad_id())
    return [model.id_to_piece(i) for i in range(len(model)) if i not in special]


def number(*lists):
    order = dict.fromkeys(["</s>", "<unk>"])
    for some in lists:
        order.update(dict.fromkeys(p for p in some if p != "<pad>"))
    order["<pad>"] = None
    return {p: i for i, p in enumerate(order)}


def main(golden, out):
    golden, out = pathlib.Path(golden), pathlib.Path(out)
    bpe, unigram = golden / "spm_bpe" / "spm.model", golden / "spm_unigram" / "spm.model"
    texts = [case["text"] for name in ("spm_bpe", "spm_unigram")
             for case in json.load(open(golden / name / "cases.json", encoding="utf8"))]
    texts += [">>de<< the old fox", ">>xx<< the fox", " >>de<< the fox", ">>de<<", ">>de the fox", "a >>de<< b",
              "the </s> fox", "</s>", "<unk> the<pad>fox</s></s>", "</s>>>de<< fox", "<s> fox", "\u00a0the fox\u3000", "ß ö 漢字 🦊 fox"]
    texts = list(dict.fromkeys(texts))
    for name, separate in (("joint", False), ("separate", True)):
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            path.unlink()
        work = pathlib.Path(str(folder) + ".work")
        work.mkdir(exist_ok=True)
        shutil.copy(bpe, work / "source.spm")
        shutil.copy(unigram, work / "target.spm")
        first, second = pieces(bpe), pieces(unigram)
        vocab = number(first) if separate else number(first, second, [">>de<<"])
        json.dump(vocab, open(work / "vocab.json", "w"), ensure_ascii=False)
        if separate:
            json.dump(number(second), open(work / "target_vocab.json", "w"), ensure_ascii=False)
        config = {"tokenizer_class": "MarianTokenizer", "source_lang": "en", "target_lang": "de", "separate_vocabs": separate,
                  "unk_token": "<unk>", "eos_token": {"__type": "AddedToken", "content": "</s>", "special": True}, "pad_token": "<pad>", "model_max_length": 512}
        json.dump(config, open(work / "tokenizer_config.json", "w"))
        hf = MarianTokenizer.from_pretrained(work)
        cases = []
        for text in texts:
            if separate and "<pad>" in text:  # there it has the source's id on both sides
                continue
            source = hf(text, add_special_tokens=False).input_ids
            target = hf(text_target=text, add_special_tokens=False).input_ids
            cases.append({"text": text, "source": source, "target": target,
                          "decoded": hf.decode(target, skip_special_tokens=True)})
        rng = random.Random(1)
        size = len(json.load(open(work / ("target_vocab.json" if separate else "vocab.json"))))
        decoding = []
        if separate:  # a joint vocabulary is decoded by the source's model there and by the target's in Marian
            for _ in range(40):
                ids = [rng.randrange(size - 1) for _ in range(rng.randrange(12))]
                decoding.append({"ids": ids, "decoded": hf.decode(ids, skip_special_tokens=True)})
        for path in work.iterdir():
            if not path.name.endswith(".spm"):
                shutil.copy(path, folder / path.name)
            path.unlink()
        work.rmdir()
        with open(folder / "cases.json", "w", encoding="utf8") as f:
            json.dump({"texts": cases, "ids": decoding}, f, ensure_ascii=False, indent=0)


if __name__ == "__main__":
    main(*sys.argv[1:])
