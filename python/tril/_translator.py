"""tril.Translator."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Optional, Sequence, overload

from . import _tril
from ._common import Option, as_list, awaited, model_path, options_of, plain
from ._tokenizer import Tokenizer
from ._trace import Trace

if TYPE_CHECKING:
    import numpy
    from typing_extensions import Unpack

    from ._options import PairScoreOptions, TraceOptions, TranslateOptions, TranslatorOptions


class Translator:
    """Translates texts with an encoder-decoder model, or with a language model and a prompt.

    A translator may be used by any number of threads at once. Calls release the interpreter's lock and obey Ctrl-C.

    Parameters
    ----------
    model
        A directory, a file (GGUF, .npz, .argosmodel, ...), or OWNER/NAME on the hub.
    options
        Those of `Translator.options()`. Options of a call are the defaults of all calls here.

    Raises
    ------
    tril.Error
        If there is no such model, a file of it is wrong, or an option is unknown or does not fit.

    Examples
    --------
    >>> translator = tril.Translator("models/en-de", precision="int8", threads=4)
    >>> [t.text for t in translator.translate(["A dog runs.", "A cat sleeps."], beam_size=4)]
    ['Ein Hund läuft.', 'Eine Katze schläft.']
    """

    def __init__(self, model: str | os.PathLike[str], **options: "Unpack[TranslatorOptions]"):
        self._native = _tril.Translator(model_path(model), plain(options))
        self._model = self._native.loaded

    @staticmethod
    def options() -> list[Option]:
        """The options of the constructor and of translate(), with their help."""
        return options_of(_tril.loading_options(), _tril.translate_options())

    @overload
    def translate(
        self,
        texts: str,
        *,
        prefixes: Optional[str] = None,
        cancel: Optional[_tril.Cancel] = None,
        **options: "Unpack[TranslateOptions]",
    ) -> _tril.Translation: ...

    @overload
    def translate(
        self,
        texts: Sequence[str],
        *,
        prefixes: Optional[Sequence[str]] = None,
        cancel: Optional[_tril.Cancel] = None,
        **options: "Unpack[TranslateOptions]",
    ) -> list[_tril.Translation]: ...

    def translate(self, texts: Any, *, prefixes: Any = None, cancel: Optional[_tril.Cancel] = None, **options: Any) -> Any:
        """Translates one text, or a list of texts.

        The results are those of ``tril translate`` for the same lines, bit for bit. Samples depend on the place of a
        text in the list.

        Parameters
        ----------
        texts
            A text, or texts.
        prefixes
            The beginning of each translation, possibly empty; after a final space a new word begins.
        cancel
            Cancels the call from another thread. What was not translated then has the stop_reason "cancelled".
        options
            For example ``beam_size=4``, ``n_best=4``, ``scores=True``, ``alignment="hard"``, ``split="sentences"``,
            ``terms={"dog": "Hund"}`` (needs a beam), ``glossary="terms.tsv"``.

        Returns
        -------
        Translation, or a list of one for each text.

        Raises
        ------
        tril.Error
            For an option that is unknown, out of its range, or does not fit the model or another option.
        """
        if isinstance(texts, str):
            given = [] if prefixes is None else [prefixes]
            return self._native.translate([texts], given, plain(options), cancel)[0]
        given = [] if prefixes is None else as_list(prefixes, "prefixes")
        return self._native.translate(as_list(texts, "texts"), given, plain(options), cancel)

    async def translate_async(
        self, texts: Any, *, prefixes: Any = None, cancel: Optional[_tril.Cancel] = None, **options: Any
    ) -> Any:
        """translate() to await. If the task is cancelled, so is the search."""
        return await awaited(self.translate, texts, prefixes=prefixes, cancel=cancel, **options)

    def score(
        self, sources: Sequence[str], targets: Sequence[str], **options: "Unpack[PairScoreOptions]"
    ) -> list[_tril.Score]:
        """The log-probabilities of given translations, as ``tril score`` computes them.

        Parameters
        ----------
        sources, targets
            Texts and their translations.
        options
            ``source_language``, ``target_language``, ``alignment``, ``alignment_layer``, ``batch_size``,
            ``prompt_template``.

        Returns
        -------
        One Score for each pair.

        Raises
        ------
        tril.Error
            If the numbers of texts differ, or a text is longer than the model's positions.
        """
        return self._model.score_pairs(as_list(sources, "sources"), as_list(targets, "targets"), plain(options))

    def attention(
        self,
        source: str,
        target: Optional[str] = None,
        *,
        source_language: str = "",
        target_language: str = "",
        max_tokens: int = 100,
        max_heads: int = 512,
    ) -> _tril.Attention:
        """All attention weights in one pass over a text and its translation: by kind, layer and head.

        Without `target`, the model's own translation is shown. Only the first `max_tokens` tokens of a side and the last
        layers with `max_heads` heads are kept.
        """
        if target is None:
            languages = {"source_language": source_language, "target_language": target_language}
            target = self.translate(source, **{k: v for k, v in languages.items() if v}).text
        return self._model.attention(source, target, source_language, target_language, max_tokens, max_heads)

    def logits(self, source_ids: Sequence[int], target_ids: Sequence[int]) -> "numpy.ndarray":
        """The logits after each prefix of a translation, in one pass.

        Parameters
        ----------
        source_ids
            Ids of the source, with the special tokens around it (``tokenizer.encode(text, special_tokens=True)``).
        target_ids
            Ids of the translation, or of its beginning.

        Returns
        -------
        float32 [len(target_ids) + 1, vocab_size], without a copy: row i holds the logits of the token after i ids.
        """
        return self._model.logits([self._model.decoder_start, *target_ids], list(source_ids))

    def trace(self, source: str, target: str = "", **options: "Unpack[TraceOptions]") -> Trace:
        """What the model computes in one pass over a text and its translation, by name, and what edits change, as ``tril trace`` does.

        Parameters
        ----------
        source
            What the encoder reads. A language model reads it without a prompt.
        target
            What the decoder should say; the loss counts it and its end. Without it, the decoder reads its start token alone.
        options
            See `Generator.trace()`; also ``source_language`` and ``target_language``.

        Raises
        ------
        tril.Error
            For a pattern or an edit that meets no point of the pass, and for options that do not fit.

        Examples
        --------
        >>> translator.trace("A dog runs.", "Ein Hund rennt.", only="*.cross.weights")["decoder.0.cross.weights"].shape
        """
        return Trace(self._model.trace(source, target, plain(options)))

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer."""
        return Tokenizer._of(self._model.tokenizer)

    @property
    def model(self) -> _tril.Model:
        """The model: `family`, `vocab_size`, `max_positions`, `parameters`, `config_json`, `path`."""
        return self._model

    def __repr__(self) -> str:
        return f"<tril.Translator {self._model.family} {self._model.path!r}>"
