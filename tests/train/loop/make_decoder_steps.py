"""Ten AdamW steps of a tiny decoder in PyTorch (transformers) -> llama_steps.safetensors or mixtral_steps.safetensors.

usage: make_decoder_steps.py llama|mixtral OUT.safetensors      (needs torch, transformers, safetensors)

Laid out as the golden cases of kind training_steps (tests/golden/README.md); `config.model` is config.json. Mixtral's loss
has its load-balancing loss beside it.
"""
import json
import sys

import torch
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM, MixtralConfig, MixtralForCausalLM

STEPS, B, T = 10, 3, 9
OPTIMIZER = {"lr": 0.01, "warmup": 4, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": 0.1, "clip_norm": 1.0,
             "label_smoothing": 0.1, "router_aux_loss": 0.0}


def make(family):
    common = dict(vocab_size=31, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                  max_position_embeddings=32, rms_norm_eps=1e-5, initializer_range=0.2, tie_word_embeddings=False,
                  bos_token_id=1, eos_token_id=2)
    if family == "mixtral":
        OPTIMIZER["router_aux_loss"] = 0.05
        return MixtralForCausalLM(MixtralConfig(intermediate_size=16, num_local_experts=5, num_experts_per_tok=2,
                                                sliding_window=4, pad_token_id=None, **common))
    return LlamaForCausalLM(LlamaConfig(intermediate_size=40, head_dim=6, pad_token_id=None,
                                        rope_parameters={"rope_type": "llama3", "rope_theta": 500.0, "factor": 4.0,
                                                         "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                                         "original_max_position_embeddings": 16}, **common))


def stored(model):
    """The weights under their names in files: experts one by one."""
    for name, p in model.named_parameters():
        p = p.detach().clone()
        name = name.replace(".mlp.gate.", ".block_sparse_moe.gate.")
        if ".mlp.experts." not in name:
            yield name, p
            continue
        layer = name.split(".mlp.")[0]
        for e, matrix in enumerate(p):
            expert = f"{layer}.block_sparse_moe.experts.{e}"
            if name.endswith("gate_up_proj"):
                gate, up = matrix.chunk(2)
                yield f"{expert}.w1.weight", gate
                yield f"{expert}.w3.weight", up
            else:
                yield f"{expert}.w2.weight", matrix


def main(family, out):
    torch.manual_seed(3)
    model = make(family).float().train()
    tensors = {"w." + n: p for n, p in stored(model)}
    ids = torch.randint(0, model.config.vocab_size, (STEPS, B, T + 1))
    o = OPTIMIZER
    adam = torch.optim.AdamW(model.parameters(), lr=o["lr"], betas=(o["beta1"], o["beta2"]), eps=o["eps"],
                             weight_decay=o["weight_decay"])
    losses, norms, rates = [], [], []
    for step in range(1, STEPS + 1):
        rates.append(o["lr"] * min(step / o["warmup"], (o["warmup"] / step) ** 0.5))
        for group in adam.param_groups:
            group["lr"] = rates[-1]
        adam.zero_grad()
        more = {"output_router_logits": True} if o["router_aux_loss"] else {}
        result = model(ids[step - 1, :, :-1], **more)
        loss = torch.nn.functional.cross_entropy(result.logits.reshape(B * T, -1), ids[step - 1, :, 1:].reshape(-1),
                                                 label_smoothing=o["label_smoothing"])
        if more:
            loss = loss + o["router_aux_loss"] * result.aux_loss
        loss.backward()
        norms.append(float(torch.nn.utils.clip_grad_norm_(model.parameters(), o["clip_norm"])))
        losses.append(float(loss.detach()))
        adam.step()
    tensors |= {"out.final." + n: p for n, p in stored(model)}
    tensors |= {"in.ids": ids.int(), "out.loss": torch.tensor(losses), "out.grad_norm": torch.tensor(norms),
                "out.lr": torch.tensor(rates)}
    describe = {"model": json.loads(model.config.to_json_string(use_diff=False)), "optimizer": OPTIMIZER}
    describe["model"]["architectures"] = [type(model).__name__]
    save_file({k: v.contiguous() for k, v in tensors.items()}, out,
              {"kind": "training_steps", "config": json.dumps(describe)})


if __name__ == "__main__":
    main(*sys.argv[1:])
