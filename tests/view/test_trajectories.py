"""Trajectories read turn by turn: whose words ran, what is hidden from the loss, and a page that shows it as text."""

import pytest

from hbench.view.reading import Reading
from hbench.view.trajectory import cut_at, trajectory
from tests.store.made import key
from tests.view.told import INSTEAD, JOB, JOB_2, REASONING


@pytest.fixture(scope="module")
def record(told_folder):
    return trajectory(Reading(told_folder), key("act"), JOB, 0)


def test_each_turn_has_its_fate(record):
    assert [turn.fate for turn in record.turns] == ["replaced", "passed", "unreviewed"]


def test_each_turn_has_its_own_calls_the_students_first(record):
    assert [[call.row["role"] for call in turn.calls] for turn in record.turns] == [
        ["student", "reviewer", "student"],
        ["student", "reviewer", "student"],
        ["student"],
    ]


def test_what_a_training_hides_stands_apart_in_what_was_accepted(record):
    replaced = record.turns[0]
    assert record.hide == "voice"  # as its training rows were made
    assert replaced.pieces("reasoning") == ((REASONING, True), (INSTEAD.removeprefix(REASONING), False))
    assert replaced.pieces("voice")[0] == ("The draft would delete the file.", True)
    assert replaced.pieces("none") == ((INSTEAD, False),)


def test_what_became_of_it_on_its_way_to_training_is_told(record, told_folder):
    assert [(use.kind, use.kept, use.tokens_trained, use.tokens_masked) for use in record.uses] == [
        ("keep_trajectories", True, None, None),
        ("trajectory_rows", True, 31, 222),
    ]
    dropped = trajectory(Reading(told_folder), key("act"), JOB_2, 0)
    assert dropped.uses[0].drop_reason == "failed"
    assert record.is_trained and not dropped.is_trained


def test_pieces_hold_the_whole_text_whatever_the_spans():
    for spans in ([], [(0, 3)], [(2, 9)], [(3, 1)], [(1, 2), (2, 3)], [(0, 99)], [(4, 5), (0, 2)]):
        assert "".join(text for text, _ in cut_at("abcdef", spans)) == "abcdef"
    assert cut_at("abcdef", [(1, 2), (2, 3)]) == (("a", False), ("bc", True), ("def", False))
    assert cut_at("", [(0, 1)]) == ()


@pytest.mark.attack
def test_the_page_shows_hostile_words_as_text(told_page):
    told = told_page.get(f"/trajectories/{key('act')}/{JOB}/0")
    assert told.status == 200
    assert "<script>document" not in told.text and "&lt;script&gt;document" in told.text
    assert not set(told.text) & {"\x1b", "\x07", "\b", "\u202e"}
    assert '<span class="masked" title="no loss: the reviewer wrote it">The draft would delete the file.</span>' in told.text


def test_the_page_leaves_a_very_long_line_to_a_page_of_its_own(told_page):
    told = told_page.get(f"/trajectories/{key('act')}/{JOB}/0").text
    assert len(told) < 100_000
    digest = told.split('href="/texts/')[1].split('"')[0]
    first = told_page.get(f"/texts/{digest}")
    assert first.status == 200 and 'rel="next"' in first.text


def test_the_address_says_what_is_shown_as_hidden(told_page):
    address = f"/trajectories/{key('act')}/{JOB}/0"
    assert 'class="masked" title' not in told_page.get(f"{address}?hide=none").text.split("<h2>Turns")[1]
    assert told_page.get(f"{address}?hide=nonsense").status == 200


def test_a_trajectory_that_is_not_there_is_said(told_page):
    assert told_page.get(f"/trajectories/{key('act')}/{'c' * 16}/0").status == 404
