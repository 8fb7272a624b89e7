"""What the classes of the package share: options, and calls that can be awaited."""

from __future__ import annotations

import functools
import os
from typing import Any, Callable, Iterable, Mapping, NamedTuple, TypeVar

from . import _tril

Result = TypeVar("Result")


class Option(NamedTuple):
    """An option of a class or function, as the program declares it."""

    name: str
    kind: str  #: "integer", "number", "text", "path" or "boolean"
    default: str  #: as text; "": none
    choices: list[str]  #: the allowed texts; empty: any
    range: str  #: the limits of a number: "at least 1"
    takes_list: bool
    group: str
    help: str


def options_of(*tables: Iterable[Mapping[str, Any]]) -> list[Option]:
    """The options of declared tables, without the model itself."""
    return [
        Option(o["name"], o["kind"], o["default"], o["choices"], o["range"], o["list"], o["group"], o["help"])
        for table in tables
        for o in table
        if o["name"] != "model"
    ]


def plain(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options in the form of the compiled module: phrases as a list, a schema as its text."""
    out = dict(options)
    terms = out.get("terms")
    if isinstance(terms, Mapping):
        out["terms"] = [text for pair in terms.items() for text in pair]
    schema = out.get("json_schema")
    if isinstance(schema, Mapping):
        import json

        out["json_schema"] = json.dumps(schema)
    return out


def as_list(texts: Any, name: str) -> list[str]:
    """A list of texts. A single text is not one."""
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"{name}: expected a list of texts, got one text")
    return list(texts)


def model_path(model: str | os.PathLike[str]) -> str:
    path = os.fspath(model)
    if not os.path.exists(path):
        find_certificates()
    return path


def find_certificates() -> None:
    """For downloads where the system has no certificates that tril knows: those of the package certifi, if it is installed."""
    if os.environ.get("CURL_CA_BUNDLE") or os.environ.get("SSL_CERT_FILE") or _tril.system_certificates():
        return
    try:
        import certifi
    except ImportError:
        return
    os.environ["SSL_CERT_FILE"] = certifi.where()


async def awaited(call: Callable[..., Result], *args: Any, **options: Any) -> Result:
    """Runs call(..., cancel=cancel) in a thread. If the task is cancelled, so is the call."""
    import asyncio  # here: its import takes longer than that of this package

    cancel: _tril.Cancel = options.pop("cancel", None) or _tril.Cancel()
    loop = asyncio.get_running_loop()
    running = loop.run_in_executor(None, functools.partial(call, *args, cancel=cancel, **options))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        cancel.request()
        # The thread ends after its current step; the caller that cancelled does not wait for it.
        running.add_done_callback(lambda done: done.exception() if not done.cancelled() else None)
        raise
