"""Ten AdamW steps of a tiny Llama in PyTorch (transformers' LlamaForCausalLM) -> llama_steps.safetensors.

usage: make_llama_steps.py OUT.safetensors      (needs torch, transformers, safetensors)

Laid out as the golden cases of kind training_steps (tests/golden/README.md); `config.model` is config.json.
"""
import json
import sys

import torch
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM

STEPS, B, T = 10, 3, 9
OPTIMIZER = {"lr": 0.01, "warmup": 4, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": 0.1, "clip_norm": 1.0,
             "label_smoothing": 0.1}


def main(out):
    torch.manual_seed(3)
    config = LlamaConfig(vocab_size=31, hidden_size=32, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4,
                         num_key_value_heads=2, head_dim=6, max_position_embeddings=32, rms_norm_eps=1e-5,
                         initializer_range=0.2, tie_word_embeddings=False, bos_token_id=1, eos_token_id=2,
                         rope_parameters={"rope_type": "llama3", "rope_theta": 500.0, "factor": 4.0,
                                          "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                          "original_max_position_embeddings": 16})
    model = LlamaForCausalLM(config).float().train()
    tensors = {"w." + n: p.detach().clone() for n, p in model.named_parameters()}
    ids = torch.randint(0, config.vocab_size, (STEPS, B, T + 1))
    o = OPTIMIZER
    adam = torch.optim.AdamW(model.parameters(), lr=o["lr"], betas=(o["beta1"], o["beta2"]), eps=o["eps"],
                             weight_decay=o["weight_decay"])
    losses, norms, rates = [], [], []
    for step in range(1, STEPS + 1):
        rates.append(o["lr"] * min(step / o["warmup"], (o["warmup"] / step) ** 0.5))
        for group in adam.param_groups:
            group["lr"] = rates[-1]
        adam.zero_grad()
        logits = model(ids[step - 1, :, :-1]).logits
        loss = torch.nn.functional.cross_entropy(logits.reshape(B * T, -1), ids[step - 1, :, 1:].reshape(-1),
                                                 label_smoothing=o["label_smoothing"])
        loss.backward()
        norms.append(float(torch.nn.utils.clip_grad_norm_(model.parameters(), o["clip_norm"])))
        losses.append(float(loss.detach()))
        adam.step()
    tensors |= {"out.final." + n: p.detach().clone() for n, p in model.named_parameters()}
    tensors |= {"in.ids": ids.int(), "out.loss": torch.tensor(losses), "out.grad_norm": torch.tensor(norms),
                "out.lr": torch.tensor(rates)}
    describe = {"model": json.loads(config.to_json_string(use_diff=False)), "optimizer": OPTIMIZER}
    describe["model"]["architectures"] = ["LlamaForCausalLM"]
    save_file({k: v.contiguous() for k, v in tensors.items()}, out,
              {"kind": "training_steps", "config": json.dumps(describe)})


if __name__ == "__main__":
    main(*sys.argv[1:])
