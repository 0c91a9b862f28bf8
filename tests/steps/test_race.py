"""A race: candidates drop out while they are scored; each rollout counts once, and what was not run is marked."""

import pytest

from hbench.core.failure import StepError
from hbench.core.harness import Harness
from hbench.steps.harness import harness_value
from tests.steps.stage import TERMS, Stage, questions, setting, value

ASKED = questions(8)
RIGHT = 'import re\n\ndef run(question, tools):\n    return str(sum(int(n) for n in re.findall(r"\\d+", question)))\n'
WRONG = "def run(question, tools):\n    return 'none'\n"
RIGHT_AFTER_ALL = RIGHT + "# the same\n"
PAIRED = {"kind": "paired", "version": 1, "risk": 0.15, "pieces": 4}


@pytest.fixture
def stage(tmp_path):
    made = Stage(tmp_path)
    yield made
    made.close()


def made(source):
    return harness_value(Harness({"harness.py": source}).tidied()) if source else None


def race(stage, *sources, rule="strict_improvement", parent=WRONG, race=PAIRED, **instead):
    """The race of these harnesses; None is an edit that failed."""
    params = setting(stage.records("solver", {"reply": "0"}))
    inputs = {"parent": stage.run("evaluate", params, {"harness": value(made(parent)), "questions": ASKED}), "questions": ASKED}
    for i, source in enumerate(sources):
        outcome = "applied" if source else "search_not_found"
        edit = {"explanation": "", "outcome": outcome, "message": ""}
        inputs |= {f"harness_{i}": value(made(source)), f"edit_{i}": value(edit)}
    return stage.run("race", params | {"race": race, "rule": {"kind": rule, "version": 1}}, inputs, **instead)


def test_the_winner_is_run_on_all_questions_and_who_cannot_win_on_few(stage):
    ended = race(stage, WRONG + "# a\n", RIGHT, None)
    assert ended.value["slot"] == 1 and ended.value["chosen_score"] == 1.0 and not ended.value["kept_parent"]
    told = {row["slot"]: (row["questions"], row["dropped"], row["score"]) for row in ended.rows("races")}
    assert told == {0: (2, True, 0.0), 1: (8, False, 1.0), 2: (0, False, None)}
    assert (ended.value["rollouts"], ended.value["full"]) == (10, 16)


def test_what_was_not_run_is_marked_and_has_no_score(stage):
    rows = race(stage, WRONG + "# a\n", RIGHT).rows("rollouts")
    left_out = [row for row in rows if row["failure"] == "not_run"]
    assert len(rows) == 16 and len(left_out) == 6
    assert {(row["candidate"], row["score"], row["completed"]) for row in left_out} == {(0, None, None)}


def test_equal_harnesses_are_run_once(stage):
    ended = race(stage, RIGHT, WRONG, RIGHT)
    assert [row["candidate"] for row in ended.rows("races")] == [0, 1, 0]
    assert {row["candidate"] for row in ended.rows("rollouts")} == {0, 1} and ended.value["slot"] == 0


def test_no_candidate_above_the_parent_keeps_it(stage):
    ended = race(stage, WRONG, RIGHT_AFTER_ALL, parent=RIGHT)
    assert ended.value["kept_parent"] and ended.value["harness"]["files"]["harness.py"] == RIGHT
    assert [row["dropped"] for row in ended.rows("races")] == [True, True]


def test_a_rule_that_may_go_down_sees_a_candidate_whatever_the_parent_scores(stage):
    assert race(stage, WRONG, WRONG + "# b\n", rule="best_candidate", parent=RIGHT).value["slot"] == 0


def test_where_there_is_no_parent_a_dropped_candidate_does_not_say_what_compares(stage):
    assert race(stage, WRONG, RIGHT, parent=None).value["slot"] == 1


def test_later_reports_are_told_on_how_many_questions_a_dropped_edit_was_scored(stage):
    edits = race(stage, WRONG, RIGHT).value["history"]["edits"]
    assert edits[0]["questions"] == [2, 8] and "questions" not in edits[1]


def test_failed_edits_alone_keep_the_parent_and_run_nothing(stage):
    ended = race(stage, None, None)
    assert ended.value["kept_parent"] and ended.value["rollouts"] == 0 and ended.rows("rollouts") == []


def test_a_race_that_was_stopped_goes_on_with_what_is_missing_and_ends_alike(stage):
    missing, services = [], stage.services.of(None, "")

    def run(harness, asked, how, done, skip=frozenset()):
        missing.append(len([q for q in asked if (q.id, 0) not in skip]))
        if len(missing) == 5:
            raise StepError("the server is gone")
        services.run_harness(harness, asked, how, done, skip)

    with pytest.raises(StepError, match="gone"):
        race(stage, WRONG, RIGHT, run_harness=run)
    assert missing == [2, 2, 2, 2, 2]  # both, then the one that was left
    ended = race(stage, WRONG, RIGHT, run_harness=run)
    assert missing[5:] == [0, 0, 0, 0, 2] and (ended.value["rollouts"], len(ended.rows("rollouts"))) == (10, 16)


def test_a_candidates_reward_rests_on_its_own_rollouts_alone(stage):
    ended = race(stage, WRONG, RIGHT, WRONG)
    earned = [reward_of(stage, ended, slot, source) for slot, source in enumerate((WRONG, RIGHT, WRONG))]
    assert earned == pytest.approx([0.3, 1.3, 0.3])


def reward_of(stage, ended, slot, source):
    proposal = {"parent": made(WRONG), "harness": made(source), "response": "", "explanation": "", "failure": None}
    params = {"terms": TERMS, "no_change": "form_only", "grade": "score", "slot": slot}
    inputs = {"candidate": value(proposal | {"slot": slot}), "trial": ended, "parent": value({})}
    return stage.run("reward", params, inputs).value["reward"]
