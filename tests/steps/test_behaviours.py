"""The behaviours step: its rows, from an act step's own rows."""

from dataclasses import replace

from hbench.core.rollout import Event
from hbench.parts.detectors._pattern import LONGEST
from hbench.parts.part import build
from hbench.steps.behaviours import behaviours
from hbench.steps.step_kind import find
from tests.lived import ANSWER, Say, act_artifact, bash, lived

SORTS = {"kind": "command_matches", "pattern": "^sort"}
LOOKS = {"kind": "checked_before_answer", "checks": "^cat", "changes": "^sort"}
PATTERNS = {name: build("detectors", block).to_json() for name, block in {"sorts": SORTS, "looks": LOOKS}.items()}


def done(*acted, patterns=PATTERNS):
    return behaviours({"patterns": patterns}, {"acted": act_artifact(*acted)}, None)


def test_each_rollout_has_a_row_a_pattern():
    both = lived(Say(bash("sort a.txt -o a.txt")), Say(bash("cat a.txt")), ANSWER, question="q1")
    one = lived(Say(bash("sort a.txt")), ANSWER, question="q1", repeat=1)
    none = lived(Say(bash("ls")), ANSWER, question="q2")
    made = done(both, one, none)
    shown = {(r["question_id"], r["repeat"], r["pattern"]): r["shown"] for r in made.rows["behaviours"]}
    assert shown == {
        ("q1", 0, "sorts"): True, ("q1", 0, "looks"): True,
        ("q1", 1, "sorts"): True, ("q1", 1, "looks"): False,
        ("q2", 0, "sorts"): False, ("q2", 0, "looks"): False,
    }  # fmt: skip
    assert made.value == {"shown": {"sorts": 2, "looks": 1}, "rollouts": 3, "unseen": 0, "cut": 0}


def test_a_rollout_without_a_command_shows_nothing_and_has_its_rows():
    assert [row["shown"] for row in done(lived(ANSWER)).rows["behaviours"]] == [False, False]


def test_what_was_replaced_is_seen_as_it_was_executed():
    acted = lived(Say(bash("sort a.txt"), bash("ls")), ANSWER)
    assert done(acted).value["shown"]["sorts"] == 0


def test_an_agent_from_outside_was_not_seen():
    acted = lived(ANSWER)
    event = Event("execute", ["agent", "sort"], {"code": 0, "stdout": "Sorted.", "stderr": ""}, role="outside")
    made = done(replace(acted, rollout=replace(acted.rollout, events=(event,))), lived(ANSWER, question="q2"))
    assert (made.value["unseen"], made.value["rollouts"]) == (1, 1)
    assert {row["question_id"] for row in made.rows["behaviours"]} == {"q2"}


def test_texts_that_were_cut_are_counted():
    long = lived(Say(bash("cat a.txt"), told="x" * (LONGEST + 1)), Say(bash("echo " + "y" * LONGEST)), ANSWER)
    assert done(long, lived(ANSWER, question="q2")).value["cut"] == 2


def test_it_is_a_step_kind():
    assert find("behaviours").version == 1
