"""What Translator and Generator share: loading, tokens and ids, options."""

from __future__ import annotations

import collections
import concurrent.futures
import json
import os
import threading
from typing import Any, Callable, Iterable, List, Optional, Sequence, Union

from ... import _tril
from ..._tokenizer import Tokenizer
from ._results import GenerationStepResult

_PRECISIONS = {
    "default": None,
    "auto": None,
    "float32": "fp32",
    "bfloat16": "bf16",
    "int8": "int8",
    "int8_float32": "int8",
    "int8_bfloat16": "int8",
    "int8_float16": "int8",
}


class Seed:
    """The seed of samples, for all models of this process, as in CTranslate2."""

    value = 1


def set_random_seed(seed: int) -> None:
    """Sets the seed of samples drawn from now on."""
    Seed.value = int(seed)


def get_cuda_device_count() -> int:
    """0: tril computes on the processor."""
    return 0


def get_supported_compute_types(device: str, device_index: int = 0) -> set:
    """The compute types that a model can be loaded with."""
    _check_device(device)
    return {name for name in _PRECISIONS if name not in ("default", "auto")}


def contains_model(path: str) -> bool:
    """Whether a directory has a model of CTranslate2."""
    return os.path.isfile(os.path.join(path, "model.bin"))


def _check_device(device: str) -> None:
    if device not in ("cpu", "auto"):
        raise ValueError(f"device: tril computes on the processor, got {device!r}; pass device=\"cpu\"")


def _refuse(**given: Any) -> None:
    for name, (value, usual) in given.items():
        if value != usual:
            raise NotImplementedError(f"{name}: is not supported by tril.compat.ctranslate2, got {value!r}; leave it out")


class _Model:
    """What Translator and Generator share."""

    _keys = ("add_source_bos", "add_source_eos")

    def __init__(
        self,
        model_path: str,
        device: str = "cpu",
        *,
        device_index: Union[int, List[int]] = 0,
        compute_type: Any = "default",
        inter_threads: int = 1,
        intra_threads: int = 0,
        max_queued_batches: int = 0,
        flash_attention: bool = False,
        tensor_parallel: bool = False,
        files: object = None,
    ):
        _check_device(device)
        _refuse(
            device_index=(device_index, 0),
            flash_attention=(flash_attention, False),
            tensor_parallel=(tensor_parallel, False),
            files=(files, None),
        )
        if isinstance(compute_type, dict):
            compute_type = compute_type.get("cpu", "default")
        if compute_type not in _PRECISIONS:
            known = ", ".join(sorted(_PRECISIONS))
            raise ValueError(f"compute_type: expected one of {known}, got {compute_type!r}")
        self._path = os.fspath(model_path)
        self._options = {"precision": _PRECISIONS[compute_type], "threads": inter_threads * max(1, intra_threads)}
        self._compute_type = compute_type
        self._inter_threads = inter_threads
        self._config = self._read_config()
        self._pieces = self._read_pieces()
        self._model: Optional[_tril.Model] = _tril.load(self._path, self._options, *self._pieces)
        self._tokenizer = Tokenizer._of(self._model.tokenizer)
        self._pool = concurrent.futures.ThreadPoolExecutor(max(1, inter_threads))
        self._active = 0
        self._lock = threading.Lock()

    def _read_config(self) -> dict:
        try:
            with open(os.path.join(self._path, "config.json"), encoding="utf-8") as f:
                return json.load(f) if contains_model(self._path) else {}
        except OSError:
            return {}

    def _read_pieces(self) -> "tuple[Optional[_tril.Pieces], Optional[_tril.Pieces]]":
        """The vocabularies of a directory of CTranslate2; None: the model has a tokenizer of its own."""
        if not contains_model(self._path):
            return None, None
        sides = [
            self._read_vocabulary("source_vocabulary", "shared_vocabulary", "vocabulary"),
            self._read_vocabulary("target_vocabulary", "shared_vocabulary", "vocabulary"),
        ]
        names = [self._config.get(f"{name}_token", usual) for name, usual in (("bos", "<s>"), ("eos", "</s>"), ("unk", "<unk>"))]
        ids = [[pieces.index(name) if name in pieces else -1 for name in names] for pieces in sides]
        return _tril.Pieces(sides[0], *ids[0]), _tril.Pieces(sides[1], *ids[1])

    def _read_vocabulary(self, *names: str) -> List[str]:
        for name in names:
            path = os.path.join(self._path, name)
            if os.path.isfile(path + ".json"):
                with open(path + ".json", encoding="utf-8") as f:
                    return json.load(f)
            if os.path.isfile(path + ".txt"):
                with open(path + ".txt", encoding="utf-8") as f:
                    return f.read().split("\n")[:-1]
        raise RuntimeError(f"{self._path}: expected one of {', '.join(names)}, as .json or .txt")

    @property
    def device(self) -> str:
        """Always "cpu"."""
        return "cpu"

    @property
    def device_index(self) -> List[int]:
        """Always [0]."""
        return [0]

    @property
    def compute_type(self) -> str:
        """The compute type that was asked for."""
        return self._compute_type

    @property
    def tensor_parallel(self) -> bool:
        """Always False."""
        return False

    @property
    def num_active_batches(self) -> int:
        """Number of calls that wait or run."""
        return self._active

    @property
    def num_queued_batches(self) -> int:
        """Number of calls that wait."""
        return max(0, self._active - self._inter_threads)

    @property
    def model_is_loaded(self) -> bool:
        """Whether the model is in memory."""
        return self._model is not None

    def unload_model(self, to_cpu: bool = False) -> None:
        """Releases the model, which load_model() loads again. With `to_cpu`, does nothing: it is there."""
        if not to_cpu:
            self._model = None

    def load_model(self, keep_cache: bool = False) -> None:
        """Loads the model again after unload_model()."""
        if self._model is None:
            self._model = _tril.load(self._path, self._options, *self._pieces)

    def _loaded(self) -> _tril.Model:
        if self._model is None:
            raise RuntimeError("The model for this object was unloaded; call load_model()")
        return self._model

    def _run(self, work: Callable[[], list], count: int, asynchronous: bool, wrapper: type) -> list:
        if not asynchronous:
            with self._counted():
                return work()

        def counted() -> list:
            with self._counted():
                return work()

        future = self._pool.submit(counted)
        return [wrapper(future, i) for i in range(count)]

    def _counted(self) -> "_Counted":
        return _Counted(self)

    def _ids(self, tokens: Sequence[Union[str, int]], side: str) -> List[int]:
        unknown = self._tokenizer.special_ids(side)["unk"]
        ids = []
        for token in tokens:
            if isinstance(token, int):
                ids.append(token)
                continue
            found = self._tokenizer.id(token, side=side)
            if found is None and unknown < 0:
                raise ValueError(f"the token {token!r} is not in the vocabulary, which has no unknown token")
            ids.append(unknown if found is None else found)
        return ids

    def _tokens(self, ids: Iterable[int]) -> List[str]:
        return [self._tokenizer.piece(i, side="target") for i in ids]

    def _end_ids(self, end_token: Any) -> Optional[List[int]]:
        if end_token is None:
            return None
        given = [end_token] if isinstance(end_token, str) else list(end_token)
        for token in given:
            if isinstance(token, str) and self._tokenizer.id(token, side="target") is None:
                raise ValueError(f"the end token {token!r} is not in the vocabulary")
        return self._ids(given, "target")

    def _search(self, o: dict) -> "tuple[_tril.IdSearch, dict]":
        """A search over ids, and its options by tril's names, from CTranslate2's."""
        search = _tril.IdSearch()
        search.end_ids = self._end_ids(o["end_token"])
        sequences = [self._ids(one, "target") for one in o["suppress_sequences"] or []]
        search.bad_sequences = [one for one in sequences if one]
        if o["disable_unk"] and self._tokenizer.special_ids("target")["unk"] >= 0:
            search.suppressed = [self._tokenizer.special_ids("target")["unk"]]
        options: dict = {
            "repetition_penalty": o["repetition_penalty"],
            "no_repeat_ngram": o["no_repeat_ngram_size"],
            "n_best": o["num_hypotheses"],
        }
        if o["return_alternatives"]:
            options["alternatives"] = True
            options["min_alternative_prob"] = o["min_alternative_expansion_prob"] or None
        if o["sampling_topk"] != 1 and o["beam_size"] == 1 and not o["return_alternatives"]:
            options.update(
                sampling=True,
                top_k=o["sampling_topk"],
                top_p=o["sampling_topp"],
                temperature=o["sampling_temperature"],
                seed=Seed.value,
            )
            return search, options
        options.update(sampling=False, beam_size=o["beam_size"], length_penalty=o["length_penalty"])
        if o["beam_size"] > 1:
            # All that the beam has finished: prefixes change lengths, and with them the order (_ranked).
            if not o["return_alternatives"]:
                options["n_best"] = max(o["beam_size"], o["num_hypotheses"])
            options.update(patience=o["patience"], early_stopping="true")
            if o.get("coverage_penalty"):
                options["coverage_penalty"] = o["coverage_penalty"]
        return search, options

    def _ends(self, search: _tril.IdSearch) -> "set[int]":
        return set(search.end_ids or [self._tokenizer.special_ids("target")["eos"]])

    def _ranked(self, found: List[_tril.Hypothesis], prefix: int, o: dict) -> "tuple[list, List[float]]":
        """The best hypotheses and their scores. The tokens of the prefix count towards a hypothesis's length."""
        penalty = o["length_penalty"]

        def score(h: _tril.Hypothesis) -> float:
            length = max(1, len(h.ids))
            coverage = h.score - h.log_prob / length**penalty if o.get("coverage_penalty") else 0.0
            return h.log_prob / (prefix + length) ** penalty + coverage

        scores = [score(h) for h in found]
        if o["beam_size"] == 1 or o["return_alternatives"]:
            return found, scores
        order = sorted(range(len(found)), key=lambda i: -scores[i])[: o["num_hypotheses"]]
        return [found[i] for i in order], [scores[i] for i in order]


class _Counted:
    """Counts a call while it runs."""

    def __init__(self, model: _Model):
        self._model = model

    def __enter__(self) -> None:
        with self._model._lock:
            self._model._active += 1

    def __exit__(self, *error: object) -> None:
        with self._model._lock:
            self._model._active -= 1


def _without_end(ids: Sequence[int], ends: "set[int]", keep: bool) -> List[int]:
    ids = list(ids)
    if not keep and ids and ids[-1] in ends:
        ids.pop()
    return ids


def _on_token(callback: Optional[Callable], model: _Model, ends: "set[int]", with_log_prob: bool, first: int = 0) -> Any:
    """A callback of tril that calls one of CTranslate2."""
    if callback is None:
        return None
    steps: "collections.Counter[int]" = collections.Counter()

    def on_token(request: int, sample: int, token: int, log_prob: Optional[float], ended: bool) -> bool:
        if token < 0:
            return False
        step = steps[request]
        steps[request] += 1
        piece = model._tokenizer.piece(token, side="target")
        return bool(
            callback(
                GenerationStepResult(
                    step, request + first, token, sample, piece, log_prob if with_log_prob else None, ended
                )
            )
        )

    return on_token
