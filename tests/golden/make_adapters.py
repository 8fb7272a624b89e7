"""Tiny random PEFT adapters for the models of golden/hf, with the logits that `peft` computes.

usage: make_adapters.py [OUT_DIR] [--seed N] [--base DIR]

OUT_DIR/NAME/ holds adapter_config.json, adapter_model.safetensors (or .bin) and expected.safetensors: `ids` [2, T] (and
`source` [2, S]), `logits` [2, T, V] with the adapter, `merged` [2, T, V] of merge_and_unload(), which are equal but for
rounding; there is no `merged` where merge_and_unload() makes another model. base.txt names the model's directory under golden/hf."""
import argparse
import json
import pathlib
import shutil

import peft
import torch
import transformers
from safetensors.torch import save_file

HERE = pathlib.Path(__file__).parent
# name: (base, options of LoraConfig)
CASES = {
    "llama_lora": ("llama", dict(r=4, lora_alpha=6, target_modules=["q_proj", "v_proj", "down_proj"])),
    "llama_rslora": ("llama", dict(r=4, lora_alpha=6, use_rslora=True, target_modules="all-linear",
                                   rank_pattern={"q_proj": 2, r"layers\.1\.mlp\.up_proj": 3},
                                   alpha_pattern={"k_proj": 9, r"^model\.layers\.0\.self_attn\.o_proj": 3})),
    "llama_dora": ("llama", dict(r=3, lora_alpha=5, use_dora=True, target_modules="all-linear")),
    "llama_regex": ("llama", dict(r=2, lora_alpha=4, target_modules=r".*layers\.1\.(self_attn|mlp)\.(q|gate|up)_proj",
                                  modules_to_save=["lm_head", "embed_tokens"])),
    "llama_embedding": ("llama", dict(r=2, lora_alpha=4, target_modules=["embed_tokens", "lm_head", "o_proj"])),
    "llama_layers": ("llama", dict(r=2, lora_alpha=4, target_modules=["q_proj", "o_proj"], layers_to_transform=[1],
                                   layers_pattern="layers", exclude_modules=["o_proj"])),
    "qwen2_bias": ("qwen2", dict(r=2, lora_alpha=4, target_modules=["q_proj", "k_proj", "v_proj"], bias="lora_only")),
    "gpt2_conv1d": ("gpt2", dict(r=4, lora_alpha=8, target_modules=["c_attn", "c_proj", "c_fc"],
                                 fan_in_fan_out=True, bias="lora_only")),
    "gpt2_dora": ("gpt2", dict(r=2, lora_alpha=8, use_dora=True, target_modules=["c_attn"], fan_in_fan_out=True)),
    "mixtral_lora": ("mixtral", dict(r=2, lora_alpha=4, target_modules=["q_proj", "k_proj", "v_proj", "o_proj"])),
    "phi3_lora": ("phi3", dict(r=2, lora_alpha=4, target_modules=["qkv_proj", "gate_up_proj", "down_proj"])),
    "marian_lora": ("marian", dict(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj", "fc1"], lora_bias=True)),
    "t5_lora": ("t5", dict(r=4, lora_alpha=8, target_modules=["q", "v", "wi", "wo"])),
    "t5_dora": ("t5_v1_1", dict(r=4, lora_alpha=8, target_modules=["q", "k", "o", "wi_0", "wo"], use_dora=True)),
    "t5_embedding": ("t5", dict(r=2, lora_alpha=4, target_modules=["embed_tokens", "q"])),
    "t5_shared": ("t5", dict(r=2, lora_alpha=4, target_modules=["shared", "v"])),
    "t5_saved": ("t5_v1_1", dict(r=2, lora_alpha=4, target_modules=["q"], modules_to_save=["embed_tokens", "lm_head", "shared"])),
    "m2m_encoder_embedding": ("m2m100", dict(r=2, lora_alpha=4, target_modules=["encoder.embed_tokens", "lm_head"])),
    "marian_embedding": ("marian_split_vocab", dict(r=2, lora_alpha=4, target_modules=["embed_tokens"])),
    "bart_saved": ("bart", dict(r=2, lora_alpha=4, target_modules=["q_proj"], modules_to_save=["decoder.embed_tokens"])),
    "t5gemma_embedding": ("t5gemma", dict(r=2, lora_alpha=4, target_modules=["embed_tokens", "o_proj"])),
    "mixtral_experts": ("mixtral", dict(r=2, lora_alpha=4, target_modules=["q_proj"],
                                        target_parameters=["experts.gate_up_proj", "down_proj", "mlp.gate.weight"])),
    "gpt_oss_experts": ("gpt_oss", dict(r=3, lora_alpha=4, use_rslora=True, target_modules=[],
                                        target_parameters=["mlp.experts.gate_up_proj", "mlp.experts.down_proj"],
                                        rank_pattern={r"layers\.1\.mlp\.experts\.down_proj": 2})),
    "granitemoe_experts": ("granitemoe", dict(r=2, lora_alpha=4, target_modules=[], target_parameters=["experts.gate_up_proj"])),
    "qwen3_moe_experts": ("qwen3_moe", dict(r=2, lora_alpha=4, target_modules=["v_proj"],
                                            target_parameters=["experts.down_proj"])),
    "qwen3_5_moe_experts": ("qwen3_5_moe_text", dict(r=2, lora_alpha=4, target_modules=["o_proj"],
                                                     target_parameters=["gate_up_proj", "down_proj"])),
    "gemma4_experts": ("gemma4_experts", dict(r=2, lora_alpha=4, target_modules=["q_proj"],
                                              target_parameters=["experts.gate_up_proj", "experts.down_proj"])),
    "bart_bin": ("bart", dict(r=4, lora_alpha=8, target_modules=["q_proj", "out_proj", "fc2"])),
}


def load(base):
    config = transformers.AutoConfig.from_pretrained(base)
    auto = transformers.AutoModelForSeq2SeqLM if config.is_encoder_decoder else transformers.AutoModelForCausalLM
    return auto.from_pretrained(base, dtype=torch.float32, experts_implementation="eager").eval(), config.is_encoder_decoder


def randomize(model):
    with torch.no_grad():
        for name, p in model.named_parameters():
            if "lora_magnitude" in name:
                p.mul_(1 + .3 * torch.rand_like(p))
            elif "lora_" in name or "modules_to_save" in name:
                p.add_(.15 * torch.randn_like(p))
            elif p.requires_grad:  # biases
                p.add_(.2 * torch.randn_like(p))


def logits_of(model, ids, source):
    with torch.no_grad():
        if source is None:
            return model(input_ids=ids).logits
        return model(input_ids=source, decoder_input_ids=ids).logits


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", nargs="?", type=pathlib.Path, default=HERE / "adapters")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=list(CASES))
    parser.add_argument("--base", type=pathlib.Path, default=HERE / "hf")
    args = parser.parse_args()
    for name in args.only:
        base, options = CASES[name]
        torch.manual_seed(args.seed)
        model, two_sided = load(args.base / base)
        model = peft.get_peft_model(model, peft.LoraConfig(
            task_type="SEQ_2_SEQ_LM" if two_sided else "CAUSAL_LM", **options))
        randomize(model)
        model.eval()
        V = model.config.vocab_size
        ids = torch.randint(3, min(V, 100), (2, 9))
        source = torch.randint(3, min(V, 100), (2, 7)) if two_sided else None
        tensors = {"ids": ids, "logits": logits_of(model, ids, source)}
        if two_sided:
            tensors["source"] = source
        out = args.out / name
        shutil.rmtree(out, ignore_errors=True)
        model.peft_config["default"].base_model_name_or_path = base
        model.save_pretrained(out, safe_serialization=not name.endswith("_bin"))
        (out / "README.md").unlink(missing_ok=True)
        merged = logits_of(model.merge_and_unload(), ids, source)
        worst = (merged - tensors["logits"]).abs().max().item()
        if worst < 1e-4:
            tensors["merged"] = merged
        else:  # `peft` merges a table into those that are tied to it as well
            assert two_sided and name.endswith(("embedding", "shared")), (name, worst)
        save_file({k: v.contiguous() for k, v in tensors.items()}, out / "expected.safetensors")
        (out / "base.txt").write_text(base + "\n")
        config = json.loads((out / "adapter_config.json").read_text())
        print(name, worst, config["target_modules"])


if __name__ == "__main__":
    main()
