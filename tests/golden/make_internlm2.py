"""hf/internlm2: InternLM 2, which transformers has not, as a Llama of the same values in the publisher's layout.

usage: make_internlm2.py OUT_DIR [--seed N]     needs what make_hf.py needs; half a minute

A random Llama is trained and asked as in make_hf.py. Its weights get the publisher's names, and wqkv has, for each key head, the rows of
its queries, of its key and of its value [InternLM2 technical report, 2024, section 2.2]. Before anything is written, forward() below, which
computes from those weights alone, must give the same logits.
"""
import argparse
import itertools
import json
import math
import pathlib
import tempfile

import torch
import transformers
from safetensors.torch import load_file, save_file

import make_hf as base

CONFIG = base.GQA | dict(num_attention_heads=6, num_key_value_heads=2, attention_bias=True, rms_norm_eps=1e-5, rope_theta=500.0)
NAMES = {"model.embed_tokens": "model.tok_embeddings", "lm_head": "output", "self_attn.o_proj": "attention.wo", "mlp.gate_proj": "feed_forward.w1",
         "mlp.up_proj": "feed_forward.w3", "mlp.down_proj": "feed_forward.w2", "input_layernorm": "attention_norm",
         "post_attention_layernorm": "ffn_norm"}


def packed(weights, key_heads):
    """The publisher's tensors from Llama's."""
    result = {}
    for name, value in weights.items():
        if "q_proj" in name:
            parts = [value] + [weights[name.replace("q_proj", p)] for p in ("k_proj", "v_proj")]
            by_head = [p.reshape(key_heads, -1, *p.shape[1:]) for p in parts]
            result[name.replace("self_attn.q_proj", "attention.wqkv")] = torch.cat(by_head, 1).flatten(0, 1).contiguous()
        elif "k_proj" not in name and "v_proj" not in name:
            for old, new in NAMES.items():
                name = name.replace(old, new)
            result[name] = value
    return result


def forward(w, config, ids):
    """Logits [T, V] of one row, by the report's formulas."""
    heads, keys, eps, base_of_angles = (config[k] for k in ("num_attention_heads", "num_key_value_heads", "rms_norm_eps", "rope_theta"))
    norm = lambda x, g: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * g
    h = w["model.tok_embeddings.weight"][ids]
    T, d = len(ids), h.shape[-1] // heads
    angles = torch.arange(T)[:, None] * base_of_angles ** (-torch.arange(0, d, 2) / d)
    cos, sin = angles.cos(), angles.sin()

    def rotate(x):  # [T, d]
        a, b = x[:, :d // 2], x[:, d // 2:]
        return torch.cat([a * cos - b * sin, b * cos + a * sin], 1)

    for i in range(config["num_hidden_layers"]):
        at = lambda n: w[f"model.layers.{i}.{n}"]
        x = norm(h, at("attention_norm.weight"))
        qkv = (x @ at("attention.wqkv.weight").T + at("attention.wqkv.bias")).reshape(T, keys, heads // keys + 2, d)
        out = []
        for g in range(keys):
            k, v = rotate(qkv[:, g, -2]), qkv[:, g, -1]
            for q in range(heads // keys):
                scores = rotate(qkv[:, g, q]) @ k.T / math.sqrt(d) + torch.full((T, T), -math.inf).triu(1)
                out.append(scores.softmax(-1) @ v)
        h = h + torch.cat(out, 1) @ at("attention.wo.weight").T + at("attention.wo.bias")
        x = norm(h, at("ffn_norm.weight"))
        gate = x @ at("feed_forward.w1.weight").T
        h = h + (gate * gate.sigmoid() * (x @ at("feed_forward.w3.weight").T)) @ at("feed_forward.w2.weight").T
    return norm(h, w["model.norm.weight"]) @ w["output.weight"].T


def main(out, first_seed):
    base.CAUSAL["internlm2"] = dict(model_type="llama") | CONFIG
    for seed in itertools.count(first_seed):
        with tempfile.TemporaryDirectory() as work:
            work = pathlib.Path(work)
            try:
                base.make_case(work, "internlm2", seed)
            except AssertionError:
                continue
            config = json.loads((work / "config.json").read_text())
            config = {k: v for k, v in config.items() if k not in ("attention_bias", "mlp_bias", "rope_parameters", "head_dim")} | dict(
                architectures=["InternLM2ForCausalLM"], model_type="internlm2", bias=True, rope_theta=CONFIG["rope_theta"], rope_scaling=None,
                attn_implementation="eager", auto_map={"AutoConfig": "configuration_internlm2.InternLM2Config"})
            weights = packed(load_file(work / "model.safetensors"), config["num_key_value_heads"])
            expected = load_file(work / "expected.safetensors")
            got = forward(weights, config, expected["input_ids"][0].long())
            torch.testing.assert_close(got, expected["logits"][0], rtol=1e-4, atol=1e-5)
            folder = out / "internlm2"
            folder.mkdir(parents=True, exist_ok=True)
            save_file(weights, folder / "model.safetensors", {"format": "pt"})
            (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
            (folder / "generation_config.json").write_bytes((work / "generation_config.json").read_bytes())
            (folder / "expected.safetensors").write_bytes((work / "expected.safetensors").read_bytes())
            print("internlm2: seed", seed)
            return


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    main(args.out, args.seed)
