"""The interface of CTranslate2 over tril: ``import tril.compat.ctranslate2 as ctranslate2``.

Takes CTranslate2's directories, and every other model that tril reads. Texts are lists of tokens, as CTranslate2's users make them
with the tokenizer of their model. What tril does not have (GPUs, vocabulary maps, biased prefixes) is refused by name.
"""

from ._generator import Generator
from ._model import (
    contains_model,
    get_cuda_device_count,
    get_log_level,
    get_supported_compute_types,
    set_log_level,
    set_random_seed,
)
from ._results import (
    AsyncGenerationResult,
    AsyncScoringResult,
    AsyncTranslationResult,
    ExecutionStats,
    GenerationResult,
    GenerationStepResult,
    ScoringResult,
    TranslationResult,
)
from ._translator import Translator

__all__ = [
    "AsyncGenerationResult",
    "AsyncScoringResult",
    "AsyncTranslationResult",
    "ExecutionStats",
    "GenerationResult",
    "GenerationStepResult",
    "Generator",
    "ScoringResult",
    "TranslationResult",
    "Translator",
    "contains_model",
    "get_cuda_device_count",
    "get_log_level",
    "get_supported_compute_types",
    "set_log_level",
    "set_random_seed",
]
