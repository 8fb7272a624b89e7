import asyncio
import json
import re

import numpy
import pytest

import tril

PROMPTS = ["one two", "three", "nine eight seven"]


def test_results_are_those_of_the_program(generator, language_model, program):
    common = ["generate", "-m", language_model, "--threads", "1", "--json", "--no-echo", "-p", *PROMPTS]
    for options, flags in (
        ({"max_new_tokens": 12}, ["--max-new-tokens", "12"]),
        ({"max_new_tokens": 12, "temperature": 0.8, "n": 3}, ["--max-new-tokens", "12", "--temperature", "0.8", "--n", "3"]),
        ({"max_new_tokens": 8, "beam_size": 3}, ["--max-new-tokens", "8", "-b", "3"]),
    ):
        told = [json.loads(line)["generations"] for line in program(*common, *flags).splitlines()]
        found = generator.generate(PROMPTS, scores=True, **options)
        assert len(told) == len(found)
        for one, g in zip(told, found):
            assert [h.text for h in g.hypotheses] == [h["text"] for h in one]
            # Float32 products depend on how many rows are multiplied at once, on some processors in the last digit.
            assert [(h.score, h.log_prob) for h in g.hypotheses] == [
                (pytest.approx(h["score"], abs=1e-5), pytest.approx(h["log_prob"], abs=1e-5)) for h in one
            ]


def test_probabilities_of_tokens(generator):
    h = generator.generate("one two", max_new_tokens=5, logprobs=3).hypotheses[0]
    assert len(h.token_log_probs) == len(h.ids) and sum(h.token_log_probs) == pytest.approx(h.log_prob)
    assert all(len(top) == 3 and top == sorted(top, key=lambda c: -c[1]) for top in h.top_log_probs)
    assert generator.generate("one", max_new_tokens=2).hypotheses[0].token_log_probs is None


def test_streams_give_the_text(generator):
    for options in ({"max_new_tokens": 20}, {"max_new_tokens": 20, "temperature": 0.9, "seed": 3}):
        whole = generator.generate("one two", **options).text
        assert "".join(generator.stream("one two", **options)) == whole
    pieces = generator.stream("one", max_new_tokens=100)
    next(pieces)
    pieces.stop()
    assert len("".join(pieces)) < 1000
    with pytest.raises(tril.Error, match="beam"):
        generator.stream("one", beam_size=4)
    with pytest.raises(tril.Error, match="positions"):
        list(generator.stream("one " * 200))


def test_streams_can_be_awaited(generator):
    async def collect():
        return [piece async for piece in generator.stream_async("one two", max_new_tokens=10)]

    assert "".join(asyncio.run(collect())) == generator.generate("one two", max_new_tokens=10).text
    found = asyncio.run(generator.generate_async(PROMPTS, max_new_tokens=4))
    assert [g.text for g in found] == [g.text for g in generator.generate(PROMPTS, max_new_tokens=4)]


def test_chats_use_the_template(generator):
    messages = [{"role": "user", "content": "one two"}]
    text = generator.tokenizer.chat_text(messages)
    assert text == "user says one two . assistant says "
    answer = generator.chat(messages, max_new_tokens=6)
    assert answer.text == generator.generate(text, max_new_tokens=6).text
    assert "".join(generator.stream(messages, max_new_tokens=6)) == answer.text
    assert generator.chat(messages, chat_template="{{ messages[0].content }}", max_new_tokens=6).text == (
        generator.generate("one two", max_new_tokens=6).text
    )


def test_forms_are_kept(generator):
    assert re.fullmatch("(one|two)( (one|two)){3}", generator.generate("", regex="(one|two)( (one|two)){3}").text)


def test_stops_end_texts(generator):
    g = generator.generate("one two", max_new_tokens=40, stop=["e"])
    assert "e" not in g.text
    cancel = tril.Cancel()
    cancel.request()
    assert generator.generate("one", cancel=cancel).hypotheses[0].stop_reason == "cancelled"


def test_scores_and_logits_agree(generator):
    s = generator.score(["one two three"])[0]
    ids = generator.tokenizer.encode("one two three", side="target")
    assert s.ids == ids[1:] and s.log_prob == pytest.approx(float(s.token_log_probs.sum()), rel=1e-5)
    logits = generator.logits(ids)
    assert logits.shape == (len(ids), generator.model.vocab_size)
    log_probs = logits - numpy.log(numpy.exp(logits.astype(numpy.float64)).sum(axis=1, keepdims=True))
    assert log_probs[range(len(s.ids)), s.ids] == pytest.approx(s.token_log_probs, abs=1e-4)
    with pytest.raises(tril.Error, match="not in the vocabulary"):
        generator.logits([10**6])


def test_attention_of_a_text(generator):
    maps = generator.attention("one two three").maps
    assert [m.kind for m in maps] == ["self"] and maps[0].queries == maps[0].keys


def test_kinds_of_models_are_checked(model, language_model):
    with pytest.raises(tril.Error, match="translates"):
        tril.Generator(model)
