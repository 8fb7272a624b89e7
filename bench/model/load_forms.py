#!/usr/bin/env python3
"""How long a model takes to load, and how much memory at most, in each form that tril reads, beside the same model in safetensors.

    python bench/model/load_forms.py --tril build/tril --work /tmp/forms [--only safetensors,gptq,...]
    needs torch, safetensors and gguf; 9 GB of disk, and 3 GB of memory to make the forms

The model is a Llama of about 268 million random weights, 1.07 GB in float32. Quantised forms have the sizes and tensors of their
programs; where a form needs no calibration, its values are those of the model. `mxfp4` is a gpt_oss of random weights, and is
compared with the same model in bfloat16 (`mxfp4_bf16`). Time and memory are those of a program that loads the model and
generates one token, the fastest of --repeat runs with files in the system's cache; `processor` are the seconds of the program and of the
system for it, which other load changes less. Forms take turns, so that a change of the machine's speed concerns all. Prints a table,
and with --json an object.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys

import torch
from safetensors.torch import load_file, save_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOKENIZER = ROOT / "tests/golden/hf/tokenizers/bytelevel_gpt2"
D, FF, LAYERS, HEADS, GROUP = 1024, 4096, 16, 16, 128
EXPERTS, EXPERT_FF = 16, 512
LINEAR = {"self_attn.q_proj": (D, D), "self_attn.k_proj": (D, D), "self_attn.v_proj": (D, D), "self_attn.o_proj": (D, D),
          "mlp.gate_proj": (FF, D), "mlp.up_proj": (FF, D), "mlp.down_proj": (D, FF)}
LEFT_OUT = ["lm_head"]


def new_directory(work, name, config, tensors):
    folder = work / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(TOKENIZER, folder)
    (folder / "config.json").write_text(json.dumps(config))
    if tensors is not None:
        save_file({k: v.contiguous() for k, v in tensors.items()}, folder / "model.safetensors", {"format": "pt"})
    return folder


def vocabulary_size():
    t = json.loads((TOKENIZER / "tokenizer.json").read_text())
    return 1 + max([*t["model"]["vocab"].values(), *(token["id"] for token in t["added_tokens"])])


def llama():
    size = vocabulary_size()
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": size, "hidden_size": D, "intermediate_size": FF,
              "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": HEADS, "max_position_embeddings": 2048,
              "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu", "tie_word_embeddings": False, "bos_token_id": 0,
              "eos_token_id": 0, "torch_dtype": "float32"}
    g = torch.Generator().manual_seed(1)
    matrix = lambda *shape: torch.randn(*shape, generator=g) / shape[-1] ** 0.5
    tensors = {"model.embed_tokens.weight": matrix(size, D), "lm_head.weight": matrix(size, D), "model.norm.weight": torch.ones(D)}
    for i in range(LAYERS):
        for name, shape in LINEAR.items():
            tensors[f"model.layers.{i}.{name}.weight"] = matrix(*shape)
        for name in ("input_layernorm", "post_attention_layernorm"):
            tensors[f"model.layers.{i}.{name}.weight"] = torch.ones(D)
    return config, tensors


def replaced(tensors, make):
    """The tensors with those of each linear layer in another form: make(matrix) -> {suffix: tensor}."""
    result = {}
    for name, value in tensors.items():
        if ".layers." in name and value.dim() == 2:
            result |= {name.removesuffix("weight") + suffix: v for suffix, v in make(value).items()}
        else:
            result[name] = value.bfloat16()
    return result


def packed(values, bits=4, order=range(8)):
    """The last dimension's integers, 32 / bits of them in one int32."""
    parts = values.reshape(*values.shape[:-1], -1, 32 // bits)[..., list(order)].to(torch.int64)
    return (parts << torch.arange(0, 32, bits)).sum(-1).to(torch.int32)


def fp8(w):
    blocks = w.reshape(w.shape[0] // 128, 128, w.shape[1] // 128, 128)
    scale = blocks.abs().amax((1, 3)) / 448
    return {"weight": (blocks / scale[:, None, :, None]).reshape(w.shape).to(torch.float8_e4m3fn), "weight_scale_inv": scale}


def int8_channels(w):
    scale = w.abs().amax(1, keepdim=True) / 127
    return (w / scale).round().to(torch.int8), scale


def ct_int8(w):
    q, scale = int8_channels(w)
    return {"weight": q, "weight_scale": scale.bfloat16()}


def groups4(w):
    """Integers 0..15 of groups of 128 columns, with one scale each; 8 stands for zero."""
    parts = w.reshape(w.shape[0], -1, GROUP)
    scale = parts.abs().amax(2) / 7
    return ((parts / scale[:, :, None]).round() + 8).clamp(0, 15).reshape(w.shape), scale


def ct_int4(w):
    q, scale = groups4(w)
    return {"weight_packed": packed(q), "weight_scale": scale.bfloat16(), "weight_shape": torch.tensor(w.shape)}


def gptq(w):
    q, scale = groups4(w)
    zeros = torch.full((w.shape[1] // GROUP, w.shape[0]), 7)  # stored minus one
    return {"qweight": packed(q).t(), "qzeros": packed(zeros), "scales": scale.t().half()}


def awq(w):
    q, scale = groups4(w)
    order = (0, 2, 4, 6, 1, 3, 5, 7)
    zeros = torch.full((w.shape[1] // GROUP, w.shape[0]), 8)
    return {"qweight": packed(q.t(), order=order), "qzeros": packed(zeros, order=order), "scales": scale.t().half()}


NF4 = [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
       -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
       0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0]


def bnb_nf4(w):
    blocks = w.reshape(-1, 64)
    most = blocks.abs().amax(1)
    table = torch.tensor(NF4)
    nearest = torch.bucketize(blocks / most[:, None], (table[1:] + table[:-1]) / 2).reshape(-1, 2)
    state = {"quant_type": "nf4", "blocksize": 64, "dtype": "bfloat16", "shape": list(w.shape)}
    return {"weight": ((nearest[:, 0] << 4) | nearest[:, 1]).to(torch.uint8)[:, None], "weight.absmax": most, "weight.quant_map": table,
            "weight.quant_state.bitsandbytes__nf4": torch.tensor(list(json.dumps(state).encode()), dtype=torch.uint8)}


def bnb_int8(w):
    q, scale = int8_channels(w.half().float())
    return {"weight": q, "SCB": scale[:, 0] * 127, "weight_format": torch.tensor(0, dtype=torch.uint8)}


def compressed(bits, strategy, format):
    weights = {"num_bits": bits, "type": "int", "symmetric": True, "strategy": strategy, "group_size": GROUP if strategy == "group" else None}
    return {"quant_method": "compressed-tensors", "format": format, "ignore": LEFT_OUT, "quantization_status": "compressed",
            "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}}}


QUANTISED = {
    "fp8": (fp8, {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}),
    "ct_int8": (ct_int8, compressed(8, "channel", "int-quantized")),
    "ct_int4": (ct_int4, compressed(4, "group", "pack-quantized")),
    "gptq": (gptq, {"quant_method": "gptq", "bits": 4, "group_size": GROUP, "desc_act": False, "sym": True}),
    "awq": (awq, {"quant_method": "awq", "bits": 4, "group_size": GROUP, "zero_point": True, "version": "gemm"}),
    "bnb_nf4": (bnb_nf4, {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4",
                          "bnb_4bit_use_double_quant": False}),
    "bnb_int8": (bnb_int8, {"quant_method": "bitsandbytes", "load_in_8bit": True, "llm_int8_threshold": 6.0}),
}
GGUF = {"gguf_f32": "f32", "gguf_f16": "f16", "gguf_q8_0": "q8_0", "gguf_q4_0": "q4_0", "gguf_q4_k": "q4_0"}
MXFP4 = ("mxfp4", "mxfp4_bf16")


def gpt_oss(quantised):
    size = vocabulary_size()
    config = {"architectures": ["GptOssForCausalLM"], "model_type": "gpt_oss", "vocab_size": size, "hidden_size": D,
              "intermediate_size": EXPERT_FF, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": 4,
              "head_dim": 64, "num_local_experts": EXPERTS, "num_experts_per_tok": 2, "sliding_window": 128, "hidden_act": "silu",
              "rope_theta": 150000.0, "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 512},
              "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "attention_bias": True, "tie_word_embeddings": False,
              "bos_token_id": 0, "eos_token_id": 0, "torch_dtype": "bfloat16"}
    if quantised:
        config["quantization_config"] = {"quant_method": "mxfp4", "modules_to_not_convert": LEFT_OUT}
    g = torch.Generator().manual_seed(2)
    matrix = lambda *shape: (torch.randn(*shape, generator=g) / D ** 0.5).bfloat16()
    tensors = {"model.embed_tokens.weight": matrix(size, D), "lm_head.weight": matrix(size, D), "model.norm.weight": torch.ones(D)}
    for i in range(LAYERS):
        at = f"model.layers.{i}."
        for part, out, rows in (("q_proj", D, D), ("k_proj", 256, D), ("v_proj", 256, D), ("o_proj", D, D)):
            tensors |= {f"{at}self_attn.{part}.weight": matrix(out, rows), f"{at}self_attn.{part}.bias": torch.zeros(out)}
        tensors |= {at + "self_attn.sinks": torch.zeros(HEADS), at + "mlp.router.weight": matrix(EXPERTS, D),
                    at + "mlp.router.bias": torch.zeros(EXPERTS), at + "input_layernorm.weight": torch.ones(D),
                    at + "post_attention_layernorm.weight": torch.ones(D)}
        for part, out, rows in (("gate_up_proj", 2 * EXPERT_FF, D), ("down_proj", D, EXPERT_FF)):
            name = f"{at}mlp.experts.{part}"
            tensors[name + "_bias"] = torch.zeros(EXPERTS, out)
            if quantised:
                tensors[name + "_blocks"] = torch.randint(0, 256, (EXPERTS, out, rows // 32, 16), generator=g, dtype=torch.uint8)
                tensors[name + "_scales"] = torch.full((EXPERTS, out, rows // 32), 119, dtype=torch.uint8)
            else:
                tensors[name] = matrix(EXPERTS, rows, out)
    return config, tensors


def as_q4_k(path):
    """Turns the Q4_0 tensors of a file into Q4_K of the same size in place: eight blocks of 18 bytes are one of 144."""
    import gguf
    reader = gguf.GGUFReader(path, "r+")
    for tensor in reader.tensors:
        if tensor.tensor_type == gguf.GGMLQuantizationType.Q4_0:
            tensor.field.parts[4][0] = gguf.GGMLQuantizationType.Q4_K
            tensor.data.reshape(-1, 144)[:, 2:4] = 0  # the least value of a block: it must be a number
    reader.data.flush()


def make(name, o):
    if name in MXFP4:
        return new_directory(o.work, name, *gpt_oss(name == "mxfp4"))
    reference = o.work / "safetensors"
    if name == "safetensors":
        return new_directory(o.work, name, *llama())
    if name in GGUF:
        path = o.work / (name + ".gguf")
        subprocess.run([o.tril, "export", "-q", "-m", reference, "--to", path, "--type", GGUF[name]], check=True)
        if name == "gguf_q4_k":
            as_q4_k(path)
        return path
    if name == "ctranslate2":
        path = o.work / name
        shutil.rmtree(path, ignore_errors=True)
        subprocess.run([o.tril, "export", "-q", "-m", reference, "--to", path, "--format", "ctranslate2", "--type", "f32"], check=True)
        return path
    config = json.loads((reference / "config.json").read_text())
    tensors = load_file(reference / "model.safetensors")
    if name == "bf16":
        return new_directory(o.work, name, config | {"torch_dtype": "bfloat16"}, {k: v.bfloat16() for k, v in tensors.items()})
    if name.startswith("pytorch"):
        folder = new_directory(o.work, name, config, None)
        torch.save(tensors, folder / "pytorch_model.bin", _use_new_zipfile_serialization=name == "pytorch")
        return folder
    convert, scheme = QUANTISED[name]
    return new_directory(o.work, name, config | {"quantization_config": scheme, "torch_dtype": "bfloat16"}, replaced(tensors, convert))


# Runs a command from a small process: the peak memory of a child begins with that of its parent.
MEASURE = """
import json, os, subprocess, sys, time
begun = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
print(json.dumps([time.perf_counter() - begun, used.ru_maxrss * 1024, used.ru_utime + used.ru_stime, status]))
"""


def run(o, path):
    command = [o.tril, "generate", "-q", "-m", str(path), "-p", "a", "--max-new-tokens", "1", "--threads", str(o.threads)]
    found = subprocess.run([sys.executable, "-I", "-S", "-c", MEASURE, *command], check=True, capture_output=True, text=True)
    seconds, peak, processor, status = json.loads(found.stdout)
    if status != 0:
        sys.exit(f"{path}: tril failed: {found.stderr}")
    return seconds, peak, processor


def size_of(path):
    files = [path] if path.is_file() else [f for f in path.iterdir() if f.suffix in (".safetensors", ".bin")]
    return sum(f.stat().st_size for f in files)


def main():
    every = ["safetensors", "bf16", "pytorch", "pytorch_stream", *GGUF, "ctranslate2", *QUANTISED, *MXFP4]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tril", default=str(ROOT / "build/tril"))
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for the forms; those already there are kept")
    parser.add_argument("--only", default=",".join(every))
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    o = parser.parse_args()
    o.work.mkdir(parents=True, exist_ok=True)
    names = ["safetensors", *(n for n in o.only.split(",") if n != "safetensors")]
    paths = {}
    for name in names:
        at = o.work / (name + ".gguf" if name in GGUF else name)
        paths[name] = at if at.exists() else make(name, o)
        print(f"{name}: {size_of(paths[name]) / 1e9:.2f} GB", file=sys.stderr, flush=True)
    results = {name: [] for name in names}
    for turn in range(1 + o.repeat):  # the first reads the files into the system's cache
        for name in names:
            measured = run(o, paths[name])
            if turn > 0:
                results[name].append(measured)
    rows = {}
    for name in names:
        seconds, peak = min(r[0] for r in results[name]), max(r[1] for r in results[name])
        rows[name] = {"file_gb": size_of(paths[name]) / 1e9, "seconds": seconds, "slowest_seconds": max(r[0] for r in results[name]),
                      "processor": min(r[2] for r in results[name]), "peak_gb": peak / 1e9}
    for name, row in rows.items():
        beside = rows["mxfp4_bf16" if name in MXFP4 and "mxfp4_bf16" in rows else "safetensors"]
        row |= {ratio + "_ratio": row[of] / beside[of] for ratio, of in (("time", "seconds"), ("processor", "processor"), ("memory", "peak_gb"))}
    if o.json:
        print(json.dumps(rows, indent=1))
        return
    print(f"{'form':<15} {'GB':>5} {'seconds':>8} {'slowest':>8} {'processor':>9} {'peak GB':>8} {'time':>6} {'processor':>9} {'memory':>7}")
    for name, r in rows.items():
        print(f"{name:<15} {r['file_gb']:5.2f} {r['seconds']:8.3f} {r['slowest_seconds']:8.3f} {r['processor']:9.3f} {r['peak_gb']:8.2f} "
              f"{r['time_ratio']:6.2f} {r['processor_ratio']:9.2f} {r['memory_ratio']:7.2f}")


if __name__ == "__main__":
    main()
