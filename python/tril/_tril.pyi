"""The compiled part of the package tril."""

from collections.abc import Sequence
from typing import Optional

import numpy

from tril import Error as Error


class Cancel:
    """
    Cancels running calls from another thread: pass it as `cancel` and call request().
    """

    def __init__(self) -> None: ...

    def request(self) -> None:
        """
        Requests the calls to end after their current step. Their results so far have stop_reason "cancelled".
        """

    @property
    def requested(self) -> bool:
        """Whether request() was called."""

class Tokenizer:
    @staticmethod
    def open(model: str, pull: bool) -> Tokenizer: ...

    def encode(self, text: str, side: str, special_tokens: bool, language: str) -> list[int]: ...

    def tokenize(self, text: str, side: str, special_tokens: bool, language: str) -> list[str]: ...

    def offsets(self, text: str, side: str, special_tokens: bool, language: str) -> list[tuple[int, int] | None]: ...

    def decode(self, ids: Sequence[int], side: str, special_tokens: bool) -> str: ...

    def piece(self, id: int, side: str) -> str: ...

    def id(self, piece: str, side: str) -> int | None: ...

    def size(self, side: str) -> int: ...

    @property
    def languages(self) -> list[str]: ...

    @property
    def chat_template(self) -> str | None: ...

    def special(self, side: str) -> dict: ...

    def chat_text(self, chat: str, template: str) -> str: ...

class Model:
    @property
    def tokenizer(self) -> Tokenizer: ...

    @property
    def family(self) -> str: ...

    @property
    def translates(self) -> bool: ...

    @property
    def vocab_size(self) -> int: ...

    @property
    def max_positions(self) -> int: ...

    @property
    def parameters(self) -> int: ...

    @property
    def config_json(self) -> str: ...

    @property
    def decoder_start(self) -> int: ...

    @property
    def path(self) -> str: ...

    def score_pairs(self, sources: Sequence[str], targets: Sequence[str], options: dict) -> list[Score]: ...

    def score_texts(self, texts: Sequence[str], options: dict) -> list[Score]: ...

    def logits(self, ids: Sequence[int], source_ids: Sequence[int]) -> numpy.ndarray: ...

    def attention(self, source: str, target: str, source_language: str, target_language: str, max_tokens: int, max_heads: int) -> Attention: ...

    def trace(self, text: str, target: str, options: dict) -> PassTrace: ...

    def decode_ids(self, search: IdSearch, options: dict, on_token: object | None, cancel: Cancel | None) -> list[list[Hypothesis]]: ...

    def score_ids(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], start_id: int, batch_size: int) -> list[list[float]]: ...

class Score:
    """The score of a given translation or text."""

    @property
    def log_prob(self) -> float:
        """Sum of `token_log_probs`."""

    @property
    def ids(self) -> list[int]:
        """
        The scored ids: of a translation with its end token; of a text without its first.
        """

    @property
    def tokens(self) -> list[str]:
        """The pieces of `ids`."""

    @property
    def source_ids(self) -> list[int]:
        """The ids of the source; empty for a text."""

    @property
    def token_log_probs(self) -> numpy.ndarray:
        """log p of each of `ids`, float32, without a copy."""

    @property
    def attention(self) -> Optional[numpy.ndarray]:
        """
        Cross-attention weights [ids, source_ids], float32, without a copy; None unless `alignment` is given.
        """

    @property
    def perplexity(self) -> float:
        """exp(-log_prob / number of scored tokens)."""

def pair_score_options() -> list: ...

def text_score_options() -> list: ...

class AttentionMap:
    """The attention of one kind: rows read, columns are read."""

    @property
    def kind(self) -> str:
        """"cross", "encoder", "decoder" or "self"."""

    @property
    def queries(self) -> list[str]:
        """The tokens that attend: the rows."""

    @property
    def keys(self) -> list[str]:
        """The tokens that are attended to: the columns."""

    @property
    def layers(self) -> list[str]:
        """Names of the layers, the first one first."""

    def weights(self, layer: str) -> numpy.ndarray:
        """
        The weights of a layer [heads, queries, keys], float32, read-only, without a copy.
        """

class Attention:
    """The attention of a model in one sentence."""

    @property
    def maps(self) -> list[AttentionMap]:
        """One AttentionMap for each kind of attention in the model."""

    def html(self) -> str:
        """
        A self-contained web page that shows layers and heads, as `tril attend` writes it.
        """

    def svg(self) -> str:
        """A picture of all heads, as `tril attend --svg` writes it."""

class PassTrace:
    @property
    def names(self) -> list[str]: ...

    def has(self, name: str) -> bool: ...

    def value(self, name: str) -> numpy.ndarray: ...

    @property
    def logits(self) -> numpy.ndarray: ...

    def lens_logits(self, row: int) -> numpy.ndarray: ...

    def rollout(self, side: str) -> numpy.ndarray: ...

    @property
    def about(self) -> str: ...

def trace_options() -> list: ...

class IdSearch:
    def __init__(self) -> None: ...

    @property
    def sources(self) -> list[list[int]]: ...

    @sources.setter
    def sources(self, arg: Sequence[Sequence[int]], /) -> None: ...

    @property
    def prefixes(self) -> list[list[int]]: ...

    @prefixes.setter
    def prefixes(self, arg: Sequence[Sequence[int]], /) -> None: ...

    @property
    def start_ids(self) -> list[int]: ...

    @start_ids.setter
    def start_ids(self, arg: Sequence[int], /) -> None: ...

    @property
    def end_ids(self) -> list[int] | None: ...

    @end_ids.setter
    def end_ids(self, arg: Sequence[int] | None, /) -> None: ...

    @property
    def bad_sequences(self) -> list[list[int]]: ...

    @bad_sequences.setter
    def bad_sequences(self, arg: Sequence[Sequence[int]], /) -> None: ...

    @property
    def suppressed(self) -> list[int]: ...

    @suppressed.setter
    def suppressed(self, arg: Sequence[int], /) -> None: ...

    @property
    def max_length(self) -> int: ...

    @max_length.setter
    def max_length(self, arg: int, /) -> None: ...

    @property
    def min_length(self) -> int: ...

    @min_length.setter
    def min_length(self, arg: int, /) -> None: ...

    @property
    def prefix_counts(self) -> bool: ...

    @prefix_counts.setter
    def prefix_counts(self, arg: bool, /) -> None: ...

    @property
    def attention(self) -> bool: ...

    @attention.setter
    def attention(self, arg: bool, /) -> None: ...

    @property
    def token_scores(self) -> bool: ...

    @token_scores.setter
    def token_scores(self, arg: bool, /) -> None: ...

class Pieces:
    def __init__(self, list: Sequence[str], bos: int, eos: int, unk: int) -> None: ...

def load(model: str, options: dict, source: Pieces | None, target: Pieces | None) -> Model: ...

class Hypothesis:
    """One output of a search."""

    @property
    def text(self) -> str:
        """The text."""

    @property
    def ids(self) -> list[int]:
        """Ids as generated, with the end token if there is one."""

    @property
    def tokens(self) -> list[str]:
        """The pieces of `ids`."""

    @property
    def log_prob(self) -> float | None:
        """
        Sum of the log-probabilities of `ids`; None if it was not computed (pass scores=True).
        """

    @property
    def score(self) -> float | None:
        """log_prob / len(ids) ** length_penalty; None as `log_prob`."""

    @property
    def stop_reason(self) -> str:
        """
        "end_token", "stop", "length", "positions", "dead_end", "time_limit", "cancelled" or "refused".
        """

    @property
    def attention(self) -> Optional[numpy.ndarray]:
        """
        Cross-attention weights [ids, source_ids], float32, read-only, without a copy; None unless `alignment` is given.
        """

    @property
    def alignment(self) -> list[tuple[int, int]] | None:
        """
        Pairs (source token, token), with alignment="hard" or a threshold; else None.
        """

    @property
    def source_ids(self) -> list[int]:
        """Ids of the source, if `attention` is there; else empty."""

    @property
    def source_tokens(self) -> list[str]:
        """The pieces of `source_ids`."""

    @property
    def terms(self) -> list[tuple[str, str]]:
        """Phrases of glossaries in the source, with their translations."""

    @property
    def missing_terms(self) -> list[tuple[str, str]]:
        """Those whose translation is missing in `text`."""

    @property
    def removed(self) -> list[tuple[str, str]]:
        """What was removed around a language model's translation: (kind, text)."""

    @property
    def recalled(self) -> bool:
        """True if the translation memory gave the text."""

    @property
    def truncated(self) -> bool:
        """True if the output ended at its maximum length."""

    @property
    def token_log_probs(self) -> Optional[list[float]]:
        """
        The log-probability of each of `ids`, with the option `logprobs`; else None.
        """

    @property
    def top_log_probs(self) -> Optional[list[list[tuple[int, float]]]]:
        """
        The likeliest ids at each position with their log-probabilities, with the option `logprobs`; else None.
        """

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

class Part:
    """A part of a text that was split, with its translations."""

    @property
    def source(self) -> str:
        """The part's text."""

    @property
    def hypotheses(self) -> list[Hypothesis]:
        """Its translations, best first."""

class Translation:
    """The translation of one text."""

    @property
    def score(self) -> Optional[float]:
        """That of the first of `hypotheses`; None if the text was split."""

    @property
    def log_prob(self) -> Optional[float]:
        """That of the first of `hypotheses`; None if the text was split."""

    @property
    def ids(self) -> Optional[list[int]]:
        """That of the first of `hypotheses`; None if the text was split."""

    @property
    def tokens(self) -> Optional[list[str]]:
        """That of the first of `hypotheses`; None if the text was split."""

    @property
    def attention(self) -> Optional[numpy.ndarray]:
        """That of the first of `hypotheses`; None if the text was split."""

    @property
    def alignment(self) -> Optional[list[tuple[int, int]]]:
        """That of the first of `hypotheses`; None if the text was split."""

    @property
    def stop_reason(self) -> Optional[str]:
        """That of the first of `hypotheses`; None if the text was split."""

    @property
    def text(self) -> str:
        """The best translation."""

    @property
    def hypotheses(self) -> list[Hypothesis]:
        """All n_best translations, best first; empty if the text was split."""

    @property
    def parts(self) -> list[Part]:
        """The parts of a text that was split; else empty."""

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

class Translator:
    def __init__(self, model: str, options: dict) -> None: ...

    def translate(self, texts: Sequence[str], prefixes: Sequence[str], options: dict, cancel: Cancel | None) -> list[Translation]: ...

    @property
    def loaded(self) -> Model: ...

def translate_options() -> list: ...

class Generation:
    """The continuations of one prompt."""

    @property
    def text(self) -> str:
        """The best or first continuation, without the prompt."""

    @property
    def hypotheses(self) -> list[Hypothesis]:
        """All n continuations: the best first, or samples in their order."""

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

class TextPieces:
    """The text of one prompt, piece by piece while it is generated."""

    def __iter__(self) -> object: ...

    def __next__(self) -> str: ...

    def stop(self) -> None:
        """Ends the text after the current token."""

class Generator:
    def __init__(self, model: str, options: dict) -> None: ...

    def generate(self, prompts: Sequence[str], of_template: bool, options: dict, cancel: Cancel | None) -> list[Generation]: ...

    def stream(self, prompt: str, of_template: bool, options: dict) -> TextPieces: ...

    @property
    def loaded(self) -> Model: ...

def generate_options() -> list: ...

def evaluate(texts: Sequence[str], references: Sequence[Sequence[str]], options: dict) -> str: ...

def evaluate_options() -> list: ...

def train(options: dict, on_update: object | None, on_validation: object | None, cancel: Cancel | None) -> dict: ...

def train_options() -> list: ...

class Server:
    def __init__(self, options: dict) -> None: ...

    @property
    def port(self) -> int: ...

    def end(self) -> None: ...

    def reload(self) -> None: ...

    def wait(self) -> None: ...

def serve_options() -> list: ...

def main(args: Sequence[str]) -> int: ...

def system_certificates() -> str: ...

def loading_options() -> list: ...
