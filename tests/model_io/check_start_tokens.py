#!/usr/bin/env python3
"""Whether translations of tril and `transformers` begin with the same token, whichever file names it.

usage: check_start_tokens.py TEST_DECODE WORK [FAMILY...]     needs torch, transformers, safetensors; about a minute for a family
       TEST_DECODE: build/tests/test_decode, whose GoldenEncoderDecoder tests compare tokens; WORK: a directory for the models

decoder_start_token_id and bos_token_id are absent, null and an id, in config.json and in generation_config.json, which may be missing.
Where no file that it reads names a token, and where it refuses null, `transformers` does not translate; tril then takes
config.json's token or the family's. These are counted as `untold`. Greedy search of models with random weights is compared.
Fails if tokens differ, or if two start tokens give the same text.
"""
import itertools
import json
import os
import pathlib
import subprocess
import sys

import torch
import transformers
from safetensors.torch import load_file, save_file

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import make_hf  # noqa: E402
import make_hf_more  # noqa: E402

CASES = make_hf.SEQ2SEQ | make_hf_more.SEQ2SEQ
FAMILIES = ["t5", "bart", "marian", "m2m100", "mbart", "blenderbot", "blenderbot-small", "pegasus", "plbart", "mvp", "mt5", "umt5",
            "switch_transformers", "t5gemma"]
ABSENT, NO_FILE = "absent", "no file"
NEW_TOKENS, START, BOS, OTHER_START, OTHER_BOS, END = 8, 21, 33, 45, 57, 2


def said(keys):
    return {k: v for k, v in keys.items() if v is not ABSENT}


@torch.no_grad()
def make_base(folder, family):
    config = transformers.AutoConfig.for_model(**dict(model_type=family) | CASES[family])
    torch.manual_seed(1)
    model = transformers.AutoModelForSeq2SeqLM.from_config(config, attn_implementation="eager")
    for name, p in model.named_parameters():
        if not p.requires_grad:  # sinusoids, which are not trained
            continue
        noise = torch.randn_like(p)
        if p.ndim == 1:
            p.copy_(.1 * noise if name.endswith("bias") else 1 + .3 * noise)
        else:  # tokens matter more than positions and layers
            p.copy_(noise * (1 if "embed_tokens" in name or "shared" in name else .7 / p.shape[-1] ** .5))
    model.save_pretrained(folder)


@torch.no_grad()
def write(folder, base, in_config, in_generation):
    """The variant with what transformers generates; false if it generates nothing."""
    folder.mkdir(parents=True)
    (folder / "model.safetensors").symlink_to(base / "model.safetensors")
    config = json.loads((base / "config.json").read_text())
    for key in ("decoder_start_token_id", "bos_token_id", "forced_eos_token_id"):
        config.pop(key, None)
    config |= said(in_config) | dict(eos_token_id=END)
    (folder / "config.json").write_text(json.dumps(config))
    if in_generation is not NO_FILE:
        (folder / "generation_config.json").write_text(json.dumps(said(in_generation) | dict(pad_token_id=0, eos_token_id=END)))
    ids = torch.randint(10, 120, (2, 9), generator=torch.Generator().manual_seed(5))
    inputs = dict(input_ids=ids, attention_mask=torch.ones_like(ids))
    try:
        model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
        greedy = model.generate(**inputs, **make_hf.GREEDY, max_new_tokens=NEW_TOKENS)
    except Exception:
        return False
    arguments = json.dumps(make_hf.GREEDY | dict(max_new_tokens=NEW_TOKENS))
    tensors = {k: v.int().contiguous() for k, v in (inputs | dict(greedy=greedy, beam=greedy)).items()} | dict(beam_scores=torch.zeros(2))
    save_file(tensors, folder / "expected.safetensors", dict(kind="encoder-decoder", greedy=arguments, beam=arguments))
    return True


def judged(test_decode, folder):
    done = subprocess.run([test_decode, "--gtest_filter=GoldenEncoderDecoder.GreedyIs*"], capture_output=True, text=True,
                          env=os.environ | dict(TRIL_GOLDEN_DIR=str(folder.parent)))
    return "equal" if done.returncode == 0 else "DIFFERS\n" + "\n".join(done.stdout.splitlines()[-14:])


def main(test_decode, work, *families):
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    counts = dict(equal=0, untold=0, DIFFERS=0)
    for family in families or FAMILIES:
        base = pathlib.Path(work) / family / "base"
        make_base(base, family)
        pairs = lambda start, bos: [dict(decoder_start_token_id=s, bos_token_id=b)
                                    for s, b in itertools.product((ABSENT, None, start), (ABSENT, None, bos))]
        forms = itertools.product(pairs(START, BOS), [NO_FILE, *pairs(OTHER_START, OTHER_BOS)])
        texts = {}
        for number, (in_config, in_generation) in enumerate(forms):
            folder = pathlib.Path(work) / family / f"{number}" / "model"
            told = write(folder, base, in_config, in_generation)
            if told:
                greedy = load_file(folder / "expected.safetensors")["greedy"][0].tolist()
                texts[greedy[0]] = tuple(greedy[1:])
            result = judged(test_decode, folder) if told else "untold"
            counts[result.split("\n")[0]] += 1
            if result.startswith("DIFFERS"):
                print(f"{family} config.json {said(in_config)}, generation_config.json {in_generation}: {result} [{folder}]", flush=True)
        if len(set(texts.values())) < len(texts):
            sys.exit(f"{family}: texts do not depend on their first token, and the comparison says nothing: {texts}")
        print(f"{family}: {counts}", flush=True)
    return 1 if counts["DIFFERS"] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
