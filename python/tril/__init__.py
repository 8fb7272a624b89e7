"""Translate, generate, train and serve with Transformer decoders, natively.

>>> import tril
>>> translator = tril.Translator("Helsinki-NLP/opus-mt-en-de")
>>> translator.translate("A dog runs.").text
'Ein Hund läuft.'

Options have the names and limits of the program's options: ``--beam-size 4`` is ``beam_size=4``. Every mistake raises
:class:`tril.Error`, which says where it is, what was expected, what came and what to try. Messages go to the logger "tril".
"""

from ._tril import (
    Attention,
    AttentionMap,
    Cancel,
    Error,
    Generation,
    Hypothesis,
    Part,
    Score,
    TextPieces,
    Translation,
    __version__,
)
from ._common import Option
from ._evaluation import evaluate
from ._generator import Generator
from ._server import Server, serve, serve_options
from ._tokenizer import Tokenizer
from ._trace import Trace
from ._training import train, train_options
from ._translator import Translator

__all__ = [
    "Attention",
    "AttentionMap",
    "Cancel",
    "Error",
    "Generation",
    "Generator",
    "Hypothesis",
    "Option",
    "Part",
    "Score",
    "Server",
    "TextPieces",
    "Tokenizer",
    "Trace",
    "Translation",
    "Translator",
    "__version__",
    "evaluate",
    "serve",
    "serve_options",
    "train",
    "train_options",
]
