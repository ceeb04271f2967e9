"""Every example script and notebook runs, and prints what theory says where it does."""

import doctest
import inspect
import re
import runpy
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from conftest import ROOT
from gymnasium.utils.env_checker import check_env
from nbclient import NotebookClient

import stiction as st

EXAMPLES = ROOT / "examples" / "python"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
NUMBER = r"-?\d+\.?\d*(?:e-?\d+)?"


def test_there_are_ten_scripts_and_two_notebooks() -> None:
    assert (len(SCRIPTS), len(NOTEBOOKS)) == (10, 2)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_scripts_run(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(script), run_name="__main__")
    text = capsys.readouterr().out
    assert text
    for found, theory in re.findall(rf"({NUMBER})[^\d\n]*\(?theory ({NUMBER})", text):
        assert float(found) == pytest.approx(float(theory), rel=6e-3, abs=2e-3), text


def test_the_environment_is_one_of_gymnasium() -> None:
    module = runpy.run_path(str(EXAMPLES / "gym_env.py"))
    check_env(module["PushBlock"](), skip_render_check=True)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebooks_run(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    # the path of the repository is what a notebook beside it would have
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(EXAMPLES)}})
    client.execute()
    outputs = [o for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs]
    assert outputs and not [o for o in outputs if o.output_type == "error"]
    # both show a motion
    assert any(o.get("data", {}).get("text/html", "").startswith("<iframe srcdoc=") for o in outputs)


@pytest.mark.parametrize(("page", "least"), [("docs/python.md", 12), ("docs/first-hour.md", 1), ("README.md", 1)])
def test_the_code_of_the_docs_runs(page: str, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scenes").symlink_to(ROOT / "scenes")
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    assert len(blocks) >= least
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)


@pytest.mark.parametrize("function", [st.solve_lcp, st.solve_friction, st.decide], ids=lambda f: f.__name__)
def test_the_examples_of_docstrings_print_what_they_say(function: Any) -> None:
    text = inspect.getdoc(function) or ""
    found = doctest.DocTestParser().get_doctest(text, {"st": st, "np": np}, function.__name__, None, None)
    assert found.examples and doctest.DocTestRunner().run(found).failed == 0
