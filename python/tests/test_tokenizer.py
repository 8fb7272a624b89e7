import pytest

import tril


def test_ids_are_those_of_the_program(model, texts, program):
    tokenizer = tril.Tokenizer(model)
    out = program("tokenize", "-m", model, "--special-tokens", text="".join(t + "\n" for t in texts))
    assert [" ".join(map(str, tokenizer.encode(t, special_tokens=True))) for t in texts] == out.splitlines()


def test_texts_come_back(translator):
    tokenizer = translator.tokenizer
    ids = tokenizer.encode("one two three")
    assert tokenizer.decode(ids, side="source") == "one two three"
    assert [tokenizer.piece(i) for i in ids] == tokenizer.tokenize("one two three")
    assert tokenizer.id(tokenizer.piece(ids[0])) == ids[0] and tokenizer.id("no such piece") is None
    assert len(tokenizer) == tokenizer.size("target") == translator.model.vocab_size
    assert tokenizer.special_ids()["eos"] >= 0
    assert [p for p in tokenizer.offsets("one two") if p][-1][1] == len("one two")


def test_mistakes_are_named(translator):
    with pytest.raises(tril.Error, match="expected \"source\" or \"target\""):
        translator.tokenizer.encode("a", side="left")
    with pytest.raises(tril.Error, match="ids: 99999 is not in the vocabulary"):
        translator.tokenizer.decode([99999])
