#!/usr/bin/env python3
"""Whether tril and `transformers` end texts at the same tokens, whichever file names them, and in each form.

usage: check_end_tokens.py TEST_DECODE WORK [FAMILY...]     needs torch, transformers, safetensors; about three minutes for a family
       TEST_DECODE: build/tests/test_decode, whose GoldenGenerate test compares tokens; WORK: a directory for the models

eos_token_id is absent, null, one id, and a list, in config.json and in generation_config.json, which may be missing. Where
`transformers` finds none, its texts have no end; tril then takes config.json's tokens, or the family's. `transformers` is
given these, and they are counted apart. Greedy and beam search are compared. Fails if tokens differ.
"""
import json
import os
import pathlib
import subprocess
import sys

import torch
import torch.nn.functional as F
import transformers
from safetensors.torch import save_file

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import make_hf  # noqa: E402
import make_hf_more  # noqa: E402

CASES = make_hf.CAUSAL | make_hf_more.CAUSAL
make_hf.CAUSAL = CASES
FAMILIES = ["llama", "qwen3", "gemma2"]
PROMPT, NEW_TOKENS, BEAMS = 10, 12, 4
ABSENT, NO_FILE = "absent", "no file"


def generated(model, inputs, ends, options):
    """The tokens of each hypothesis up to its first end token, padded, and the scores."""
    out = model.generate(**inputs, max_new_tokens=NEW_TOKENS, return_dict_in_generate=True, output_scores=True, **options)
    tokens = F.pad(out.sequences, (0, PROMPT + NEW_TOKENS - out.sequences.shape[1]), value=0)
    if ends:
        is_end = torch.isin(tokens[:, PROMPT:-1], torch.tensor(ends)).cumsum(1) > 0
        tokens = tokens.masked_fill(F.pad(is_end, (PROMPT + 1, 0)), 0)
    return tokens, out


@torch.no_grad()
def write(folder, base, forms, ends_of_family):
    """The variant, with what transformers generates. True if transformers itself knows the end tokens."""
    in_config, in_generation = forms
    folder.mkdir(parents=True)
    (folder / "model.safetensors").symlink_to(base / "model.safetensors")
    config = json.loads((base / "config.json").read_text())
    del config["eos_token_id"]
    config |= {} if in_config is ABSENT else dict(eos_token_id=in_config)
    (folder / "config.json").write_text(json.dumps(config))
    if in_generation is not NO_FILE:
        generation = dict(pad_token_id=0) | ({} if in_generation is ABSENT else dict(eos_token_id=in_generation))
        (folder / "generation_config.json").write_text(json.dumps(generation))
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
    known = model.generation_config.eos_token_id
    told = known is None and in_config is not None
    if told:
        known = ends_of_family if in_config is ABSENT else in_config
        model.generation_config.eos_token_id = known
    ends = [] if known is None else known if isinstance(known, list) else [known]
    model.generation_config.pad_token_id = 0
    tensors, inputs = {}, torch.load(base / "inputs.pt")
    beam = dict(make_hf.BEAM, num_beams=BEAMS, num_return_sequences=BEAMS)
    for prefix, rows in {"": slice(1), "batch_": slice(1, 3)}.items():
        batch = {k: v[rows] for k, v in inputs.items() if k != "position_ids"}
        greedy, _ = generated(model, batch, ends, make_hf.GREEDY)
        found, out = generated(model, batch, ends, beam)
        found = dict(batch, greedy=greedy, beam=found.unflatten(0, (-1, BEAMS)), beam_scores=out.sequences_scores.unflatten(0, (-1, BEAMS)))
        tensors |= {prefix + k: v.contiguous() if v.is_floating_point() else v.int().contiguous() for k, v in found.items()}
    save_file(tensors, folder / "expected.safetensors", dict(kind="decoder-only", beam=json.dumps(beam | dict(max_new_tokens=NEW_TOKENS))))
    return not told


def is_equal(test_decode, folder):
    done = subprocess.run([test_decode, "--gtest_filter=GoldenGenerate.*"], capture_output=True, text=True,
                          env=os.environ | dict(TRIL_GOLDEN_DIR=str(folder.parent)))
    if done.returncode != 0:
        print("\n".join(done.stdout.splitlines()[-12:]))
    return done.returncode == 0


def make_base(folder, family):
    """A model that has learnt short texts, its inputs, and two tokens of its greedy texts: the end that it has learnt, and another."""
    torch.manual_seed(3)
    model, inputs = make_hf.make_model(transformers.AutoModelForCausalLM, family, False, 16)
    model.save_pretrained(folder)
    torch.save(inputs, folder / "inputs.pt")
    model.generation_config.eos_token_id = None
    model.generation_config.pad_token_id = 0
    greedy, _ = generated(model, {k: v for k, v in inputs.items() if k != "position_ids"}, [], make_hf.GREEDY)
    return model.config.eos_token_id, int(greedy[1, PROMPT + 2])


def main(test_decode, work, *families):
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    counts = dict(equal=0, told=0, DIFFERS=0)
    for family in families or FAMILIES:
        base = pathlib.Path(work) / family / "base"
        end, other = make_base(base, family)
        default = transformers.AutoConfig.for_model(CASES[family].get("model_type", family)).eos_token_id
        vocabulary = json.loads((base / "config.json").read_text())["vocab_size"]
        ends_of_family = [i for i in (default if isinstance(default, list) else [default]) if i is not None and i < vocabulary] or None
        in_files = [ABSENT, None, end, [end], [other, end], [other]]
        for number, forms in enumerate((c, g) for c in in_files for g in [NO_FILE, *in_files]):
            folder = pathlib.Path(work) / family / f"{number}" / "model"
            known = write(folder, base, forms, ends_of_family)
            result = ("equal" if known else "told") if is_equal(test_decode, folder) else "DIFFERS"
            counts[result] += 1
            if result == "DIFFERS":
                print(f"{family} config.json {forms[0]}, generation_config.json {forms[1]}: {result} [{folder}]", flush=True)
        print(f"{family}: {counts}", flush=True)
    return 1 if counts["DIFFERS"] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
