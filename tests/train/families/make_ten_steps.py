"""Ten steps of Adam of tiny models in PyTorch (transformers): ten_steps/NAME/{config.json,model.safetensors,steps.safetensors}.

usage: make_ten_steps.py OUT_DIR [NAME...]      (needs torch, transformers, safetensors)

One case for each mechanism. model.safetensors is the model before the first step; steps.safetensors has the batches (in.ids of
language models; in.source and in.target), the losses and the norms of the gradients before they are clipped (out.loss,
out.grad_norm), and one more loss, after the last step. Mixtures have their load-balancing loss beside the other.
"""
import json
import pathlib
import sys

import torch
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM

STEPS, B, T = 10, 3, 9
ADAM = {"lr": 0.01, "beta1": 0.9, "beta2": 0.98, "eps": 1e-6, "clip_norm": 1.0}
LLAMA = dict(vocab_size=31, hidden_size=16, intermediate_size=20, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=32, tie_word_embeddings=False, initializer_range=0.2,
             bos_token_id=1, eos_token_id=2, pad_token_id=None)
BOTH = ["sliding_attention", "full_attention"]
MOE = LLAMA | dict(num_experts_per_tok=2, moe_intermediate_size=8)
SIDE = LLAMA | dict(head_dim=4, query_pre_attn_scalar=4, sliding_window=3, layer_types=BOTH, pad_token_id=0)
T5 = dict(vocab_size=31, d_model=16, d_kv=4, d_ff=20, num_layers=2, num_heads=4, relative_attention_num_buckets=8,
          relative_attention_max_distance=16, dropout_rate=0.0, pad_token_id=0, eos_token_id=2, decoder_start_token_id=0)
CASES = {
    "llama": LLAMA,
    "qwen3": LLAMA | dict(head_dim=6),
    "gemma3_text": LLAMA | dict(head_dim=6, query_pre_attn_scalar=5, sliding_window=3, layer_types=BOTH),
    "qwen3_moe": MOE | dict(head_dim=4, num_experts=5, norm_topk_prob=True),
    "deepseek_v2": MOE | dict(num_key_value_heads=4, q_lora_rank=None, kv_lora_rank=6, qk_rope_head_dim=4,
                              qk_nope_head_dim=4, v_head_dim=6, n_routed_experts=4, n_shared_experts=1,
                              first_k_dense_replace=1, topk_method="greedy", n_group=1, topk_group=1),
    "deepseek_v3": MOE | dict(num_key_value_heads=4, q_lora_rank=7, kv_lora_rank=6, qk_rope_head_dim=4,
                              qk_nope_head_dim=4, v_head_dim=6, n_routed_experts=4, n_shared_experts=1,
                              first_k_dense_replace=1, n_group=2, topk_group=1),
    "gpt_oss": LLAMA | dict(head_dim=4, num_local_experts=4, num_experts_per_tok=2, intermediate_size=8,
                            sliding_window=3, layer_types=BOTH,
                            rope_parameters=dict(rope_type="default", rope_theta=1.5e5)),
    "qwen3_next": MOE | dict(head_dim=8, num_experts=4, shared_expert_intermediate_size=6,
                             layer_types=["linear_attention", "full_attention"], linear_num_key_heads=2,
                             linear_num_value_heads=4, linear_key_head_dim=4, linear_value_head_dim=4,
                             linear_conv_kernel_dim=3),
    "lfm2": LLAMA | dict(layer_types=["conv", "full_attention"], block_multiple_of=4, block_auto_adjust_ff_dim=False),
    "bloom": dict(vocab_size=31, hidden_size=16, n_layer=2, n_head=4, initializer_range=0.2, hidden_dropout=0.0,
                  attention_dropout=0.0, bos_token_id=1, eos_token_id=2, pad_token_id=None),
    "gpt_neox": {k: v for k, v in LLAMA.items() if k != "num_key_value_heads"} | dict(
        rotary_pct=0.5, hidden_dropout=0.0, attention_dropout=0.0),
    "cohere": LLAMA | dict(logit_scale=0.5),
    "t5": T5,
    "umt5": T5 | dict(feed_forward_proj="gated-gelu", tie_word_embeddings=False),
    "t5gemma": dict(vocab_size=31, encoder=SIDE, decoder=SIDE, dropout_rate=0.0, attention_dropout=0.0,
                    initializer_range=0.2, tie_word_embeddings=True, pad_token_id=0, bos_token_id=1, eos_token_id=2,
                    decoder_start_token_id=1),
}
BALANCE = {"qwen3_moe": 0.05}  # the weight of the load-balancing loss


def loss_of(model, name, batch):
    more = {"output_router_logits": True} if name in BALANCE else {}
    result = model(**{k: v for k, v in batch.items() if k != "labels"}, use_cache=False, **more)
    loss = torch.nn.functional.cross_entropy(result.logits.flatten(0, 1).float(), batch["labels"].flatten())
    return loss + BALANCE[name] * result.aux_loss if more else loss


def make(name, out):
    torch.manual_seed(5)
    config = AutoConfig.for_model(name, **CASES[name])
    seq2seq = config.is_encoder_decoder
    model = (AutoModelForSeq2SeqLM if seq2seq else AutoModelForCausalLM).from_config(
        config, attn_implementation="eager").float().train()
    for p in model.parameters():
        if p.requires_grad and p.ndim == 1:  # norms, biases, sinks and rates begin with values that matter
            p.data += 0.1 * torch.randn_like(p)
    folder = pathlib.Path(out) / name
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    adam = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=ADAM["lr"],
                            betas=(ADAM["beta1"], ADAM["beta2"]), eps=ADAM["eps"])
    tensors, losses, norms = {}, [], []
    ids = torch.randint(3, 31, (STEPS + 1, B, T + 1))
    if seq2seq:
        tensors |= {"in.source": ids[..., :T], "in.target": torch.randint(3, 31, (STEPS + 1, B, 6))}
    else:
        tensors["in.ids"] = ids
    for step in range(STEPS + 1):
        if seq2seq:
            target = tensors["in.target"][step]
            start = torch.full((B, 1), config.decoder_start_token_id)
            batch = {"input_ids": tensors["in.source"][step], "labels": target,
                     "decoder_input_ids": torch.cat([start, target[:, :-1]], 1)}
        else:
            batch = {"input_ids": ids[step, :, :-1], "labels": ids[step, :, 1:]}
        adam.zero_grad()
        loss = loss_of(model, name, batch)
        losses.append(float(loss.detach()))
        if step == STEPS:
            break
        loss.backward()
        norms.append(float(torch.nn.utils.clip_grad_norm_(model.parameters(), ADAM["clip_norm"])))
        adam.step()
    tensors = {k: v.int().contiguous() for k, v in tensors.items()}
    tensors |= {"out.loss": torch.tensor(losses), "out.grad_norm": torch.tensor(norms)}
    save_file(tensors, folder / "steps.safetensors",
              {"kind": "ten_steps", "config": json.dumps(ADAM | {"router_aux_loss": BALANCE.get(name, 0.0)})})
    print(name, " ".join(f"{loss:.4f}" for loss in losses))


if __name__ == "__main__":
    for case in sys.argv[2:] or CASES:
        make(case, sys.argv[1])
