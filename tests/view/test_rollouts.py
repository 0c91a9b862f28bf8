"""Rollouts: each call with what was sent and what came back, and a long list that is narrowed by its address."""

import pytest

from hbench.view.reading import Reading
from hbench.view.rollout import rollout, told
from tests.store.made import key
from tests.view.served import served
from tests.view.told import ASKED, JOB, OTHER, PARENT
from tests.world import World


def call(sent, received, role="student", kind="lm"):
    return {"kind": kind, "role": role, "sent": sent, "received": received}


def test_a_conversation_that_grows_is_put_together_again(told_folder):
    calls = [c for c in rollout(Reading(told_folder), key("act"), 0, JOB, 0).calls if c.row["role"] == "reviewer"]
    assert [m.content for m in calls[1].messages] == ["You review.", "Turn 0", '{"decision": "replace"}', "Turn 1"]
    assert [m.content for m in calls[1].new] == ["Turn 1"]


def test_conversations_of_two_roles_do_not_mix():
    first = '[{"role": "user", "content": "%s"}]'
    more = '{"after": 2, "messages": [{"role": "user", "content": "%s"}]}'
    rows = [call(first % "a", "A"), call(first % "b", "B", "reviewer"), call(more % "c", "C"), call(more % "d", "D", "reviewer")]
    assert [[m.content for m in c.messages] for c in told(rows)] == [["a"], ["b"], ["a", "A", "c"], ["b", "B", "d"]]


def test_what_adds_to_a_call_that_is_not_there_shows_what_is_new():
    found = list(told([call(None, "A"), call('{"after": 2, "messages": [{"role": "user", "content": "c"}]}', "C")]))
    assert found[0].sent is None and [m.content for m in found[1].messages] == ["c"]


@pytest.mark.parametrize(
    "sent", ['{"after": "x", "messages": [1]}', "[1, null]", '[{"role": 1}]', "not json", '"text"', "[" * 5000, "{}"]
)
def test_whatever_was_sent_can_be_shown(sent):
    assert all(isinstance(m.content, str) for c in told([call(sent, "A"), call(sent, "B")]) for m in c.messages)


def test_the_page_shows_what_was_asked_answered_and_right(told_page):
    told = told_page.get(f"/rollouts/{key('score')}/0/{ASKED}/0")
    assert told.status == 200 and "What is it?" in told.text and "Right answer" in told.text
    assert "<script>document" not in told.text and "\x1b" not in told.text


def test_a_failure_is_told_with_its_boundary(told_page):
    told = told_page.get(f"/rollouts/{key('score')}/0/{OTHER}/0").text
    assert "at the boundary harness" in told and "&lt;script&gt;" in told


@pytest.mark.parametrize(
    ("asked", "many"),
    [
        ("", 6),
        ("step=" + key("score")[:12], 2),
        ("result=failed", 1),
        ("result=right", 3),
        ("result=replaced", 1),
        ("question=" + ASKED[:4], 2),
        ("harness=" + PARENT.id[:8], 4),
        ("purpose=collect", 2),
        ("arm=arm&purpose=parent_scoring", 2),
        ("spec=nothing", 0),
        ("candidate=0", 6),
    ],
)
def test_the_list_is_narrowed_by_its_address(told_page, asked, many):
    listed = told_page.get(f"/rollouts?{asked}")
    assert listed.status == 200
    body = listed.text.split("<tbody>")[1].split("</tbody>")[0]
    assert body.count("<tr>") == max(many, 1) and ("None are like that" in body) == (many == 0)


@pytest.mark.slow
def test_a_bundle_without_texts_of_events_says_so_once(toy):
    World(toy.parent).hbench("export", "toy", "--name", "bare", "--without", "event_texts")
    bare = Reading(toy / "published" / "bare")
    key = bare.query("select step_key, candidate, question_id, repeat from rollouts where calls > 0 order by all limit 1").rows[0]
    assert rollout(bare, *key).is_silent
    with served(bare.folder) as page:
        told = page.get("/rollouts/{}/{}/{}/{}".format(*key)).text
    assert told.count("is not here: the bundle was exported without event_texts") == 1 and "This text is not here" not in told


def test_an_address_that_makes_no_sense_is_said_and_is_no_bug(told_page):
    assert told_page.get("/rollouts?candidate=many").status == 400
    assert told_page.get(f"/rollouts/{key('score')}/0/{'0' * 16}/0").status == 404
    assert told_page.get("/texts/nothing").status == 404
