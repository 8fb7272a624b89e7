"""Runs the cells of examples/python/*.ipynb with small models."""

import glob
import json
import os

import pytest

SOURCE = os.environ.get("TRIL_SOURCE")
NOTEBOOKS = sorted(glob.glob(f"{SOURCE}/examples/python/*.ipynb")) if SOURCE else []


def test_there_are_notebooks():
    if not SOURCE:
        pytest.skip("TRIL_SOURCE is the source tree, which has the notebooks")
    assert len(NOTEBOOKS) == 4


@pytest.mark.parametrize("path", NOTEBOOKS, ids=os.path.basename)
def test_cells_run(path, model, language_model, tmp_path, monkeypatch):
    monkeypatch.setenv("TRIL_NOTEBOOK_TRANSLATION", model)
    monkeypatch.setenv("TRIL_NOTEBOOK_LANGUAGE_MODEL", language_model)
    monkeypatch.setenv("TRIL_NOTEBOOK_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("TRIL_NOTEBOOK_AFTER", "20u")
    monkeypatch.chdir(tmp_path)
    with open(path, encoding="utf-8") as f:
        notebook = json.load(f)
    names = {}
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{path}: cell {number}", "exec"), names)
