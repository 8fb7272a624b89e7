"""tril.compat.ctranslate2: the scenarios of CTranslate2's documentation, and its results where it is installed."""

import asyncio
import io
import json
import os
import shutil
import threading
import time

import pytest

import tril
import tril.compat.ctranslate2 as compat

SOURCE = os.environ.get("TRIL_SOURCE")
GOLDEN = f"{SOURCE}/tests/golden/ctranslate2"


def sentence_tokens(translator, texts):
    return [translator.tokenizer.tokenize(text, special_tokens=True) for text in texts]


@pytest.fixture(scope="module")
def pair(model, translator, texts):
    """CTranslate2's interface over the trained model, and lists of tokens."""
    return compat.Translator(model, inter_threads=1), sentence_tokens(translator, texts)


@pytest.fixture(scope="module")
def renormalising(model, tmp_path_factory):
    """The trained model as CTranslate2 decodes: log-probabilities after tokens are excluded, and no forced end."""
    directory = tmp_path_factory.mktemp("renormalising") / "model"
    shutil.copytree(model, directory)
    path = directory / "generation_config.json"
    settings = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    settings.pop("forced_eos_token_id", None)
    path.write_text(json.dumps({**settings, "renormalize_logits": True}), encoding="utf-8")
    return tril.Translator(directory, threads=1)


def test_batches_are_translated(pair, translator, renormalising, texts):
    ct, tokens = pair
    results = ct.translate_batch(tokens, beam_size=4, num_hypotheses=2, min_decoding_length=0, return_scores=True)
    wanted = renormalising.translate(texts, beam_size=4, n_best=2, early_stopping="true", max_length=256, max_length_factor=0)
    for result, t in zip(results, wanted):
        assert len(result.hypotheses) == len(result.scores) == 2
        assert [translator.tokenizer.decode(map_ids(translator, h)) for h in result.hypotheses] == [
            h.text for h in t.hypotheses
        ]
        assert result.scores == pytest.approx([h.score for h in t.hypotheses])


def map_ids(translator, tokens):
    return [translator.tokenizer.id(token, side="target") for token in tokens]


def test_documented_scenarios(pair):
    ct, tokens = pair
    plain = ct.translate_batch(tokens[:3])
    assert [len(r) for r in plain] == [1, 1, 1] and plain[0].scores == []
    # target prefixes are part of the hypotheses
    prefix = plain[0].hypotheses[0][:1]
    assert ct.translate_batch(tokens[:1], target_prefix=[prefix])[0].hypotheses[0][:1] == prefix
    # alternatives at a position
    some = ct.translate_batch(tokens[:1], target_prefix=[prefix], num_hypotheses=3, return_alternatives=True)
    assert len({h[1] for h in some[0].hypotheses if len(h) > 1}) == 3
    # attention, lengths, random sampling, empty input
    attention = ct.translate_batch(tokens[:1], return_attention=True)[0]
    assert len(attention.attention[0]) == len(attention.hypotheses[0])
    assert len(attention.attention[0][0]) == len(tokens[0])
    assert all(len(r.hypotheses[0]) == 7 for r in ct.translate_batch(tokens, min_decoding_length=7, max_decoding_length=7))
    sample = ct.translate_batch(tokens, beam_size=1, sampling_topk=5, sampling_temperature=2.0)
    assert sample[0].hypotheses != [] and len(sample) == len(tokens)
    assert ct.translate_batch([[], tokens[0]])[0].hypotheses == [[]]
    # asynchronous
    waiting = ct.translate_batch(tokens[:3], asynchronous=True)
    assert [w.result().hypotheses for w in waiting] == [r.hypotheses for r in plain] and waiting[0].done()
    # iterables and files
    assert [r.hypotheses for r in ct.translate_iterable(iter(tokens[:3]), max_batch_size=2)] == [r.hypotheses for r in plain]
    # tokens while they are generated
    steps = list(ct.generate_tokens(tokens[0], min_decoding_length=0, return_log_prob=True))
    best = ct.translate_batch(tokens[:1], beam_size=1, min_decoding_length=0, return_scores=True, return_end_token=True)[0]
    assert sum(s.log_prob for s in steps) == pytest.approx(best.scores[0] * len(best.hypotheses[0]), abs=1e-3)
    greedy = ct.translate_batch(tokens[:1], beam_size=1, min_decoding_length=0)[0].hypotheses[0]
    assert [s.token for s in steps if not s.is_last or s.token != "</s>"] == greedy
    assert [s.step for s in steps] == list(range(len(steps))) and all(s.log_prob <= 0 for s in steps)
    # scores
    score = ct.score_batch(tokens[:1], [greedy])[0]
    assert score.tokens == greedy + ["</s>"] and len(score.log_probs) == len(score.tokens)


def test_files_are_translated(pair, tmp_path):
    ct, tokens = pair
    (tmp_path / "in").write_text("".join(" ".join(t) + "\n" for t in tokens), encoding="utf-8")
    stats = ct.translate_file(str(tmp_path / "in"), str(tmp_path / "out"), beam_size=1)
    assert stats.num_examples == len(tokens)
    out = (tmp_path / "out").read_text(encoding="utf-8").splitlines()
    assert out == [" ".join(r.hypotheses[0]) for r in ct.translate_batch(tokens, beam_size=1)]


def test_models_are_unloaded(model, pair):
    ct = compat.Translator(model)
    # a call that runs keeps its model
    go_on = threading.Event()
    waiting = ct.translate_batch(pair[1], asynchronous=True, beam_size=1, callback=lambda step: not go_on.wait(60))
    assert ct.num_active_batches == 1
    ct.unload_model()
    assert ct.model_is_loaded
    go_on.set()
    assert [len(w.result()) for w in waiting] == [1] * len(waiting)
    while ct.num_active_batches:
        time.sleep(0.01)
    ct.unload_model()
    assert not ct.model_is_loaded
    with pytest.raises(RuntimeError, match="load_model"):
        ct.translate_batch([["a"]])
    ct.load_model()
    assert ct.model_is_loaded and ct.device == "cpu"


def test_models_are_loaded_from_memory(model, pair):
    _, tokens = pair
    wanted = [r.hypotheses for r in compat.Translator(model).translate_batch(tokens)]
    files = {}
    for name in os.listdir(model):
        if os.path.isfile(f"{model}/{name}"):
            with open(f"{model}/{name}", "rb") as f:
                files[name] = f.read()
    ct = compat.Translator("in memory", files={**files, "config.json": io.BytesIO(files["config.json"])})
    assert [r.hypotheses for r in ct.translate_batch(tokens)] == wanted
    ct.unload_model()
    ct.load_model()
    assert [r.hypotheses for r in ct.translate_batch(tokens)] == wanted
    with pytest.raises(ValueError, match="files"):
        compat.Translator("in memory", files={"../config.json": b""})


def test_calls_have_ctranslate2s_mistakes_and_forms(model, pair, tmp_path):
    ct, tokens = pair
    # types of computation, devices
    assert compat.Translator(model, compute_type="int8", device_index=[0]).compute_type == "int8_float32"
    assert compat.Translator(model, compute_type={"cuda": "float16", "cpu": "float16"}).compute_type == "float32"
    assert {"float32", "int8", "int8_float32"} <= compat.get_supported_compute_types("cpu")
    with pytest.raises(RuntimeError, match="cannot be used"):
        compat.Generator(model)
    with pytest.raises(TypeError, match="compute_type"):
        compat.Translator(model, compute_type=["int8"])
    for index in ([], [0, 1], 1):
        with pytest.raises(ValueError, match="device index"):
            compat.Translator(model, device_index=index)
    with pytest.raises(RuntimeError, match="open file"):
        compat.Translator("xxx")
    # lengths: the mistake of a call, or of its result
    with pytest.raises(ValueError, match="is greater than"):
        ct.translate_batch(tokens, min_decoding_length=10, max_decoding_length=5)
    wrong = ct.translate_batch(tokens[:1], min_decoding_length=10, max_decoding_length=5, asynchronous=True)
    for _ in range(2):
        with pytest.raises(ValueError, match="is greater than"):
            wrong[0].result()
    with pytest.raises(ValueError, match="decoding length"):
        list(ct.generate_tokens(tokens[0], min_decoding_length=2, max_decoding_length=1))
    with pytest.raises(ValueError, match="length"):
        list(ct.translate_iterable(iter(tokens[:2]), iter(tokens[:1])))
    # a callback gets the tokens of prefixes too, and the places of its batch
    steps = []
    prefix = tokens[1][:2]
    ct.translate_batch([[], tokens[1]], [None, prefix], beam_size=1, callback=steps.append, return_scores=True)
    assert [s.token for s in steps[:2]] == prefix and [s.log_prob for s in steps[:2]] == [0, 0]
    assert {s.batch_id for s in steps} == {1} and [s.step for s in steps] == list(range(len(steps)))
    # results in the form of version 1, and samples by their scores
    result = ct.translate_batch(tokens[:1], return_scores=True)[0]
    assert result[0] == {"tokens": result.hypotheses[0], "score": result.scores[0]}
    samples = ct.translate_batch(tokens[:1], beam_size=1, sampling_topk=0, num_hypotheses=5, return_scores=True)[0]
    assert samples.scores == sorted(samples.scores, reverse=True) and len(samples.hypotheses) == 5
    # an empty source
    empty = ct.score_batch([[]], [tokens[0][:2]])[0]
    assert empty.tokens == tokens[0][:2] + ["</s>"] and empty.log_probs == [0, 0, 0]
    # files
    source, target, out = tmp_path / "source", tmp_path / "target", tmp_path / "out"
    source.write_text("".join(" ".join(t) + "\n" for t in tokens[:2]), encoding="utf-8")
    target.write_text(" ".join(tokens[0][:1]) + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match="target_detokenize_fn"):
        ct.translate_file(str(source), str(out), source_tokenize_fn=str.split)
    with pytest.raises(RuntimeError, match="less examples"):
        ct.translate_file(str(source), str(out), target_path=str(target))
    ct.score_file(str(source), str(source), str(out))
    assert out.read_text(encoding="utf-8").splitlines()[0].endswith(" ||| " + " ".join(tokens[0] + ["</s>"]))


def test_what_is_not_there_is_refused(pair, model):
    ct, tokens = pair
    with pytest.raises(ValueError, match="device"):
        compat.Translator(model, device="cuda")
    with pytest.raises(ValueError, match="compute_type"):
        compat.Translator(model, compute_type="int9")
    with pytest.raises(NotImplementedError, match="use_vmap"):
        ct.translate_batch(tokens, use_vmap=True)


def test_prompts_are_continued(language_model, generator):
    ct = compat.Generator(language_model)
    prompts = [generator.tokenizer.tokenize(text, side="target") for text in ("one two", "three")]
    whole = ct.generate_batch(prompts, max_length=12, include_prompt_in_result=False, return_scores=True)
    for text, result in zip(("one two", "three"), whole):
        assert result.sequences_ids[0] == [
            i for i in generator.generate(text, max_new_tokens=12).hypotheses[0].ids if i != generator.tokenizer.special_ids()["eos"]
        ]
    assert ct.generate_batch(prompts, max_length=12)[0].sequences[0][: len(prompts[0])] == prompts[0]
    steps = list(ct.generate_tokens(prompts[0], max_length=5))
    assert [s.token_id for s in steps][:5] == whole[0].sequences_ids[0][:5]

    async def collect():
        return [s.token async for s in ct.async_generate_tokens(prompts[0], max_length=5)]

    assert asyncio.run(collect()) == [s.token for s in steps]
    logits = ct.forward_batch(prompts)
    assert logits.shape == (2, max(map(len, prompts)), generator.model.vocab_size)
    scores = ct.score_batch(prompts)
    assert scores[0].tokens == prompts[0][1:]


# --- beside CTranslate2 itself ---


def both(name, kind):
    ctranslate2 = pytest.importorskip("ctranslate2")
    if not SOURCE:
        pytest.skip("TRIL_SOURCE is the source tree, which has the models")
    path = f"{GOLDEN}/{name}"
    return getattr(ctranslate2, kind)(path), getattr(compat, kind)(path)


def known_tokens(model, count):
    tokenizer = model._tokenizer
    special = set(tokenizer.special_ids("source").values())
    ids = [i for i in range(tokenizer.size("source")) if i not in special]
    return [[tokenizer.piece(ids[(7 * i + 3 * j) % len(ids)]) for j in range(2 + i)] for i in range(count)]


@pytest.mark.parametrize("name", ["marian.float32", "bart.float32", "m2m100.float32"])
def test_translations_are_those_of_ctranslate2(name):
    theirs, ours = both(name, "Translator")
    tokens = known_tokens(ours, 6)
    for options in (
        {"beam_size": 1},
        {"beam_size": 4, "num_hypotheses": 3},
        {"beam_size": 3, "length_penalty": 0.4, "num_hypotheses": 2},
        {"beam_size": 2, "min_decoding_length": 5, "no_repeat_ngram_size": 2},
        {"beam_size": 2, "disable_unk": True, "return_end_token": True},
    ):
        given = dict(max_decoding_length=12, return_scores=True, **options)
        for a, b in zip(theirs.translate_batch(tokens, **given), ours.translate_batch(tokens, **given)):
            assert b.hypotheses == a.hypotheses, options
            assert b.scores == pytest.approx(a.scores, abs=2e-4), options
    prefixes = [[one[-1]] * (i % 3) for i, one in enumerate(tokens)]
    given = dict(target_prefix=prefixes, beam_size=1, max_decoding_length=12, return_scores=True)
    for a, b in zip(theirs.translate_batch(tokens, **given), ours.translate_batch(tokens, **given)):
        assert b.hypotheses == a.hypotheses and b.scores == pytest.approx(a.scores, abs=2e-4)
    targets = [r.hypotheses[0] for r in theirs.translate_batch(tokens, max_decoding_length=8)]
    for a, b in zip(theirs.score_batch(tokens, targets), ours.score_batch(tokens, targets)):
        assert b.tokens == a.tokens and b.log_probs == pytest.approx(a.log_probs, abs=2e-4)


@pytest.mark.parametrize("name", ["gpt2.float32", "llama.float32"])
def test_continuations_are_those_of_ctranslate2(name):
    theirs, ours = both(name, "Generator")
    tokens = known_tokens(ours, 5)
    for options in (
        {"beam_size": 1, "include_prompt_in_result": False},
        {"beam_size": 1},
        {"beam_size": 3, "num_hypotheses": 2, "include_prompt_in_result": False},
        {"beam_size": 3, "num_hypotheses": 2, "length_penalty": 0.5, "include_prompt_in_result": False},
    ):
        given = dict(max_length=10, return_scores=True, **options)
        for prompt in tokens:  # one at a time: CTranslate2's beam finds others for prompts of several lengths in one batch
            (a,), (b,) = theirs.generate_batch([prompt], **given), ours.generate_batch([prompt], **given)
            assert b.sequences_ids == a.sequences_ids and b.sequences == a.sequences, options
            assert b.scores == pytest.approx(a.scores, abs=2e-4), options
    for a, b in zip(theirs.score_batch(tokens), ours.score_batch(tokens)):
        assert b.tokens == a.tokens and b.log_probs == pytest.approx(a.log_probs, abs=2e-4)
