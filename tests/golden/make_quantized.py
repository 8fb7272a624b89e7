#!/usr/bin/env python3
"""Writes quantized/CASE: directories as other programs quantise them, with config.json and model.safetensors of a few
matrices, and values.safetensors: what those programs read from them, F32.

usage: make_quantized.py OUT_DIR [--seed N]
needs torch, safetensors, transformers, compressed-tensors, bitsandbytes, autoawq and auto-gptq (their wheels are enough:
nothing of them runs on a GPU); some seconds
"""
import argparse
import importlib.util
import json
import os

import torch
from safetensors.torch import save_file

OUT, IN = 48, 64
UP, DOWN = "model.layers.0.mlp.up_proj", "model.layers.0.mlp.down_proj"


def module_of(package, path):
    """One file of a package, whose other files need what is not installed."""
    folder = os.path.dirname(importlib.util.find_spec(package).origin)
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], os.path.join(folder, path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def matrix(generator, rows=OUT, columns=IN):
    return torch.randn(rows, columns, generator=generator) * torch.rand(rows, 1, generator=generator) * 0.2


def write(out, name, scheme, tensors, values):
    folder = os.path.join(out, "quantized", name)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.json"), "w") as f:
        json.dump({"model_type": "llama", "quantization_config": scheme}, f, indent=1)
    tensors = {k: v.contiguous() for k, v in tensors.items()} | {"model.norm.weight": torch.ones(4)}
    metadata = {"format": "pt", "quantization_config": json.dumps(scheme)}  # for the fuzzer, which has one file
    save_file(tensors, os.path.join(folder, "model.safetensors"), metadata)
    save_file({k: v.float().contiguous() for k, v in values.items()}, os.path.join(folder, "values.safetensors"))


def fp8(out, g):
    from transformers.integrations.finegrained_fp8 import Fp8Dequantize

    def case(name, scheme, suffix, scales):
        w = matrix(g)
        q = (w / scales_for(w, scales)).clamp(-448, 448).to(torch.float8_e4m3fn)
        value = Fp8Dequantize(None)._dequantize_one(q, scales, torch.float32)
        write(out, name, scheme, {UP + ".weight": q, UP + suffix: scales, UP + ".input_scale": torch.ones(1)},
              {UP + ".weight": value})

    def scales_for(w, s):
        if s.dtype == torch.uint8:
            s = 2.0 ** (s.float() - 127)
        s = s.float().reshape(s.shape if s.dim() == 2 else (1, 1))
        return s.repeat_interleave(OUT // s.shape[0], 0).repeat_interleave(IN // s.shape[1], 1)

    method = {"quant_method": "fp8", "activation_scheme": "dynamic", "modules_to_not_convert": ["lm_head"]}
    blocks = torch.rand(3, 4, generator=g) * 0.001 + 0.0005
    case("fp8_blocks", method | {"weight_block_size": [16, 16], "fmt": "e4m3"}, ".weight_scale_inv", blocks)
    case("fp8_blocks_bf16", method | {"weight_block_size": [16, 16]}, ".weight_scale_inv", blocks.bfloat16())
    case("fp8_powers", method | {"weight_block_size": [16, 16], "scale_fmt": "ue8m0"}, ".weight_scale_inv",
         torch.randint(115, 121, (3, 4), generator=g, dtype=torch.uint8))
    case("fp8_tensor", method | {"activation_scheme": "static", "weight_block_size": None}, ".weight_scale",
         torch.tensor(0.00123))
    case("fbgemm_fp8", {"quant_method": "fbgemm_fp8", "activation_scale_ub": 1200.0}, ".weight_scale",
         torch.rand(OUT, 1, generator=g) * 0.001 + 0.0005)


def compressed_tensors(out, g):
    from compressed_tensors.compressors import BaseCompressor
    from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme, QuantizationStrategy
    from compressed_tensors.quantization.utils import calculate_qparams

    def case(name, format, dtype, **arguments):
        args = QuantizationArgs(**arguments)
        scheme = QuantizationScheme(targets=["Linear"], weights=args)
        w = matrix(g).to(dtype)
        strategy = QuantizationStrategy(args.strategy).value
        if strategy == "tensor":
            low, high = w.min().reshape(1), w.max().reshape(1)
        elif strategy == "channel":
            low, high = w.amin(1, keepdim=True), w.amax(1, keepdim=True)
        elif strategy == "group":
            parts = w.reshape(OUT, -1, args.group_size)
            low, high = parts.amin(2), parts.amax(2)
        else:
            h, b = args.block_structure
            parts = w.reshape(OUT // h, h, IN // b, b)
            low, high = parts.amin((1, 3)), parts.amax((1, 3))
        scale, zero = calculate_qparams(low, high, args)
        state = {"weight": w, "weight_scale": scale.to(dtype)}
        if not args.symmetric:
            state["weight_zero_point"] = zero.to(torch.int8)
        compressor = BaseCompressor.get_value_from_registry(format)
        small = compressor.compress(state, scheme)
        value = compressor.decompress(small, scheme)["weight"]
        assert value.dtype == dtype
        write(out, name, {"quant_method": "compressed-tensors", "format": format, "ignore": ["lm_head"],
                          "quantization_status": "compressed", "kv_cache_scheme": None,
                          "config_groups": {"group_0": json.loads(scheme.model_dump_json())}},
              {f"{UP}.{k}": v for k, v in small.items()}, {UP + ".weight": value})

    int8 = {"num_bits": 8, "type": "int"}
    case("ct_int8_channel", "int-quantized", torch.bfloat16, strategy="channel", **int8)
    case("ct_int8_tensor", "int-quantized", torch.float32, strategy="tensor", **int8)
    case("ct_int8_zeros", "int-quantized", torch.float16, strategy="channel", symmetric=False, **int8)
    case("ct_int4_group", "pack-quantized", torch.bfloat16, num_bits=4, strategy="group", group_size=16)
    case("ct_int4_zeros", "pack-quantized", torch.float16, num_bits=4, strategy="group", group_size=32, symmetric=False)
    case("ct_int4_channel", "pack-quantized", torch.float32, num_bits=4, strategy="channel", symmetric=False)
    case("ct_int3_group", "pack-quantized", torch.float32, num_bits=3, strategy="group", group_size=16, symmetric=False)
    case("ct_int8_packed", "pack-quantized", torch.bfloat16, num_bits=8, strategy="group", group_size=16)
    case("ct_fp8_channel", "float-quantized", torch.bfloat16, num_bits=8, type="float", strategy="channel")
    case("ct_fp8_block", "float-quantized", torch.float32, num_bits=8, type="float", strategy="block",
         block_structure=[16, 32])


def gptq(out, g):
    QuantLinear = module_of("auto_gptq", "nn_modules/qlinear/qlinear_cuda.py").QuantLinear

    def case(name, bits, group_size, act_order=False, version="gptq"):
        w = matrix(g, 64, 128)
        groups = 128 // (group_size if group_size > 0 else 128)
        linear = torch.nn.Linear(128, 64, bias=False)
        order = torch.arange(128) // (128 // groups)
        if act_order:
            order = order[torch.randperm(128, generator=g)]
        most = 2 ** bits - 1
        scales = (torch.rand(64, groups, generator=g) * 0.5 + 0.5) * w.abs().max() * 2 / most
        zeros = torch.randint(1, most + 1, (64, groups), generator=g).float()
        q = torch.round(w / scales[:, order] + zeros[:, order]).clamp(0, most)
        linear.weight.data = ((q - zeros[:, order]) * scales[:, order]).half()
        layer = QuantLinear(bits, group_size, 128, 64, False, weight_dtype=torch.float16)
        layer.pack(linear, scales.half(), zeros.half(), order)
        value = layer(torch.eye(128).half()).t()
        qzeros = layer.qzeros
        if version == "gptq_v2":  # the zeros themselves, not minus one
            assert bits == 4
            nibbles = ((qzeros[:, :, None] >> torch.arange(0, 32, 4, dtype=torch.int32)) & 15) + 1
            qzeros = ((nibbles & 15).to(torch.int64) << torch.arange(0, 32, 4)).sum(-1).to(torch.int32)
        tensors = {UP + ".qweight": layer.qweight, UP + ".qzeros": qzeros, UP + ".scales": layer.scales}
        if act_order or name.endswith("_g_idx"):
            tensors[UP + ".g_idx"] = order.to(torch.int32)
        write(out, name, {"quant_method": "gptq", "bits": bits, "group_size": group_size, "desc_act": act_order,
                          "sym": False, "checkpoint_format": version}, tensors, {UP + ".weight": value})

    case("gptq_4", 4, 32)
    case("gptq_4_v2", 4, 32, version="gptq_v2")
    case("gptq_4_g_idx", 4, 32, act_order=True)
    case("gptq_2_one_group", 2, -1)
    case("gptq_3", 3, 64)
    case("gptq_8", 8, 32)


def awq(out, g):
    dequantize_gemm = module_of("awq", "utils/packing_utils.py").dequantize_gemm

    w = torch.randint(0, 16, (128, 64), generator=g)
    zeros = torch.randint(0, 16, (4, 64), generator=g)
    scales = (torch.rand(4, 64, generator=g) * 0.02 + 0.001).half()

    def packed(m):
        order = torch.tensor([0, 2, 4, 6, 1, 3, 5, 7])
        nibbles = m.reshape(m.shape[0], -1, 8)[:, :, order].to(torch.int64)
        return (nibbles << torch.arange(0, 32, 4)).sum(-1).to(torch.int32)

    value = dequantize_gemm(packed(w), packed(zeros), scales, 4, 32).t()
    assert (value == ((w - zeros.repeat_interleave(32, 0)) * scales.repeat_interleave(32, 0)).t()).all()
    write(out, "awq", {"quant_method": "awq", "bits": 4, "group_size": 32, "zero_point": True, "version": "gemm"},
          {UP + ".qweight": packed(w), UP + ".qzeros": packed(zeros), UP + ".scales": scales}, {UP + ".weight": value})


def mxfp4(out, g):
    from transformers.integrations.mxfp4 import convert_moe_packed_tensors

    blocks = torch.randint(0, 256, (3, 10, 2, 16), generator=g, dtype=torch.uint8)
    scales = torch.randint(110, 130, (3, 10, 2), generator=g, dtype=torch.uint8)
    name = "model.layers.0.mlp.experts.gate_up_proj"
    write(out, "mxfp4", {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]},
          {name + "_blocks": blocks, name + "_scales": scales},
          {f"{name}[{e}]": m for e, m in enumerate(convert_moe_packed_tensors(blocks, scales, dtype=torch.float32))})


def bitsandbytes(out, g):
    import bitsandbytes as bnb
    from bitsandbytes.functional import dequantize_4bit, int8_vectorwise_dequant, int8_vectorwise_quant, quantize_4bit

    def case(name, kind, dtype, nested, block=64):
        w = matrix(g, OUT, block).to(dtype)  # the package's CPU code goes wrong where a block spans rows
        q, state = quantize_4bit(w, blocksize=block, compress_statistics=nested, quant_type=kind)
        tensors = {UP + ".weight": q} | {f"{UP}.weight.{k}": v for k, v in state.as_dict(packed=True).items()}
        write(out, name, {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": kind,
                          "bnb_4bit_use_double_quant": nested}, tensors,
              {UP + ".weight": dequantize_4bit(q, state)})

    case("bnb_nf4", "nf4", torch.bfloat16, False)
    case("bnb_nf4_double", "nf4", torch.float16, True)
    case("bnb_nf4_float", "nf4", torch.float32, True, 128)
    case("bnb_fp4", "fp4", torch.float32, False)
    w = matrix(g).half()
    q, scales, _ = int8_vectorwise_quant(w)
    write(out, "bnb_int8", {"quant_method": "bitsandbytes", "load_in_8bit": True, "llm_int8_threshold": 6.0},
          {UP + ".weight": q, UP + ".SCB": scales, UP + ".weight_format": torch.tensor(0, dtype=torch.uint8)},
          {UP + ".weight": int8_vectorwise_dequant(q, scales)})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    for make in (fp8, compressed_tensors, gptq, awq, mxfp4, bitsandbytes):
        make(args.out, torch.Generator().manual_seed(args.seed))


if __name__ == "__main__":
    main()
