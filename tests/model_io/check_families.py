"""Whether docs/families.md accounts for every family of `transformers` that writes text: read, opened as a multimodal directory,
or listed as left out. The families are those of causal models, encoder-decoders and image-text models.

usage: check_families.py BUILD_DIR      (needs transformers; seconds)
"""
import json
import pathlib
import re
import subprocess
import sys

from transformers.models.auto import modeling_auto

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = {"causal": "CAUSAL_LM", "encoder-decoder": "SEQ_TO_SEQ_CAUSAL_LM", "image-text": "IMAGE_TEXT_TO_TEXT"}


def names_in(text):
    return set(re.findall(r"`([a-z0-9._-]+)`", text))


def main(build):
    known = json.loads(subprocess.run([f"{build}/tril", "families", "--json"], capture_output=True, text=True, check=True).stdout)
    read = {re.sub(r"\W*$", "", f["name"]) for f in known["families"]}
    source = (ROOT / "src/model_io/source/text_model.cpp").read_text()
    opened = set(" ".join(re.findall(r'"([^"]*)"', source.split("multimodal =")[1].split(";")[0])).split())
    left_out = (ROOT / "docs/families.md").read_text().split("## Families that are left out")[1].split("\n## ")[0]
    listed = names_in(left_out)
    in_tables = names_in("\n".join(row.split("|")[2] for row in left_out.splitlines() if row.count("|") == 3))
    failed = False
    for kind, name in KINDS.items():
        all_of_kind = set(getattr(modeling_auto, f"MODEL_FOR_{name}_MAPPING_NAMES"))
        missing, both = sorted(all_of_kind - read - opened - listed), sorted((read | opened) & in_tables & all_of_kind)
        print(f"{kind}: {len(all_of_kind)} families, {len(all_of_kind & (read | opened))} supported; in neither list: {missing}; in both: {both}")
        number = f"{len(all_of_kind & (read | opened))} of the {len(all_of_kind)}"
        if number not in left_out.replace("\n", " "):
            print(f"docs/families.md does not say '{number}'")
            failed = True
        failed |= bool(missing or both)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
