"""What a part of one's own gives is checked where it gives it: a message names the part, its file, and what was expected.

A domain whose `files()` gave a text ended in a bare TypeError of the act step.
"""

import pytest

from hbench.core.failure import StepError
from hbench.parts.part import build, find, kinds
from tests.runtime.acting import Played

HEAD = """
from typing import Literal
from hbench.core.action import Action
from hbench.core.harness import Harness
from hbench.core.question import Question
from hbench.core.scored import Scored
from hbench.parts.part import Part
from hbench.parts.{sort}.{base} import {Base}

class Mine({Base}):
    kind: Literal["mine"]

    def {method}(self, *given):
        return {gives}
"""
BASES = {
    "families": "toy",
    "domains": "toy",
    "calls": "fenced",
    "edits": "search_replace",
    "rewards": "parsed",
    "selections": "best_candidate",
    "races": "halving",
    "filters": "succeeded",
    "detectors": "tool_called",
}
FIELDS = {"detectors": {"names": ["look"]}}


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A function: the part parts/SORT/mine.py, one of whose methods gives what is said."""
    monkeypatch.chdir(tmp_path)
    find.cache_clear()

    def make(sort: str, method: str, gives: str):
        folder, base = tmp_path / "parts" / sort, BASES[sort]
        folder.mkdir(parents=True)
        named = "".join(word.title() for word in base.split("_"))
        (folder / "mine.py").write_text(HEAD.format(sort=sort, base=base, Base=named, method=method, gives=gives))
        return build(sort, {"kind": "mine", **FIELDS.get(sort, {})})

    yield make
    find.cache_clear()


WRONG = [
    ("domains", "files", "{'a.txt': 'a text'}", "the domain toy (FILE): files() gave a dict that holds str 'a text' under 'a.txt'; "
     "expected a mapping of paths below the workspace to bytes"),
    ("domains", "files", "{'../a.txt': b''}", "str '../a.txt'; expected a mapping of paths below the workspace"),
    ("domains", "files", "{'/etc/a': b''}", "str '/etc/a'; expected"),
    ("domains", "files", "{1: b''}", "a dict that holds int 1; expected"),
    ("domains", "files", "None", "files() gave None; expected"),
    ("domains", "collected", "'out.txt'", "collected() gave str 'out.txt'; expected a tuple of patterns"),
    ("domains", "describe", "b'told'", "describe() gave bytes b'told'; expected a text"),
    ("families", "questions", "['What is 1 + 1?']", "the family toy (FILE): questions() gave a list that holds str 'What is 1 + 1?'; "
     "expected a list of Question"),
    ("families", "questions", "[Question.of('toy', 12, '3', '1')]", "expected a list of Question, with a text"),
    ("families", "questions", "(one for one in ())", "questions() gave generator"),
    ("families", "grade_names", "()", "grade_names() gave tuple (); expected a tuple of texts, at least one"),
    ("families", "versions", "{'library': 1.2}", "a dict that holds float 1.2 under 'library'; expected a mapping of names to texts"),
    ("calls", "parse", "'ls'", "the call format mine (FILE): parse() gave str 'ls'; expected an Action"),
    ("calls", "write", "None", "write() gave None; expected a text"),
    ("edits", "apply", "'def run(question, tools): ...'", "the edit format mine (FILE): apply() gave str"),
    ("rewards", "value", "'0.5'", "the reward term mine (FILE): value() gave str '0.5'; expected a finite number"),
    ("rewards", "value", "float('nan')", "value() gave float nan; expected a finite number"),
    ("selections", "select", "given[0].kind", "the selection rule mine (FILE): select() gave str"),
    ("races", "survivors", "1", "the race rule mine (FILE): survivors() gave int 1; expected a collection of whole numbers"),
    ("races", "most_rollouts", "2.5", "most_rollouts() gave float 2.5; expected a whole number"),
    ("filters", "reason_to_drop", "True", "the filter mine (FILE): reason_to_drop() gave bool True; expected a text, or None"),
    ("detectors", "shown", "'yes'", "the detector mine (FILE): shown() gave str 'yes'; expected True or False"),
]


@pytest.mark.parametrize(("sort", "method", "gives", "said"), WRONG)
def test_what_is_not_what_it_is_to_give_is_told_by_part_and_file(mine, tmp_path, sort, method, gives, said):
    part = mine(sort, method, gives)
    with pytest.raises(StepError) as told:
        getattr(part, method)(part)
    assert said.replace("FILE", str(tmp_path / "parts" / sort / "mine.py")) in str(told.value)


@pytest.mark.parametrize(
    ("sort", "method", "gives"),
    [
        ("domains", "files", "{'in/a.txt': b''}"),
        ("domains", "collected", "['out.txt', '*.csv']"),
        ("families", "questions", "[Question.of('toy', 'asked', '3', '1')]"),
        ("families", "versions", "{'library': None}"),
        ("rewards", "value", "1"),
        ("races", "survivors", "{1, 2}"),
        ("filters", "reason_to_drop", "None"),
    ],
)
def test_what_is_right_passes_as_it_is(mine, sort, method, gives):
    part = mine(sort, method, gives)
    assert getattr(part, method)(part) == eval(gives, {"Question": __import__("hbench.core.question", fromlist=["_"]).Question})


def test_an_act_step_names_the_domain_and_its_file(mine):
    mine("domains", "files", "{'in.txt': '12'}")
    with pytest.raises(StepError, match=r"the domain toy \(.*parts/domains/mine.py\): files\(\) gave a dict that holds str '12'"):
        Played(["Done."], {"kind": "mine"}).play()


def test_hbenchs_own_parts_are_as_they_are_written():
    """They are tried by their own tests; a check would only cost time."""
    part = next(iter(kinds("domains")))
    assert not hasattr(find("domains", part).files, "__wrapped__")
