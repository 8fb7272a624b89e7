#!/usr/bin/env python3
"""Damages a model in each form that tril reads, and asks the real program for it within bounded memory.

    python tests/model_io/check_hostile_forms.py --tril build/tril [--gib 2]
    needs numpy, torch and safetensors; makes its models of tests/golden

Each form is cut at every tenth of its size, has bytes overwritten, shapes of 2^62 values, names that lead outside its directory or
links that do, and archives that unpack to far more than they hold; a pickle that would run a program must not. Each must end in one
clear error and exit 1 (2 for a mistake of the caller), without a signal, within --gib GiB of address space and 60 seconds.
"""
import argparse
import io
import json
import os
import pathlib
import pickle
import resource
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/golden"
failures = []


def run(o, model, what, must_fail=True, inspect=False):
    """Runs the program on a damaged model; a cut or overwritten one may also be whole by chance."""
    limit = o.gib << 30
    command = [o.tril, "inspect", str(model)] if inspect else [
        o.tril, "generate" if o.decoder else "translate", "-q", "-m", str(model), *(["-p", "a"] if o.decoder else []), "--max-new-tokens"
        if o.decoder else "--max-length", "2", "--threads", "1"]
    try:
        ran = subprocess.run(command, input=b"a dog\n", capture_output=True, timeout=60,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    except subprocess.TimeoutExpired:
        failures.append(f"{what}: took more than 60 seconds")
        return
    error = ran.stderr.decode(errors="replace")
    o.runs += 1
    if ran.returncode == 0 and not must_fail:
        return
    if ran.returncode not in (1, 2):
        failures.append(f"{what}: exit {ran.returncode}: {error[-300:]}")
    elif "internal error" in error or "bad_alloc" in error or not error.startswith("tril") or len(error) > 3000:
        failures.append(f"{what}: unclear: {error[:300]}")
    elif o.verbose:
        print(f"{what}: {error.strip()[:200]}")


def copied(source, work, name):
    to = work / name
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(source, to) if source.is_dir() else shutil.copy(source, to)
    for path in [to, *to.rglob("*")] if to.is_dir() else [to]:
        os.chmod(path, 0o755)
    return to


def damage_file(o, model, file, name):
    """Cuts at every tenth, and overwrites 8 bytes at 20 places with ones, with zeros and with a large number. tril inspect is asked too;
    it reads no values, so it may take the file."""
    whole = file.read_bytes()

    def ask(what, must_fail):
        run(o, model, what, must_fail)
        run(o, model, f"{what}, inspect", must_fail=False, inspect=True)

    for tenth in range(10):
        file.write_bytes(whole[:len(whole) * tenth // 10])
        ask(f"{name} cut at {tenth}0%", must_fail=True)
    file.write_bytes(whole + b"\0" * 7)
    ask(f"{name} with bytes behind its end", must_fail=False)
    for i in range(20):
        at = (len(whole) - 8) * i // 60  # headers come first in most forms
        for value in (b"\xff" * 8, b"\0" * 8, struct.pack("<Q", 1 << 62)):
            file.write_bytes(whole[:at] + value + whole[at + 8:])
            ask(f"{name} with {value.hex()} at byte {at}", must_fail=False)
    file.write_bytes(whole)


class Runs:
    def __init__(self, program, arguments):
        self.program, self.arguments = program, arguments

    def __reduce__(self):
        return self.program, self.arguments


def pickles(o, directory, work):
    """Pickles whose opcodes call, in both forms of torch.save()."""
    import torch
    mark = work / "was_run"
    file = directory / "pytorch_model.bin"
    for program, arguments in ((os.system, (f"touch {mark}",)), (eval, (f"open({str(mark)!r}, 'w')",)), (exec, ("1",)),
                               (getattr, ("a", "b")), (__import__, ("os",)), (print, ("a",))):
        for zipped in (True, False):
            torch.save({"model.norm.weight": Runs(program, arguments)}, file, _use_new_zipfile_serialization=zipped)
            run(o, directory, f"pickle that calls {program.__name__}, zip {zipped}")
    file.write_bytes(pickle.dumps(Runs(os.system, (f"touch {mark}",))))
    run(o, directory, "a plain pickle that calls os.system")
    if mark.exists():
        failures.append("a pickle was run")


def rebuilt(shape, strides, offset, count):
    """data.pkl of one tensor with these sizes, by hand."""
    number = lambda n: b"J" + struct.pack("<i", n) if -(1 << 31) <= n < 1 << 31 else b"\x8a\x08" + n.to_bytes(8, "little", signed=True)
    text = lambda t: b"X" + struct.pack("<I", len(t)) + t.encode()
    numbers = lambda list: b"(" + b"".join(map(number, list)) + b"t"
    storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text("0") + text("cpu") + number(count) + b"tQ"
    tensor = b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + number(offset) + numbers(shape) + numbers(strides) + b"\x89" + b"}" + b"tR"
    return b"\x80\x02}(" + text("model.norm.weight") + tensor + b"u."


def sizes(o, directory):
    file = directory / "pytorch_model.bin"
    for shape, strides, offset, count in (([1 << 62], [1], 0, 4), ([1 << 40, 1 << 40], [1 << 40, 1], 0, 4), ([-4], [1], 0, 4), ([4], [-1], 0, 4),
                                          ([4], [1 << 62], 0, 4), ([4], [1], 1 << 62, 4), ([4], [1], -1, 4), ([4], [1], 0, (1 << 63) - 1),
                                          ([1 << 30], [0], 0, 4), ([0, 1 << 62], [1, 1], 0, 4), ([5], [1], 0, 4)):
        with zipfile.ZipFile(file, "w") as z:
            z.writestr("a/data.pkl", rebuilt(shape, strides, offset, count)), z.writestr("a/data/0", b"\0" * 16)
        run(o, directory, f"tensor of {shape}, strides {strides}, offset {offset}, storage of {count}")


def archives(o, directory, npz_directory, npz, work):
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("archive/data.pkl", b"\0" * (300 << 20))
    (directory / "pytorch_model.bin").write_bytes(bomb.getvalue())
    run(o, directory, "a ZIP whose data.pkl unpacks to 300 MiB")
    whole = npz.read_bytes()
    with zipfile.ZipFile(npz, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("encoder_Wemb.npy", b"\x93NUMPY\x01\0" + struct.pack("<H", 118) + b" " * 118 + b"\0" * (300 << 20))
    decoder, o.decoder = o.decoder, False
    run(o, npz_directory, "an .npz that unpacks to 300 MiB")
    npz.write_bytes(whole)
    outside = f"outside_of_{work.parent.name}"  # no other program's name
    for name in (f"../../{outside}", str(work.parent / outside), f"a/../../{outside}", f"..\\{outside}", "a\0b", f"C:\\{outside}"):
        archive = work / "opus.zip"
        with zipfile.ZipFile(archive, "w") as z:
            for path in (GOLDEN / "marian/opus").iterdir():
                z.write(path, path.name)
            z.writestr(zipfile.ZipInfo("placeholder"), "x")
            z.filelist[-1].filename = z.filelist[-1].orig_filename = name
        run(o, archive, f"an OPUS-MT archive with a file {name!r}", must_fail=False)
    for target in (str(work.parent / outside), f"../../{outside}"):
        archive = work / "opus.zip"
        with zipfile.ZipFile(archive, "w") as z:
            for path in (GOLDEN / "marian/opus").iterdir():
                z.write(path, path.name)
            link = zipfile.ZipInfo("link")
            link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
            z.writestr(link, target)
            z.writestr("link/", "")
            z.writestr("link/file", "written through the link")
        run(o, archive, f"an OPUS-MT archive with a link to {target!r}", must_fail=False)
    o.decoder = decoder
    here = pathlib.Path.cwd()
    for folder in (work, work.parent, work.parent.parent, pathlib.Path(tempfile.gettempdir()), here, here.parent, pathlib.Path("/")):
        if (folder / outside).exists():
            failures.append(f"{folder / outside} was written")


def links(o, directory, work):
    """Links in a model's directory. One to a whole file elsewhere is read, as in the cache of the hub; no other can be a model."""
    (work / "other").write_bytes(b"root:x:0:0:secret\n")
    for name in ("model.safetensors", "config.json"):
        file, whole = directory / name, work / f"whole_{name}"
        shutil.move(file, whole)
        for target in (whole, work / "absent", name, directory, "/dev/null", work / "other"):
            os.symlink(target, file)
            run(o, directory, f"{name} that links to {target}", must_fail=target != whole)
            run(o, directory, f"{name} that links to {target}, inspect", must_fail=False, inspect=True)
            file.unlink()
        shutil.move(whole, file)


def gguf_headers(o, file):
    """GGUF files with numbers of 2^62 in each place of the header."""
    number, huge = lambda n: struct.pack("<Q", n), 1 << 62
    text = lambda t: number(len(t)) + t.encode()
    begin = lambda tensors, keys: b"GGUF" + struct.pack("<I", 3) + number(tensors) + number(keys)
    key = lambda kind, value: text("general.architecture") + struct.pack("<I", kind) + value
    llama = key(8, text("llama"))
    count = lambda n: struct.pack("<I", n)
    tensor = lambda sizes, kind, offset: (text("output_norm.weight") + count(len(sizes)) + b"".join(map(number, sizes)) + count(kind) +
                                          number(offset))
    for what, header in (("tensors", begin(huge, 1) + llama), ("keys", begin(1, huge) + llama),
                         ("bytes of a key", begin(0, 1) + number(huge) + b"a"),
                         ("bytes of a text", begin(0, 1) + key(8, number(huge) + b"a")),
                         ("values of an array", begin(0, 1) + key(9, struct.pack("<I", 4) + number(huge))),
                         ("texts of an array", begin(0, 1) + key(9, struct.pack("<I", 8) + number(huge))),
                         ("a tensor's rows", begin(1, 1) + llama + tensor([4, huge], 0, 0)),
                         ("a tensor's values", begin(1, 1) + llama + tensor([huge], 0, 0)),
                         ("values that wrap to none", begin(1, 1) + llama + tensor([huge, 4], 0, 0)),
                         ("a tensor's place", begin(1, 1) + llama + tensor([4], 0, huge)),
                         ("blocks of 4 bits", begin(1, 1) + llama + tensor([huge], 2, 0)),
                         ("sizes", begin(1, 1) + llama + text("output_norm.weight") + struct.pack("<I", (1 << 32) - 1))):
        file.write_bytes(header + b"\0" * 64)
        run(o, file, f"GGUF with 2^62: {what}")
        run(o, file, f"GGUF with 2^62: {what}, inspect", inspect=True)


def headers(o, directory, work):
    """safetensors with shapes and places that cannot be."""
    file = directory / "model.safetensors"
    for shape, offsets in (([1 << 62, 4], [0, 16]), ([1 << 63], [0, 16]), ([-4], [0, 16]), ([4], [0, 1 << 62]), ([4], [16, 0]), ([4], [-16, 0]),
                           ([1e300], [0, 16]), ([4], [8, 24])):
        header = json.dumps({"model.norm.weight": {"dtype": "F32", "shape": shape, "data_offsets": offsets}}).encode()
        file.write_bytes(struct.pack("<Q", len(header)) + header + b"\0" * 16)
        run(o, directory, f"safetensors of shape {shape} at {offsets}")
    both = json.dumps({n: {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]} for n in ("a", "b")}).encode()
    file.write_bytes(struct.pack("<Q", len(both)) + both + b"\0" * 16)
    run(o, directory, "safetensors whose tensors overlap")
    for length in ((1 << 63) - 1, 1 << 62, 1 << 32):
        file.write_bytes(struct.pack("<Q", length) + b"{}")
        run(o, directory, f"safetensors with a header of {length} bytes")
    file.unlink()
    secret = work / "secret.safetensors"
    shutil.copy(GOLDEN / "hf/llama/model.safetensors", secret)
    for name in (str(secret), "../secret.safetensors", "a/../../secret.safetensors", "model.safetensors\0", ".."):
        (directory / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": {"model.norm.weight": name}}))
        run(o, directory, f"an index that names {name!r}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tril", default=str(ROOT / "build/tril"))
    parser.add_argument("--gib", type=int, default=2)
    parser.add_argument("--only", help="forms, separated by commas")
    parser.add_argument("--verbose", action="store_true", help="print every error")
    o = parser.parse_args()
    o.runs = 0
    import torch
    from safetensors.torch import load_file
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder) / "work"
        work.mkdir()
        llama = copied(GOLDEN / "hf/llama", work, "llama")
        tensors = load_file(llama / "model.safetensors")
        forms = {}
        for name, zipped in (("pytorch", True), ("pytorch_stream", False)):
            directory = forms[name] = copied(llama, work, name)
            (directory / "model.safetensors").unlink()
            torch.save(tensors, directory / "pytorch_model.bin", _use_new_zipfile_serialization=zipped)
        forms["safetensors"] = copied(llama, work, "safetensors")
        forms["ctranslate2"] = copied(GOLDEN / "ctranslate2/llama.int8", work, "ctranslate2")
        forms["gguf"] = copied(GOLDEN / "gguf/model_q4_k.gguf", work, "model.gguf")
        forms["npz"], forms["marian_bin"] = (copied(GOLDEN / "marian/student", work, n) for n in ("npz", "marian_bin"))
        (forms["marian_bin"] / "model.npz").unlink()
        (forms["marian_bin"] / "model.bin").unlink()
        files = {"safetensors": "model.safetensors", "pytorch": "pytorch_model.bin", "pytorch_stream": "pytorch_model.bin",
                 "ctranslate2": "model.bin", "npz": "model.npz", "marian_bin": "model.int8.bin"}
        for name, model in forms.items():
            o.decoder = name not in ("npz", "marian_bin")
            if not o.only or name in o.only.split(","):
                damage_file(o, model, model / files[name] if name in files else model, name)
        o.decoder = True
        if not o.only or "made" in o.only.split(","):
            pickles(o, forms["pytorch"], work)
            sizes(o, forms["pytorch"])
            archives(o, forms["pytorch"], forms["npz"], forms["npz"] / "model.npz", work)
            links(o, forms["safetensors"], work)
            headers(o, forms["safetensors"], work)
            gguf_headers(o, forms["gguf"])
    for failure in failures:
        print("FAILED", failure)
    print(f"{o.runs} runs, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
