"""Writes tril/_options.py: the types of options, for editors and type checkers, from the declared tables of the module.

python python/tools/make_options.py python/tril/_options.py
"""

import sys
import textwrap

HEAD = '''"""Types of the options of each call. Made by python/tools/make_options.py from the program's tables."""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence, TypedDict, Union

from typing_extensions import Literal

Path = Union[str, "os.PathLike[str]"]
Texts = Union[str, Sequence[Any], Mapping[Any, Any]]
Paths = Union[Path, Sequence[Path]]
'''


def type_of(option):
    kind = option["kind"]
    if option["list"]:
        return {"path": "Paths", "integer": "Union[int, Sequence[int]]", "number": "Union[float, Sequence[float]]"}.get(
            kind, "Texts"
        )
    if option["choices"] and kind == "text":
        return "Literal[" + ", ".join(f'"{c}"' for c in option["choices"]) + "]"
    if option["name"] == "json_schema":
        return "Union[Path, Mapping[str, Any]]"
    if option["name"] == "alignment":
        return "Union[str, float]"
    return {"path": "Path", "integer": "int", "number": "float", "boolean": "bool"}.get(kind, "str")


def class_of(name, base, options):
    lines = [f"class {name}({base}, total=False):" if base != "TypedDict" else f"class {name}(TypedDict, total=False):"]
    for option in options:
        if option["name"] == "model":
            continue
        lines.append(f"    {option['name']}: {type_of(option)}")
        told = option["help"] + (f" ({option['range']})" if option["range"] else "")
        told = told.replace("\\", "\\\\")
        lines += ['    """' + line if i == 0 else "    " + line for i, line in enumerate(textwrap.wrap(told, 112))]
        if lines[-1].endswith('"'):  # the quote would end the string
            lines[-1] = lines[-1][:-1] + '\\"'
        lines[-1] += '"""'
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def text():
    from tril import _tril

    parts = [
        HEAD,
        class_of("TranslateOptions", "TypedDict", _tril.translate_options()),
        class_of("TranslatorOptions", "TranslateOptions", _tril.loading_options()),
        class_of("GenerateOptions", "TypedDict", _tril.generate_options()),
        class_of("GeneratorOptions", "GenerateOptions", _tril.loading_options()),
        class_of("PairScoreOptions", "TypedDict", _tril.pair_score_options()),
        class_of("TextScoreOptions", "TypedDict", _tril.text_score_options()),
        class_of("TraceOptions", "TypedDict", _tril.trace_options()),
        class_of("EvaluateOptions", "TypedDict", _tril.evaluate_options()),
        class_of("ServeOptions", "TypedDict", _tril.serve_options()),
        class_of("TrainOptions", "TypedDict", _tril.train_options()),
    ]
    return "\n\n".join(parts)


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write(text())
