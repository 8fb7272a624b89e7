"""tril.evaluate."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Sequence, Union

from . import _tril
from ._common import as_list, plain

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import EvaluateOptions


def evaluate(
    translations: Sequence[str],
    references: Union[Sequence[str], Sequence[Sequence[str]]],
    **options: "Unpack[EvaluateOptions]",
) -> dict[str, Any]:
    """BLEU and chrF of translations, as ``tril eval`` and sacrebleu compute them.

    Parameters
    ----------
    translations
        One text each.
    references
        One text for each translation, or several lists of these.
    options
        ``metrics``, ``tokenize``, ``chrf_word_order``, ``lowercase``.

    Returns
    -------
    ``{"bleu": {"score": ..., "precisions": [...], ..., "signature": ...}, "chrf": {"score": ..., "signature": ...}}``

    Raises
    ------
    tril.Error
        If the numbers of texts differ, or for an unknown option.
    """
    lists = list(references)
    if lists and isinstance(lists[0], str):
        lists = [lists]
    return json.loads(_tril.evaluate(as_list(translations, "translations"), [list(one) for one in lists], plain(options)))
