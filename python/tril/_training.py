"""tril.train."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Mapping, Optional

from . import _tril
from ._common import Option, model_path, options_of, plain

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import TrainOptions

Callback = Callable[[Mapping[str, Any]], Optional[bool]]


def train(
    model: str | os.PathLike[str],
    *,
    on_update: Optional[Callback] = None,
    on_validation: Optional[Callback] = None,
    cancel: Optional[_tril.Cancel] = None,
    **options: "Unpack[TrainOptions]",
) -> dict[str, Any]:
    """Trains a translation model on sentence pairs, or a language model on a text, as ``tril train`` does.

    The run is a directory that holds the best model by validation, its tokenizer, ``train.jsonl`` and ``report.html``. If the
    directory has a checkpoint of a run with the same options, this run is resumed, bit for bit.

    Parameters
    ----------
    model
        The directory of the new model.
    on_update
        Called in this thread with ``{"update", "epoch", "tokens", "minutes", "loss", "rate", "gradient_norm",
        "tokens_per_second"}`` of each update, some time after it. If it returns True, the run is saved and ends.
    on_validation
        Likewise, with ``{"update", "epoch", "tokens", "minutes", "cross_entropy", "perplexity", "bleu", "chrf", "best",
        "stalled"}`` of each validation.
    cancel
        Ends the run from another thread, as a callback's True does; so does Ctrl-C, which also raises KeyboardInterrupt.
    options
        Those of `train_options()`, for example ``train_sets=["train.en", "train.de"]``, ``valid_sets=[...]``,
        ``preset="base"``, ``after="20e"``, ``early_stopping=5``, ``init_from="DIR"``, ``lora_rank=8``.

    Returns
    -------
    ``{"update", "epoch", "tokens", "minutes", "updates_here", "ending", "best", "best_update"}``, where ending is
    "completed", "early_stopping" or "stopped".

    Raises
    ------
    tril.Error
        For an option that is unknown, out of its range or contradicts another; for bad data, a full disk, or a loss that is
        not finite. Checkpoints remain.
    """
    return _tril.train({"model": model_path(model), **plain(options)}, on_update, on_validation, cancel)


def train_options() -> list[Option]:
    """The options of train(), with their help."""
    return options_of(_tril.train_options())
