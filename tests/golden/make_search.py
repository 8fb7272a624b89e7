"""Logits before and after the logits processors and warpers of `transformers`, one by one and all together.

usage: make_search.py OUT_DIR [--seed N]        (the project's own: tests/golden/search)

One file, processors.safetensors: `in.logits` [R, V], `in.tokens` [R, T] (prompt and generated tokens), `in.source`
[R, S] (what an encoder would have read), `out.NAME` [R, V]
for each case, whose settings are metadata `cases` (JSON). Presence and frequency penalties, which `transformers` lacks,
follow OpenAI's definition: logit - presence * (n > 0) - frequency * n for a token that was generated n times. A case
sees the first `length` tokens of each row (all of them where it does not say), of which PROMPT at most are the prompt."""
import argparse
import json
import pathlib
import random

import torch
import transformers
from safetensors.torch import save_file
from transformers.generation import logits_process as lp

ROWS, VOCAB, PROMPT, LENGTH, EOS = 6, 60, 3, 14, 1
SOURCE = torch.randint(2, 12, (ROWS, 120), generator=torch.Generator().manual_seed(7))


class PresenceFrequency:
    def __init__(self, presence, frequency):
        self.presence, self.frequency = presence, frequency

    def __call__(self, ids, scores):
        counts = torch.zeros_like(scores).scatter_add_(1, ids[:, PROMPT:], torch.ones(ids[:, PROMPT:].shape))
        return scores - self.presence * (counts > 0) - self.frequency * counts


# In the order of GenerationMixin._get_logits_processor; the names are those of generation_config.json.
MAKERS = {
    "repetition_penalty": lp.RepetitionPenaltyLogitsProcessor,
    "presence_frequency": lambda v: PresenceFrequency(*v),
    "no_repeat_ngram_size": lp.NoRepeatNGramLogitsProcessor,
    "encoder_no_repeat_ngram_size": lambda n: lp.EncoderNoRepeatNGramLogitsProcessor(n, SOURCE),
    "bad_words_ids": lambda v: lp.NoBadWordsLogitsProcessor(v, torch.tensor([EOS])),
    "min_new_tokens": lambda v: lp.MinNewTokensLengthLogitsProcessor(PROMPT, v, torch.tensor([EOS])),
    "forced_bos_token_id": lp.ForcedBOSTokenLogitsProcessor,
    "forced_eos": lambda v: lp.ForcedEOSTokenLogitsProcessor(PROMPT + v[0], v[1], "cpu"),  # of new tokens; the id
    "suppress_tokens": lp.SuppressTokensLogitsProcessor,
    "begin_suppress_tokens": lambda v: lp.SuppressTokensAtBeginLogitsProcessor(v[1], v[0]),  # where it begins; ids
    "temperature": lp.TemperatureLogitsWarper,
    "top_k": lp.TopKLogitsWarper,
    "top_p": lp.TopPLogitsWarper,
    "min_p": lp.MinPLogitsWarper,
    "typical_p": lp.TypicalLogitsWarper,
}


def cases(ids):
    row = ids[0].tolist()
    singles = [{"repetition_penalty": 1.3}, {"repetition_penalty": 0.7},
        {"presence_frequency": [0.6, 0.0]}, {"presence_frequency": [0.0, 0.4]}, {"presence_frequency": [-0.3, 0.9]},
        {"no_repeat_ngram_size": 1}, {"no_repeat_ngram_size": 2}, {"no_repeat_ngram_size": 3},
        {"bad_words_ids": [[5], [row[-1], 7], [row[-2], row[-1], 9], [EOS], [row[-1], row[-2], 11]]},
        {"min_new_tokens": LENGTH - PROMPT + 1}, {"min_new_tokens": LENGTH - PROMPT}, {"suppress_tokens": [2, 4, 8]},
        {"temperature": 0.7}, {"temperature": 1.8}, {"top_k": 1}, {"top_k": 7}, {"top_k": 1000}, {"top_p": 0.3},
        {"top_p": 0.9}, {"top_p": 0.0}, {"min_p": 0.02}, {"min_p": 0.2}, {"min_p": 1.0}, {"typical_p": 0.2},
        {"typical_p": 0.5}, {"typical_p": 0.95}]
    together = [singles[0] | singles[12] | singles[15] | singles[18], singles[2] | {"temperature": 0.5, "min_p": 0.05},
        {"repetition_penalty": 1.2, "presence_frequency": [0.2, 0.1], "no_repeat_ngram_size": 2,
         "bad_words_ids": [[5], [row[-1], 7]], "min_new_tokens": 20, "suppress_tokens": [3], "temperature": 1.4,
         "top_k": 30, "top_p": 0.95, "min_p": 0.01, "typical_p": 0.9}]
    new = LENGTH - PROMPT
    edges = [{"forced_bos_token_id": 7, "length": 1}, {"forced_bos_token_id": 7}, {"forced_eos": [new + 1, EOS]},
        {"forced_eos": [new + 2, EOS]}, {"forced_eos": [1, 9], "length": PROMPT},
        {"begin_suppress_tokens": [PROMPT, [5, 6]], "length": PROMPT}, {"begin_suppress_tokens": [PROMPT, [5, 6]]},
        {"forced_bos_token_id": 7, "begin_suppress_tokens": [2, [5, 6]], "length": 2},
        {"forced_bos_token_id": 7, "begin_suppress_tokens": [2, [7]], "length": 1},
        {"no_repeat_ngram_size": 3, "length": 2}, {"bad_words_ids": [[row[1], 7]], "length": 2},
        {"min_new_tokens": 1, "length": PROMPT}]
    source = [{"encoder_no_repeat_ngram_size": n} for n in (1, 2, 3, 4)] + [
        {"encoder_no_repeat_ngram_size": 3, "length": 2}, {"encoder_no_repeat_ngram_size": 2, "length": 1},
        {"encoder_no_repeat_ngram_size": 2, "no_repeat_ngram_size": 2, "repetition_penalty": 1.2, "top_k": 9}]
    return singles + together + edges + mixtures(row) + source


def mixtures(row):
    """Random subsets of all of them, composed in the order above."""
    pick, settings = random.Random(5), []
    choices = {
        "repetition_penalty": [0.8, 1.1, 1.5], "presence_frequency": [[0.5, 0.0], [0.1, 0.3]],
        "no_repeat_ngram_size": [2, 3, 4], "bad_words_ids": [[[5], [row[-1], 7]], [[row[-2], row[-1], 3], [4]]],
        "min_new_tokens": [5, LENGTH], "forced_eos": [[LENGTH - PROMPT + 1, EOS], [50, EOS]],
        "suppress_tokens": [[2], [3, 20, 33]], "begin_suppress_tokens": [[PROMPT, [8, 9]]],
        "temperature": [0.6, 1.3], "top_k": [5, 20], "top_p": [0.6, 0.95], "min_p": [0.01, 0.1],
        "typical_p": [0.4, 0.9]}
    for _ in range(24):
        settings.append({name: pick.choice(values) for name, values in choices.items() if pick.random() < 0.45})
        if pick.random() < 0.3:
            settings[-1]["length"] = pick.choice([PROMPT, PROMPT + 1, PROMPT + 4])
    return settings


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    logits = torch.randn(ROWS, VOCAB) * torch.linspace(0.3, 4, ROWS)[:, None]
    order = logits[2].argsort(descending=True)
    logits[2, order[7]] = logits[2, order[6]]  # the seventh and the eighth are equals, and both are of the top 7
    ids = torch.randint(2, 12, (ROWS, LENGTH))
    tensors, settings = {"in.logits": logits, "in.tokens": ids.int(), "in.source": SOURCE.int()}, cases(ids)
    for number, setting in enumerate(settings):
        scores, seen = logits.clone(), ids[:, : setting.get("length", LENGTH)]
        for name, make in MAKERS.items():
            if name in setting:
                scores = make(setting[name])(seen, scores)
        tensors[f"out.{number}"] = scores.contiguous()
    args.out.mkdir(parents=True, exist_ok=True)
    save_file(tensors, args.out / "processors.safetensors", dict(
        kind="logits_processors", prompt=str(PROMPT), eos=str(EOS), cases=json.dumps(settings),
        transformers=transformers.__version__, seed=str(args.seed)))
