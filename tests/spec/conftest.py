import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from hbench.spec import Spec, SpecError, load

# A whole spec of the toy family; tests write it as base and lay one change on it.
WHOLE = """\
plan: adaptation
family: {kind: toy}
splits: {feedback: 2, scoring: same_as_feedback, evaluation: 4}
harness: harnesses/one_call.py
solver: {weights: embedded/tiny}
proposer: {weights: embedded/tiny, prompt: proposer/plain}
report: {prompt: report/plain}
"""


class Project:
    """A working folder with specs/ and prompts/."""

    def __init__(self, folder: Path):
        self.folder = folder

    def write(self, name: str, text: str) -> Path:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text), encoding="utf-8")
        return file

    def load(self, text: str, *overrides: str) -> list[Spec]:
        """The specs of `text`, written as specs/mine.yaml."""
        return load(self.write("specs/mine.yaml", text), overrides)

    def problems(self, text: str, *overrides: str) -> str:
        """All that is wrong with `text`, as users read it."""
        with pytest.raises(SpecError) as caught:
            self.load(text, *overrides)
        return str(caught.value)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path)
    made.write("specs/whole.yaml", WHOLE)
    made.write("specs/harnesses/one_call.py", "def run(question, tools):\n    return tools.lm(question)\n")
    made.write("prompts/proposer/plain.j2", "{# variables: report #}\n{{ report }}\n")
    made.write("prompts/report/plain.j2", "{# variables: score #}\n{{ score }}\n")
    monkeypatch.chdir(tmp_path)
    return made


@pytest.fixture
def problems(project: Project) -> Callable[..., str]:
    return project.problems
