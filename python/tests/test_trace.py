"""Traces equal those of the program, to the last bit."""

import gc
import json
import threading

import numpy
import pytest

import tril


def told_by_program(program, folder, *args):
    npz, about = folder / "values.npz", folder / "about.json"
    program("trace", *args, "--npz", npz, "--json", about)
    return dict(numpy.load(npz)), json.loads(about.read_text(encoding="utf-8"))


def expect_same(trace, values, about):
    assert list(trace) == list(values) and len(trace) == len(values)
    for name, array in trace.items():
        assert array.shape == values[name].shape
        assert array.dtype == (numpy.uint8 if name.endswith(".mask") else values[name].dtype)
        assert numpy.array_equal(array, values[name], equal_nan=True), name
    assert (trace.ids, trace.tokens) == (about["tokens"]["ids"], about["tokens"]["pieces"])
    source = about.get("source", {"ids": [], "pieces": []})
    assert (trace.source_ids, trace.source_tokens) == (source["ids"], source["pieces"])
    for name in ("prompt_tokens", "next", "loss", "change", "attribution", "head_scores"):
        assert getattr(trace, name) == about.get(name), name
    lens, lens_told = trace.lens or [], about.get("lens", [])
    assert len(lens) == len(lens_told)
    for row, told in zip(lens, lens_told):
        assert (row["point"], row["best_ids"], row["best"]) == (told["point"], told["best_ids"], told["best"])
        assert row["logits"].argmax(-1).tolist() == told["best_ids"]
    assert {side: m.tolist() for side, m in (trace.rollout or {}).items()} == {
        side: numpy.array(rows, numpy.float32).tolist() for side, rows in about.get("rollout", {}).items()
    }


@pytest.mark.parametrize(
    "target, options, flags",
    [
        ("", {}, []),
        ("four five", {"gradients": True}, ["--gradients"]),
        ("", {"only": ["*.weights", "logits"]}, ["--only", "*.weights", "--only", "logits"]),
        (
            "",
            {"edit": "decoder.0.self.heads[1]=zero", "new_tokens": 4},
            ["--edit", "decoder.0.self.heads[1]=zero", "--new-tokens", "4"],
        ),
        (
            "",
            {"edit": ["decoder.0.output@1=patch"], "patch_text": "nine two three"},
            ["--edit", "decoder.0.output@1=patch", "--patch-text", "nine two three"],
        ),
        (
            "",
            {"only": "logits", "lens": True, "rollout": True, "attribute": 1, "head_scores": 4},
            ["--only", "logits", "--lens", "--rollout", "--attribute", "1", "--head-scores", "4"],
        ),
    ],
)
def test_of_a_language_model(generator, language_model, program, tmp_path, target, options, flags):
    told = told_by_program(program, tmp_path, "-m", language_model, "--text", "one two three", "--target", target, *flags)
    expect_same(generator.trace("one two three", target, **options), *told)


@pytest.mark.parametrize(
    "target, options, flags",
    [
        ("eins zwei", {}, []),
        ("", {}, []),
        ("eins zwei", {"gradients": True}, ["--gradients"]),
        ("eins zwei", {"edit": "decoder.1.cross.heads[0]=mean"}, ["--edit", "decoder.1.cross.heads[0]=mean"]),
        ("eins", {"only": "logits", "lens": True, "rollout": True}, ["--only", "logits", "--lens", "--rollout"]),
    ],
)
def test_of_a_translation_model(translator, model, program, tmp_path, target, options, flags):
    told = told_by_program(program, tmp_path, "-m", model, "--text", "one two", "--target", target, *flags)
    expect_same(translator.trace("one two", target, **options), *told)


def test_arrays_are_the_memory_of_the_trace(generator):
    trace = generator.trace("one two three")
    weights = trace["decoder.0.self.weights"]
    assert weights.dtype == numpy.float32 and not weights.flags.owndata and not weights.flags.writeable
    assert numpy.shares_memory(weights, trace["decoder.0.self.weights"])
    assert trace.logits.shape == (len(trace.ids), generator.model.vocab_size)
    assert numpy.array_equal(trace.logits, trace["logits"])
    kept = weights.copy()
    del trace
    gc.collect()
    generator.trace("nine nine nine nine")
    assert numpy.array_equal(weights, kept)
    assert numpy.allclose(weights.sum(-1), 1, atol=1e-5)


def test_is_a_mapping(generator):
    trace = generator.trace("one two", only="decoder.0.self")
    assert "decoder.0.self.q" in trace and "logits" not in trace and 3 not in trace
    assert trace.get("logits") is None and dict(trace).keys() == set(trace)
    with pytest.raises(KeyError, match="did you mean decoder.0.self.weights"):
        trace["decoder.0.self.weihgts"]
    assert trace != generator.trace("one two") and len({trace, trace}) == 1
    assert repr(trace) == f"<tril.Trace {len(trace)} values of {len(trace.ids)} tokens>"
    assert len(generator.trace("one two", only=[])) == 0
    assert len(generator.trace("one two", lens=True)) == 0


def test_mistakes_are_named(generator, language_model):
    for options, where, text in (
        ({"onlly": "*"}, "onlly", "did you mean only"),
        ({"only": "decoder.9.self"}, "decoder.9.self", "matches no point"),
        ({"edit": "decoder.0=skip", "lens": True}, "edit", "plain pass"),
        ({"edit": "decoder.0=skip", "gradients": True}, "gradients", "edited"),
        ({"patch_target": "a"}, "patch_target", "patch_text"),
        ({"attribute": 99}, "attribute", "no token 99"),
        ({"max_bytes": 0}, "max_bytes", "at least 1"),
        ({"source_language": "de"}, "source_language", "language"),
    ):
        with pytest.raises(tril.Error, match=text) as error:
            generator.trace("one two", **options)
        assert (error.value.where, error.value.kind) == (where, "usage")
    with pytest.raises(tril.Error, match="int8|precision") as error:
        tril.Generator(language_model, precision="int8").trace("one two", gradients=True)
    assert error.value.where == "gradients"
    with pytest.raises(tril.Error, match="ensemble"):
        tril.Generator(language_model, models=language_model).trace("one two")


def test_threads_trace_side_by_side(generator):
    expected = generator.trace("one two three four", gradients=True)
    found = [None] * 4

    def trace(i):
        found[i] = generator.trace("one two three four", gradients=True)

    threads = [threading.Thread(target=trace, args=(i,)) for i in range(len(found))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for one in found:
        assert all(numpy.array_equal(one[name], expected[name]) for name in expected)
