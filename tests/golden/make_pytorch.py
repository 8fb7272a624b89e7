#!/usr/bin/env python3
"""Writes pytorch/: files of torch.save() in all their forms, each beside the same tensors as safetensors.

usage: make_pytorch.py OUT_DIR [--seed N]     needs torch, transformers, safetensors; a few seconds

tensors.safetensors     values of every type, of tensors that are contiguous, transposed, cut out, shared, empty, scalar
tensors_zip_pN.bin      the same by pickle protocol N in a ZIP archive (N = 2, 3, 4, 5)
tensors_stream_pN.bin   the same in the stream of before PyTorch 1.6
tensors_pN.pkl          the pickle of the archive alone, for fuzzers to begin with
MODEL/                  a tiny random model: config.json, model.safetensors and pytorch_model.bin, or its shards
"""
import argparse
import collections
import json
import os
import zipfile

import torch
from safetensors.torch import save_file
from transformers import GPT2Config, GPT2LMHeadModel, MarianConfig, MarianMTModel, T5Config, T5ForConditionalGeneration


def tensors(generator):
    def normal(*shape):
        return torch.randn(shape, generator=generator)

    shared = normal(4, 6)
    named = collections.OrderedDict(
        f64=normal(2, 3).double(), f32=normal(2, 3), f16=normal(2, 3).half(), bf16=normal(2, 3).bfloat16(),
        i64=torch.tensor([1, -2**31, 2**31 - 1]), i32=torch.tensor([1, -2**31, 2**31 - 1], dtype=torch.int32),
        i16=torch.tensor([1, -2**15, 2**15 - 1], dtype=torch.int16), i8=torch.tensor([1, -128, 127], dtype=torch.int8),
        u8=torch.tensor([0, 1, 255], dtype=torch.uint8), boolean=torch.tensor([True, False, True]),
        whole=shared, rows=shared[1:3], transposed=shared.t(), columns=shared[:, 1:4], every_other=shared.flatten()[1::2],
        permuted=normal(2, 3, 4).permute(2, 0, 1), half_transposed=normal(3, 5).half().t(),
        scalar=torch.tensor(3.5), empty=torch.zeros(0, 5), one_by_one=normal(1, 1).t(),
        parameter=torch.nn.Parameter(normal(3)))
    named._metadata = collections.OrderedDict([("", {"version": 1})])  # as state_dict() has it
    return named


def tiny_models():
    torch.manual_seed(11)
    yield "gpt2", GPT2LMHeadModel(GPT2Config(vocab_size=19, n_positions=16, n_embd=8, n_layer=2, n_head=2,
                                                 bos_token_id=18, eos_token_id=18))
    yield "marian", MarianMTModel(MarianConfig(
        vocab_size=21, d_model=8, encoder_layers=1, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2,
        encoder_ffn_dim=12, decoder_ffn_dim=12, max_position_embeddings=16, pad_token_id=20, decoder_start_token_id=20,
        eos_token_id=0, scale_embedding=True, static_position_embeddings=True, activation_function="swish"))
    yield "t5", T5ForConditionalGeneration(T5Config(
        vocab_size=23, d_model=8, d_kv=4, d_ff=12, num_layers=2, num_heads=2, decoder_start_token_id=0))


def save_model(out, name, model):
    where = os.path.join(out, name)
    model.save_pretrained(where)
    state = model.state_dict()
    if name != "t5":
        torch.save(state, os.path.join(where, "pytorch_model.bin"))
        return
    keys = list(state)
    weight_map = {}
    for number, part in enumerate((keys[:len(keys) // 2], keys[len(keys) // 2:]), 1):
        file = f"pytorch_model-{number:05}-of-00002.bin"
        torch.save({key: state[key].clone() for key in part}, os.path.join(where, file))
        weight_map.update(dict.fromkeys(part, file))
    with open(os.path.join(where, "pytorch_model.bin.index.json"), "w") as index:
        json.dump({"metadata": {"total_size": sum(t.nbytes for t in state.values())}, "weight_map": weight_map}, index)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--seed", type=int, default=5)
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    named = tensors(torch.Generator().manual_seed(args.seed))
    save_file({name: t.detach().contiguous().clone() for name, t in named.items()},
              os.path.join(args.out, "tensors.safetensors"))
    for protocol in (2, 3, 4, 5):
        for form, zipped in (("zip", True), ("stream", False)):
            torch.save(named, os.path.join(args.out, f"tensors_{form}_p{protocol}.bin"), pickle_protocol=protocol,
                       _use_new_zipfile_serialization=zipped)
        with zipfile.ZipFile(os.path.join(args.out, f"tensors_zip_p{protocol}.bin")) as archive:
            mapping = next(name for name in archive.namelist() if name.endswith("/data.pkl"))
            with open(os.path.join(args.out, f"tensors_p{protocol}.pkl"), "wb") as file:
                file.write(archive.read(mapping))
    for name, model in tiny_models():
        save_model(args.out, name, model)


if __name__ == "__main__":
    main()
