"""Writes published_llama_like.json: configurations as publishers write them, and such that say nothing; and how many values
`transformers` gives such a model.

usage: make_published_llama_like.py OUT.json      (transformers 5.24 and torch; models are made without memory)
"""
import json
import sys

import torch
import transformers

COMMON = {"attention_dropout": 0.0, "initializer_range": 0.02, "torch_dtype": "bfloat16",
          "transformers_version": "4.51.0", "use_cache": True}


def llama_like(model_type, hidden, ff, layers, heads, kv, vocab, **rest):
    sizes = {"hidden_size": hidden, "intermediate_size": ff, "num_hidden_layers": layers, "num_attention_heads": heads,
             "num_key_value_heads": kv, "vocab_size": vocab}
    return {**COMMON, "model_type": model_type, **{k: v for k, v in sizes.items() if v is not None}, **rest}


PUBLISHED = {
    "google/gemma-3-1b-it": llama_like(
        "gemma3_text", 1152, 6912, 26, 4, 1, 262144, architectures=["Gemma3ForCausalLM"], attention_bias=False,
        attn_logit_softcapping=None, bos_token_id=2, cache_implementation="hybrid", eos_token_id=[1, 106],
        final_logit_softcapping=None, head_dim=256, hidden_activation="gelu_pytorch_tanh", max_position_embeddings=32768,
        pad_token_id=0, query_pre_attn_scalar=256, rms_norm_eps=1e-6, rope_local_base_freq=10000, rope_scaling=None,
        rope_theta=1000000, sliding_window=512, sliding_window_pattern=6),
    "HuggingFaceTB/SmolLM3-3B": llama_like(
        "smollm3", 2048, 11008, 36, 16, 4, 128256, attention_bias=False, bos_token_id=128000, eos_token_id=128012,
        hidden_act="silu", max_position_embeddings=65536, max_window_layers=28, mlp_bias=False,
        no_rope_layer_interval=4, no_rope_layers=[int((i + 1) % 4 != 0) for i in range(36)], pad_token_id=128004,
        pretraining_tp=2, rms_norm_eps=1e-6, rope_scaling=None, rope_theta=5000000.0, sliding_window=None,
        use_sliding_window=False, layer_types=["full_attention"] * 36),
    "allenai/Olmo-3-1025-7B": llama_like(
        "olmo3", 4096, 11008, 32, 32, 32, 100278, attention_bias=False, eos_token_id=100257, hidden_act="silu",
        max_position_embeddings=65536, pad_token_id=100277, rms_norm_eps=1e-6,
        rope_scaling={"attention_factor": 1.2079441541679836, "beta_fast": 32, "beta_slow": 1, "factor": 8.0,
                      "original_max_position_embeddings": 8192, "rope_type": "yarn"},
        rope_theta=500000, sliding_window=4096, tie_word_embeddings=False),
    "LGAI-EXAONE/EXAONE-4.0-1.2B": llama_like(
        "exaone4", 2048, 4096, 30, 32, 8, 102400, bos_token_id=1, eos_token_id=361, head_dim=64, hidden_act="silu",
        layer_types=["full_attention"] * 30, max_position_embeddings=65536, pad_token_id=0, rms_norm_eps=1e-5,
        rope_scaling={"factor": 16.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
                      "original_max_position_embeddings": 8192, "rope_type": "llama3"},
        rope_theta=1000000, sliding_window=None, sliding_window_pattern=None, tie_word_embeddings=True),
    "CohereLabs/aya-expanse-8b": llama_like(
        "cohere", 4096, 14336, 32, 32, 8, 256000, attention_bias=False, bos_token_id=5, eos_token_id=255001,
        hidden_act="silu", layer_norm_eps=1e-5, logit_scale=0.125, max_position_embeddings=8192,
        model_max_length=8192, pad_token_id=0, rope_theta=10000, use_qk_norm=False),
    "CohereLabs/c4ai-command-r7b-12-2024": llama_like(
        "cohere2", 4096, 14336, 32, 32, 8, 256000, attention_bias=False, bos_token_id=5, cache_implementation="hybrid",
        eos_token_id=255001, head_dim=128, hidden_act="silu", layer_norm_eps=1e-5, logit_scale=0.25,
        max_position_embeddings=8192, order_of_interleaved_layers="local_attn_first", pad_token_id=0,
        position_embedding_type="rope_gptj", rope_scaling=None, rope_theta=50000, rotary_pct=1.0, sliding_window=4096,
        sliding_window_pattern=4, use_embedding_sharing=True, use_gated_activation=True, use_parallel_block=True,
        use_parallel_embedding=True),
    "tencent/Hunyuan-MT-7B": llama_like(
        "hunyuan_v1_dense", 4096, 14336, 32, 32, 8, 128256, add_classification_head=False, attention_bias=False,
        attention_head_dim=128, bos_token_id=1, cla_share_factor=2, class_num=0, dense_list=[4096, 0], eod_token_id=127967,
        eos_token_id=127960, head_dim=128, hidden_act="silu", im_end_id=5, im_newline_id=11, im_start_id=4,
        mask_init_id=12, max_position_embeddings=32768, mlp_bias=False, norm_type="rms", num_experts=1,
        org_vocab_size=128167, pad_id=127961, pad_token_id=127961, pool_type="last", pretraining_tp=1, rms_norm_eps=1e-5,
        rope_scaling={"alpha": 1000.0, "beta_fast": 32, "beta_slow": 1, "factor": 1.0, "mscale": 1.0,
                      "mscale_all_dim": 1.0, "type": "dynamic"},
        rope_theta=10000.0, sep_token_id=127962, text_end_id=7, text_start_id=6, tie_word_embeddings=True, use_cla=False,
        use_qk_norm=True, use_rotary_pos_emb=True),
    "arcee-ai/AFM-4.5B": llama_like(
        "arcee", 2560, 18432, 36, 20, 4, 128004, attention_bias=False, bos_token_id=128000, eos_token_id=128003,
        head_dim=128, hidden_act="relu2", max_position_embeddings=65536, mlp_bias=False, rms_norm_eps=1e-5,
        rope_scaling={"beta_fast": 32.0, "beta_slow": 1.0, "factor": 20.0, "mscale": 1.0,
                      "original_max_position_embeddings": 4096, "rope_type": "yarn", "type": "yarn"},
        rope_theta=10000.0, tie_word_embeddings=False),
    "swiss-ai/Apertus-8B-Instruct-2509": llama_like(
        "apertus", 4096, 21504, 32, 32, 8, 131072, attention_bias=False, bos_token_id=1, eos_token_id=68,
        hidden_act="xielu", hidden_dropout=0.0, max_position_embeddings=65536, mlp_bias=False, pad_token_id=3,
        post_norm=False, qk_norm=True, rms_norm_eps=1e-5,
        rope_scaling={"factor": 8.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
                      "original_max_position_embeddings": 8192, "rope_type": "llama3", "type": "llama3"},
        rope_theta=12000000, tie_word_embeddings=False),
    "openai/gpt-oss-20b": llama_like(  # without its quantization_config
        "gpt_oss", 2880, 2880, 24, 64, 8, 201088, attention_bias=True, eos_token_id=200002, experts_per_token=4,
        head_dim=64, hidden_act="silu", initial_context_length=4096,
        layer_types=["sliding_attention", "full_attention"] * 12, max_position_embeddings=131072, num_experts_per_tok=4,
        num_local_experts=32, output_router_logits=False, pad_token_id=199999, rms_norm_eps=1e-5,
        rope_scaling={"beta_fast": 32.0, "beta_slow": 1.0, "factor": 32.0, "original_max_position_embeddings": 4096,
                      "rope_type": "yarn", "truncate": False},
        rope_theta=150000, router_aux_loss_coef=0.9, sliding_window=128, swiglu_limit=7.0, tie_word_embeddings=False),
    "microsoft/Phi-3.5-MoE-instruct": llama_like(
        "phimoe", 4096, 6400, 32, 32, 8, 32064, attention_bias=True, bos_token_id=1, eos_token_id=32000,
        hidden_act="silu", hidden_dropout=0.0, input_jitter_noise=0.01, lm_head_bias=True,
        max_position_embeddings=131072, num_experts_per_tok=2, num_local_experts=16,
        original_max_position_embeddings=4096, output_router_logits=False, rms_norm_eps=1e-5,
        rope_scaling={"long_factor": [1.0 + 0.5 * i for i in range(64)], "long_mscale": 1.243163121016122,
                      "original_max_position_embeddings": 4096, "short_factor": [1.0 + 0.03 * i for i in range(64)],
                      "short_mscale": 1.243163121016122, "type": "longrope"},
        rope_theta=10000.0, router_aux_loss_coef=0.0, router_jitter_noise=0.01, sliding_window=131072,
        tie_word_embeddings=False),
    "deepseek-ai/DeepSeek-V2-Lite-Chat": llama_like(
        "deepseek_v2", 2048, 10944, 27, 16, 16, 102400, attention_bias=False, aux_loss_alpha=0.001, bos_token_id=100000,
        eos_token_id=100001, first_k_dense_replace=1, hidden_act="silu", kv_lora_rank=512,
        max_position_embeddings=163840, moe_intermediate_size=1408, moe_layer_freq=1, n_group=1, n_routed_experts=64,
        n_shared_experts=2, norm_topk_prob=False, num_experts_per_tok=6, pretraining_tp=1, q_lora_rank=None,
        qk_nope_head_dim=128, qk_rope_head_dim=64, rms_norm_eps=1e-6,
        rope_scaling={"beta_fast": 32, "beta_slow": 1, "factor": 40, "mscale": 0.707, "mscale_all_dim": 0.707,
                      "original_max_position_embeddings": 4096, "type": "yarn"},
        rope_theta=10000, routed_scaling_factor=1.0, scoring_func="softmax", seq_aux=True, tie_word_embeddings=False,
        topk_group=1, topk_method="greedy", v_head_dim=128),
    "moonshotai/Moonlight-16B-A3B": llama_like(
        "deepseek_v3", 2048, 11264, 27, 16, 16, 163840, attention_bias=False, aux_loss_alpha=0.001, bos_token_id=163584,
        eos_token_id=163585, ep_size=1, first_k_dense_replace=1, hidden_act="silu", kv_lora_rank=512,
        max_position_embeddings=8192, moe_intermediate_size=1408, moe_layer_freq=1, n_group=1, n_routed_experts=64,
        n_shared_experts=2, norm_topk_prob=True, num_experts_per_tok=6, num_nextn_predict_layers=0, pretraining_tp=1,
        q_lora_rank=None, qk_nope_head_dim=128, qk_rope_head_dim=64, rms_norm_eps=1e-5, rope_scaling=None,
        rope_theta=50000.0, routed_scaling_factor=2.446, scoring_func="sigmoid", seq_aux=True,
        tie_word_embeddings=False, topk_group=1, topk_method="noaux_tc", v_head_dim=128),
    "allenai/OLMo-7B-hf": llama_like(
        "olmo", 4096, 11008, 32, 32, 32, 50304, attention_bias=False, clip_qkv=None, eos_token_id=50279,
        hidden_act="silu", max_position_embeddings=2048, pad_token_id=1, rope_scaling=None, rope_theta=10000.0,
        tie_word_embeddings=False, pretraining_tp=1),
    "allenai/OLMoE-1B-7B-0924": llama_like(
        "olmoe", 2048, 1024, 16, 16, 16, 50304, attention_bias=False, clip_qkv=None, eos_token_id=50279,
        hidden_act="silu", max_position_embeddings=4096, norm_topk_prob=False, num_experts=64, num_experts_per_tok=8,
        output_router_logits=False, pad_token_id=1, rms_norm_eps=1e-5, rope_scaling=None, rope_theta=10000.0,
        router_aux_loss_coef=0.01, tie_word_embeddings=False),
    "ByteDance-Seed/Seed-OSS-36B-Instruct": llama_like(
        "seed_oss", 5120, 27648, 64, 80, 8, 155136, attention_bias=True, attention_dropout=0.1, attention_out_bias=False,
        bos_token_id=0, eos_token_id=2, head_dim=128, hidden_act="silu", max_position_embeddings=524288, mlp_bias=False,
        pad_token_id=1, residual_dropout=0.1, rms_norm_eps=1e-6, rope_scaling={"rope_type": "default"},
        rope_theta=10000000.0, tie_word_embeddings=False),
    "baidu/ERNIE-4.5-0.3B-PT": llama_like(
        "ernie4_5", 1024, 3072, 18, 16, 2, 103424, bos_token_id=1, eos_token_id=2, head_dim=128, hidden_act="silu",
        max_position_embeddings=131072, pad_token_id=0, rms_norm_eps=1e-5, rope_theta=500000.0, tie_word_embeddings=True,
        use_bias=False),
    "kyutai/helium-1-2b": llama_like(
        "helium", 2048, 8192, 28, 16, 8, 64000, attention_bias=False, bos_token_id=1, eos_token_id=2, head_dim=128,
        hidden_act="silu", max_position_embeddings=4096, mlp_bias=False, pad_token_id=3, rms_norm_eps=1e-8,
        rope_theta=20000.0, tie_word_embeddings=False),
    "THUDM/glm-4-9b-chat-hf": llama_like(
        "glm", 4096, 13696, 40, 32, 2, 151552, attention_bias=True, eos_token_id=[151329, 151336, 151338], head_dim=128,
        hidden_act="silu", initializer_range=0.02, max_position_embeddings=131072, pad_token_id=151329,
        partial_rotary_factor=0.5, rms_norm_eps=1.5625e-7, rope_theta=10000.0, tie_word_embeddings=False),
    "THUDM/GLM-4-9B-0414": llama_like(
        "glm4", 4096, 13696, 40, 32, 2, 151552, attention_bias=True, eos_token_id=[151329, 151336, 151338], head_dim=128,
        hidden_act="silu", max_position_embeddings=32768, pad_token_id=151329, partial_rotary_factor=0.5,
        rms_norm_eps=1e-5, rope_theta=10000.0, tie_word_embeddings=False),
    "zai-org/GLM-4.5-Air": llama_like(
        "glm4_moe", 4096, 10944, 46, 96, 8, 151552, attention_bias=True, eos_token_id=[151329, 151336, 151338],
        first_k_dense_replace=1, head_dim=128, hidden_act="silu", max_position_embeddings=131072,
        moe_intermediate_size=1408, n_group=1, n_routed_experts=128, n_shared_experts=1, norm_topk_prob=True,
        num_experts_per_tok=8, num_nextn_predict_layers=1, pad_token_id=151329, partial_rotary_factor=0.5,
        rms_norm_eps=1e-5, rope_scaling=None, rope_theta=1000000, routed_scaling_factor=1.0, tie_word_embeddings=False,
        topk_group=1, use_qk_norm=False),
    "nvidia/Minitron-4B-Base": llama_like(
        "nemotron", 3072, 9216, 32, 24, 8, 256000, attention_bias=False, bos_token_id=2, eos_token_id=3, head_dim=128,
        hidden_act="relu2", initializer_range=0.0134, max_position_embeddings=4096, mlp_bias=False, norm_eps=1e-5,
        partial_rotary_factor=0.5, rope_theta=10000, tie_word_embeddings=False),
    "adept/persimmon-8b-base": {
        **COMMON, "model_type": "persimmon", "hidden_size": 4096, "intermediate_size": 16384, "num_hidden_layers": 36,
        "num_attention_heads": 64, "vocab_size": 262144, "bos_token_id": 71013, "eos_token_id": 71013,
        "hidden_act": "relu2", "hidden_dropout": 0.0, "layer_norm_eps": 1e-5, "max_position_embeddings": 16384,
        "partial_rotary_factor": 0.5, "qk_layernorm": True, "rope_scaling": None, "rope_theta": 25000.0,
        "tie_word_embeddings": False},
    "stabilityai/stablelm-2-1_6b": llama_like(
        "stablelm", 2048, 5632, 24, 32, 32, 100352, bos_token_id=100257, eos_token_id=100257, hidden_act="silu",
        hidden_dropout=0.0, layer_norm_eps=1e-5, max_position_embeddings=4096, partial_rotary_factor=0.25,
        qk_layernorm=False, rope_theta=10000, tie_word_embeddings=False, use_parallel_residual=False, use_qkv_bias=True),
    "stabilityai/stablelm-2-12b": llama_like(
        "stablelm", 5120, 13824, 40, 32, 8, 100352, bos_token_id=100257, eos_token_id=100257, hidden_act="silu",
        hidden_dropout=0.0, layer_norm_eps=1e-5, max_position_embeddings=4096, partial_rotary_factor=0.25,
        qk_layernorm=True, rope_theta=10000, rotary_scaling_factor=1.0, tie_word_embeddings=False,
        use_parallel_residual=True, use_qkv_bias=False),
    "bigcode/starcoder2-3b": llama_like(
        "starcoder2", 3072, 12288, 30, 24, 2, 49152, attention_dropout=0.1, bos_token_id=0, embedding_dropout=0.1,
        eos_token_id=0, hidden_act="gelu_pytorch_tanh", initializer_range=0.018042, max_position_embeddings=16384,
        mlp_type="default", norm_epsilon=1e-5, norm_type="layer_norm", residual_dropout=0.1, rope_theta=999999.4420358813,
        sliding_window=4096, use_bias=True),
    "Qwen/Qwen3-30B-A3B": llama_like(
        "qwen3_moe", 2048, 6144, 48, 32, 4, 151936, attention_bias=False, bos_token_id=151643, decoder_sparse_step=1,
        eos_token_id=151645, head_dim=128, hidden_act="silu", max_position_embeddings=40960, max_window_layers=48,
        mlp_only_layers=[], moe_intermediate_size=768, norm_topk_prob=True, num_experts=128, num_experts_per_tok=8,
        output_router_logits=False, rms_norm_eps=1e-6, rope_scaling=None, rope_theta=1000000.0,
        router_aux_loss_coef=0.001, sliding_window=None, tie_word_embeddings=False, use_sliding_window=False),
    "Qwen/Qwen3-Next-80B-A3B-Instruct, 16 of its 512 experts": llama_like(  # so that the test makes fewer weights
        "qwen3_next", 2048, 5120, 48, 16, 2, 151936, attention_bias=False, bos_token_id=151643, decoder_sparse_step=1,
        eos_token_id=151645, full_attention_interval=4, head_dim=256, hidden_act="silu", linear_conv_kernel_dim=4,
        linear_key_head_dim=128, linear_num_key_heads=16, linear_num_value_heads=32, linear_value_head_dim=128,
        max_position_embeddings=262144, mlp_only_layers=[], moe_intermediate_size=512, norm_topk_prob=True,
        num_experts=16, num_experts_per_tok=10, output_router_logits=False, partial_rotary_factor=0.25,
        rms_norm_eps=1e-6, rope_scaling=None, rope_theta=10000000, router_aux_loss_coef=0.001,
        shared_expert_intermediate_size=512, tie_word_embeddings=False, use_sliding_window=False),
    "Qwen/Qwen3.5-27B": llama_like(  # its text_config
        "qwen3_5_text", 5120, 17408, 64, 24, 4, 248320, attention_bias=False, attn_output_gate=True, dtype="bfloat16",
        eos_token_id=248044, full_attention_interval=4, head_dim=256, hidden_act="silu",
        layer_types=["linear_attention" if (i + 1) % 4 else "full_attention" for i in range(64)],
        linear_conv_kernel_dim=4, linear_key_head_dim=128, linear_num_key_heads=16, linear_num_value_heads=48,
        linear_value_head_dim=128, mamba_ssm_dtype="float32", max_position_embeddings=262144, mlp_only_layers=[],
        mtp_num_hidden_layers=1, mtp_use_dedicated_embeddings=False, partial_rotary_factor=0.25, rms_norm_eps=1e-6,
        rope_parameters={"mrope_interleaved": True, "mrope_section": [11, 11, 10], "rope_type": "default",
                         "rope_theta": 10000000, "partial_rotary_factor": 0.25}, tie_word_embeddings=False),
    "LiquidAI/LFM2-1.2B": llama_like(
        "lfm2", 2048, None, 16, 32, 8, 65536, architectures=["Lfm2ForCausalLM"], block_auto_adjust_ff_dim=True,
        block_dim=2048, block_ff_dim=12288, block_ffn_dim_multiplier=1.0, block_mlp_init_scale=1.0, block_multiple_of=256,
        block_norm_eps=1e-5, block_out_init_scale=1.0, block_use_swiglu=True, block_use_xavier_init=True, bos_token_id=1,
        conv_L_cache=3, conv_bias=False, conv_dim=2048, conv_dim_out=2048, conv_use_xavier_init=True, eos_token_id=7,
        full_attn_idxs=[2, 5, 8, 10, 12, 14], max_position_embeddings=128000, norm_eps=1e-5, num_heads=32,
        pad_token_id=0, rope_theta=1000000.0, use_pos_enc=True),
    "Qwen/Qwen1.5-MoE-A2.7B": llama_like(
        "qwen2_moe", 2048, 5632, 24, 16, 16, 151936, bos_token_id=151643, decoder_sparse_step=1, eos_token_id=151643,
        hidden_act="silu", max_position_embeddings=8192, max_window_layers=21, moe_intermediate_size=1408,
        norm_topk_prob=False, num_experts=60, num_experts_per_tok=4, output_router_logits=False, rms_norm_eps=1e-6,
        rope_theta=1000000.0, router_aux_loss_coef=0.001, shared_expert_intermediate_size=5632, sliding_window=32768,
        tie_word_embeddings=False, use_sliding_window=False),
    "ibm-granite/granite-3.0-1b-a400m-base": llama_like(
        "granitemoe", 1024, 512, 24, 16, 8, 49152, attention_bias=False, attention_dropout=0.1,
        attention_multiplier=0.015625, bos_token_id=0, embedding_multiplier=12.0, eos_token_id=0, hidden_act="silu",
        logits_scaling=6.0, max_position_embeddings=4096, num_experts_per_tok=8, num_local_experts=32,
        output_router_logits=False, pad_token_id=0, residual_multiplier=0.22, rms_norm_eps=1e-6, rope_scaling=None,
        rope_theta=10000, router_aux_loss_coef=0.0, tie_word_embeddings=True),
    "inceptionai/Jais-2-8B-Chat": llama_like(
        "jais2", 3328, 26624, 32, 26, 26, 150272, attention_bias=True, bos_token_id=0, eos_token_id=150024, head_dim=128,
        hidden_act="relu2", layer_norm_eps=1e-5, max_position_embeddings=8192, mlp_bias=True, rope_scaling=None,
        rope_theta=500000.0, tie_word_embeddings=False),
    "google/vaultgemma-1b": llama_like(
        "vaultgemma", 1152, 6912, 26, 4, 4, 256000, attention_bias=False, attn_logit_softcapping=50.0, bos_token_id=2,
        eos_token_id=1, final_logit_softcapping=30.0, head_dim=256, hidden_activation="gelu_pytorch_tanh",
        layer_types=["sliding_attention", "full_attention"] * 13, max_position_embeddings=1024, pad_token_id=0,
        query_pre_attn_scalar=256, rms_norm_eps=1e-6, rope_theta=10000.0, sliding_window=512),
    "zai-org/GLM-4.7-Flash, 16 of its 64 experts": llama_like(
        "glm4_moe_lite", 2048, 10240, 47, 20, 20, 154880, attention_bias=False, eos_token_id=[154820, 154827, 154829],
        first_k_dense_replace=1, hidden_act="silu", kv_lora_rank=512, max_position_embeddings=202752,
        moe_intermediate_size=1536, n_group=1, n_routed_experts=16, n_shared_experts=1, norm_topk_prob=True,
        num_experts_per_tok=4, num_nextn_predict_layers=1, pad_token_id=154820, partial_rotary_factor=1.0,
        q_lora_rank=768, qk_nope_head_dim=192, qk_rope_head_dim=64, rms_norm_eps=1e-5, rope_scaling=None,
        rope_theta=1000000, routed_scaling_factor=1.8, tie_word_embeddings=False, topk_group=1, topk_method="noaux_tc",
        v_head_dim=256),
    "rednote-hilab/dots.llm1.inst, 16 of its 128 experts": llama_like(
        "dots1", 4096, 10944, 62, 32, 32, 152064, attention_bias=False, eos_token_id=151649, first_k_dense_replace=1,
        hidden_act="silu", max_position_embeddings=32768, max_window_layers=62, moe_intermediate_size=1408,
        n_routed_experts=16, n_shared_experts=2, norm_topk_prob=True, num_experts_per_tok=6, rms_norm_eps=1e-5,
        rope_theta=10000000, routed_scaling_factor=2.5, scoring_func="sigmoid", sliding_window=None,
        tie_word_embeddings=False),
    "arcee-ai/Trinity-Mini, 16 of its 128 experts": llama_like(
        "afmoe", 2048, 6144, 32, 32, 4, 200192, global_attn_every_n_layers=4, head_dim=128, hidden_act="silu",
        layer_types=["sliding_attention" if (i + 1) % 4 else "full_attention" for i in range(32)],
        max_position_embeddings=131072, moe_intermediate_size=1024, mup_enabled=True, n_group=1, num_dense_layers=2,
        num_expert_groups=1, num_experts=16, num_experts_per_tok=8, num_limited_groups=1, num_shared_experts=1,
        rms_norm_eps=1e-5, rope_scaling=None, rope_theta=10000, route_norm=True, route_scale=2.826, score_func="sigmoid",
        sliding_window=2048, tie_word_embeddings=False, topk_group=1, use_grouped_mm=True),
    "Qwen/Qwen3.5-35B-A3B, 16 of its 256 experts": llama_like(  # its text_config
        "qwen3_5_moe_text", 2048, None, 40, 16, 2, 248320, attention_bias=False, attn_output_gate=True, dtype="bfloat16",
        eos_token_id=248044, full_attention_interval=4, head_dim=256, hidden_act="silu",
        layer_types=["linear_attention" if (i + 1) % 4 else "full_attention" for i in range(40)],
        linear_conv_kernel_dim=4, linear_key_head_dim=128, linear_num_key_heads=16, linear_num_value_heads=32,
        linear_value_head_dim=128, mamba_ssm_dtype="float32", max_position_embeddings=262144, mlp_only_layers=[],
        moe_intermediate_size=512, mtp_num_hidden_layers=1, mtp_use_dedicated_embeddings=False, num_experts=16,
        num_experts_per_tok=8, output_router_logits=False, partial_rotary_factor=0.25, rms_norm_eps=1e-6,
        rope_parameters={"mrope_interleaved": True, "mrope_section": [11, 11, 10], "rope_type": "default",
                         "rope_theta": 10000000, "partial_rotary_factor": 0.25},
        router_aux_loss_coef=0.001, shared_expert_intermediate_size=512, tie_word_embeddings=False),
    "LiquidAI/LFM2-8B-A1B": llama_like(
        "lfm2_moe", 2048, 7168, 24, 32, 8, 65536, bos_token_id=1, conv_L_cache=3, conv_bias=False, eos_token_id=7,
        layer_types=["full_attention" if i in (2, 6, 10, 14, 18, 21) else "conv" for i in range(24)],
        max_position_embeddings=128000, moe_intermediate_size=1792, norm_eps=1e-5, norm_topk_prob=True,
        num_dense_layers=2, num_experts=32, num_experts_per_tok=4, pad_token_id=0, rope_theta=1000000.0,
        routed_scaling_factor=1.0, use_expert_bias=True),
    "LiquidAI/LFM3-1.7B": llama_like(  # as its config class has it
        "lfm3", 2048, 7680, 24, 16, 4, 128000, attention_bias=False, bos_token_id=124894, conv_L_cache=7, conv_bias=False,
        eos_token_id=124900, head_dim=128, max_position_embeddings=128000, norm_eps=1e-5, pad_token_id=124893,
        layer_types=["full_attention" if i % 4 == 2 else "sliding_attention" if i % 4 == 0 and i else "conv"
                     for i in range(24)],
        rope_parameters={"full_attention": {"rope_type": "proportional", "rope_theta": 1000000.0,
                                            "partial_rotary_factor": 0.5},
                         "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}},
        sliding_window=256, tie_word_embeddings=True, use_attention_gate=True, use_sandwich_norm=True),
    "facebook/cwm": llama_like(
        "cwm", 6144, 21504, 64, 48, 8, 128256, architectures=["CwmForCausalLM"], bos_token_id=128000,
        eos_token_id=[128001, 128008, 128009], head_dim=128, hidden_act="silu",
        layer_types=["sliding_attention" if i % 4 else "full_attention" for i in range(64)], max_position_embeddings=131072,
        mlp_bias=False, pretraining_tp=1, rms_norm_eps=1e-5,
        rope_scaling={"factor": 16.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
                      "original_max_position_embeddings": 8192, "rope_type": "llama3"},
        rope_theta=1000000.0, sliding_window=8192, tie_word_embeddings=False),
    "internlm/internlm3-8b-instruct": llama_like(
        "internlm3", 4096, 10240, 48, 32, 2, 128512, architectures=["InternLM3ForCausalLM"], bias=False, bos_token_id=1,
        eos_token_id=2, head_dim=128, hidden_act="silu", max_position_embeddings=32768, pad_token_id=2, qkv_bias=False,
        rms_norm_eps=1e-5, rope_scaling={"factor": 6.0, "rope_type": "dynamic"}, rope_theta=50000000,
        tie_word_embeddings=False),
    "IQuestLab/IQuest-Coder-V1-40B-Instruct": llama_like(  # as its config class has it, with the authors' further keys
        "iquestcoder", 5120, 27648, 80, 40, 8, 76800, attention_bias=False, bos_token_id=1, clip_qkv=None, eos_token_id=2,
        head_dim=128, hidden_act="silu", max_position_embeddings=131072, mlp_bias=False, rms_norm_eps=1e-5,
        rope_scaling=None, rope_theta=500000.0, sliding_window=None, tie_word_embeddings=False,
        use_sliding_window=False),
    "naver-hyperclovax/HyperCLOVAX-SEED-Think-14B": llama_like(
        "hyperclovax", 6144, 14336, 38, 48, 8, 110592, architectures=["HyperCLOVAXForCausalLM"], attention_bias=False,
        attention_multiplier=0.0078125, attn_pdrop=0.0, bos_token_id=100257, embd_pdrop=0.0, embedding_multiplier=10.0,
        end_token_id=100257, eos_token_id=100257, head_dim=128, hidden_act="silu", logits_scaling=0.125, loss_kwargs={},
        max_position_embeddings=131072, mlp_bias=False, pad_token_id=100257, pretraining_tp=1, resid_pdrop=0.0,
        residual_multiplier=1.0, rms_norm_eps=1e-5, rope_scaling=None, rope_theta=100000000, summary_first_dropout=0.0,
        tie_word_embeddings=False, use_post_norm=True),
    "allenai/FlexOlmo-7x7B-1T": llama_like(
        "flex_olmo", 4096, 11008, 32, 32, 32, 100352, attention_bias=False, eos_token_id=100257, hidden_act="silu",
        max_position_embeddings=4096, norm_topk_prob=False, num_experts=7, num_experts_per_tok=5,
        output_router_logits=False, pad_token_id=100277, rms_norm_eps=1e-6, rope_scaling=None, rope_theta=500000,
        router_aux_loss_coef=0.01, tie_word_embeddings=False),
    "LGAI-EXAONE/K-EXAONE-236B-A23B, 16 of its 128 experts": llama_like(
        "exaone_moe", 6144, 18432, 48, 64, 8, 153600, architectures=["ExaoneMoEForCausalLM"], bos_token_id=1, eos_token_id=53,
        first_k_dense_replace=1, head_dim=128, hidden_act="silu",
        layer_types=["sliding_attention" if (i + 1) % 4 else "full_attention" for i in range(48)],
        max_position_embeddings=262144, mlp_layer_types=["sparse" if i else "dense" for i in range(48)],
        moe_intermediate_size=2048, n_group=1, norm_topk_prob=True, num_experts=16, num_experts_per_tok=8,
        num_nextn_predict_layers=1, num_shared_experts=1, pad_token_id=0, rms_norm_eps=1e-5,
        rope_parameters={"rope_theta": 1000000, "rope_type": "default"}, routed_scaling_factor=2.5, scoring_func="sigmoid",
        sliding_window=128, sliding_window_pattern="LLLG", tie_word_embeddings=False, topk_group=1,
        topk_method="noaux_tc"),
    "JetBrains/Mellum2-12B-A2.5B-Base, 16 of its 64 experts": llama_like(  # as its config class has it
        "mellum", 2304, 7168, 28, 32, 4, 98304, attention_bias=False, head_dim=128, hidden_act="silu",
        layer_types=["sliding_attention" if (i + 1) % 4 else "full_attention" for i in range(28)],
        max_position_embeddings=131072, moe_intermediate_size=896, norm_topk_prob=True, num_experts=16,
        num_experts_per_tok=8, output_router_logits=False, rms_norm_eps=1e-6,
        rope_parameters={"full_attention": {"rope_type": "default", "rope_theta": 500000.0},
                         "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}},
        router_aux_loss_coef=0.001, sliding_window=1024, tie_word_embeddings=False),
    "upstage/Solar-Open-100B, 16 of its 128 experts": llama_like(
        "solar_open", 4096, 10240, 48, 64, 8, 196608, architectures=["SolarOpenForCausalLM"], attention_bias=False,
        bos_token_id=1, eos_token_id=2, first_k_dense_replace=0, head_dim=128, hidden_act="silu",
        max_position_embeddings=131072, moe_intermediate_size=1280, n_group=1, n_routed_experts=16, n_shared_experts=1,
        norm_topk_prob=True, num_experts_per_tok=8, pad_token_id=2, partial_rotary_factor=1.0, rms_norm_eps=1e-5,
        rope_scaling={"factor": 2.0, "original_max_position_embeddings": 65536, "type": "yarn"}, rope_theta=1000000,
        routed_scaling_factor=1.0, tie_word_embeddings=False, topk_group=1, use_qk_norm=False),
    "google/gemma-4-E2B-it": llama_like(  # its text_config
        "gemma4_text", 1536, 6144, 35, 8, 1, 262144, attention_bias=False, attention_k_eq_v=False, bos_token_id=2,
        dtype="bfloat16", enable_moe_block=False, eos_token_id=1, final_logit_softcapping=30.0, global_head_dim=512,
        head_dim=256, hidden_activation="gelu_pytorch_tanh", hidden_size_per_layer_input=256,
        layer_types=["sliding_attention" if (i + 1) % 5 else "full_attention" for i in range(35)],
        max_position_embeddings=131072, moe_intermediate_size=None, num_experts=None, num_global_key_value_heads=None,
        num_kv_shared_layers=20, pad_token_id=0, rms_norm_eps=1e-6,
        rope_parameters={"full_attention": {"partial_rotary_factor": 0.25, "rope_theta": 1000000.0,
                                            "rope_type": "proportional"},
                         "sliding_attention": {"rope_theta": 10000.0, "rope_type": "default"}},
        sliding_window=512, tie_word_embeddings=True, top_k_experts=None, use_bidirectional_attention=None,
        use_double_wide_mlp=True, vocab_size_per_layer_input=262144),
    "google/gemma-4-26B-A4B-it, 16 of its 128 experts": llama_like(  # its text_config
        "gemma4_text", 2816, 2112, 30, 16, 8, 262144, attention_bias=False, attention_k_eq_v=True, bos_token_id=2,
        dtype="bfloat16", enable_moe_block=True, eos_token_id=1, final_logit_softcapping=30.0, global_head_dim=512,
        head_dim=256, hidden_activation="gelu_pytorch_tanh", hidden_size_per_layer_input=0,
        layer_types=["sliding_attention" if (i + 1) % 6 else "full_attention" for i in range(30)],
        max_position_embeddings=262144, moe_intermediate_size=704, num_experts=16, num_global_key_value_heads=2,
        num_kv_shared_layers=0, pad_token_id=0, rms_norm_eps=1e-6,
        rope_parameters={"full_attention": {"partial_rotary_factor": 0.25, "rope_theta": 1000000.0,
                                            "rope_type": "proportional"},
                         "sliding_attention": {"rope_theta": 10000.0, "rope_type": "default"}},
        sliding_window=1024, tie_word_embeddings=True, top_k_experts=8, use_bidirectional_attention="vision",
        use_double_wide_mlp=False, vocab_size_per_layer_input=262144),
    "openbmb/MiniCPM3-4B": llama_like(
        "minicpm3", 2560, 6400, 62, 40, 40, 73448, architectures=["MiniCPM3ForCausalLM"], bos_token_id=1, dim_model_base=256,
        eos_token_id=[2, 73440], hidden_act="silu", kv_lora_rank=256, max_position_embeddings=32768, q_lora_rank=768,
        qk_nope_head_dim=64, qk_rope_head_dim=32, rms_norm_eps=1e-5,
        rope_scaling={"long_factor": [1.0 + 0.5 * i for i in range(16)], "original_max_position_embeddings": 32768,
                      "short_factor": [1.0 + 0.5 * i for i in range(16)], "type": "longrope"},
        scale_depth=1.4, scale_emb=12),
    "tencent/Youtu-LLM-2B": llama_like(
        "youtu", 2048, 6144, 32, 16, 16, 128256, attention_bias=False, bos_token_id=128000,
        embedding_initializer_range=0.04, eos_token_id=128001, head_dim=64, hidden_act="silu", kv_lora_rank=512,
        max_position_embeddings=131072, mlp_bias=False, q_lora_rank=1536, qk_head_dim=192, qk_nope_head_dim=128,
        qk_rope_head_dim=64, rms_norm_eps=1e-6, rope_interleave=True, rope_scaling=None, rope_theta=1600000.0,
        tie_word_embeddings=True, v_head_dim=128),
    "sarvamai/sarvam-105b, 16 of its 128 experts": llama_like(
        "sarvam_mla", 4096, 16384, 32, 64, None, 262144, attention_bias=False, bos_token_id=None, eos_token_id=1,
        first_k_dense_replace=1, head_dim=576, hidden_act="silu", kv_lora_rank=512, max_position_embeddings=131072,
        moe_intermediate_size=2048, n_group=1, norm_topk_prob=True, num_experts=16, num_experts_per_tok=8,
        num_shared_experts=1, pad_token_id=0, q_head_dim=192, q_lora_rank=None, qk_nope_head_dim=128, qk_rope_head_dim=64,
        rms_norm_eps=1e-6, rope_theta=10000.0,
        rope_scaling={"beta_fast": 32, "beta_slow": 1, "factor": 40, "mscale": 1.0, "mscale_all_dim": 1.0,
                      "original_max_position_embeddings": 4096, "type": "deepseek_yarn"},
        routed_scaling_factor=2.5, tie_word_embeddings=False, topk_group=1, v_head_dim=128),
    "sarvamai/sarvam-30b, 16 of its 128 experts": llama_like(
        "sarvam_moe", 4096, 8192, 19, 64, 4, 262144, eos_token_id=1, first_k_dense_replace=1, head_dim=64, hidden_act="silu",
        max_position_embeddings=131072, moe_intermediate_size=1024, n_group=1, norm_topk_prob=True, num_experts=16,
        num_experts_per_tok=6, num_shared_experts=1, pad_token_id=0, rms_norm_eps=1e-6, rope_scaling=None,
        rope_theta=8000000.0, routed_scaling_factor=2.5, tie_word_embeddings=False, topk_group=1, use_qk_norm=True,
        use_qkv_bias=False),
    "skt/A.X-K1, 24 of its 192 experts": llama_like(
        "axk1", 7168, 18432, 61, 64, 64, 163840, attention_bias=False, bos_token_id=163691, eos_token_id=163691,
        first_k_dense_replace=1, hidden_act="silu", kv_lora_rank=512, max_position_embeddings=32768,
        moe_intermediate_size=2048, moe_layer_freq=1, n_group=8, n_routed_experts=24, n_shared_experts=1,
        norm_topk_prob=True, num_experts_per_tok=8, q_lora_rank=1536, qk_nope_head_dim=128, qk_rope_head_dim=64,
        rms_norm_eps=1e-6, rope_scaling=None, rope_theta=10000, routed_scaling_factor=2.5, scoring_func="sigmoid",
        tie_word_embeddings=False, topk_group=4, topk_method="noaux_tc", v_head_dim=128),
    "poolside/Laguna-XS, 16 of its 256 experts": llama_like(  # as its config class has it
        "laguna", 2048, 8192, 40, 48, 8, 100352, attention_bias=False, gating=True, head_dim=128, hidden_act="silu",
        layer_types=["sliding_attention" if i % 4 else "full_attention" for i in range(40)],
        max_position_embeddings=131072, mlp_layer_types=["sparse" if i else "dense" for i in range(40)],
        moe_apply_router_weight_on_input=False, moe_intermediate_size=512, moe_routed_scaling_factor=2.5,
        moe_router_logit_softcapping=0.0, num_attention_heads_per_layer=[64 if i % 4 else 48 for i in range(40)],
        num_experts=16, num_experts_per_tok=8, output_router_logits=False, rms_norm_eps=1e-6,
        rope_parameters={"full_attention": {"rope_type": "default", "rope_theta": 500000.0, "partial_rotary_factor": 0.5},
                         "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0,
                                               "partial_rotary_factor": 1.0}},
        router_aux_loss_coef=0.001, shared_expert_intermediate_size=512, sliding_window=512, tie_word_embeddings=False),
    "baidu/ERNIE-4.5-21B-A3B-PT, 16 of its 64 experts": llama_like(
        "ernie4_5_moe", 2560, 12288, 28, 20, 4, 103424, architectures=["Ernie4_5_MoeForCausalLM"], bos_token_id=1,
        eos_token_id=2, head_dim=128, hidden_act="silu", max_position_embeddings=131072, moe_capacity=[64, 64, 64],
        moe_gate="topk", moe_intermediate_size=1536, moe_k=6, moe_layer_end_index=27, moe_layer_interval=1,
        moe_layer_start_index=1, moe_norm_min=1e-12, moe_num_experts=16, moe_num_shared_experts=2, moe_use_aux_free=True,
        output_router_logits=False, pad_token_id=0, rms_norm_eps=1e-5, rope_scaling=None, rope_theta=500000.0,
        router_aux_loss_coef=0.001, tie_word_embeddings=True, use_bias=False),
    "ibm-research/moe-7b-1b-active-shared-experts": llama_like(
        "granitemoeshared", 1536, 512, 40, 24, 8, 49155, architectures=["GraniteMoeSharedForCausalLM"], attention_bias=False,
        attention_multiplier=0.015625, bos_token_id=0, embedding_multiplier=12.0, eos_token_id=0, hidden_act="silu",
        logits_scaling=6.0, max_position_embeddings=4096, num_experts_per_tok=8, num_local_experts=62,
        output_router_logits=False, pad_token_id=0, residual_multiplier=0.22, rms_norm_eps=1e-6, rope_scaling=None,
        rope_theta=10000, router_aux_loss_coef=0.001, shared_intermediate_size=1024, tie_word_embeddings=True),
    "ibm-granite/granite-swash-2b": llama_like(  # as its config class has it
        "granite_swa", 2560, 8192, 24, 20, 4, 100352, architectures=["GraniteSWAForCausalLM"], attention_bias=False,
        attention_multiplier=0.0078125, bos_token_id=100257, embedding_multiplier=12.0, eos_token_id=100257, hidden_act="silu",
        layer_rope_theta=[10000.0 if i % 4 else 0 for i in range(24)], layer_types=["sliding_attention" if i % 4 else
        "full_attention" for i in range(24)], logits_scaling=8.0, max_position_embeddings=8192, mlp_bias=False,
        residual_multiplier=0.22, rms_norm_eps=1e-5, sliding_window=128, tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0}),
    "RecursiveSI/flint, 16 of its 256 experts": llama_like(  # as its config class has it
        "flint", 2048, 6144, 49, 32, 4, 150144, architectures=["FlintForCausalLM"], attention_bias=False, decoder_sparse_step=1,
        head_dim=128, hidden_act="silu", max_position_embeddings=262144, mlp_only_layers=[0, 1], moe_intermediate_size=512,
        norm_topk_prob=True, num_experts=16, num_experts_per_tok=6, output_router_logits=False, rms_norm_eps=1e-6,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0}, router_aux_loss_coef=0.0005,
        shared_expert_intermediate_size=1024, sliding_window=513, tie_word_embeddings=False),
    "Aleph-Alpha/Kolibri-1, 16 of its 384 experts": llama_like(  # as its config class has it
        "kolibri1", 2560, None, 50, 48, 4, 128000, architectures=["Kolibri1ForCausalLM"], head_dim=128, hidden_act="silu",
        max_position_embeddings=262144, moe_intermediate_size=512, norm_topk_prob=True, num_experts=16, num_experts_per_tok=6,
        output_router_logits=False, rms_norm_eps=1e-6, rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
        shared_expert_intermediate_size=512, sliding_window=513, tie_word_embeddings=False),
    "CohereLabs, a cohere2_moe as its config class has it": llama_like(
        "cohere2_moe", 4096, 1536, 32, 32, 8, 256000, architectures=["Cohere2MoeForCausalLM"], attention_bias=False, bos_token_id=5,
        eos_token_id=255001, expert_selection_fn="sigmoid", first_k_dense_replace=1, head_dim=128, hidden_act="silu",
        layer_norm_eps=1e-5, logit_scale=0.25, max_position_embeddings=8192, norm_topk_prob=True, num_experts=16,
        num_experts_per_tok=8, num_shared_experts=1, output_router_logits=False, pad_token_id=0,
        prefix_dense_intermediate_size=12288, prefix_dense_sliding_window_pattern=1, rms_norm_eps=None, rope_scaling=None,
        rope_theta=50000, shared_expert_combination_strategy="sum", sliding_window=4096, sliding_window_pattern=4),
    "stepfun-ai/Step-3.5-Flash, 16 of its 288 experts": llama_like(
        "step3p5", 4096, 11264, 45, 64, None, 128896, architectures=["Step3p5ForCausalLM"], att_impl_type="GQA",
        attention_other_setting={"attention_type": "sliding_attention", "head_dim": 128, "num_attention_groups": 8,
                                 "num_attention_heads": 96, "true_head_dim": 128},
        bos_token_id=0, eos_token_id=[1, 2, 128007], head_dim=128,
        layer_types=["sliding_attention" if i % 4 else "full_attention" for i in range(48)],
        max_position_embeddings=262144, max_seq_len=262144, moe_every_n_layer=1, moe_intermediate_size=1280,
        moe_layer_offset=0, moe_layers_enum=",".join(str(i) for i in range(3, 45)), moe_num_experts=16,
        moe_router_activation="sigmoid", moe_router_scaling_factor=3.0, moe_top_k=8, need_fp32_gate=True,
        norm_expert_weight=True, num_attention_groups=8, num_nextn_predict_layers=3,
        partial_rotary_factors=[1.0 if i % 4 else 0.5 for i in range(48)], rms_norm_eps=1e-5,
        rope_scaling={"factor": 2.0, "high_freq_factor": 32.0, "low_freq_factor": 1.0,
                      "original_max_position_embeddings": 131072, "rope_type": "llama3"},
        rope_theta=[10000.0 if i % 4 else 5000000.0 for i in range(48)], share_expert_dim=1280, sink=False,
        sliding_window=512, swiglu_limits=[7.0 if i in (43, 44) else 0.0 for i in range(48)],
        swiglu_limits_shared=[16.0 if i in (43, 44) else 0.0 for i in range(48)], tie_word_embeddings=False,
        use_head_wise_attn_gate=True, use_moe=False, use_moe_router_bias=True, use_rope_layers=[],
        yarn_only_types=["full_attention"], zero_centered=True),
    "ibm-granite/granite-4.0-h-tiny": llama_like(
        "granitemoehybrid", 1536, 512, 40, 12, 4, 100352, architectures=["GraniteMoeHybridForCausalLM"], attention_bias=False,
        attention_multiplier=0.0078125, bos_token_id=100257, embedding_multiplier=12, eos_token_id=100257, hidden_act="silu",
        init_method="mup", layer_types=["attention" if i in (5, 15, 25, 35) else "mamba" for i in range(40)],
        logits_scaling=6, mamba_chunk_size=256, mamba_conv_bias=True, mamba_d_conv=4, mamba_d_head=64, mamba_d_state=128,
        mamba_expand=2, mamba_n_groups=1, mamba_n_heads=48, mamba_proj_bias=False, max_position_embeddings=131072,
        normalization_function="rmsnorm", num_experts_per_tok=6, num_local_experts=64, output_router_logits=False,
        pad_token_id=100256, position_embedding_type="nope", residual_multiplier=0.22, rms_norm_eps=1e-5,
        rope_scaling=None, rope_theta=10000, router_aux_loss_coef=0.0, shared_intermediate_size=1024,
        tie_word_embeddings=True),
    "ibm-granite/granite-4.0-1b": llama_like(
        "granitemoehybrid", 2048, 4096, 40, 16, 4, 100352, architectures=["GraniteMoeHybridForCausalLM"], attention_bias=False,
        attention_multiplier=0.0078125, bos_token_id=100257, embedding_multiplier=12, eos_token_id=100257, hidden_act="silu",
        init_method="mup", layer_types=["attention"] * 40, logits_scaling=8, mamba_chunk_size=256, mamba_conv_bias=True,
        mamba_d_conv=4, mamba_d_head=64, mamba_d_state=256, mamba_expand=2, mamba_n_groups=1, mamba_n_heads=64,
        mamba_proj_bias=False, max_position_embeddings=131072, normalization_function="rmsnorm", num_experts_per_tok=0,
        num_local_experts=0, output_router_logits=False, pad_token_id=100256, position_embedding_type="rope",
        residual_multiplier=0.22, rms_norm_eps=1e-5, rope_scaling=None, rope_theta=10000000, router_aux_loss_coef=0.0,
        shared_intermediate_size=4096, tie_word_embeddings=True),
    "ibm-ai-platform/Bamba-9B-v2": llama_like(
        "bamba", 4096, 14336, 32, 32, 8, 128256, architectures=["BambaForCausalLM"], attention_bias=False,
        attn_layer_indices=[9, 18, 27], attn_rotary_emb=64, bos_token_id=128000, eos_token_id=128001, hidden_act="silu",
        mamba_chunk_size=256, mamba_conv_bias=True, mamba_d_conv=4, mamba_d_head=64, mamba_d_state=128, mamba_expand=2,
        mamba_n_groups=1, mamba_n_heads=128, mamba_proj_bias=False, max_position_embeddings=262144, mlp_bias=False,
        num_logits_to_keep=1, pad_token_id=0, rms_norm_eps=1e-5, rope_theta=10000.0, tie_word_embeddings=False),
    "tiiuae/Falcon-H1-0.5B-Instruct": llama_like(
        "falcon_h1", 1024, 2048, 36, 8, 2, 32784, architectures=["FalconH1ForCausalLM"], attention_bias=False,
        attention_in_multiplier=1.0, attention_out_multiplier=0.9375, attn_layer_indices=None, bos_token_id=17,
        embedding_multiplier=5.656854249492381, eos_token_id=11, head_dim=64, hidden_act="silu", key_multiplier=0.39062499999999994,
        lm_head_multiplier=0.0390625, mamba_chunk_size=128, mamba_conv_bias=True, mamba_d_conv=4, mamba_d_head=64,
        mamba_d_ssm=1536, mamba_d_state=128, mamba_expand=2, mamba_n_groups=1, mamba_n_heads=24,
        mamba_norm_before_gate=False, mamba_proj_bias=False, mamba_rms_norm=False, mamba_use_mlp=True,
        max_position_embeddings=16384, mlp_bias=False, mlp_expansion_factor=8,
        mlp_multipliers=[0.8838834764831844, 0.5859375], num_logits_to_keep=1, pad_token_id=0, projectors_bias=False,
        rms_norm_eps=1e-5, rope_scaling=None, rope_theta=100000000000.0, ssm_in_multiplier=1.25,
        ssm_multipliers=[0.3535533905932738, 0.25, 0.3535533905932738, 0.5, 0.3535533905932738],
        ssm_out_multiplier=0.23570226039551587, tie_word_embeddings=False),
    "nvidia/NVIDIA-Nemotron-Nano-9B-v2": llama_like(
        "nemotron_h", 4480, 15680, 56, 40, 8, 131072, architectures=["NemotronHForCausalLM"], attention_bias=False,
        bos_token_id=1, chunk_size=128, conv_kernel=4, eos_token_id=12, expand=2, head_dim=128, hidden_dropout=0.0,
        hybrid_override_pattern="M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-", layer_norm_epsilon=1e-5,
        mamba_head_dim=80, mamba_hidden_act="silu", mamba_num_heads=128, mamba_proj_bias=False,
        max_position_embeddings=131072, mlp_bias=False, mlp_hidden_act="relu2", n_groups=8, num_logits_to_keep=1,
        pad_token_id=0, rescale_prenorm_residual=True, residual_in_fp32=False, rms_norm_eps=1e-5, sliding_window=None,
        ssm_state_size=128, tie_word_embeddings=False, time_step_floor=0.0001,
        time_step_limit=[0.0, {"__float__": "Infinity"}], time_step_max=0.1, time_step_min=0.001, use_bias=False,
        use_conv_bias=True, use_mamba_kernels=True),
    "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": llama_like(
        "nemotron_h", 2688, 1856, 52, 32, 2, 131072, architectures=["NemotronHForCausalLM"], attention_bias=False,
        bos_token_id=1, chunk_size=128, conv_kernel=4, eos_token_id=2, expand=2, head_dim=128, hidden_dropout=0.0,
        hybrid_override_pattern="MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME", layer_norm_epsilon=1e-5,
        mamba_head_dim=64, mamba_hidden_act="silu", mamba_num_heads=64, mamba_proj_bias=False, mamba_ssm_cache_dtype="float32",
        max_position_embeddings=262144, mlp_bias=False, mlp_hidden_act="relu2", moe_intermediate_size=1856,
        moe_shared_expert_intermediate_size=3712, n_group=1, n_groups=8, n_routed_experts=16, n_shared_experts=1,
        norm_eps=1e-5, norm_topk_prob=True, num_experts_per_tok=6, num_logits_to_keep=1, pad_token_id=0,
        partial_rotary_factor=1.0, rescale_prenorm_residual=True, residual_in_fp32=False, rope_theta=10000,
        routed_scaling_factor=2.5, sliding_window=None, ssm_state_size=128, tie_word_embeddings=False, time_step_floor=0.0001,
        time_step_max=0.1, time_step_min=0.001, topk_group=1, use_bias=False, use_conv_bias=True, use_mamba_kernels=True),
    "mistralai/Mamba-Codestral-7B-v0.1": {
        **COMMON, "model_type": "mamba2", "architectures": ["Mamba2ForCausalLM"], "bos_token_id": 0, "chunk_size": 256,
        "conv_kernel": 4, "eos_token_id": 0, "expand": 2, "head_dim": 64, "hidden_act": "silu", "hidden_size": 4096,
        "initializer_range": 0.1, "intermediate_size": 8192, "layer_norm_epsilon": 1e-5, "n_groups": 8, "norm_before_gate": True,
        "num_heads": 128, "num_hidden_layers": 64, "pad_token_id": 0, "rescale_prenorm_residual": False,
        "residual_in_fp32": True, "rms_norm": True, "state_size": 128, "tie_word_embeddings": False, "time_step_floor": 0.0001,
        "time_step_init_scheme": "random", "time_step_limit": [0.0, {"__float__": "Infinity"}], "time_step_max": 0.1,
        "time_step_min": 0.001, "time_step_rank": 256, "time_step_scale": 1.0, "use_bias": False, "use_conv_bias": True,
        "vocab_size": 32768},
    "LGAI-EXAONE/EXAONE-3.0-7.8B-Instruct": {
        **COMMON, "model_type": "exaone", "activation_function": "silu", "architectures": ["ExaoneForCausalLM"],
        "auto_map": {"AutoConfig": "configuration_exaone.ExaoneConfig", "AutoModelForCausalLM": "modeling_exaone.ExaoneForCausalLM",
                     "AutoModelForSequenceClassification": "modeling_exaone.ExaoneForSequenceClassification"},
        "bos_token_id": 1, "embed_dropout": 0.0, "eos_token_id": 361, "hidden_size": 4096, "intermediate_size": 14336,
        "layer_norm_epsilon": 1e-5, "max_position_embeddings": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
        "num_layers": 32, "pad_token_id": 0, "rope_scaling": None, "rope_theta": 500000.0, "tie_word_embeddings": False,
        "vocab_size": 102400},
    "LGAI-EXAONE/EXAONE-3.5-2.4B-Instruct": {
        **COMMON, "model_type": "exaone", "activation_function": "silu", "architectures": ["ExaoneForCausalLM"],
        "auto_map": {"AutoConfig": "configuration_exaone.ExaoneConfig", "AutoModelForCausalLM": "modeling_exaone.ExaoneForCausalLM",
                     "AutoModelForSequenceClassification": "modeling_exaone.ExaoneForSequenceClassification"},
        "bos_token_id": 1, "embed_dropout": 0.0, "eos_token_id": 361, "head_dim": 80, "hidden_size": 2560, "intermediate_size": 7168,
        "layer_norm_epsilon": 1e-5, "max_position_embeddings": 32768, "num_attention_heads": 32, "num_key_value_heads": 8,
        "num_layers": 30, "pad_token_id": 0,
        "rope_scaling": {"factor": 8.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 8192,
                         "rope_type": "llama3"},
        "rope_theta": 1000000.0, "tie_word_embeddings": True, "vocab_size": 102400},
    "internlm/internlm2-chat-7b": llama_like(
        "internlm2", 4096, 14336, 32, 32, 8, 92544, architectures=["InternLM2ForCausalLM"], attn_implementation="eager",
        auto_map={"AutoConfig": "configuration_internlm2.InternLM2Config", "AutoModel": "modeling_internlm2.InternLM2ForCausalLM",
                  "AutoModelForCausalLM": "modeling_internlm2.InternLM2ForCausalLM"},
        bias=False, bos_token_id=1, eos_token_id=2, hidden_act="silu", max_position_embeddings=32768, pad_token_id=2,
        rms_norm_eps=1e-5, rope_scaling={"factor": 2.0, "type": "dynamic"}, rope_theta=1000000, tie_word_embeddings=False),
    "internlm/internlm2_5-1_8b-chat": llama_like(
        "internlm2", 2048, 8192, 24, 16, 8, 92544, architectures=["InternLM2ForCausalLM"], attn_implementation="eager",
        auto_map={"AutoConfig": "configuration_internlm2.InternLM2Config", "AutoModel": "modeling_internlm2.InternLM2ForCausalLM",
                  "AutoModelForCausalLM": "modeling_internlm2.InternLM2ForCausalLM",
                  "AutoModelForSequenceClassification": "modeling_internlm2.InternLM2ForSequenceClassification"},
        bias=False, bos_token_id=1, eos_token_id=2, hidden_act="silu", max_position_embeddings=32768, pad_token_id=2,
        pretraining_tp=1, rms_norm_eps=1e-5, rope_scaling={"factor": 2.0, "type": "dynamic"}, rope_theta=1000000,
        tie_word_embeddings=False),
    "translated/Lara-4-Mini-Base, 16 of its 128 experts": llama_like(
        "lara_mini", 1024, None, 34, 16, 4, 151936, architectures=["LaraMiniForCausalLM"], attention_bias=False, bos_token_id=None,
        eos_token_id=151643, head_dim=128, hidden_act="silu",
        layer_types=["linear_attention", "sliding_attention", "linear_attention", "full_attention", "sliding_attention"] * 6
        + ["linear_attention", "sliding_attention", "linear_attention", "full_attention"],
        linear_conv_kernel_dim=4, linear_key_head_dim=128, linear_num_key_heads=8, linear_num_value_heads=16, linear_value_head_dim=128,
        max_position_embeddings=131072, moe_intermediate_size=512, norm_topk_prob=True, num_experts=16, num_experts_per_tok=4,
        output_router_logits=False, pad_token_id=None, rms_norm_eps=1e-6, rope_parameters={"rope_theta": 10000.0, "rope_type": "default"},
        router_aux_loss_coef=0.001, shared_expert_intermediate_size=512, sliding_window=512, tie_word_embeddings=True),
}


# Those whose config class has a default for every size; those with thousands of experts are left out.
BY_DEFAULT = """
    gpt2 opt gpt_neox phi gptj codegen gpt_neo gpt_bigcode bloom mpt falcon xglm biogpt llama mistral qwen2 qwen3 phi3
    gemma gemma2 vaultgemma olmo2 granite gemma3_text gemma4_text smollm3 olmo olmo3 exaone exaone4 cohere cohere2
    ministral3 glm glm4 granite_swa minicpm3 youtu cwm internlm3 iquestcoder hyperclovax arcee apertus jais2 persimmon
    stablelm starcoder2 seed_oss ernie4_5 helium nanochat bitnet mixtral olmoe cohere2_moe qwen2_moe granitemoe
    granitemoeshared granitemoe_swa flex_olmo mellum phimoe ernie4_5_moe qwen3_5_text lfm2 lfm3 mamba2 granitemoehybrid
    bamba falcon_h1
""".split()
ENCODER_DECODERS_BY_DEFAULT = """
    marian bart mbart m2m_100 pegasus plbart mvp blenderbot blenderbot-small t5 mt5 umt5 switch_transformers t5gemma
""".split()
PUBLISHED |= {f"{family}, all of whose sizes are the defaults": {"model_type": family}
              for family in BY_DEFAULT + ENCODER_DECODERS_BY_DEFAULT}


def values_of(config):
    config = dict(config)
    if "time_step_limit" in config:  # as JSON has it
        config["time_step_limit"] = [0.0, float("inf")]
    if config["model_type"] == "internlm2":  # a Llama, for which transformers has no other name
        config = {**config, "model_type": "llama", "attention_bias": config["bias"]}
    made = transformers.AutoConfig.for_model(config.pop("model_type"), **config)
    with torch.device("meta"):
        if made.model_type == "step3p5":  # transformers has it only inside step3p7
            made = transformers.AutoConfig.for_model("step3p7", text_config=made)
            model = transformers.AutoModelForImageTextToText.from_config(made)
            model.model.vision_model = model.model.multi_modal_projector = None
        else:
            auto = transformers.AutoModelForSeq2SeqLM if made.is_encoder_decoder else transformers.AutoModelForCausalLM
            model = auto.from_config(made)
    sinusoids = tuple(name for name, m in model.named_modules() if "Sinusoidal" in type(m).__name__)  # tril computes them
    stored = {id(v): v for k, v in model.state_dict(keep_vars=True).items() if not (sinusoids and k.startswith(sinusoids))}
    return sum(v.numel() for v in stored.values())  # tied ones once


if __name__ == "__main__":
    cases = [{"name": name, "values": values_of(config), "config": config} for name, config in PUBLISHED.items()]
    with open(sys.argv[1], "w") as f:
        json.dump(cases, f, indent=1)
        f.write("\n")
    for case in cases:
        print(case["name"], case["values"])
