#!/usr/bin/env python3
"""Writes eval_cases/cases.json: odd corpora with the scores that sacrebleu gives them.

    pip install sacrebleu && python make_eval_cases.py

The sentences are made up here; a fixed seed makes the file the same every time. bleu.cpp and chrf.cpp of this folder
compare tril's scores, tokens and lower case with it.
"""
import json
import pathlib
import random

import sacrebleu
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

rng = random.Random(20)

WORDS = ("the a small green boat train river house sees takes opens under over before two three red cold quickly "
         "children mother teacher window bread and or but not Never Berlin Monday Über schön Straße été garçon niño").split()
MARKS = list(".,;:!?") + ["...", " - ", "-", "'", '"', "(", ")", " & ", "/", "%", "$", "&amp;", "&quot;", "&lt;b&gt;", "'s"]
NUMBERS = ["1,000.5", "3.14", "2,5", "10-12", "1990s", "5.", ",7", "$4.99", "12:30", "1.000.000,00", "-3", "4-", "v2.0.1"]


def sentence(length, odd=0.2):
    """A made-up sentence; `odd` of its words are numbers or punctuation, stuck to their neighbour or not."""
    text = ""
    for _ in range(length):
        pick = rng.random()
        word = rng.choice(NUMBERS if pick < odd / 2 else MARKS if pick < odd else WORDS)
        text += ("" if rng.random() < odd / 2 else " ") + word
    return text.strip()


def altered(text, rate):
    """Words dropped, doubled, swapped, replaced or changed in case."""
    out = []
    for word in text.split(" "):
        pick = rng.random() / rate
        if pick < 0.25:
            continue
        elif pick < 0.5:
            out += [word, word]
        elif pick < 0.75:
            out.append(rng.choice(WORDS))
        elif pick < 0.9:
            out.append(word.upper())
        elif pick < 1.0 and out:
            out.insert(-1, word)
        else:
            out.append(word)
    return " ".join(out)


def paired(references, rate):
    return [altered(r, rate) for r in references], [references]


def corpora():
    plain = [sentence(rng.randint(5, 25), odd=0.05) for _ in range(30)]
    yield "plain", *paired(plain, 0.3)

    odd = [sentence(rng.randint(3, 20), odd=0.6) for _ in range(40)]
    yield "punctuation_and_numbers", *paired(odd, 0.2)

    yield "two_references", [altered(r, 0.2) for r in plain], [[altered(r, 0.3) for r in plain], [altered(r, 0.5) for r in plain]]
    yield "three_references_one_empty", [altered(r, 0.2) for r in plain], [plain, ["" for _ in plain], [altered(r, 0.5) for r in plain]]

    yield "empty_hypotheses", ["" if i % 3 == 0 else altered(r, 0.1) for i, r in enumerate(plain)], [plain]
    yield "all_empty", ["", "", ""], [["one", "two three", ""]]
    yield "empty_references", plain[:4], [["", "", plain[2], ""]]
    yield "identical", plain, [plain]
    yield "no_match", ["xyz qqq vvv www zzz"] * 3, [["one two three four five"] * 3]
    yield "no_character_matches", ["777 888 999"] * 3, [["abc def ghi"] * 3]
    yield "only_short_lines", ["the boat", "a", "red house ."], [["the boat", "a", "red house"]]
    yield "no_four_grams_match", ["the red boat sees a river", "cold bread"], [["the red boat takes two river", "cold bread now"]]
    yield "much_longer", [r + " " + sentence(20) for r in plain], [plain]
    yield "much_shorter", [" ".join(r.split()[: max(1, len(r.split()) // 3)]) for r in plain], [plain]

    cjk = ["我们明天去北京,好吗?", "今日は天気がいいですね。", "価格は1,000円です!", "한국어 문장입니다.", "混合 text 和 中文 3.5 倍"]
    cjk_h = ["我们今天去北京,好吗?", "今日は天気が悪いですね。", "価格は 1,000 円です!", "한국어 문장 입니다.", "混合 text 與 中文 3.5倍"]
    yield "cjk", cjk_h, [cjk]

    emoji = ["I love it 😀😀 !", "👩‍👩‍👧‍👦 family", "flag 🇩🇪 here", "done ✅.", "👍🏽,👍"]
    yield "emoji", ["I love it 😀 !", "👩‍👩‍👦 family", "flag 🇫🇷 here", "done ✅", "👍🏽, 👍🏿"], [emoji]

    composed = ["café naïve über", "Ångström São", "ñandú, piñata.", "e\u0301te\u0301"]
    decomposed = ["cafe\u0301 nai\u0308ve über", "A\u030angström Sa\u0303o", "nandú, pin\u0303ata.", "été"]
    yield "combining_accents", decomposed, [composed]

    yield ("white_space", ["a\u00a0b c\u3000d e", "tab\there and there", "  lead and trail  ", "thin\u2009space 1\u202f000 now", " ",
                          "zero\u200bwidth stays one word", "line\u2028separator in the middle"],
           [["a b c d e", "tab here and there", "lead and trail", "thin space 1 000 now", "\u00a0",
             "zero\u200bwidth stays one word", "line separator in the middle"]])

    yield ("entities", ["Tom &amp; Jerry", "&lt;b&gt;bold&lt;/b&gt;", "&amp;lt; twice", "say &quot;hi&quot; now", "&nbsp; stays &copy;", "a <skipped> b c d"],
           [["Tom & Jerry", "<b>bold</b>", "< twice", 'say "hi" now', "&nbsp; stays &copy;", "a b c d"]])

    yield ("case", ["ÜBER DIE STRASSE GEHEN WIR", "İstanbul IS big", "ΟΔΥΣΣΕΥΣ και ΣΟΦΟΣ", "ПРИВЕТ Мир Как Дела", "ǅ Ǆ Σ ẞ K"],
           [["über die strasse gehen wir", "i̇stanbul is BIG", "οδυσσευς ΚΑΙ σοφος", "привет мир как дела", "ǆ ǆ σ ß k"]])

    alphabet = list("ab1.,-'\"&;<>/ ()!?é我😀\u0301 \u00a0") + ["&amp;", "&quot;", "<skipped>", "1.", ",2", "3-", " - "]
    noise = ["".join(rng.choice(alphabet) for _ in range(rng.randint(0, 40))) for _ in range(60)]
    yield "noise", ["".join(c for c in line if rng.random() > 0.15) for line in noise], [noise]


def scores(hypotheses, references):
    bleus, chrfs = [], []
    for lowercase in (False, True):
        for tokenize in ("13a", "none"):
            metric = BLEU(tokenize=tokenize, lowercase=lowercase, force=True)
            s = metric.corpus_score(hypotheses, references)
            bleus.append({"tokenize": tokenize, "lowercase": lowercase, "score": s.score, "precisions": s.precisions,
                          "bp": s.bp, "hypothesis_length": s.sys_len, "reference_length": s.ref_len,
                          "signature": str(metric.get_signature())})
        for word_order in (0, 2):
            metric = CHRF(word_order=word_order, lowercase=lowercase)
            s = metric.corpus_score(hypotheses, references)
            chrfs.append({"word_order": word_order, "lowercase": lowercase, "score": s.score, "name": s.name,
                          "signature": str(metric.get_signature())})
    return {"bleu": bleus, "chrf": chrfs}


def main():
    cases = []
    for name, hypotheses, references in corpora():
        cases.append({"name": name, "hypotheses": hypotheses, "references": references, **scores(hypotheses, references)})

    tokenizer = Tokenizer13a()
    lines = sorted({line for case in cases for line in case["hypotheses"] + case["references"][0]})
    document = {
        "made_by": f"make_eval_cases.py with sacrebleu {sacrebleu.__version__}",
        "cases": cases,
        "tokens_13a": [[line, tokenizer(line)] for line in lines],
        "lower": [[line, line.lower()] for line in lines if line != line.lower()],
    }
    target = pathlib.Path(__file__).parent / "eval_cases" / "cases.json"
    target.write_text(json.dumps(document, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    print(f"{target}: {len(cases)} corpora, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
