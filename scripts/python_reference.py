#!/usr/bin/env python3
"""Writes the reference of the Python package as Markdown, from the docstrings of python/tril.

Reads the sources, so that the package need not be built. Public names are those of __all__; those that are compiled are taken
from _tril.pyi. A public class, function or method without a docstring is an error.

usage: python_reference.py > reference.md
"""

import ast
import inspect
import pathlib
import re
import sys

PACKAGE = pathlib.Path(__file__).parent.parent / "python" / "tril"
ROLE = re.compile(r":\w+:`([^`]*)`")
SECTIONS = ("Parameters", "Returns", "Raises", "Yields", "Examples", "Attributes", "Notes")


def markdown(docstring):
    """A docstring in NumPy's style: a section's title becomes bold, an example code, a parameter an entry of a list."""
    lines, section, code = [], "", False
    source = inspect.cleandoc(docstring).splitlines()
    for number, line in enumerate(source):
        following = source[number + 1] if number + 1 < len(source) else ""
        if line in SECTIONS and following and set(following) == {"-"}:
            section = line
            lines += ["", f"**{line}**", ""]
            continue
        if section and line and set(line) == {"-"}:
            continue
        example = line.startswith(">>>") or (code and line.strip() != "")
        if example != code:
            lines += ["", "```python"] if example else ["```", ""]
            code = example
        if code:
            lines.append(line)
        elif section in ("Parameters", "Raises", "Attributes", "Returns", "Yields") and line and not line.startswith(" "):
            lines.append(f"- `{line}`:")
        else:
            lines.append(ROLE.sub(r"`\1`", line).replace("``", "`"))
    return lines + (["```"] if code else [])


def signature(function):
    """The arguments as written, without self."""
    arguments = ast.unparse(function.args)
    for first in ("self, ", "self", "cls, ", "cls"):
        if arguments.startswith(first):
            arguments = arguments[len(first) :].removeprefix("/, ")
            break
    result = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return f"({arguments}){result}"


def decorators(function):
    return {ast.unparse(d).split(".")[-1] for d in function.decorator_list}


def members(body, owner, missing):
    """Lines for the public functions and properties of a class."""
    lines, overloads = [], {}
    for item in body:
        if not isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)) or item.name.startswith("_"):
            continue
        if "overload" in decorators(item):
            overloads.setdefault(item.name, []).append(signature(item))
            continue
        docstring = ast.get_docstring(item)
        if not docstring:
            missing.append(f"{owner}.{item.name}")
            continue
        if "property" in decorators(item):
            shape = f": {ast.unparse(item.returns)}" if item.returns else ""
            lines += ["", f"### `{owner}.{item.name}`", "", f"`{item.name}{shape}`", ""]
        else:
            shapes = overloads.get(item.name) or [signature(item)]
            lines += ["", f"### `{owner}.{item.name}`", "", "```python", *(f"{item.name}{s}" for s in shapes), "```", ""]
        lines += markdown(docstring)
    return lines


def definitions():
    """All top-level classes and functions of the package, by name. Python comes before the compiled part."""
    found = {}
    for path in sorted(PACKAGE.glob("_*.py")) + [PACKAGE / "_tril.pyi"]:
        for item in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(item, (ast.ClassDef, ast.FunctionDef)):
                found.setdefault(item.name, item)
    return found


def main():
    package = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    names = next(
        ast.literal_eval(item.value)
        for item in package.body
        if isinstance(item, ast.Assign) and ast.unparse(item.targets[0]) == "__all__"
    )
    known, missing = definitions(), []
    lines = ["# Python reference", "", *markdown(ast.get_docstring(package))]
    for name in names:
        if name == "__version__":
            continue
        if name == "Error":  # made by the compiled module, which no stub shows
            lines += ["", "## `tril.Error`", "", "See [errors](../python.md#names-options-errors)."]
            continue
        item = known.get(name)
        docstring = item and ast.get_docstring(item)
        if not docstring:
            missing.append(name)
            continue
        lines += ["", f"## `tril.{name}`", ""]
        if isinstance(item, ast.FunctionDef):
            lines += ["```python", name + signature(item), "```", ""]
        lines += markdown(docstring)
        if isinstance(item, ast.ClassDef):
            lines += members(item.body, name, missing)
    for name in missing:
        print(f"python_reference: {name} has no docstring", file=sys.stderr)
    print("\n".join(lines))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
