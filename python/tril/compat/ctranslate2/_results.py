"""Results, with the names and parts of those of CTranslate2."""

from __future__ import annotations

import concurrent.futures
from typing import Any, NamedTuple, Optional


class _Record:
    """A result with named parts, which compare and print like those of CTranslate2."""

    _parts: tuple = ()

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._parts)
        return f"{type(self).__name__}({parts})"


class TranslationResult(_Record):
    """A translation result.

    Attributes: `hypotheses` (lists of tokens), `scores` (with return_scores), `attention` (with return_attention, for each
    hypothesis [tokens][source tokens]), `logits` (always empty).
    """

    _parts = ("hypotheses", "scores", "attention", "logits")

    def __init__(self, hypotheses: list, scores: list, attention: list):
        self.hypotheses = hypotheses
        self.scores = scores
        self.attention = attention
        self.logits: list = []

    def __len__(self) -> int:
        return len(self.hypotheses)

    def __getitem__(self, rank: int) -> dict:
        """A hypothesis in the form of CTranslate2 1: "tokens", and "score" and "attention" if they were asked for."""
        out = {"tokens": self.hypotheses[rank]}
        for name, values in (("score", self.scores), ("attention", self.attention)):
            if values:
                out[name] = values[rank]
        return out


class GenerationResult(_Record):
    """A generation result: `sequences` (lists of tokens), `sequences_ids`, `scores` (with return_scores)."""

    _parts = ("sequences", "sequences_ids", "scores", "logits")

    def __init__(self, sequences: list, sequences_ids: list, scores: list):
        self.sequences = sequences
        self.sequences_ids = sequences_ids
        self.scores = scores
        self.logits: list = []

    def __len__(self) -> int:
        return len(self.sequences)


class ScoringResult(_Record):
    """A scoring result: `tokens` and their `log_probs`."""

    _parts = ("tokens", "log_probs")

    def __init__(self, tokens: list, log_probs: list):
        self.tokens = tokens
        self.log_probs = log_probs


class GenerationStepResult(NamedTuple):
    """A generated token."""

    step: int
    batch_id: int
    token_id: int
    hypothesis_id: int
    token: str
    log_prob: Optional[float]
    is_last: bool
    logits: None = None


class ExecutionStats(NamedTuple):
    """Counts of a file's translation or scoring."""

    num_tokens: int
    num_examples: int
    total_time_in_ms: float


class _AsyncResult:
    """A result that is being computed."""

    def __init__(self, future: concurrent.futures.Future, index: int):
        self._future = future
        self._index = index

    def result(self) -> Any:
        """Waits for the result."""
        return self._future.result()[self._index]

    def done(self) -> bool:
        """Whether the result is there."""
        return self._future.done()


class AsyncTranslationResult(_AsyncResult):
    """Asynchronous wrapper around a TranslationResult."""


class AsyncGenerationResult(_AsyncResult):
    """Asynchronous wrapper around a GenerationResult."""


class AsyncScoringResult(_AsyncResult):
    """Asynchronous wrapper around a ScoringResult."""
