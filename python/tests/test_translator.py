import asyncio
import json
import pickle
import threading

import numpy
import pytest

import tril


def lines(texts):
    return "".join(text + "\n" for text in texts)


def test_results_are_those_of_the_program(translator, texts, model, program):
    for options, flags in (
        ({}, []),
        ({"beam_size": 4, "length_penalty": 0.6}, ["-b", "4", "--length-penalty", "0.6"]),
        ({"temperature": 0.9, "seed": 7}, ["--temperature", "0.9", "--seed", "7"]),
    ):
        out = program("translate", "-m", model, "--threads", "1", *flags, text=lines(texts))
        assert [t.text for t in translator.translate(texts, **options)] == out.splitlines()


def test_scores_and_tokens_are_those_of_the_program(translator, texts, model, program):
    out = program(
        "translate", "-m", model, "--threads", "1", "-b", "4", "--n-best", "3", "--json", "--alignment", "soft", text=lines(texts)
    )
    found = translator.translate(texts, beam_size=4, n_best=3, alignment="soft")
    for line, t in zip(map(json.loads, out.splitlines()), found):
        assert len(t.hypotheses) == 3
        for told, h in zip(line["translations"], t.hypotheses):
            assert h.text == told["text"]
            # Float32 products depend on how many rows are multiplied at once, on some processors in the last digit.
            assert (h.score, h.log_prob) == (pytest.approx(told["score"], abs=1e-5), pytest.approx(told["log_prob"], abs=1e-5))
            assert h.tokens == told["pieces"] and h.source_tokens == told["source_pieces"]
            assert h.attention.shape == (len(h.ids), len(h.source_ids))
            assert numpy.allclose(h.attention, numpy.array(told["alignment"], dtype=numpy.float32), atol=1e-5)


def test_a_text_gives_a_translation_and_a_list_gives_a_list(translator, texts):
    one = translator.translate(texts[0])
    assert isinstance(one, tril.Translation)
    assert str(one) == one.text == translator.translate(texts[:1])[0].text
    assert translator.translate([]) == []
    assert translator.translate("").text == ""


def test_scores_are_computed_on_request(translator, texts):
    assert translator.translate(texts[0], beam_size=1).score is None
    best = translator.translate(texts[0], beam_size=1, scores=True)
    assert best.score == best.hypotheses[0].score < 0
    assert best.score == pytest.approx(best.log_prob / len(best.ids))


def test_prefixes_begin_translations(translator, texts):
    t = translator.translate(texts[:2], prefixes=["acht ", ""])
    assert t[0].text.startswith("acht ")
    assert t[1].text == translator.translate(texts[1]).text
    with pytest.raises(tril.Error, match="prefixes: 1 for 2 texts"):
        translator.translate(texts[:2], prefixes=["a"])


def test_alignments_are_pairs(translator, texts):
    t = translator.translate(texts[0], alignment="hard")
    assert len(t.alignment) == len(t.ids)
    assert [target for _, target in sorted(t.alignment, key=lambda p: p[1])] == list(range(len(t.ids)))
    assert t.hypotheses[0].attention is not None
    assert translator.translate(texts[0]).attention is None


def test_attention_is_not_copied(translator, texts):
    h = translator.translate(texts[0], alignment="soft").hypotheses[0]
    a, b = h.attention, h.attention
    assert a.dtype == numpy.float32 and not a.flags.writeable and not a.flags.owndata
    assert a.__array_interface__["data"] == b.__array_interface__["data"]
    del h, b
    assert a.sum() == pytest.approx(len(a), rel=1e-4)


def test_texts_are_split(translator):
    t = translator.translate("One two three. Four five.", split="sentences")
    assert [p.source for p in t.parts] == ["One two three.", "Four five."]
    assert t.hypotheses == [] and t.score is None
    assert t.text == " ".join(p.hypotheses[0].text for p in t.parts)


def test_terms_are_placed(translator, tmp_path):
    t = translator.translate("one two three", terms={"two": "ZWO"}, beam_size=8)
    assert t.hypotheses[0].terms == [("two", "ZWO")]
    with pytest.raises(tril.Error, match="terms: needs a beam search.*beam_size=8"):
        translator.translate("one", terms={"one": "a"}, beam_size=1)
    glossary = tmp_path / "g.tsv"
    glossary.write_text("two\tzwo\n", encoding="utf-8")
    assert translator.translate("one two", glossary=glossary, beam_size=8).hypotheses[0].terms == [("two", "zwo")]


def test_constructor_sets_defaults(model, texts, translator):
    four = tril.Translator(model, threads=1, beam_size=4)
    assert [t.text for t in four.translate(texts)] == [t.text for t in translator.translate(texts, beam_size=4)]
    assert four.translate(texts[0], beam_size=1).score is None


@pytest.mark.parametrize(
    "options, message",
    [
        ({"beam_sise": 4}, "beam_sise: is not an argument here.*did you mean beam_size"),
        ({"beam_size": 0}, "beam_size: expected an integer, from 1 to 1000, got 0"),
        ({"beam_size": "x"}, "beam_size: expected an integer"),
        ({"n_best": 4, "beam_size": 2}, "n_best"),
        ({"precision": "int8"}, "precision: is given when the model is loaded"),
        ({"alignment": "soft", "memory": "x.tmx"}, "a translation from the memory has none"),
    ],
)
def test_errors_name_arguments(translator, options, message):
    with pytest.raises(tril.Error, match=message) as caught:
        translator.translate("one", **options)
    assert caught.value.kind == "usage" and "--" not in str(caught.value)


def test_errors_have_parts_and_can_be_pickled(tmp_path):
    with pytest.raises(tril.Error) as caught:
        tril.Translator(tmp_path / "none")
    e = caught.value
    assert e.kind == "failure" and str(tmp_path / "none") in str(e)
    assert str(pickle.loads(pickle.dumps(e))) == str(e)
    with pytest.raises(TypeError, match="beam_size"):
        tril.Translator(tmp_path, beam_size=object())
    with pytest.raises(TypeError, match="expected a list of texts"):
        tril.evaluate("a", ["b"])


def test_threads_share_a_translator(translator, texts):
    wanted = [t.text for t in translator.translate(texts, beam_size=4)]
    found = {}

    def work(number):
        for _ in range(5):
            found[number] = [t.text for t in translator.translate(texts, beam_size=4)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 8 and all(one == wanted for one in found.values())


def test_a_call_can_be_cancelled_and_awaited(translator, texts):
    cancel = tril.Cancel()
    cancel.request()
    assert {t.stop_reason for t in translator.translate(texts, cancel=cancel)} == {"cancelled"}
    assert [t.text for t in asyncio.run(translator.translate_async(texts))] == [t.text for t in translator.translate(texts)]


def test_scores_of_given_translations(translator, texts, model, program, tmp_path):
    targets = [t.text for t in translator.translate(texts)]
    source, target = tmp_path / "s", tmp_path / "t"
    source.write_text(lines(texts), encoding="utf-8")
    target.write_text(lines(targets), encoding="utf-8")
    out = program("score", "-m", model, "-s", source, "-t", target, "--json", "--word-scores", "--threads", "1")
    for told, s in zip(map(json.loads, out.splitlines()), translator.score(texts, targets)):
        assert s.log_prob == told["log_prob"]
        assert s.tokens == [w["piece"] for w in told["word_scores"]]
        assert numpy.array_equal(s.token_log_probs, numpy.array([w["log_prob"] for w in told["word_scores"]], numpy.float32))
    assert translator.score(texts[:1], targets[:1], alignment="soft")[0].attention is not None
    with pytest.raises(tril.Error, match="targets: 1 for 2 sources"):
        translator.score(["a", "b"], ["c"])


def test_logits_agree_with_scores(translator, texts):
    source = translator.tokenizer.encode(texts[0], special_tokens=True)
    score = translator.score(texts[:1], [translator.translate(texts[0]).text])[0]
    logits = translator.logits(source, score.ids[:-1])
    assert logits.shape == (len(score.ids), translator.model.vocab_size) and logits.dtype == numpy.float32
    assert not logits.flags.owndata
    log_probs = logits - numpy.log(numpy.exp(logits.astype(numpy.float64)).sum(axis=1, keepdims=True))
    assert log_probs[range(len(score.ids)), score.ids] == pytest.approx(score.token_log_probs, abs=1e-4)


def test_attention_of_all_heads(translator, texts):
    a = translator.attention(texts[0])
    assert [m.kind for m in a.maps] == ["cross", "encoder", "decoder"]
    cross = a.maps[0]
    weights = cross.weights(cross.layers[-1])
    assert weights.shape == (2, len(cross.queries), len(cross.keys)) and weights.dtype == numpy.float32
    assert weights.sum(axis=2) == pytest.approx(numpy.ones(weights.shape[:2]), abs=1e-4)
    assert "<html" in a.html().lower() and a.svg().startswith("<svg")
    with pytest.raises(tril.Error, match="there is no layer"):
        cross.weights("none")


def test_options_are_listed(translator):
    listed = {o.name: o for o in tril.Translator.options()}
    assert listed["beam_size"].kind == "integer" and "pull" in listed and "model" not in listed
    assert not any("--" in o.help for o in listed.values())
