"""File jobs in the real workspace: the expert does every kind of them there, alone and as a reviewer."""

import pytest

from hbench.core.harness import Harness
from hbench.core.prompt import load_prompt
from hbench.engines.files_expert import FilesExpert
from hbench.parts.domains.files import JOBS
from hbench.spec.files import read_folder
from tests.runtime.acting import Played, bash, told
from tests.runtime.reviewing import review

EXPERT = FilesExpert().said
TARGET = {"prompt": load_prompt("student/files").to_json(), "turns": 8, "observation_chars": 400, "disk_mb": 16}
RIGHT = {"score": 1.0, "made": 1.0, "kept": 1.0}


def played(says, job, bank=None, **more):
    return Played(says, {"kind": "files", "jobs": [job], "words": "tuning"}, bank, target=TARGET, **more).play()


def reviewed(says, job, **fields):
    turn = load_prompt("reviewer/turn_json").to_json()
    return played(says, job, review=review(turn_prompt=turn, budget=8, **fields), verdicts=EXPERT)


@pytest.mark.parametrize("job", JOBS)
def test_the_expert_does_every_kind_of_job_in_the_workspace(job):
    acted = played(EXPERT, job)
    assert acted.rollout.grades == RIGHT and acted.rollout.answer == "Done."
    assert len(acted.trajectory.turns) <= 4


@pytest.mark.parametrize("job", ["count_matches", "column", "move_found"])
def test_a_student_that_only_talks_is_led_through_in_the_workspace(job):
    acted = reviewed(lambda request: "I would count the lines, and then I would sort them, and then I would be done with it.", job)
    assert acted.rollout.grades == RIGHT
    assert {turn.verdict for turn in acted.trajectory.turns} == {"replace"}


def test_what_else_a_student_leaves_in_the_folder_is_seen():
    commands = iter([bash("touch .hidden; mkdir -p a/b && echo 1 > a/b/c"), "Done."])
    acted = played(lambda request: next(commands), "count_lines")
    assert acted.rollout.grades == {"score": 0.0, "made": 0.0, "kept": 0.0}


def test_under_selective_review_the_checks_of_the_guidance_call_the_expert():
    """It is asked only about the answers that come too early, and the student's own right command stays."""
    guidance = Harness(dict(read_folder("guidance/files").texts))
    said = iter(["I am done.", "I am done.", "I am done."])
    turn = load_prompt("reviewer/turn_json").to_json()
    fields = {"turn_prompt": turn, "guidance": guidance, "when": {"kind": "checks", "turns": []}}
    acted = played(lambda request: next(said), "count_lines", review=review(**fields), verdicts=EXPERT)
    assert acted.rollout.grades == RIGHT
    assert [(turn.verdict, turn.checks, turn.trouble) for turn in acted.trajectory.turns] == [
        ("replace", ("read_back",), ""),
        ("replace", ("read_back",), ""),
        ("pass", (), "unreviewed"),
    ]


def test_with_the_bank_an_answer_waits_for_a_look_and_the_tool_shows_the_folder():
    bank = Harness(dict(read_folder("banks/files").texts))
    said = iter(["```folder\n{}\n```", "Done.", bash("cat memory.md; cat /bank/memory.md"), "Done."])
    acted = played(lambda request: next(said), "first_lines", bank)
    seen = told(acted)
    assert ".txt: " in seen[0] and " lines\n" in seen[0]
    assert seen[1].startswith("Nothing was done yet")
    assert "No such file" in seen[2] and "Written by hand" in seen[2]


def test_under_h_star_the_expert_looks_around_with_the_banks_tool_and_then_does_the_job():
    bank = Harness(dict(read_folder("banks/files").texts))
    acted = played(EXPERT, "rename_to_note", bank)
    assert acted.rollout.grades == RIGHT
    assert [turn.tool for turn in acted.trajectory.turns] == ["folder", "execute", "execute", "execute", None]
