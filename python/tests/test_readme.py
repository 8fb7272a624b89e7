"""The Python code of both READMEs runs as it stands, but for the model."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent
MODEL = '"Helsinki-NLP/opus-mt-en-de"'


@pytest.mark.parametrize("page", ["README.md", "README.zh-CN.md"])
def test_code_of_the_readme(page, trained, capsys):
    path = ROOT / page
    if not path.exists():
        pytest.skip("the tests run without the source tree")
    blocks = re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        assert MODEL in block
        exec(compile(block.replace(MODEL, repr(str(trained[0]))), page, "exec"), {})
        assert len(capsys.readouterr().out.splitlines()) == 2
