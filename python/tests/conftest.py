"""Small models, trained here, and the program to compare with."""

import os
import random
import subprocess
import sys

import pytest

import tril

WORDS = "one two three four five six seven eight nine ten".split()
WORTE = "eins zwei drei vier fünf sechs sieben acht neun zehn".split()

CHAT_TEMPLATE = (
    "{% for m in messages %}{{ m['role'] }} says {{ m['content'] }} . {% endfor %}"
    "{% if add_generation_prompt %}assistant says {% endif %}"
)


def sentences(count, seed):
    draw = random.Random(seed)
    for _ in range(count):
        yield [draw.randrange(10) for _ in range(draw.randint(1, 9))]


def write_lines(path, lines):
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """The files of numbers in English and German: train.en, train.de, valid.en, valid.de."""
    directory = tmp_path_factory.mktemp("corpus")
    for name, count, seed in (("train", 400, 1), ("valid", 20, 2)):
        numbers = list(sentences(count, seed))
        write_lines(directory / f"{name}.en", (" ".join(WORDS[n] for n in s) for s in numbers))
        write_lines(directory / f"{name}.de", (" ".join(WORTE[n] for n in s) for s in numbers))
    return directory


@pytest.fixture(scope="session")
def small_run(corpus):
    """Options of tril.train() for the smallest translation model."""
    return dict(
        train_sets=[str(corpus / "train.en"), str(corpus / "train.de")],
        vocab_size=64,
        d_model=16,
        num_heads=2,
        ffn_dim=16,
        enc_depth=1,
        dec_depth=1,
        max_tokens=256,
        threads=1,
    )


@pytest.fixture(scope="session")
def trained(corpus, tmp_path_factory):
    """A translation model, and what its training told: (directory, summary, updates, validations)."""
    directory = tmp_path_factory.mktemp("models") / "numbers"
    updates, validations = [], []
    summary = tril.train(
        directory,
        train_sets=[str(corpus / "train.en"), str(corpus / "train.de")],
        valid_sets=[str(corpus / "valid.en"), str(corpus / "valid.de")],
        vocab_size=64,
        d_model=32,
        num_heads=2,
        ffn_dim=64,
        enc_depth=2,
        dec_depth=2,
        max_tokens=512,
        after="60u",
        valid_freq="30u",
        threads=2,
        on_update=updates.append,
        on_validation=validations.append,
    )
    return directory, summary, updates, validations


@pytest.fixture(scope="session")
def model(trained):
    """The directory of a translation model."""
    return str(trained[0])


@pytest.fixture(scope="session")
def texts():
    return [" ".join(WORDS[n] for n in s) for s in sentences(40, 3)]


@pytest.fixture(scope="session")
def translator(model):
    return tril.Translator(model, threads=1)


@pytest.fixture(scope="session")
def language_model(corpus, tmp_path_factory):
    """The directory of a language model with a chat template."""
    directory = tmp_path_factory.mktemp("models") / "text"
    tril.train(
        directory,
        arch="gpt2",
        train_sets=str(corpus / "train.en"),
        vocab_size=300,
        d_model=32,
        num_heads=2,
        ffn_dim=64,
        dec_depth=2,
        max_length=128,
        max_tokens=512,
        after="30u",
        threads=1,
    )
    (directory / "chat_template.jinja").write_text(CHAT_TEMPLATE, encoding="utf-8")
    return str(directory)


@pytest.fixture(scope="session")
def generator(language_model):
    return tril.Generator(language_model, threads=1)


@pytest.fixture(scope="session")
def program():
    """Runs the program with arguments and an input, and returns its output."""
    given = os.environ.get("TRIL_PROGRAM")
    command = [given] if given else [sys.executable, "-m", "tril"]

    def run(*args, text=""):
        done = subprocess.run([*command, *map(str, args)], input=text.encode(), capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    return run
