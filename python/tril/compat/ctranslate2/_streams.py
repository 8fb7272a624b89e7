"""Files and iterables some lines at a time, and tokens while they are generated."""

from __future__ import annotations

import itertools
import queue
import threading
from typing import Any, Callable, Iterable, Iterator, Optional, Sequence

from ._results import GenerationStepResult


def _lines(path: str) -> Iterator[str]:
    with open(path, encoding="utf-8") as f:
        for line in f:
            yield line.rstrip("\n")


def _check_pairs(**functions: Optional[Callable]) -> None:
    """Functions of which all are given, or none."""
    missing = [name for name, function in functions.items() if function is None]
    if missing and len(missing) < len(functions):
        given = [name for name in functions if name not in missing]
        raise ValueError(f"{', '.join(missing)}: is needed with {', '.join(given)}")


def _some_at_a_time(
    call: Callable, iterables: Sequence[Iterable], max_batch_size: int, batch_type: str, options: dict
) -> Iterator[Any]:
    if max_batch_size < 1:
        raise ValueError("max_batch_size must be >= 1")
    window = 16 * max_batch_size if batch_type == "examples" else max_batch_size
    missing = object()
    examples = itertools.zip_longest(*iterables, fillvalue=missing)
    while True:
        some = list(itertools.islice(examples, window))
        if not some:
            return
        if any(part is missing for example in some for part in example):
            raise ValueError("the iterables do not have the same length")
        yield from call(*map(list, zip(*some)), max_batch_size=max_batch_size, batch_type=batch_type, **options)


def _tokens_of(call: Callable, *args: Any, callback: Optional[Callable] = None, **options: Any) -> Iterator[Any]:
    steps: "queue.Queue[Any]" = queue.Queue()
    ended = threading.Event()

    def on_step(step: GenerationStepResult) -> bool:
        steps.put(step)
        return ended.is_set() or bool(callback and callback(step))

    def run() -> None:
        try:
            call(*args, asynchronous=False, beam_size=1, callback=on_step, **options)
        except Exception as error:
            steps.put(error)
        steps.put(None)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        while True:
            step = steps.get()
            if step is None:
                return
            if isinstance(step, Exception):
                raise step
            yield step
    finally:
        ended.set()
        thread.join()
