#!/usr/bin/env python3
"""Writes gguf/converted.json: what llama.cpp's own converter makes of directories of hf/, without the values.

usage: make_gguf_converted.py LLAMA_CPP OUT_DIR [DIRECTORY...]     needs torch, transformers, numpy, and llama.cpp's Python sources
       (LLAMA_CPP/conversion and LLAMA_CPP/gguf-py; here those of llama-cpp-python 0.3.36's source package); some seconds

For each directory: `changes`, keys of config.json that differ from the directory's; `metadata`, a list of [key, type, value] in the order of the file (only the architecture's keys and
general.architecture), and `tensors`, {name: [shape, row-major, and the FNV-1a hash (64 bits, hexadecimal) of the float32
values' bytes]}; the decays of Mamba's heads, ssm_a, have their values instead of the hash, since they come from torch's exp. The
directories have no tokenizer; none is written.
"""
import json
import os
import pathlib
import shutil
import sys
import tempfile

# The directories, with changes of config.json where llama.cpp's code for the architecture would compute something else:
# it leaves every fourth layer without rotation, and has windows in the first 3 of 4 or 5 of 6 layers.
WINDOWS = ["sliding_attention"] * 3
FAMILIES = {
    "qwen3_moe": {}, "qwen2_moe": {}, "smollm3": {"no_rope_layers": [1, 1]}, "seed_oss": {}, "arcee": {},
    "starcoder2": {}, "cohere2": {"layer_types": WINDOWS, "rotary_pct": 1.0},
    "nemotron": {}, "ernie4_5": {}, "olmo3": {},
    "gemma3_text": {"layer_types": WINDOWS, "query_pre_attn_scalar": 16},
    "gpt_oss": {}, "granitemoe": {}, "glm": {}, "glm4": {}, "glm4_moe": {"num_nextn_predict_layers": 0}, "deepseek_v3": {},
    "ministral3": {}, "exaone4": {"sliding_window": None, "layer_types": ["full_attention"] * 3},
    "hunyuan_v1_dense": {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}}, "hunyuan_v1_moe": {},
    "minimax_m2": {}, "olmo": {}, "stablelm": {}, "gpt_neox": {}, "bloom": {}, "falcon": {"max_position_embeddings": 2048},
    "falcon_new": {"max_position_embeddings": 2048}, "mpt": {}, "gpt_bigcode": {},
    "afmoe": {"layer_types": WINDOWS}, "apertus": {}, "hy_v3": {}, "jais2": {}, "lfm2": {}, "lfm2_moe": {}, "glm4_moe_lite": {},
    "qwen3_5_text": {}, "qwen3_5_moe_text": {}, "gemma4_text": {}, "gemma4_experts": {}, "gemma4_shared_experts": {},
    "minicpm3": {"scale_emb": 12, "scale_depth": 1.4, "dim_model_base": 256},
    "granitemoehybrid": {}, "granitemoehybrid_dense": {"position_embedding_type": "nope", "intermediate_size": 24},
    "granitemoehybrid_attention": {}, "granitemoeshared": {}, "falcon_h1": {"mamba_norm_before_gate": False}, "mamba2": {},
    "exaone": {}, "bamba": {}, "nemotron_h_dense": {}, "nemotron_h_moe": {},
    "step3p7": {"text_config": {"query_pre_attn_scalar": 12, "rms_norm_eps": 1e-05}}}
# Keys that only the converter gets: those of the publishers' files, which transformers writes otherwise or leaves out. None: the
# publishers' files lack the key.
FOR_CONVERTER = {
    "glm": {"seq_length": 128, "layernorm_epsilon": 1.5625e-07}, "deepseek_v3": {"scoring_func": "sigmoid"},
    "hunyuan_v1_moe": {"moe_intermediate_size": [80, 80], "moe_topk": [2, 2], "num_shared_expert": [1, 1]},
    "minimax_m2": {"rotary_dim": 12, "scoring_func": "sigmoid"}, "gpt_neox": {"rotary_pct": 0.25}, "bloom": {"seq_length": 2048},
    "falcon": {"num_kv_heads": 1}, "mpt": {"architectures": ["MPTForCausalLM"]},
    "afmoe": {"route_norm": True}, "glm4_moe_lite": {"scoring_func": "sigmoid"},
    "granitemoehybrid": {"layer_types": ["mamba", "attention"]}, "granitemoehybrid_dense": {"layer_types": ["mamba", "attention"]},
    "falcon_h1": {"head_dim": 8},
    "exaone": {"activation_function": "silu", "architectures": ["ExaoneForCausalLM"]}, "bamba": {"attn_rotary_emb": 4},
    "nemotron_h_dense": {"num_experts_per_tok": None, "n_routed_experts": None, "n_group": None, "topk_group": None, "hybrid_override_pattern": "M-*M-", "mamba_d_head": 8},
    "nemotron_h_moe": {"hybrid_override_pattern": "ME*E", "mamba_d_head": 8},
    "granitemoehybrid_attention": {"layer_types": ["attention", "attention"]},
    "step3p7": {"num_attention_groups": 2, "attention_other_setting": {"num_attention_heads": 6, "num_attention_groups": 2},
                "rope_theta": [10000.0, 1000.0, 1000.0], "partial_rotary_factors": [1.0, 1.0, 0.5], "moe_num_experts": 4, "moe_top_k": 2,
                "moe_layers_enum": "1,2", "norm_expert_weight": True}}
HF = pathlib.Path(__file__).resolve().parent / "hf"


def fnv1a(data):
    h = 0xCBF29CE484222325
    for b in data:
        h = (h ^ b) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{h:016x}"


def merged(config, changes):
    """A config.json with changes, which may be inside its text_config."""
    return {**config, **{k: {**config[k], **v} if k == "text_config" else v for k, v in changes.items()}}


def convert(source, changes, work):
    """The file that the converter writes for a directory, read back."""
    import gguf
    from conversion import ModelType, get_model_architecture, get_model_class
    from conversion.base import ModelBase
    from conversion.llama import LlamaModel
    directory, out = work / source.name, work / f"{source.name}.gguf"
    shutil.copytree(source, directory)
    config = merged(json.loads((directory / "config.json").read_text()), changes)
    (directory / "config.json").write_text(json.dumps(config))
    tokens = {str(i): i for i in range({**config, **config.get("text_config", {})}["vocab_size"])}  # some converters count the tokens
    (directory / "tokenizer.json").write_text(json.dumps({"model": {"vocab": tokens}, "added_tokens": []}))
    hparams = ModelBase.load_hparams(directory, False)
    own = FOR_CONVERTER.get(source.name, {})
    text = hparams.get("text_config", hparams)
    text.update(own)
    for key in [key for key in own if own[key] is None]:
        del text[key]
    kind = get_model_class(get_model_architecture(hparams, ModelType.TEXT))
    kind.no_mtp = True
    kind.set_vocab = LlamaModel.set_vocab = lambda self: None
    kind(directory, gguf.LlamaFileType.ALL_F32, out, eager=True, hparams=hparams).write()
    return gguf.GGUFReader(str(out))


def described(file):
    import gguf
    metadata = []
    architecture = file.fields["general.architecture"].contents()
    for key, field in file.fields.items():
        if key != "general.architecture" and not key.startswith((architecture + ".", "xielu.")):
            continue
        types = [t.name for t in field.types]
        value = field.contents()
        metadata.append([key, "/".join(types).lower(), value])
    tensors = {}
    for t in file.tensors:
        assert t.tensor_type == gguf.GGMLQuantizationType.F32
        rates = t.name.endswith("ssm_a") and len(t.shape) == 2
        tensors[t.name] = [[int(n) for n in reversed(t.shape)], t.data.ravel().tolist() if rates else fnv1a(t.data.tobytes())]
    return {"metadata": metadata, "tensors": tensors}


def main(llama_cpp, out, *only):
    sys.path[:0] = [llama_cpp, os.path.join(llama_cpp, "gguf-py")]
    result = {}
    with tempfile.TemporaryDirectory() as work:
        for family, changes in FAMILIES.items():
            if only and family not in only:
                continue
            result[family] = {"changes": changes, **described(convert(HF / family, changes, pathlib.Path(work)))}
    lines = []
    for family, d in result.items():
        metadata = ",\n  ".join(json.dumps(m) for m in d["metadata"])
        tensors = ",\n  ".join(f"{json.dumps(n)}: {json.dumps(t)}" for n, t in sorted(d["tensors"].items()))
        lines.append(f'"{family}": {{"changes": {json.dumps(d["changes"])}, "metadata": [\n  {metadata}],\n "tensors": {{\n  {tensors}}}}}')
    (pathlib.Path(out) / "gguf" / "converted.json").write_text("{" + ",\n".join(lines) + "}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
