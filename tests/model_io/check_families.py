"""Whether docs/families.md accounts for every decoder-only family of `transformers`: read, or listed as left out.

usage: check_families.py BUILD_DIR      (needs transformers; seconds)
"""
import json
import pathlib
import re
import subprocess
import sys

from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "families.md"


def main(build):
    known = json.loads(subprocess.run([f"{build}/tril", "families", "--json"], capture_output=True, text=True, check=True).stdout)
    read = {re.sub(r"\W*$", "", f["name"]) for f in known["families"]}
    left_out = DOCS.read_text().split("## Families that are left out")[1].split("\n## ")[0]
    listed = set(re.findall(r"`([a-z0-9_-]+)`", left_out))
    missing = sorted(set(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES) - read - listed)
    both = sorted(read & set(re.findall(r"`([a-z0-9_-]+)`", "\n".join(
        row.split("|")[2] for row in left_out.splitlines() if row.count("|") == 3))))
    print(f"{len(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)} families; in neither list: {missing}; in both: {both}")
    return 1 if missing or both else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
