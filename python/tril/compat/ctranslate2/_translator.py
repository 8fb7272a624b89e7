"""ctranslate2.Translator."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Iterator, List, Optional, Sequence, Union

from ._model import _check_lengths, _Model, _on_token, _refuse, _without_end
from ._results import (
    AsyncScoringResult,
    AsyncTranslationResult,
    ExecutionStats,
    GenerationStepResult,
    ScoringResult,
    TranslationResult,
)
from ._streams import _check_pairs, _lines, _some_at_a_time, _tokens_of


class Translator(_Model):
    """A text translator over lists of tokens."""

    _translates = True

    @property
    def num_translators(self) -> int:
        """Number of calls that run at once with `asynchronous`."""
        return self._inter_threads

    def _source_ids(self, tokens: Sequence[str], most: int) -> List[int]:
        ids = self._ids(tokens, "source")
        if most > 0:
            ids = ids[:most]
        special = self._tokenizer.special_ids("source")
        if self._config.get("add_source_bos"):
            ids.insert(0, special["bos"])
        if self._config.get("add_source_eos"):
            ids.append(special["eos"])
        return ids

    def translate_batch(
        self,
        source: List[List[str]],
        target_prefix: Optional[List[Optional[List[str]]]] = None,
        *,
        max_batch_size: int = 0,
        batch_type: str = "examples",
        asynchronous: bool = False,
        beam_size: int = 2,
        patience: float = 1,
        num_hypotheses: int = 1,
        length_penalty: float = 1,
        coverage_penalty: float = 0,
        repetition_penalty: float = 1,
        no_repeat_ngram_size: int = 0,
        disable_unk: bool = False,
        suppress_sequences: Optional[List[List[str]]] = None,
        end_token: Optional[Union[str, List[str], List[int]]] = None,
        return_end_token: bool = False,
        prefix_bias_beta: float = 0,
        max_input_length: int = 1024,
        max_decoding_length: int = 256,
        min_decoding_length: int = 1,
        use_vmap: bool = False,
        return_scores: bool = False,
        return_logits_vocab: bool = False,
        return_attention: bool = False,
        return_alternatives: bool = False,
        min_alternative_expansion_prob: float = 0,
        sampling_topk: int = 1,
        sampling_topp: float = 1,
        sampling_temperature: float = 1,
        replace_unknowns: bool = False,
        callback: Optional[Callable[[GenerationStepResult], bool]] = None,
    ) -> list:
        """Translates a batch of lists of tokens; see CTranslate2's documentation. Results are in the order of `source`."""
        given = dict(locals())
        _refuse(
            prefix_bias_beta=(prefix_bias_beta, 0),
            use_vmap=(use_vmap, False),
            return_logits_vocab=(return_logits_vocab, False),
        )
        if callback is not None and beam_size != 1:
            raise ValueError("callback: needs greedy search or sampling; pass beam_size=1")
        prefixes = list(target_prefix) if target_prefix is not None else [None] * len(source)
        if len(prefixes) != len(source):
            raise ValueError(f"target_prefix: {len(prefixes)} prefixes for {len(source)} sources")
        model = self._loaded()
        search, options = self._search(given)
        if max_batch_size > 0 and batch_type == "examples":
            options["batch_size"] = max_batch_size
        with_attention = return_attention or replace_unknowns
        search.attention = with_attention
        search.token_scores = callback is not None
        search.max_length, search.min_length = max_decoding_length, min_decoding_length
        search.prefix_counts = True
        ends = self._ends(search)

        filled = [i for i, tokens in enumerate(source) if tokens]
        search.sources = [self._source_ids(source[i], max_input_length) for i in filled]
        search.prefixes = [self._ids(prefixes[i] or [], "target") for i in filled]
        search.start_ids = [model.decoder_start] * len(filled)

        def one(hypotheses: list, prefix: Sequence[str], of_source: Sequence[str]) -> TranslationResult:
            tokens, attention = [], []
            best, scores = self._ranked(hypotheses, len(prefix), given)
            for h in best:
                ids = _without_end(h.ids, ends, return_end_token)
                pieces = self._tokens(ids)
                if replace_unknowns:
                    self._replace_unknowns(pieces, ids, h.attention, of_source)
                tokens.append(list(prefix) + pieces)
                if return_attention:
                    attention.append([row.tolist() for row in h.attention[: len(ids)]])
            return TranslationResult(tokens, scores if return_scores else [], attention)

        def work() -> list:
            _check_lengths("min_decoding_length", min_decoding_length, "max_decoding_length", max_decoding_length)
            found = model.decode_ids(search, options, _on_token(callback, self, return_scores, filled, search.prefixes), None)
            results = [TranslationResult([[]], [0.0] if return_scores else [], [[]] if return_attention else []) for _ in source]
            for i, hypotheses in zip(filled, found):
                results[i] = one(hypotheses, prefixes[i] or [], source[i])
            return results

        return self._run(work, len(source), asynchronous, AsyncTranslationResult)

    def _replace_unknowns(self, pieces: List[str], ids: List[int], attention: Any, source: Sequence[str]) -> None:
        unknown = self._tokenizer.special_ids("target")["unk"]
        for i, token in enumerate(ids):
            if token == unknown:
                best = int(attention[i][: len(source)].argmax())
                pieces[i] = source[best]

    def translate_iterable(
        self,
        source: Iterable[List[str]],
        target_prefix: Optional[Iterable[List[str]]] = None,
        max_batch_size: int = 32,
        batch_type: str = "examples",
        **kwargs: Any,
    ) -> Iterator[TranslationResult]:
        """Translates an iterable of lists of tokens, some at a time."""
        iterables = [source] if target_prefix is None else [source, target_prefix]
        yield from _some_at_a_time(self.translate_batch, iterables, max_batch_size, batch_type, kwargs)

    def generate_tokens(
        self, source: List[str], target_prefix: Optional[List[str]] = None, *, return_log_prob: bool = False, **kwargs: Any
    ) -> Iterator[GenerationStepResult]:
        """Yields tokens as they are generated."""
        prefixes = None if target_prefix is None else [target_prefix]
        yield from _tokens_of(self.translate_batch, [source], prefixes, return_scores=return_log_prob, **kwargs)

    def score_batch(
        self,
        source: List[List[str]],
        target: List[List[str]],
        *,
        max_batch_size: int = 0,
        batch_type: str = "examples",
        max_input_length: int = 1024,
        offset: int = 0,
        asynchronous: bool = False,
    ) -> list:
        """The log-probabilities of given target tokens and of the end token."""
        if len(source) != len(target):
            raise ValueError(f"target: {len(target)} targets for {len(source)} sources")
        model = self._loaded()
        end = self._tokenizer.special_ids("target")["eos"]
        sources = [self._source_ids(tokens, max_input_length) for tokens in source]
        targets = []
        for tokens in target:
            ids = self._ids(tokens, "target")
            targets.append((ids[:max_input_length] if max_input_length > 0 else ids) + [end])

        def work() -> list:
            filled = [i for i, tokens in enumerate(source) if tokens]
            found = model.score_ids(
                [sources[i] for i in filled], [targets[i] for i in filled], model.decoder_start, max_batch_size or 32
            )
            # As in CTranslate2, an empty source gives its target the probability 1.
            results = [ScoringResult(self._tokens(ids[offset:]), [0.0] * len(ids[offset:])) for ids in targets]
            for i, log_probs in zip(filled, found):
                results[i] = ScoringResult(self._tokens(targets[i][offset:]), list(log_probs[offset:]))
            return results

        return self._run(work, len(source), asynchronous, AsyncScoringResult)

    def score_iterable(
        self,
        source: Iterable[List[str]],
        target: Iterable[List[str]],
        max_batch_size: int = 64,
        batch_type: str = "examples",
        **kwargs: Any,
    ) -> Iterator[ScoringResult]:
        """Scores an iterable of lists of tokens, some at a time."""
        yield from _some_at_a_time(self.score_batch, [source, target], max_batch_size, batch_type, kwargs)

    def translate_file(
        self,
        source_path: str,
        output_path: str,
        target_path: Optional[str] = None,
        *,
        max_batch_size: int = 32,
        read_batch_size: int = 0,
        batch_type: str = "examples",
        with_scores: bool = False,
        source_tokenize_fn: Optional[Callable] = None,
        target_tokenize_fn: Optional[Callable] = None,
        target_detokenize_fn: Optional[Callable] = None,
        **kwargs: Any,
    ) -> ExecutionStats:
        """Translates a file, line by line."""
        import time

        _check_pairs(source_tokenize_fn=source_tokenize_fn, target_detokenize_fn=target_detokenize_fn)
        if target_path is not None:
            _check_pairs(source_tokenize_fn=source_tokenize_fn, target_tokenize_fn=target_tokenize_fn)
        begin = time.perf_counter()
        split = source_tokenize_fn or str.split
        join = target_detokenize_fn or " ".join
        tokens = examples = 0
        source = (split(line) for line in _lines(source_path))
        prefix = None
        if target_path is not None:
            prefix = [(target_tokenize_fn or str.split)(line) for line in _lines(target_path)]
            if len(prefix) < sum(1 for _ in _lines(source_path)):
                raise RuntimeError(f"{target_path} has less examples than {source_path}")
        with open(output_path, "w", encoding="utf-8") as out:
            for result in self.translate_iterable(
                source, prefix, max_batch_size, batch_type, return_scores=with_scores, **kwargs
            ):
                examples += 1
                for i, hypothesis in enumerate(result.hypotheses):
                    tokens += len(hypothesis) if i == 0 else 0
                    score = f"{result.scores[i]} ||| " if with_scores else ""
                    out.write(score + join(hypothesis) + "\n")
        return ExecutionStats(tokens, examples, 1000 * (time.perf_counter() - begin))

    def score_file(
        self,
        source_path: str,
        target_path: str,
        output_path: str,
        *,
        max_batch_size: int = 32,
        read_batch_size: int = 0,
        batch_type: str = "examples",
        max_input_length: int = 1024,
        offset: int = 0,
        with_tokens_score: bool = False,
        source_tokenize_fn: Optional[Callable] = None,
        target_tokenize_fn: Optional[Callable] = None,
        target_detokenize_fn: Optional[Callable] = None,
    ) -> ExecutionStats:
        """Scores the lines of two files: "score ||| tokens", the score divided by the number of tokens."""
        import time

        _check_pairs(source_tokenize_fn=source_tokenize_fn, target_tokenize_fn=target_tokenize_fn)
        begin = time.perf_counter()
        split, target_split = source_tokenize_fn or str.split, target_tokenize_fn or str.split
        join = target_detokenize_fn or " ".join
        tokens = examples = 0
        targets = (target_split(line) for line in _lines(target_path))
        results = self.score_iterable(
            (split(line) for line in _lines(source_path)),
            targets,
            max_batch_size,
            batch_type,
            max_input_length=max_input_length,
            offset=offset,
        )
        with open(output_path, "w", encoding="utf-8") as out:
            for result in results:
                examples += 1
                tokens += len(result.log_probs)
                mean = sum(result.log_probs) / max(1, len(result.log_probs))
                each = " ||| " + " ".join(str(p) for p in result.log_probs) if with_tokens_score else ""
                out.write(f"{mean} ||| {join(result.tokens)}{each}\n")
        return ExecutionStats(tokens, examples, 1000 * (time.perf_counter() - begin))
