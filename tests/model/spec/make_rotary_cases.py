"""Frequencies of rotary positions as `transformers` computes them -> rotary_cases.json (needs torch and transformers).

usage: make_rotary_cases.py > rotary_cases.json
"""
import json

from transformers import LlamaConfig, Phi3Config
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

HEAD = 16
KINDS = {
    "linear": {"factor": 4.0},
    "dynamic": {"factor": 2.0},
    "llama3": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 64},
    "yarn": {"factor": 4.0, "original_max_position_embeddings": 64},
    "yarn_all": {"factor": 16.0, "beta_fast": 24.0, "beta_slow": 2.0, "mscale": 0.7, "mscale_all_dim": 1.5,
                 "truncate": False, "original_max_position_embeddings": 128},
    "yarn_given": {"factor": 4.0, "attention_factor": 1.25, "original_max_position_embeddings": 32},
    "longrope": {"short_factor": [1.0 + 0.1 * i for i in range(HEAD // 2)],
                 "long_factor": [2.0 + i for i in range(HEAD // 2)]},
    "longrope_given": {"short_factor": [1.0] * (HEAD // 2), "long_factor": [3.0] * (HEAD // 2), "factor": 6.0,
                       "attention_factor": 1.1},
    "proportional": {"partial_rotary_factor": 0.5},
    "proportional_stretched": {"partial_rotary_factor": 0.25, "factor": 2.0},
}

cases = []
for name, keys in KINDS.items():
    kind = name.split("_")[0]
    rope = {"rope_type": kind, "rope_theta": 10000.0, **keys}
    common = dict(hidden_size=4 * HEAD, num_attention_heads=4, max_position_embeddings=256, rope_parameters=dict(rope))
    config = (Phi3Config(original_max_position_embeddings=64, **common) if kind == "longrope" else
              LlamaConfig(head_dim=HEAD, **common))
    for length in (10, 300):
        f, attention = ROPE_INIT_FUNCTIONS[kind](config, "cpu", seq_len=length)
        cases.append({"rope": rope, "original": 64 if kind == "longrope" else 0, "length": length,
                      "frequencies": [float(x) for x in f], "attention_factor": attention})
print(json.dumps(cases, indent=1))
