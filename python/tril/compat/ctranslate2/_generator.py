"""ctranslate2.Generator."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Iterator, List, Optional, Union

from ._model import _check_lengths, _Model, _on_token, _refuse, _without_end
from ._results import AsyncGenerationResult, AsyncScoringResult, GenerationResult, GenerationStepResult, ScoringResult
from ._streams import _some_at_a_time, _tokens_of


class Generator(_Model):
    """A text generator over lists of tokens."""

    _translates = False

    @property
    def num_generators(self) -> int:
        """Number of calls that run at once with `asynchronous`."""
        return self._inter_threads

    def generate_batch(
        self,
        start_tokens: List[List[str]],
        *,
        max_batch_size: int = 0,
        batch_type: str = "examples",
        asynchronous: bool = False,
        beam_size: int = 1,
        patience: float = 1,
        num_hypotheses: int = 1,
        length_penalty: float = 1,
        repetition_penalty: float = 1,
        no_repeat_ngram_size: int = 0,
        disable_unk: bool = False,
        suppress_sequences: Optional[List[List[str]]] = None,
        end_token: Optional[Union[str, List[str], List[int]]] = None,
        return_end_token: bool = False,
        max_length: int = 512,
        min_length: int = 0,
        static_prompt: Optional[List[str]] = None,
        cache_static_prompt: bool = True,
        include_prompt_in_result: bool = True,
        return_scores: bool = False,
        return_logits_vocab: bool = False,
        return_alternatives: bool = False,
        min_alternative_expansion_prob: float = 0,
        sampling_topk: int = 1,
        sampling_topp: float = 1,
        sampling_temperature: float = 1,
        callback: Optional[Callable[[GenerationStepResult], bool]] = None,
    ) -> list:
        """Continues a batch of lists of tokens; see CTranslate2's documentation.

        Prompts are read at once in any case. With `include_prompt_in_result`, they are part of the result and count towards
        `max_length`, as in CTranslate2.
        """
        given = dict(locals())
        _refuse(return_logits_vocab=(return_logits_vocab, False))
        if callback is not None and beam_size != 1:
            raise ValueError("callback: needs greedy search or sampling; pass beam_size=1")
        model = self._loaded()
        search, options = self._search(given)
        if max_batch_size > 0 and batch_type == "examples":
            options["batch_size"] = max_batch_size
        ends = self._ends(search)
        static = self._ids(static_prompt or [], "target")
        prompts = [self._ids(tokens, "target") for tokens in start_tokens]
        for i, ids in enumerate(prompts):
            if not static and not ids:
                raise ValueError(f"start_tokens: the prompt {i} has no token")
        search.token_scores = callback is not None

        all_ids = [static + ids for ids in prompts]
        search.start_ids = [ids[0] for ids in all_ids]
        search.prefixes = [ids[1:] for ids in all_ids]
        search.max_length, search.min_length = max_length, min_length
        search.prefix_counts = include_prompt_in_result

        def work() -> list:
            _check_lengths("min_length", min_length, "max_length", max_length)
            given_back = prompts if include_prompt_in_result else [[]] * len(prompts)
            on_token = _on_token(callback, self, return_scores, range(len(prompts)), given_back)
            found = model.decode_ids(search, options, on_token, None)
            return [
                self._result(hypotheses, ids if include_prompt_in_result else [], ends, given)
                for ids, hypotheses in zip(prompts, found)
            ]

        return self._run(work, len(prompts), asynchronous, AsyncGenerationResult)

    def _result(self, hypotheses: list, prompt: List[int], ends: "set[int]", o: dict) -> GenerationResult:
        best, scores = self._ranked(hypotheses, max(0, len(prompt) - 1), o)
        ids = [prompt + _without_end(h.ids, ends, o["return_end_token"]) for h in best]
        return GenerationResult([self._tokens(one) for one in ids], ids, scores if o["return_scores"] else [])

    def generate_iterable(
        self, start_tokens: Iterable[List[str]], max_batch_size: int = 32, batch_type: str = "examples", **kwargs: Any
    ) -> Iterator[GenerationResult]:
        """Continues an iterable of lists of tokens, some at a time."""
        yield from _some_at_a_time(self.generate_batch, [start_tokens], max_batch_size, batch_type, kwargs)

    def generate_tokens(
        self,
        prompt: Union[List[str], List[List[str]]],
        max_batch_size: int = 0,
        batch_type: str = "examples",
        *,
        return_log_prob: bool = False,
        **kwargs: Any,
    ) -> Iterator[GenerationStepResult]:
        """Yields tokens as they are generated."""
        prompts = [prompt] if prompt and isinstance(prompt[0], str) else prompt
        yield from _tokens_of(
            self.generate_batch,
            prompts,
            return_scores=return_log_prob,
            include_prompt_in_result=False,
            max_batch_size=max_batch_size,
            batch_type=batch_type,
            **kwargs,
        )

    async def async_generate_tokens(self, prompt: Any, *args: Any, **kwargs: Any) -> Any:
        """Yields tokens as they are generated, for ``async for``."""
        import asyncio

        loop = asyncio.get_running_loop()
        steps = self.generate_tokens(prompt, *args, **kwargs)
        try:
            while True:
                step = await loop.run_in_executor(None, next, steps, None)
                if step is None:
                    return
                yield step
        finally:
            await loop.run_in_executor(None, steps.close)

    def score_batch(
        self,
        tokens: List[List[str]],
        *,
        max_batch_size: int = 0,
        batch_type: str = "examples",
        max_input_length: int = 1024,
        asynchronous: bool = False,
    ) -> list:
        """The log-probabilities of all tokens but the first."""
        model = self._loaded()
        ids = [self._ids(one, "target") for one in tokens]
        if max_input_length > 0:
            ids = [one[:max_input_length] for one in ids]

        def work() -> list:
            filled = [i for i, one in enumerate(ids) if len(one) > 1]
            found = model.score_ids(
                [ids[i][:1] for i in filled], [ids[i][1:] for i in filled], -1, max_batch_size or 32
            )
            results = [ScoringResult([], []) for _ in ids]
            for i, log_probs in zip(filled, found):
                results[i] = ScoringResult(self._tokens(ids[i][1:]), list(log_probs))
            return results

        return self._run(work, len(ids), asynchronous, AsyncScoringResult)

    def score_iterable(
        self, tokens: Iterable[List[str]], max_batch_size: int = 64, batch_type: str = "examples", **kwargs: Any
    ) -> Iterator[ScoringResult]:
        """Scores an iterable of lists of tokens, some at a time."""
        yield from _some_at_a_time(self.score_batch, [tokens], max_batch_size, batch_type, kwargs)

    def forward_batch(self, inputs: Any, lengths: Any = None, *, return_log_probs: bool = False) -> Any:
        """The logits of each position, float32 [batch, length, vocabulary]: a NumPy array, padded with zeros.

        `inputs` are lists of tokens or of ids.
        """
        import numpy

        if lengths is not None:
            raise NotImplementedError("lengths: is not supported by tril.compat.ctranslate2; pass lists")
        model = self._loaded()
        rows = [model.logits(self._ids(one, "target"), []) for one in inputs]
        out = numpy.zeros((len(rows), max((len(r) for r in rows), default=0), model.vocab_size), numpy.float32)
        for i, row in enumerate(rows):
            if return_log_probs:
                top = row.max(axis=1, keepdims=True)
                row = row - top - numpy.log(numpy.exp(row - top).sum(axis=1, keepdims=True))
            out[i, : len(row)] = row
        return out
