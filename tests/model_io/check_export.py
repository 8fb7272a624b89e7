"""Whether directories that tril wrote are the same models to `transformers`: logits of one forward pass each.

usage: TRIL_EXPORT_DIR=DIR build/tests/test_model --gtest_filter='*Every*PassesAllChecks*'
       check_export.py DIR      (needs torch, transformers, safetensors)

Each directory of DIR has, beside the model, expected.safetensors with input_ids [1, T] (for encoder-decoders
decoder_input_ids too) and logits [T, V] as tril computes them. Prints the largest difference of each; fails above 1e-4.
"""
import json
import pathlib
import sys

import torch
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText, AutoModelForSeq2SeqLM

UNKNOWN = {"tril", "internlm2"}  # tril's own families, and one that a program of its publisher computes
TEXT_OF = {"step3p5": "step3p7"}  # families that transformers has only inside a multimodal one: its vision weights are missing


def logits_by_transformers(directory, inputs):
    """Its logits of one row, and what it says of weights that it misses or does not know."""
    config = AutoConfig.from_pretrained(directory)
    auto = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
    if config.model_type in TEXT_OF:
        auto, config = AutoModelForImageTextToText, AutoConfig.for_model(TEXT_OF[config.model_type], text_config=config,
                                                                         vision_config=dict(width=8, heads=1, layers=1))
    # eager: its other products of experts need rows of a multiple of 16 bytes
    model, notes = auto.from_pretrained(directory, config=config, attn_implementation="eager", experts_implementation="eager",
                                        output_loading_info=True, dtype=torch.float32)
    with torch.no_grad():
        return model.eval()(**inputs).logits[0], {k: sorted(v) for k, v in notes.items() if v}


def main(root):
    worst, checked, failed = 0.0, 0, 0
    for directory in sorted(p.parent for p in pathlib.Path(root).glob("*/expected.safetensors")):
        if json.loads((directory / "config.json").read_text())["model_type"] in UNKNOWN:
            continue
        expected = load_file(directory / "expected.safetensors")
        try:
            logits, notes = logits_by_transformers(
                directory, {k: v.long() for k, v in expected.items() if k.endswith("input_ids")})
        except RuntimeError as error:
            print(f"{directory.name}: transformers fails: {str(error).splitlines()[0]}")
            failed += 1
            continue
        off = float(((logits - expected["logits"]).abs() / (1 + expected["logits"].abs())).max())
        print(f"{directory.name}: {off:.2e}", notes or "")
        worst, checked = max(worst, off), checked + 1
    print(f"{checked} directories, at most {worst:.2e} apart; transformers fails for {failed}")
    return 0 if checked and not failed and worst < 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
