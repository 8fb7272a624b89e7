"""tril.Tokenizer."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, Optional, Sequence

from . import _tril
from ._common import model_path


class Tokenizer:
    """Text to ids and back, with the tokenizer of a model. Only its tokenizer is read.

    A translation model has two sides, "source" and "target", which may have different vocabularies.

    Parameters
    ----------
    model
        A directory, a file (GGUF, .npz, ...), or OWNER/NAME on the hub.
    pull
        Download a model of the hub that is not in the cache.

    Raises
    ------
    tril.Error
        If there is no such model, or a file of it is wrong.
    """

    def __init__(self, model: str | os.PathLike[str], *, pull: bool = True):
        self._native = _tril.Tokenizer.open(model_path(model), pull)

    @classmethod
    def _of(cls, native: _tril.Tokenizer) -> "Tokenizer":
        self = cls.__new__(cls)
        self._native = native
        return self

    def encode(
        self, text: str, *, side: str = "source", special_tokens: bool = False, language: str = ""
    ) -> list[int]:
        """The ids of a text.

        With `special_tokens`, also those that the model expects around a text; `language` selects one of these.

        Raises
        ------
        tril.Error
            For an unknown side or language.
        """
        return self._native.encode(text, side, special_tokens, language)

    def tokenize(
        self, text: str, *, side: str = "source", special_tokens: bool = False, language: str = ""
    ) -> list[str]:
        """The pieces of a text: those of `encode()`."""
        return self._native.tokenize(text, side, special_tokens, language)

    def offsets(
        self, text: str, *, side: str = "source", special_tokens: bool = False, language: str = ""
    ) -> list[Optional[tuple[int, int]]]:
        """Begin and end of each token in the text, in characters; None for a token that corresponds to nothing in it."""
        return self._native.offsets(text, side, special_tokens, language)

    def decode(self, ids: Sequence[int], *, side: str = "target", special_tokens: bool = False) -> str:
        """The text of ids. Special tokens are left out unless `special_tokens` is given.

        Raises
        ------
        tril.Error
            For an id that is not in the vocabulary.
        """
        return self._native.decode(list(ids), side, special_tokens)

    def piece(self, id: int, *, side: str = "source") -> str:
        """The piece of an id."""
        return self._native.piece(id, side)

    def id(self, piece: str, *, side: str = "source") -> Optional[int]:
        """The id of a piece, or None."""
        return self._native.id(piece, side)

    def size(self, side: str = "source") -> int:
        """The largest id + 1."""
        return self._native.size(side)

    def __len__(self) -> int:
        return self._native.size("target")

    def special_ids(self, side: str = "target") -> dict[str, int]:
        """The ids "bos", "eos", "pad" and "unk"; -1: there is none."""
        return self._native.special(side)

    @property
    def languages(self) -> list[str]:
        """The languages with a token of their own, by the model's codes."""
        return self._native.languages

    @property
    def chat_template(self) -> Optional[str]:
        """The publisher's chat template, or None."""
        return self._native.chat_template

    def chat_text(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Optional[Sequence[Mapping[str, Any]]] = None,
        chat_template: str = "",
        add_generation_prompt: bool = True,
        variables: Optional[Mapping[str, Any]] = None,
    ) -> str:
        """Messages as the text that a model reads.

        Parameters
        ----------
        messages
            ``[{"role": "user", "content": "..."}, ...]``.
        tools
            Descriptions of functions that the model may call.
        chat_template
            A template in place of the publisher's.
        add_generation_prompt
            End with the beginning of the assistant's answer.
        variables
            Further variables of the template, such as ``{"enable_thinking": False}``.

        Raises
        ------
        tril.Error
            If there is no template, or if it refuses the messages.
        """
        chat = {
            "messages": list(messages),
            "tools": None if tools is None else list(tools),
            "add_generation_prompt": add_generation_prompt,
            "variables": None if variables is None else dict(variables),
        }
        return self._native.chat_text(json.dumps(chat), chat_template)
