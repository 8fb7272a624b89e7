"""Writes gpt2_hooks.safetensors beside this file: what `transformers` computes inside the GPT-2 of ../golden/hf/gpt2, by hooks.

Needs torch, transformers and safetensors. The names are those of docs/trace.md.
"""

import pathlib

import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM

here = pathlib.Path(__file__).parent
model = AutoModelForCausalLM.from_pretrained(here.parent / "golden/hf/gpt2", attn_implementation="eager").eval()
ids = torch.tensor([[(7 * i + 3) % 61 + 5 for i in range(9)]])  # as input_of() of traced.h
kept = {}


def keep(name, module, pick=lambda inputs, output: output):
    def hook(_, inputs, output):
        kept[name] = pick(inputs, output)[0].detach().contiguous().float().clone()

    module.register_forward_hook(hook)


config = model.config
heads, d = config.n_head, config.n_embd // config.n_head
for i, block in enumerate(model.transformer.h):
    layer = f"decoder.{i}"
    keep(f"{layer}.self.input", block.ln_1)
    keep(f"{layer}.qkv", block.attn.c_attn)
    keep(f"{layer}.self.heads", block.attn.c_proj, lambda inputs, _: inputs[0])
    keep(f"{layer}.self.out", block.attn.c_proj)
    keep(f"{layer}.feed_forward.input", block.ln_2)
    keep(f"{layer}.feed_forward.inner", block.mlp.c_proj, lambda inputs, _: inputs[0])
    keep(f"{layer}.feed_forward.out", block.mlp.c_proj)
keep("decoder.embeddings", model.transformer.wte)
keep("decoder.final", model.transformer.ln_f)
with torch.no_grad():
    out = model(ids, output_attentions=True, output_hidden_states=True)
for i in range(config.n_layer):
    q, k, v = kept.pop(f"decoder.{i}.qkv").split(config.n_embd, dim=-1)
    for name, x in (("q", q), ("k", k), ("v", v)):
        kept[f"decoder.{i}.self.{name}"] = x.reshape(-1, heads, d).contiguous().clone()
    kept[f"decoder.{i}.self.heads"] = kept[f"decoder.{i}.self.heads"].reshape(-1, heads, d).clone()
    kept[f"decoder.{i}.self.weights"] = out.attentions[i][0].clone()
    kept[f"decoder.{i}.input"] = out.hidden_states[i][0].clone()
kept["logits"] = out.logits[0].clone()
save_file(kept, here / "gpt2_hooks.safetensors", {"transformers": __import__("transformers").__version__})
