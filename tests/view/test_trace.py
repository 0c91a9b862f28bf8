"""`hbench trace`: what a word stands for, and that nothing a model wrote is obeyed by the terminal."""

import io

import pytest

from hbench.core.failure import HbenchError
from hbench.store.artifacts import Store
from hbench.store.database import fold
from hbench.view.ids import named, spec_names
from hbench.view.reading import Reading
from hbench.view.terminal import Terminal
from hbench.view.terminal_trace import Wanted, trace
from tests.store.made import key
from tests.view.told import ASKED, JOB, LONG, MADE, PARENT, SHOWN


@pytest.fixture(scope="module")
def reading(told_folder):
    return Reading(told_folder)


def said(reading, word=None, whole=False, terminal=False, **wanted):
    """What is printed."""
    from rich.console import Console

    file = io.StringIO()
    console = Console(
        file=file, width=160, highlight=False, markup=False, emoji=False, force_terminal=terminal, _environ={"TERM": "xterm"}
    )
    with reading.held() as held:
        trace(held, Terminal(whole, console), word, Wanted(**wanted))
    return file.getvalue()


def test_without_a_word_it_tells_what_can_be_traced_and_how(reading):
    told = said(reading)
    assert "harnesses 2" in told and "trajectories 2" in told
    assert "hbench trace STEP/QUESTION" in told
    for address in ("told", key("propose")[:8], f"{key('act')[:8]}/{JOB[:8]}", f"{PARENT.id[:8]}"):
        assert f"hbench trace {address} " in told


def test_every_example_that_it_gives_can_be_traced(reading):
    examples = [line.split()[2] for line in said(reading).split("For instance\n")[1].splitlines()]
    assert len(examples) == 6
    assert all(said(reading, example) for example in examples)


def test_a_spec_shows_its_tree_with_what_was_chosen(reading):
    told = said(reading, "told")
    assert f"├─◉ {key('propose')[:8]} applied 0.500" in told
    assert f"├─○ {key('propose_1')[:8]} no_edit_blocks" in told
    assert f"in the end {MADE.id[:8]}" in told


@pytest.mark.parametrize("file", ["specs/told.yaml", "./specs/told.yaml", "told.yaml", "/home/me/specs/told.yaml"])
def test_a_spec_is_traced_by_its_file_as_by_its_name(reading, file):
    assert said(reading, file) == said(reading, "told")


def test_a_file_whose_sweep_made_several_specs_stands_for_all_of_them(tmp_path):
    store = Store(tmp_path)
    for digest, name, file in (("1", "swept-1", "swept"), ("2", "swept-2", "swept"), ("3", "other", "odd \"'")):
        row = {"spec_digest": digest, "name": name, "plan": "adaptation", "file": f"specs/{file}.yaml", "point": {}, "text": ""}
        store.put_plan(digest, {"specs": [row]})
    fold(tmp_path, wait_s=10.0)
    there = Reading(tmp_path)
    assert spec_names(there, "swept") == spec_names(there, "specs/swept.yaml") == ["swept-1", "swept-2"]
    assert (spec_names(there, "other"), spec_names(there, "odd \"'"), spec_names(there, "'")) == (["other"], ["other"], [])


def test_a_candidate_shows_diff_report_reward_and_rollouts_beside_its_parents(reading):
    told = said(reading, key("propose")[:10])
    assert "chosen" in told and "+    return tools.lm(question, temperature=1)" in told
    assert "0 of 2 questions right." in told
    assert "0.600" in told  # 0.5 x 1 + 1 x 0.1
    assert "lost" in told and "gained" in told or "1 error" in told


def test_a_failed_edit_shows_what_was_said_and_why_it_failed(reading):
    told = said(reading, key("propose_1"))
    assert "parse: no block in <script>" in told and "no edit <script>" in told


def test_a_trajectory_shows_what_the_student_wanted_and_what_ran_instead(reading):
    told = said(reading, f"{key('act')[:8]}/{JOB[:8]}")
    order = [
        "Turn 0 REPLACED",
        "rm names.txt",
        "why: it deletes",
        "checks that found something: no_delete",
        "by: checks/no_delete.py",
    ]
    order += [
        "asked for a verdict: 2 times",
        "cat names.txt",
        "zoe",
        "Turn 1 passed",
        "Turn 2 the reviewer had no say",
        "no say: budget",
    ]
    places = [told.index(each) for each in order]
    assert places == sorted(places)
    assert "31 tokens carry loss, 222 do not" in told


def test_a_trajectory_by_its_calls_puts_a_growing_conversation_together(reading):
    told = said(reading, f"{key('act')[:8]}/{JOB[:8]}", calls=True)
    assert "3 messages as in the call before, then" in told


def test_a_long_text_is_cut_and_full_shows_all_of_it(reading):
    word = f"{key('act')[:8]}/{JOB[:8]}"
    assert "more characters (--full shows them)" in said(reading, word)
    assert len(said(reading, word)) < 20_000
    assert said(reading, word, whole=True).replace("\n", "").replace(" ", "").count("x") > len(LONG)


@pytest.mark.parametrize("name", ["propose", "propose_1", "score", "act"])
@pytest.mark.attack
def test_control_characters_are_shown_as_signs(reading, name):
    for word in (
        key(name),
        *(f"{key(name)}/{q}" for q in (ASKED, JOB) if name in ("score", "act") and (q == JOB) == (name == "act")),
    ):
        told = said(reading, word)
        assert not set(told) & {"\x1b", "\x07", "\b", "\u202e"}
    assert SHOWN in said(reading, f"{key('score')[:8]}/{ASKED[:8]}")


@pytest.mark.attack
def test_colours_of_the_terminal_are_the_only_codes(reading):
    told = said(reading, f"{key('act')}/{JOB}", terminal=True)
    assert "\x1b[" in told and "\x1b]" not in told and "\x07" not in told and "⟨ESC⟩[31mred" in told


def test_a_question_shows_the_rollouts_on_it_lowest_scores_first(reading):
    told = said(reading, ASKED)
    assert told.index(f"{key('parent')[:8]}/") < told.index(f"{key('score')[:8]}/")


def test_a_step_lists_its_rollouts_and_only_those_that_failed_where_asked(reading):
    assert "Rollouts 2" in said(reading, key("score")[:8])
    assert "Rollouts 1" in said(reading, key("score")[:8], failed=True)


def test_a_harness_shows_where_it_came_from(reading):
    told = said(reading, MADE.id[:6])
    assert key("propose")[:8] in told and PARENT.id[:8] in told and key("score")[:8] in told


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("specs/never_run.yaml", "is no spec that was run here, and is no address"),
        ("ffffffffffff", "nothing begins with"),
        ("", "may be"),
        (f"{key('score')[:8]}/ffff", "among the rollouts of step"),
        (f"{key('propose')[:8]}.9", "has no candidate 9"),
        (f"{key('score')[:8]}/{ASKED}.7", "was not run a time 7"),
    ],
)
def test_what_is_not_there_is_said(reading, word, why):
    with pytest.raises(HbenchError, match=why):
        said(reading, word or _shared_beginning(reading))


def _shared_beginning(reading):
    ids = sorted(id for (id,) in reading.query("select step_key from steps union select question_id from questions").rows)
    return next(one[:1] for one, other in zip(ids, ids[1:]) if one[0] == other[0])


def test_ids_are_found_by_a_unique_beginning(reading):
    found = named(reading, f"{key('act')[:9]}/{JOB[:5]}")
    assert (found.sort, found.id, found.question_id) == ("trajectory", key("act"), JOB)
