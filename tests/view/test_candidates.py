"""A candidate with all that it hangs on: parent, report, reward, rollouts; and the tree that it stands in."""

import re
from pathlib import Path

import pytest

import hbench.view
from hbench.store.query import query
from hbench.view.candidate import candidate
from hbench.view.harness_tree import tree
from hbench.view.reading import Reading
from hbench.view.tree_drawing import drawing
from tests.store.made import SPEC, key
from tests.view.told import ASKED, MADE, OTHER, PARENT, REPORT, SAID


def test_it_knows_the_report_that_caused_it_and_its_reward(told_folder):
    record = candidate(Reading(told_folder), key("propose"), 0)
    assert (record.caused.report.text, record.response, record.chosen) == (REPORT, SAID, True)
    assert [(term.name, term.part) for term in record.terms] == [("task_score", 0.5), ("parsed", 0.1)]
    assert record.reward == pytest.approx(0.6)


def test_its_rollouts_stand_beside_its_parents_losses_first(told_folder):
    (scored,) = candidate(Reading(told_folder), key("propose"), 0).measured
    assert [(one.question_id, one.before, one.score) for one in scored.tried] == [(OTHER, 1.0, 0.0), (ASKED, 0.0, 1.0)]
    assert (scored.score, scored.parent_score, scored.failures) == (0.5, 0.5, {"error": 1})


def test_its_diff_is_that_of_its_files(told_folder):
    (diff,) = candidate(Reading(told_folder), key("propose"), 0).diffs
    assert (diff.path, diff.count("+"), diff.count("-")) == ("harness.py", 2, 1)


def test_an_edit_that_failed_made_and_ran_nothing(told_folder):
    record = candidate(Reading(told_folder), key("propose_1"), 0)
    assert (record.after, record.diffs, record.measured, record.chosen) == (None, (), (), False)


def test_the_tree_has_the_parent_both_candidates_and_where_it_went_on(told_folder):
    (only,) = tree(Reading(told_folder), (SPEC, "arm", "names", 0)).rounds
    assert (only.parent_id, only.score, only.next_id) == (PARENT.id, 0.5, MADE.id)
    assert [(leaf.slot, leaf.harness_id, leaf.score, leaf.chosen) for leaf in only.leaves] == [
        (0, MADE.id, 0.5, True),
        (1, None, None, False),
    ]


def test_the_tree_is_drawn_inside_its_frame(told_folder):
    drawn = drawing(tree(Reading(told_folder), (SPEC, "arm", "names", 0)))
    assert sorted(dot.sort for dot in drawn.dots) == ["chosen", "failed", "parent"]
    assert all(0 < dot.x < drawn.width and 0 < dot.y < drawn.height for dot in drawn.dots)


def test_an_arm_without_rounds_has_an_empty_tree(told_folder):
    assert tree(Reading(told_folder), (SPEC, "nobody", "names", 0)).rounds == ()


@pytest.mark.parametrize("name", ["propose", "propose_1"])
@pytest.mark.attack
def test_the_page_shows_hostile_words_as_text(told_page, name):
    told = told_page.get(f"/candidates/{key(name)}/0")
    assert told.status == 200
    assert "<script>document" not in told.text and not set(told.text) & {"\x1b", "\x07", "\b", "\u202e"}


@pytest.mark.attack
@pytest.mark.control
def test_control_those_words_are_stored_as_they_were_said(told_folder):
    """So for all pages over that folder."""
    (found,) = query(told_folder, "select count(*) from texts where contains(text, '<script>document') and contains(text, chr(27))").rows
    assert found[0] >= 2 and {"\x1b", "\x07", "\b", "\u202e"} <= set(SAID) & set(REPORT)


def test_pages_link_down_and_up(told_page):
    told = told_page.get(f"/candidates/{key('propose')}/0").text
    for address in (
        f"/rollouts/{key('score')}/0/{ASKED}/0",
        f"/rollouts/{key('parent')}/0/{ASKED}/0",
        f"/harnesses/{MADE.id}",
        f"/steps/{key('propose')}",
    ):
        assert f'href="{address}"' in told
        assert told_page.get(address).status == 200


@pytest.mark.parametrize(
    ("asked", "many"), [("", 2), ("outcome=applied", 1), ("round=0", 2), ("round=1", 0), ("parent=" + PARENT.id[:6], 2)]
)
def test_the_list_is_narrowed_by_its_address(told_page, asked, many):
    listed = told_page.get(f"/candidates?{asked}").text
    assert listed.count('<a class="mono" href="/candidates/') == many


def test_a_candidate_that_is_not_there_is_said(told_page):
    assert told_page.get(f"/candidates/{key('propose')}/7").status == 404
    assert told_page.get("/candidates/nothing/0").status == 404


def test_no_page_takes_a_method_of_a_mapping_for_a_column():
    """`drawn.update` was shown as <built-in method update of dict object> in place of its number."""
    pages = Path(hbench.view.__file__).parent / "pages"
    methods = re.compile(rf"\.({'|'.join(name for name in dir(dict) if name.isalpha())})\b(?!\()")
    inside = re.compile(r"\{[{%].*?[%}]\}", re.S)
    taken = [code for page in pages.glob("*.html") for code in inside.findall(page.read_text()) if methods.search(code)]
    assert taken == []
