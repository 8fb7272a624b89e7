"""tril.Trace."""

from __future__ import annotations

import difflib
import functools
import json
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional

from . import _tril

if TYPE_CHECKING:
    import numpy


class Trace(Mapping[str, "numpy.ndarray"]):
    """What one pass of a model computed: a mapping from names of points to arrays.

    ``trace["decoder.0.self.q"]`` is the array at a point, ``list(trace)`` the names in the order of computation. The points, the
    shapes and the edits are those of docs/trace.md. Values are float32, ids int32 and masks uint8. All arrays are read-only, without
    a copy, and keep the trace's memory alive.

    `Generator.trace()` and `Translator.trace()` make traces.
    """

    def __init__(self, native: _tril.PassTrace):
        self._native = native
        self._about = json.loads(native.about)

    def __getitem__(self, name: str) -> "numpy.ndarray":
        if name not in self:
            near = difflib.get_close_matches(str(name), list(self), 1)
            raise KeyError(f"{name}: the trace has no such point" + (f"; did you mean {near[0]}?" if near else ""))
        return self._native.value(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._native.has(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    # As a mapping of arrays, a trace could not be compared with another one.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @functools.cached_property
    def _names(self) -> list[str]:
        return self._native.names

    @property
    def ids(self) -> list[int]:
        """The ids that the decoder reads. A decoder with an encoder reads its start token first."""
        return self._about["tokens"]["ids"]

    @property
    def tokens(self) -> list[str]:
        """The pieces of `ids`."""
        return self._about["tokens"]["pieces"]

    @property
    def source_ids(self) -> list[int]:
        """The ids that the encoder reads; empty for a language model."""
        return self._about.get("source", {}).get("ids", [])

    @property
    def source_tokens(self) -> list[str]:
        """The pieces of `source_ids`."""
        return self._about.get("source", {}).get("pieces", [])

    @property
    def prompt_tokens(self) -> int:
        """How many of `ids` come before the target."""
        return self._about["prompt_tokens"]

    @property
    def logits(self) -> "numpy.ndarray":
        """The logits after each token, float32 [tokens, vocabulary]; there even if `only` does not name them."""
        return self._native.logits

    @property
    def next(self) -> list[dict[str, Any]]:
        """After each token: the ``best`` next token and its ``best_id``; where the loss counts, also the ``label`` that follows in
        the text and its ``log_prob``."""
        return self._about["next"]

    @property
    def loss(self) -> Optional[float]:
        """The mean of -log p of the labels; None if no token is counted."""
        return self._about.get("loss")

    @property
    def change(self) -> Optional[dict[str, Any]]:
        """What the edits change; None without edits.

        ``bit_identical``; ``tokens``, after each token ``best_before`` and ``best_after``, the log-probabilities of
        ``best_before`` (``log_prob_before``, ``log_prob_after``), ``largest_logit_difference`` and ``kl_divergence`` in nats;
        ``loss_before`` and ``loss_after``; with ``new_tokens``, ``text_before`` and ``text_after``.
        """
        return self._about.get("change")

    @functools.cached_property
    def lens(self) -> Optional[list[dict[str, Any]]]:
        """With ``lens=True``: after each layer the ``point``, the ``logits`` [tokens, vocabulary], and the ``best`` next tokens
        with their ``best_ids``."""
        rows = self._about.get("lens")
        return rows and [{**row, "logits": self._native.lens_logits(i)} for i, row in enumerate(rows)]

    @functools.cached_property
    def rollout(self) -> "Optional[dict[str, numpy.ndarray]]":
        """With ``rollout=True``: float32 [tokens, tokens] of the ``decoder``, and of the ``encoder`` if there is one."""
        sides = self._about.get("rollout")
        return sides and {side: self._native.rollout(side) for side in sides}

    @property
    def attribution(self) -> Optional[dict[str, Any]]:
        """With ``attribute=TOKEN``: the ``next`` token and its ``logit``, which is the sum of ``bias``, ``rest`` (rounding) and the
        ``logit`` of each of ``parts``, which have a ``point`` and, of heads, a ``head``."""
        return self._about.get("attribution")

    @property
    def head_scores(self) -> Optional[list[dict[str, Any]]]:
        """With ``head_scores=N``: by ``layer`` and ``head`` the scores ``previous``, ``duplicate``, ``induction`` and ``copying``."""
        return self._about.get("head_scores")

    def __repr__(self) -> str:
        return f"<tril.Trace {len(self)} values of {len(self.ids)} tokens>"
