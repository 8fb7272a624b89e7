import json
import threading
import time

import pytest

import tril


def test_a_run_tells_of_itself(trained):
    directory, summary, updates, validations = trained
    assert summary["ending"] == "completed" and summary["update"] == 60 == len(updates)
    assert [u["update"] for u in updates] == list(range(1, 61))
    assert updates[-1]["loss"] < updates[0]["loss"]
    assert [v["update"] for v in validations] == [30, 60] and validations[0]["bleu"] is None
    assert (directory / "report.html").exists()


def test_a_callback_ends_a_run_which_goes_on(small_run, tmp_path):
    options = dict(small_run, after="3000u")
    stopped = tril.train(tmp_path / "m", on_update=lambda r: r["update"] >= 5, **options)
    assert stopped["ending"] == "stopped" and 5 <= stopped["update"] < 3000
    cancel = tril.Cancel()
    again = tril.train(tmp_path / "m", cancel=cancel, on_update=lambda r: cancel.request(), **options)
    assert again["ending"] == "stopped" and again["update"] > stopped["update"]

    def fail(report):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        tril.train(tmp_path / "m", on_update=fail, **options)


def test_mistakes_are_named(tmp_path, corpus):
    with pytest.raises(tril.Error, match="learn_rat: is not an argument here.*learn_rate"):
        tril.train(tmp_path / "m", learn_rat=1)
    with pytest.raises(tril.Error, match="train_sets: this is required"):
        tril.train(tmp_path / "m")
    with pytest.raises(tril.Error, match="none.de"):
        tril.train(tmp_path / "m", train_sets=[str(corpus / "train.en"), str(tmp_path / "none.de")])


def test_scores_are_those_of_the_program(tmp_path, program):
    texts, references = ["the cat sat down", "a dog"], ["the cat sat down", "the dog"]
    (tmp_path / "t").write_text("\n".join(texts) + "\n")
    (tmp_path / "r").write_text("\n".join(references) + "\n")
    told = json.loads(program("eval", "-i", tmp_path / "t", "-r", tmp_path / "r", "--json", "--chrf-word-order", "2"))
    assert tril.evaluate(texts, references, chrf_word_order=2) == told
    assert list(tril.evaluate(texts, [references, texts], metrics=["bleu"])) == ["bleu"]
    with pytest.raises(tril.Error, match="reference 1 has 1 line"):
        tril.evaluate(texts, references[:1])
