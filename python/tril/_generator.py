"""tril.Generator."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, AsyncIterator, Mapping, Optional, Sequence, Union, overload

from . import _tril
from ._common import Option, as_list, awaited, model_path, options_of, plain
from ._tokenizer import Tokenizer
from ._trace import Trace

if TYPE_CHECKING:
    import numpy
    from typing_extensions import Unpack

    from ._options import GenerateOptions, GeneratorOptions, TextScoreOptions, TraceOptions

Messages = Sequence[Mapping[str, Any]]
_TEMPLATE_ARGUMENTS = ("tools", "chat_template", "variables")


class Generator:
    """Continues texts and answers chats with a language model.

    A generator may be used by any number of threads at once. Calls release the interpreter's lock and obey Ctrl-C.

    Parameters
    ----------
    model
        A directory, a GGUF file, or OWNER/NAME on the hub.
    options
        Those of `Generator.options()`. Options of a call are the defaults of all calls here.

    Raises
    ------
    tril.Error
        If there is no such model, a file of it is wrong, or an option is unknown or does not fit.

    Examples
    --------
    >>> generator = tril.Generator("Qwen/Qwen3-0.6B", precision="int8")
    >>> generator.chat([{"role": "user", "content": "Name a prime."}], max_new_tokens=20).text
    >>> for piece in generator.stream("Once upon a time", temperature=0.8):
    ...     print(piece, end="", flush=True)
    """

    def __init__(self, model: str | os.PathLike[str], **options: "Unpack[GeneratorOptions]"):
        self._native = _tril.Generator(model_path(model), plain(options))
        self._model = self._native.loaded

    @staticmethod
    def options() -> list[Option]:
        """The options of the constructor and of the calls, with their help."""
        return options_of(_tril.loading_options(), _tril.generate_options())

    @overload
    def generate(
        self, prompts: str, *, cancel: Optional[_tril.Cancel] = None, **options: "Unpack[GenerateOptions]"
    ) -> _tril.Generation: ...

    @overload
    def generate(
        self, prompts: Sequence[str], *, cancel: Optional[_tril.Cancel] = None, **options: "Unpack[GenerateOptions]"
    ) -> list[_tril.Generation]: ...

    def generate(self, prompts: Any, *, cancel: Optional[_tril.Cancel] = None, **options: Any) -> Any:
        """Continues one prompt, or a list of prompts.

        The results are those of ``tril generate`` for the same prompts, bit for bit. An empty prompt begins a new text.

        Parameters
        ----------
        prompts
            A text, or texts.
        cancel
            Cancels the call from another thread. What was not complete then has the stop_reason "cancelled".
        options
            For example ``max_new_tokens=100``, ``temperature=0.8``, ``n=4``, ``stop=["\\n"]``, ``logprobs=5``, ``regex="[0-9]+"``,
            ``json_schema={"type": "object"}``.

        Returns
        -------
        Generation, or a list of one for each prompt.

        Raises
        ------
        tril.Error
            For a prompt that is longer than the model's positions; for an option that is unknown, out of its range, or
            does not fit the model or another option.
        """
        one = isinstance(prompts, str)
        found = self._run([prompts] if one else as_list(prompts, "prompts"), False, cancel, options)
        return found[0] if one else found

    def chat(
        self,
        messages: Messages,
        *,
        tools: Optional[Sequence[Mapping[str, Any]]] = None,
        chat_template: str = "",
        variables: Optional[Mapping[str, Any]] = None,
        cancel: Optional[_tril.Cancel] = None,
        **options: "Unpack[GenerateOptions]",
    ) -> _tril.Generation:
        """The assistant's answer to messages, by the chat template of the model.

        Parameters
        ----------
        messages
            ``[{"role": "user", "content": "..."}, ...]``.
        tools, chat_template, variables
            See `Tokenizer.chat_text()`.
        cancel, options
            See `generate()`.

        Raises
        ------
        tril.Error
            If the model has no chat template, or as `generate()`.
        """
        text = self.tokenizer.chat_text(messages, tools=tools, chat_template=chat_template, variables=variables)
        return self._run([text], True, cancel, options)[0]

    def stream(
        self, prompt: Union[str, Messages], **options: Any
    ) -> _tril.TextPieces:
        """The continuation of a prompt, or the answer to messages, piece by piece while it is generated.

        The pieces together are the text of `generate()` or `chat()`. The text is generated whether or not its pieces are
        taken; `TextPieces.stop()` ends it early.

        Raises
        ------
        tril.Error
            As `generate()`, and for a beam, whose text is known only at the end.
        """
        if isinstance(prompt, str):
            return self._native.stream(prompt, False, plain(options))
        template = {name: options.pop(name) for name in _TEMPLATE_ARGUMENTS if name in options}
        return self._native.stream(self.tokenizer.chat_text(prompt, **template), True, plain(options))

    async def generate_async(self, prompts: Any, **options: Any) -> Any:
        """generate() to await. If the task is cancelled, so is the generation."""
        return await awaited(self.generate, prompts, **options)

    async def chat_async(self, messages: Messages, **options: Any) -> _tril.Generation:
        """chat() to await. If the task is cancelled, so is the generation."""
        return await awaited(self.chat, messages, **options)

    async def stream_async(self, prompt: Union[str, Messages], **options: Any) -> AsyncIterator[str]:
        """stream() for ``async for``. If the loop is left, the generation is cancelled."""
        import asyncio  # here: its import takes longer than that of this package

        loop = asyncio.get_running_loop()
        pieces = await loop.run_in_executor(None, lambda: self.stream(prompt, **options))
        try:
            while True:
                piece = await loop.run_in_executor(None, next, pieces, None)
                if piece is None:
                    return
                yield piece
        finally:
            pieces.stop()

    def score(self, texts: Sequence[str], **options: "Unpack[TextScoreOptions]") -> list[_tril.Score]:
        """log p(text) of each text, as ``tril score`` computes it.

        The first token is not scored, unless ``begin=True`` puts the model's begin token before it. Texts longer than
        ``context`` tokens are read in windows that begin ``stride`` tokens apart.
        """
        return self._model.score_texts(as_list(texts, "texts"), plain(options))

    def attention(self, text: str, *, max_tokens: int = 100, max_heads: int = 512) -> _tril.Attention:
        """All self-attention weights in one pass over a text: by layer and head."""
        return self._model.attention(text, "", "", "", max_tokens, max_heads)

    def logits(self, ids: Sequence[int]) -> "numpy.ndarray":
        """The logits after each of the ids, in one pass.

        Returns
        -------
        float32 [len(ids), vocab_size], without a copy: row i holds the logits of the token after ids[: i + 1].
        """
        return self._model.logits(list(ids), [])

    def trace(self, text: str, target: str = "", **options: "Unpack[TraceOptions]") -> Trace:
        """What the model computes in one pass over a text, by name, and what edits change, as ``tril trace`` does.

        Parameters
        ----------
        text
            What the model reads first.
        target
            What should follow: the loss counts it alone. Without it, the loss counts all tokens after the first.
        options
            For example ``only="*.weights"`` (the values to keep; without it all), ``edit="decoder.3.self.heads[2]=zero"``,
            ``gradients=True``, ``lens=True``, ``attribute=3``. The first call with ``gradients`` loads the weights a second
            time, in float32.

        Raises
        ------
        tril.Error
            For a pattern or an edit that meets no point of the pass, and for options that do not fit.

        Examples
        --------
        >>> trace = generator.trace("The cat sat on", only=["*.weights", "decoder.3"])
        >>> trace["decoder.3.self.weights"][2]  # head 2: [queries, keys]
        >>> generator.trace("The cat sat on", edit="decoder.3.self.heads[2]=zero").change["loss_after"]
        """
        return Trace(self._model.trace(text, target, plain(options)))

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer."""
        return Tokenizer._of(self._model.tokenizer)

    @property
    def model(self) -> _tril.Model:
        """The model: `family`, `vocab_size`, `max_positions`, `parameters`, `config_json`, `path`."""
        return self._model

    def _run(
        self, prompts: list[str], of_template: bool, cancel: Optional[_tril.Cancel], options: Mapping[str, Any]
    ) -> list[_tril.Generation]:
        return self._native.generate(prompts, of_template, plain(options), cancel)

    def __repr__(self) -> str:
        return f"<tril.Generator {self._model.family} {self._model.path!r}>"
