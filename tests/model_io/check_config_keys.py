#!/usr/bin/env python3
"""Whether tril and `transformers` take each key of config.json alike: tiny random models with one key changed or left out.

usage: check_config_keys.py [--pairs N] TEST_MODEL WORK [FAMILY[.KEY]...]     needs torch, transformers, safetensors; a minute or two for each family
       TEST_MODEL: build/tests/test_model, whose GoldenHf tests compare the logits; WORK: a directory for the models

For each family, the keys are those that its config class has, and those of the configs in it (SECTIONS); a key is given an unusual
value of its type, and it is left out, so that defaults are compared too. ROPES are rotary positions in both spellings, for a text
longer than the original positions. A variant that `transformers` refuses is skipped; one that tril refuses is listed with its
message, which must name the key. --pairs N takes N random pairs of these changes at once instead. Fails if logits differ by more
than the test allows and more than rounding does: those of `transformers` with each weight changed by one rounding.
"""
import copy
import json
import os
import pathlib
import random
import subprocess
import sys

import torch
import transformers
from safetensors.torch import load_file, save_file

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import make_hf  # noqa: E402
import make_hf_more  # noqa: E402

GQA, BART = make_hf.GQA, make_hf.BART
CASES = make_hf.CAUSAL | make_hf.SEQ2SEQ | make_hf_more.CAUSAL | make_hf_more.SEQ2SEQ
# Those that people load most, and with them each kind of attention, of router and of rotary positions.
FAMILIES = ["llama", "mistral_swa", "qwen2", "qwen3", "phi3", "gemma2", "gemma3_text", "olmo2", "cohere2", "glm4", "smollm3", "starcoder2",
            "deepseek_v3", "gpt_oss", "qwen3_moe", "mixtral", "granite", "falcon_h1", "nemotron_h_dense", "gpt_neox", "phi", "opt", "gpt2",
            "m2m100", "t5gemma", "t5", "bart", "marian", "pegasus", "ministral3", "mellum", "lfm3", "afmoe", "minicpm3", "dots1", "laguna",
            "laguna_yarn", "axk1", "kolibri1", "flint", "sarvam_moe", "sarvam_mla", "jais2", "nanochat", "bitnet"]
# Directories for pictures and text, of which the text part is asked.
FAMILIES += ["gemma3", "gemma4", "mistral3", "qwen3_5", "qwen3_vl", "qwen2_5_vl", "llava", "step3p7", "glm4v"]
SIZES = {"vocab_size", "num_hidden_layers", "n_layer", "encoder_layers", "decoder_layers", "num_layers", "hidden_size", "n_embd", "d_model"}
IGNORED = {"transformers_version", "architectures", "model_type", "dtype", "torch_dtype", "use_cache", "id2label", "label2id",
           "output_attentions", "output_hidden_states", "return_dict", "problem_type", "chunk_size_feed_forward", "is_encoder_decoder",
           "bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id", "forced_eos_token_id", "initializer_range"}
YARN = dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=8)
ROPES = {
    "linear": dict(rope_type="linear", factor=3.0), "dynamic": dict(rope_type="dynamic", factor=2.0),
    "yarn": YARN, "yarn_betas": YARN | dict(beta_fast=16.0, beta_slow=2.0), "yarn_attention": YARN | dict(attention_factor=1.3),
    "yarn_mscale": YARN | dict(mscale=0.7, mscale_all_dim=0.9), "yarn_mscale_alone": YARN | dict(mscale=0.7),
    "yarn_mscale_all": YARN | dict(mscale_all_dim=0.7), "yarn_exact": YARN | dict(truncate=False),
    "yarn_no_original": dict(rope_type="yarn", factor=4.0),
    "llama3": dict(rope_type="llama3", factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=8),
    "longrope": dict(rope_type="longrope", short_factor="S", long_factor="L", original_max_position_embeddings=8, factor=4.0),
    "longrope_attention": dict(rope_type="longrope", short_factor="S", long_factor="L", original_max_position_embeddings=8, factor=4.0,
                               attention_factor=1.2),
    "part": dict(rope_type="default", partial_rotary_factor=0.5), "theta": dict(rope_type="default", rope_theta=77.0),
}
TEXT = 24  # tokens: more than the windows and the original positions
ABSENT = object()
PICTURES = ("image_token_id", "image_token_index", "video_token_id", "audio_token_id")  # the text has no places of pictures
SECTIONS = ("encoder", "decoder", "text_config")


def unusual(key, value):
    """Values of the same type that a published model might have."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [] if key in SIZES else [value + 1, max(1, value // 2)] if value else [1, 3]
    if isinstance(value, float):
        return [value * 1.7 + 0.1]
    if isinstance(value, str):
        return [a for a in ("silu", "gelu", "relu", "gelu_pytorch_tanh", "gelu_new") if a != value] if "act" in key else []
    if value is None:
        return [3, True, 0.7]
    if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
        return [value[::-1]]
    return []


def variants(config):
    """(name, the changed config.json)"""
    yield from variants_of(config)
    for section in SECTIONS:
        if isinstance(config.get(section), dict):
            for name, changed in variants_of(config[section]):
                yield f"{section}.{name}", config | {section: changed}


def variants_of(config):
    """Those with a change outside the sections."""
    for key, value in config.items():
        if key in IGNORED or isinstance(value, dict) or key.endswith(PICTURES):
            continue
        for new in unusual(key, value):
            yield f"{key}={json.dumps(new)}", config | {key: new}
        if key not in SIZES:
            yield f"{key} left out", {k: v for k, v in config.items() if k != key}
    rope = config.get("rope_parameters")
    if not isinstance(rope, dict):
        return
    dim = config.get("qk_rope_head_dim") or config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    pairs = int(dim * rope.get("partial_rotary_factor", 1)) // 2
    yield "rope_parameters left out", {k: v for k, v in config.items() if k != "rope_parameters"}
    for name, change in ROPES.items():
        filled = {k: [1.0 + 0.1 * i for i in range(pairs)] if v == "S" else [2.0 + 0.3 * i for i in range(pairs)] if v == "L" else v
                  for k, v in change.items()}
        if "rope_type" not in rope:  # by type of layer
            yield f"rope {name}", config | dict(rope_parameters={t: r | filled for t, r in rope.items()})
            if filled["rope_type"] != "default":  # as version 4 wrote it, and beside the newer keys
                older = {k: v for k, v in config.items() if k != "rope_parameters"} | dict(rope_theta=77.0)
                yield f"rope_scaling {name}", older | dict(rope_scaling=filled)
                yield f"rope_scaling and rope_parameters {name}", config | dict(rope_scaling=filled)
            continue
        yield f"rope {name}", config | dict(rope_parameters=rope | filled)
        older = {k: v for k, v in config.items() if k != "rope_parameters"}
        theta = filled.get("rope_theta", rope["rope_theta"])
        part = filled.get("partial_rotary_factor", rope.get("partial_rotary_factor"))
        older |= dict(rope_theta=theta) | ({} if part is None else dict(partial_rotary_factor=part))
        scaling = {k: v for k, v in filled.items() if k not in ("rope_theta", "partial_rotary_factor")}
        old_names = scaling | dict(type=scaling["rope_type"])
        del old_names["rope_type"]
        yield f"rope_scaling {name}", older | dict(rope_scaling=None if scaling["rope_type"] == "default" else old_names)
        if scaling["rope_type"] != "default":
            other = dict(rope_type="linear", factor=5.0, rope_theta=33.0)
            yield f"rope_scaling and rope_parameters {name}", config | dict(rope_scaling=old_names, rope_parameters=other)
            yield f"rope_scaling, rope_theta and rope_parameters {name}", older | dict(rope_scaling=old_names, rope_parameters=other)


def pairs(config, count):
    """Random pairs of variants: the first one with what the second one changes."""
    draw, singles = random.Random(1), list(variants(config))
    for _ in range(count):
        (name, first), (other, second) = draw.sample(singles, 2)
        changed = {k: v for k, v in second.items() if config.get(k, ABSENT) != v}
        yield f"{name} and {other}", {k: v for k, v in (first | changed).items() if k in second or k not in config}


def auto_of(config):
    """The class of `transformers` that loads such a directory."""
    if hasattr(config, "vision_config"):
        return transformers.AutoModelForImageTextToText
    return transformers.AutoModelForSeq2SeqLM if config.is_encoder_decoder else transformers.AutoModelForCausalLM


def randomized(model):
    torch.manual_seed(1)
    computed = tuple(name for name, m in model.named_modules() if "Sinusoidal" in type(m).__name__)  # files lack these tables
    for name, p in model.state_dict().items():
        if p.is_floating_point() and "inv_freq" not in name and not (computed and name.startswith(computed)):
            noise = torch.randn_like(p)
            p.copy_(p + 0.2 * noise if p.ndim == 1 else noise / p.shape[-1] ** 0.5)
    return model.eval()


@torch.no_grad()
def write(folder, config):
    """The variant with what transformers computes; the reason if transformers refuses it."""
    folder.mkdir(parents=True)
    text = json.dumps(config, indent=1)
    (folder / "config.json").write_text(text)
    try:
        read = transformers.AutoConfig.from_pretrained(folder)
        auto = auto_of(read)
        made = randomized(auto.from_config(read, attn_implementation="eager"))
        made.save_pretrained(folder)
        (folder / "config.json").write_text(text)
        model = auto.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
        ids = torch.randint(10, 120, (2, TEXT), generator=torch.Generator().manual_seed(5))
        inputs = dict(input_ids=ids, attention_mask=torch.ones_like(ids))
        if read.is_encoder_decoder:
            inputs["decoder_input_ids"] = ids.flip(1)
        logits = model(**inputs).logits
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0][:120] if str(error) else ''}"
    if not torch.isfinite(logits).all():
        return "not finite"
    save_file({k: v.int().contiguous() for k, v in inputs.items()} | dict(logits=logits.contiguous()), folder / "expected.safetensors",
              dict(kind="encoder-decoder" if read.is_encoder_decoder else "decoder-only"))
    return None


@torch.no_grad()
def rounding(folder):
    """How far logits move if each weight changes by one rounding, in units of what the test allows."""
    read = transformers.AutoConfig.from_pretrained(folder)
    auto = auto_of(read)
    expected = load_file(folder / "expected.safetensors")
    logits = expected.pop("logits")
    furthest = 0
    for seed in range(8):
        torch.manual_seed(seed)
        model = auto.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
        for p in model.parameters():
            p.mul_(1 + 6e-8 * torch.randn_like(p).sign())
        moved = (model(**{k: v.long() for k, v in expected.items()}).logits - logits).abs() / (1e-4 + 1e-4 * logits.abs())
        furthest = max(furthest, moved.max().item())
    return furthest


def judged(test_model, folder):
    """'equal', 'rounding: ...', 'refused: ...' or 'DIFFERS: ...'"""
    done = subprocess.run([test_model, "--gtest_filter=GoldenHf.Logits*"], capture_output=True, text=True,
                          env=os.environ | dict(TRIL_GOLDEN_DIR=str(folder.parent)))
    if done.returncode == 0:
        return "equal"
    lines = done.stdout.splitlines() + done.stderr.splitlines()
    thrown = [line.split('"', 1)[1] for line in lines if line.startswith("C++ exception")]
    if thrown:
        return "refused: " + thrown[0].split("config.json: ")[-1].split('" thrown')[0][:150]
    excess = [float(line.split("actual: ")[1].split()[0]) for line in lines if "actual: " in line]
    kind = "rounding: " if excess and max(excess) < 2 * rounding(folder) else "DIFFERS: "
    return kind + next((line for line in lines if "logits" in line or "differ" in line), lines[-1])[:150]


def main(*arguments):
    count = int(arguments[1]) if arguments[0] == "--pairs" else 0
    test_model, work, *only = arguments[2:] if count else arguments
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    counts = {}
    for family in FAMILIES if not only else sorted({name.split(".")[0] for name in only}):
        given = CASES[family]
        base = transformers.AutoConfig.for_model(**dict(model_type=family) | given).to_dict()
        config = {k: v for k, v in copy.deepcopy(base).items() if not k.startswith("_")}
        for number, (name, changed) in enumerate(pairs(config, count) if count else [("as it is", config), *variants(config)]):
            if only and not any(family == o or f"{family}.{name}".startswith(o) for o in only):
                continue
            folder = pathlib.Path(work) / family / f"{number}" / "model"
            reason = write(folder, changed)
            result = f"skipped: {reason}" if reason else judged(test_model, folder)
            kind = result.split(":")[0]
            counts[kind] = counts.get(kind, 0) + 1
            if kind != "equal":
                print(f"{family} {name}: {result} [{folder}]", flush=True)
        print(f"{family}: {counts}", flush=True)
    return 1 if counts.get("DIFFERS") else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
