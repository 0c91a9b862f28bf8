"""The shared cases 1 to 48 (edits that people saw go wrong), by number, byte for byte."""

import json
from pathlib import Path

import pytest

from hbench.core.failure import EditFailure
from hbench.core.harness import Harness
from hbench.parts.edits.python_block import PythonBlock
from hbench.parts.edits.search_replace import SearchReplace
from tests.where import cases

PARENT = Harness.of("def run(question, tools):\n    return 'parent'\n")  # code-block cases bring no original


def _folders(first: int, last: int) -> list[Path]:
    return [f for f in sorted(cases().iterdir()) if f.is_dir() and first <= int(f.name.split("-")[0]) <= last]


def _responses() -> list:
    found = [(f, r) for f in _folders(1, 48) for r in sorted(f.glob("*.txt"))]
    return [pytest.param(folder, file, id=f"{folder.name}/{file.stem}") for folder, file in found]


def _expected(folder: Path, response: Path) -> tuple[list[dict], dict]:
    """What is accepted for this response, and what must not be seen."""
    told = json.loads((folder / "expected.json").read_text())
    told = told.get(response.name, told)
    if isinstance(told, dict):
        return told["accept"], told
    words = [told] if isinstance(told, str) else told
    applied = {"outcome": "applied", "file": "expected.py"}
    return [applied if word == "accept" else {"outcome": "error", "error": word} for word in words], {}


def _outcome(folder: Path, response: Path) -> tuple[str, str, str]:
    """(outcome, program or message, explanation)."""
    meta = json.loads((folder / "meta.json").read_text())
    limit = meta.get("limit_lines", 200)
    edits = SearchReplace(max_lines=limit) if meta["mode"] == "edit_blocks" else PythonBlock(max_lines=limit)
    original = folder / "original.py"
    parent = Harness.of(original.read_bytes().decode()) if original.exists() else PARENT
    before = dict(parent.files)
    try:
        edit = edits.parse(response.read_bytes().decode(), meta["finish_reason"])
        return "applied", edits.apply(parent, edit).text, edit.explanation
    except EditFailure as bad:
        return bad.failure.kind, bad.failure.message, ""
    finally:
        assert parent.files == before


def _fits(accepted: dict, folder: Path, outcome: str, text: str) -> bool:
    if accepted["outcome"] == "applied":
        return outcome == "applied" and text == (folder / accepted["file"]).read_bytes().decode()
    if outcome != accepted.get("error", accepted["outcome"]):
        return False
    named = [f"block {accepted['block']}"] if "block" in accepted else []
    named += [f"{accepted['count']} times"] if "count" in accepted else []
    named += ["blocks {} and {}".format(*accepted["blocks"])] if "blocks" in accepted else []
    return all(words in text for words in named)


@pytest.mark.parametrize(("folder", "response"), _responses())
def test_the_case_ends_in_an_accepted_outcome(folder, response):
    accepted, told = _expected(folder, response)
    outcome, text, explanation = _outcome(folder, response)
    assert any(_fits(a, folder, outcome, text) for a in accepted), (outcome, text)
    assert told.get("explanation_contains", "") in explanation
    forbidden = told.get("must_not", {})
    assert outcome != forbidden.get("outcome")
    if outcome == "applied":
        assert "file" not in forbidden or text != (folder / forbidden["file"]).read_text()
        assert "program_startswith" not in forbidden or not text.startswith(forbidden["program_startswith"])


def test_every_published_edit_case_is_run():
    numbers = {int(f.name.split("-")[0]) for f in _folders(1, 48)}
    assert {1, 3, 5, 6, 8, 10, 12, 16, 17, 19, 22, 24, 25, 27, 28, 30, 33} <= numbers
    assert {34, 35, 37, 38, 44, 46, 47, 48} <= numbers


def test_case_28_names_the_line_of_the_syntax_error():
    folder = next(f for f in _folders(28, 28))
    assert "line 18" in _outcome(folder, folder / "response.txt")[1]  # the log says 17; Python counts 18


def test_case_19_shows_the_nearest_line():
    folder = next(f for f in _folders(19, 19))
    message = _outcome(folder, folder / "response.txt")[1]
    assert "line 17" in message and "look-alike" in message
