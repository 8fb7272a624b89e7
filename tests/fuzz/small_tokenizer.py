"""Writes a tokenizer.json with a small vocabulary: small_tokenizer.py FROM TO

A fuzzer that begins with whole vocabularies reads and mutates little else. What is kept: the first merges with their
pieces and products, letters of single bytes, what the file names elsewhere, pieces in brackets such as <0x41> and [UNK],
and the first of the other pieces.
"""
import json
import sys

MOST = 30  # merges, and other pieces


def keep_some(model, wanted):
    prefix = model.get("continuing_subword_prefix") or ""
    if isinstance(model.get("merges"), list):
        model["merges"] = model["merges"][:MOST]
    for merge in model.get("merges") or []:
        left, right = merge if isinstance(merge, list) else merge.split(" ")
        wanted |= {left, right, left + right[len(prefix):]}
    others = 0

    def stays(piece):
        nonlocal others
        if piece in wanted or (len(piece) == 1 and piece < "\u0144") or piece[:1] + piece[-1:] in ("<>", "[]"):
            return True
        others += 1
        return others <= MOST

    if isinstance(model["vocab"], dict):
        model["vocab"] = {piece: number for piece, number in model["vocab"].items() if stays(piece)}
        return dict(model["vocab"])
    first = (model.get("unk_id") or 0) + 1
    model["vocab"] = model["vocab"][:first] + [entry for entry in model["vocab"][first:] if stays(entry[0])]
    return {piece: number for number, (piece, _) in enumerate(model["vocab"])}


def renumber(step, ids):
    for name in ("cls", "sep"):
        if name in step:
            step[name][1] = ids[step[name][0]]
    for token in step.get("special_tokens", {}).values() if isinstance(step.get("special_tokens"), dict) else []:
        token["ids"] = [ids[piece] for piece in token["tokens"]]
    for inner in step.get("processors", []):
        renumber(inner, ids)


source, target = sys.argv[1:]
with open(source, encoding="utf-8") as file:
    tokenizer = json.load(file)
added = tokenizer.get("added_tokens") or []
ids = keep_some(tokenizer["model"], {token["content"] for token in added} | {tokenizer["model"].get("unk_token")})
for token in added:
    token["id"] = ids.setdefault(token["content"], len(ids))
renumber(tokenizer.get("post_processor") or {}, ids)
with open(target, "w", encoding="utf-8") as file:
    json.dump(tokenizer, file, ensure_ascii=False, separators=(",", ":"))
