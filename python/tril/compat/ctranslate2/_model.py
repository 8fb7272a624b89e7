"""What Translator and Generator share: loading, tokens and ids, options."""

from __future__ import annotations

import collections
import concurrent.futures
import json
import logging
import os
import tempfile
import threading
from typing import Any, Callable, Iterable, List, Mapping, Optional, Sequence, Union

from ... import _tril
from ..._tokenizer import Tokenizer
from ._results import GenerationStepResult

#: tril's precision for each compute type, and the compute type that it amounts to. As in CTranslate2 on a processor without float16,
#: float16 becomes float32.
_PRECISIONS = {
    "default": (None, "default"),
    "auto": (None, "auto"),
    "float32": ("fp32", "float32"),
    "float16": ("fp32", "float32"),
    "bfloat16": ("bf16", "bfloat16"),
    "int8": ("int8", "int8_float32"),
    "int8_float32": ("int8", "int8_float32"),
    "int8_bfloat16": ("int8", "int8_float32"),
    "int8_float16": ("int8", "int8_float32"),
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
    return {actual for _, actual in _PRECISIONS.values() if actual not in ("default", "auto")} | {"int8"}


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


def get_log_level() -> int:
    """The level of the logger "tril"."""
    return logging.getLogger("tril").getEffectiveLevel()


def set_log_level(level: int) -> None:
    """Sets the level of the logger "tril"."""
    logging.getLogger("tril").setLevel(level)


def _written(files: Mapping[str, Any]) -> "tempfile.TemporaryDirectory[str]":
    """A directory with files that are given as bytes or as open files; it goes with the object."""
    directory = tempfile.TemporaryDirectory(prefix="tril-")
    for name, content in files.items():
        if os.path.basename(name) != name or not name:
            raise ValueError(f"files: expected names of files, got {name!r}")
        with open(os.path.join(directory.name, name), "wb") as f:
            f.write(content if isinstance(content, (bytes, bytearray, memoryview)) else content.read())
    return directory


def _check_lengths(least_name: str, least: int, most_name: str, most: int) -> None:
    if least > most:
        raise ValueError(f"{least_name}: the minimum decoding length {least} is greater than {most_name}, {most}")


class _Model:
    """What Translator and Generator share."""

    _translates: bool

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
        files: Optional[Mapping[str, Any]] = None,
    ):
        _check_device(device)
        if device_index not in (0, [0]):
            raise ValueError(f"device_index: tril computes on the processor, which is device index 0; got {device_index!r}")
        _refuse(
            flash_attention=(flash_attention, False),
            tensor_parallel=(tensor_parallel, False),
        )
        if isinstance(compute_type, dict):
            compute_type = compute_type.get("cpu", "default")
        if not isinstance(compute_type, str):
            raise TypeError(f"compute_type: expected a text, or a dictionary of texts by device, got {compute_type!r}")
        if compute_type not in _PRECISIONS:
            known = ", ".join(sorted(_PRECISIONS))
            raise ValueError(f"compute_type: expected a compute type ({known}), got {compute_type!r}")
        self._path = os.fspath(model_path)
        if files is not None:
            self._directory = _written(files)
            self._path = self._directory.name
        if "/" not in self._path and not os.path.exists(self._path):
            # CTranslate2 takes paths alone. A name of the hub has an owner.
            raise RuntimeError(f"cannot open file {self._path!r}: there is no such directory; pass a directory, or owner/name")
        precision, self._compute_type = _PRECISIONS[compute_type]
        self._options = {"precision": precision, "threads": inter_threads * max(1, intra_threads)}
        self._inter_threads = inter_threads
        self._config = self._read_config()
        self._pieces = self._read_pieces()
        self._model: Optional[_tril.Model] = _tril.load(self._path, self._options, *self._pieces)
        if self._model.translates != self._translates:
            what = "a translation model" if self._model.translates else "a language model"
            raise RuntimeError(f"{model_path}: is {what}, which cannot be used as a {type(self).__name__}")
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
        """The compute type that is used; "default" and "auto": that of the files."""
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
        """Releases the model, which load_model() loads again. Does nothing while calls run, and with `to_cpu`: it is there."""
        if not to_cpu and self._active == 0:
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
        with self._lock:
            self._active += 1

        def counted() -> list:
            try:
                return work()
            finally:
                with self._lock:
                    self._active -= 1

        if not asynchronous:
            return counted()
        future = self._pool.submit(counted)
        return [wrapper(future, i) for i in range(count)]

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
        if o["return_alternatives"]:
            return found, scores
        order = sorted(range(len(found)), key=lambda i: -scores[i])[: o["num_hypotheses"]]
        return [found[i] for i in order], [scores[i] for i in order]


def _without_end(ids: Sequence[int], ends: "set[int]", keep: bool) -> List[int]:
    ids = list(ids)
    if not keep and ids and ids[-1] in ends:
        ids.pop()
    return ids


def _on_token(
    callback: Optional[Callable],
    model: _Model,
    with_log_prob: bool,
    batch_ids: Sequence[int],
    prefixes: Sequence[Sequence[int]],
) -> Any:
    """A callback of tril that calls one of CTranslate2. A result begins with its prefix, whose tokens are certain.

    `batch_ids` has the place of each request in the caller's batch, `prefixes` the tokens of each that are part of its result.
    """
    if callback is None:
        return None
    steps: "collections.Counter[tuple[int, int]]" = collections.Counter()
    over = set()

    def step(request: int, sample: int, token: int, log_prob: Optional[float], ended: bool) -> bool:
        at = steps[request, sample]
        steps[request, sample] += 1
        piece = model._tokenizer.piece(token, side="target")
        log_prob = log_prob if with_log_prob else None
        if callback(GenerationStepResult(at, batch_ids[request], token, sample, piece, log_prob, ended)):
            over.add((request, sample))
            return True
        return False

    def on_token(request: int, sample: int, token: int, log_prob: Optional[float], ended: bool) -> bool:
        if token < 0 or (request, sample) in over:
            return token >= 0
        if not steps[request, sample]:
            for one in prefixes[request]:
                if step(request, sample, one, 0.0, False):
                    return True
        return step(request, sample, token, log_prob, ended)

    return on_token
