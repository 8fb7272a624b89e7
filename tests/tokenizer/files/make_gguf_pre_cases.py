#!/usr/bin/env python3
"""Writes tests/tokenizer/files/gguf_pre_cases.json: where texts of many scripts are cut under each name of tokenizer.ggml.pre.

usage: make_gguf_pre_cases.py [OUT]      needs regex (pip install regex); the test that reads the file does not

The expressions are llama.cpp's, or the publisher's where llama.cpp quotes one, written out here a second time and run by
Python's `regex`: each cuts what the one before it left, matches and what lies between alike. {"texts": [...], "names": {name:
case}, "cases": {case: [[characters of each word, ...] of each text, ...]}}."""
import json
import os
import random
import sys

import regex

S = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = S + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = S + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
U, L = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
O200K = (rf"[^\r\n\p{{L}}\p{{N}}]?[{U}]*[{L}]+{S}?|[^\r\n\p{{L}}\p{{N}}]?[{U}]+[{L}]*{S}?"
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
TEKKEN = (rf"[^\r\n\p{{L}}\p{{N}}]?[{U}]*[{L}]+|[^\r\n\p{{L}}\p{{N}}]?[{U}]+[{L}]*"
          r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
NOT_HAN = r"--\p{Han}"
KIMI = (rf"\p{{Han}}+|[^\r\n\p{{L}}\p{{N}}]?[{U}{NOT_HAN}]*[{L}{NOT_HAN}]+{S}?|[^\r\n\p{{L}}\p{{N}}]?[{U}{NOT_HAN}]+[{L}{NOT_HAN}]*{S}?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
ASCII_SIGNS = r"""[!"#$%\&'()*+,\-./:;<=>?@\[\\\]\^_`\{\|\}\~]"""
V3 = ASCII_SIGNS + r"[A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
BLOOM = " ?[^(\\s\\|.,!?…。，、\u0964\u06d4\u060c)]+"
CASED = ("A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝ"
         "\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec"
         "\u1ff2-\u1ff4\u1ff6-\u1ffcℂℇℊ-ℓℕℙ-ℝℤ\u2126ℨ\u212a-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ"
         "\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2"
         "\U000118a0-\U000118df\U0001e900-\U0001e943")
SCRIPTS = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
KANA = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
ENDS_BY_LINE = r"|\s*[\r\n]|\s+(?!\S)|\s+"
CASES = {
    "gpt-2": [GPT2], "llama-bpe": [LLAMA3], "qwen2": [QWEN2], "gpt-4o": [O200K], "tekken": [TEKKEN], "kimi-k2": [KIMI],
    "smollm": [r"\p{N}", GPT2],
    "qwen35": [S + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"],
    # \b as Hugging Face's library of expressions has it, for which these numbers too are part of a word
    "tiny_aya": [r"\d{1,3}(?=(?:\d{3})*(?![\w²³¹¼½¾]))", O200K],
    "youtu": ["[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-\u303f\ufe30-\ufe4f]+"
              "|[\u3105-\u312f]+|" + KANA, O200K.replace("{1,3}", "")],
    "deepseek-llm": ["[\r\n]", rf"\s?[{CASED}]+", "\\s?[!-/:-\\~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+", r"\s+\Z",
                     SCRIPTS, r"\p{N}+"],
    "deepseek-coder": ["[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", SCRIPTS, r"\p{N}"],
    "deepseek-v3": [r"\p{N}{1,3}", KANA, V3],
    "spark2_5": [r"\p{N}{1,3}", KANA, V3.replace(r"[\r\n]*|\s*[\r\n]+", r"|[\r\n]"), r"\p{N}"],
    "afmoe": [r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))",
              "[\u4e00-\u9fff\u3400-\u4dbf\u8c48-\ufaff\u3040-\u309f\u30a0-\u30ff\uff65-\uff9f\u2f00-\u2fdf\u0e40-\u0e7f\u0e80-\u0eff"
              "\u1780-\u17ff\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff\uac00-\ud7af\u1100-\u11ff]+", V3],
    "seed-coder": [S + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+"],
    "bailingmoe": [r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*" + ENDS_BY_LINE],
    "exaone-moe": [S + r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?" + ENDS_BY_LINE],
    "minicpm5": [r"\p{N}{1,3}", LLAMA3.replace("{1,3}", "+")],
    "laguna": [r"[^\n]+|[\n]+", QWEN2],
    "ufakzeka": [QWEN2.removeprefix(S + "|")],
    "jais-2": [LLAMA3.removesuffix(r"\s+(?!\S)|\s+")
               + "".join(rf"\s{{{n}}}(?!\S)|" for n in (512, 256, 128, 64, 32, 16, 8, 4)) + r"\s{1,2}(?!\S)|\s{1}"],
    "superbpe": [r"\p{N}+", r"(?=(\d{3})+(?!\d))"], "bloom": [BLOOM], "viking": [BLOOM, r"\p{N}"],
    "falcon": [r"[\p{P}\$\+<=>\^\~\|`]+", GPT2, "[0-9][0-9][0-9]"],
    "chameleon": ["<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", "([\t\n]|    |  )", r"\p{N}", r"[\p{P}!-/:-@\[-`\{-\~]",
                  GPT2],
    "default": [r"[\p{P}\$\+<=>\^\~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"],
    "gemma4": [r"[^\n]+|[\n]+"],
}
SAME = {
    "gpt-2": "phi-2 olmo mpt jais trillion mellum modern-bert gigachat a.x-4.0 exaone4 granite-docling jina-es jina-de jina-v2-es "
             "jina-v2-de jina-v1-en jina-v2-code roberta-bpe",
    "llama-bpe": "llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano dbrx smaug-bpe glm4 glm5 chatglm-bpe",
    "qwen2": "deepseek-r1-qwen megrez kormo f2llmv2 stablelm2 hunyuan solar-open grok-2",
    "smollm": "starcoder refact command-r codeshell exaone minerva-7b mellum2",
    "gpt-4o": "llama4 kanana2 talkie minimax-m2 granite-embed-multi-97m",
    "tiny_aya": "cohere2moe", "deepseek-v3": "hunyuan-dense joyai-llm hy_v4", "bailingmoe": "bailingmoe2 llada-moe",
    "bloom": "poro-chat gpt3-finnish", "gemma4": "granite-embed-multi-311m sarvam-moe",
}
FIXED = [
    "Hello, world! It's we'LL they'Ve I'm he'D don't y'all'd've", "  two  spaces   three \t tab\n\n\n lines \r\n end  ",
    "1 12 123 1234 12345 123456 1234567 12345678", "x1234567y 1234567_ 1234567. 1234567x \u0661\u0662\u0663\u0664\u0665 \u00bd12\u00b2 12\u00bd345",
    "camelCase XMLHttpRequest ABC Abc aBC \u01c5ur \u00c9COLE \u00e9cole", "\u4f60\u597d\uff0c\u4e16\u754c\u3002\u3053\u3093\u306b\u3061\u306f\u30ab\u30bf\u30ab\u30ca\uff01 \uc548\ub155\ud558\uc138\uc694 \u3105\u3106 \u2e80\u3007\u3005",
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e\u0964 \u0645\u0631\u062d\u0628\u0627\u060c \u0634\u06a9\u0631\u06cc\u06d4 \u05e9\u05c1\u05dc\u05d5\u05dd \u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35 \u1019\u103c\u1014\u103a\u1019\u102c \u1797\u17b6\u179f\u17b6", "\u041f\u0440\u0438\u0432\u0435\u0442, \u041c\u0418\u0420! \u0393\u03b5\u03b9\u03b1 \u1f08\u03c7\u03b9 \u1f79 \u0531\u0580\u0587 \u10a0\u10d0",
    "a/b//c\n/d ./e\r\n\r\n#include <x.h>\n\tint f(){return 0;}\n    }\n  ", "!word ?A .b (c) [d] {e} ^f ~g `h` |i| $5 +6 <7> =8 \u20ac9 \u2192 \u00a9",
    "<sentinel:12> IMGIMGABCDZ IMGIMGAZ IMGIMGABCDEZ", "e\u0301 a\u0308\u0304 \u0301x \u200d\u200c \U0001f600\U0001f468\u200d\U0001f469 \U0001f1e9\U0001f1ea \ufffd", "\u2018quoted\u2019 \u201cthis\u201d \u2014 dash\u2026 \uff01\uff1a\uff1b \u3001\u3002 \ufe30",
    "\u3000\u3000wide\u00a0\u00a0nbsp\u2003 em\u2028line\u0085next", " " * 40 + "x" + " " * 7, "\n" * 9 + " \n \n", "'s 'S '\u017f 'tis", "I I'm \u2160\u2161 \u2460 \u2167x \u1369", "a.b,c!d?e|f(g)h",
    "\uff11\uff12\uff13\uff14 \U0001d7d8\U0001d7d9\U0001d7da\U0001d7db \uff21\uff42 \U00010400x \ua015\ua016 \ua500 \ud7b0 \uf900", "",
]
POOL = (list("abcXYZ   0123456789.,'\"!?-_()<>/\n\t\r|$") + ["'s", "'LL", "'re", "  ", "\n\n", "\r\n", "123", "the ", " Of", "XyZ", "1234"]
        + list("\u00e4\u00df\u00c9\u0431\u0416\u4e2d\u3042\u30a2\uac00\u0e01\u0e31\u05d0\u0627\u0903\u0301\u00b2\u0663\u00bd\u2019\u2026\uff0c\u3002\U0001f600\u00a0\u200d\u2003"))


def cut(text, patterns):
    words = [text]
    for pattern in patterns:
        expression, after = regex.compile(pattern, regex.V1), []
        for word in words:
            at = 0
            for m in expression.finditer(word):
                after += [word[at:m.start()], m.group()]
                at = m.end()
            after.append(word[at:])
        words = [w for w in after if w]
    assert "".join(words) == text
    return [len(w) for w in words]


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "gguf_pre_cases.json")
    rng = random.Random(11)
    texts = FIXED + ["".join(rng.choice(POOL) for _ in range(rng.randint(2, 30))) for _ in range(60)]
    names = {one: case for case in CASES for one in [case, *SAME.get(case, "").split()]}
    cases = {case: [cut(t, patterns) for t in texts] for case, patterns in CASES.items()}
    with open(out, "w", encoding="ascii") as f:
        dump = lambda value: json.dumps(value, separators=(",", ":"))
        f.write('{"texts":[\n' + ",\n".join(map(dump, texts)) + '],\n"names":' + dump(names) + ',\n"cases":{\n')
        f.write(",\n".join(f"{dump(k)}:{dump(v)}" for k, v in cases.items()) + "}}\n")


main()
