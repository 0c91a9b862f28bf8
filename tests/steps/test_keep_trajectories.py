"""Which trajectories go on to training: those that their own events bear out, and that every filter lets through."""

from dataclasses import replace

import pytest

from hbench.core.action import EXECUTE_TOOL, Tool
from hbench.core.failure import Failure, StepError
from hbench.core.harness import Harness
from hbench.parts.part import build
from hbench.steps.harness import harness_value
from hbench.steps.keep_trajectories import keep_trajectories
from tests.lived import ANSWER, TARGET, Say, act_artifact, artifact, bash, lived
from tests.runtime.reviewing import K

LOOK = Say(bash("cat names.txt"), told="b\na")
FIXED = Say(bash("sort names.txt"), instead=bash("sort -o names.txt names.txt"), told="(no output)", reason="It changed nothing.")
GOOD = lived(LOOK, FIXED, ANSWER, question="good")
TOOL = '"""Counts lines."""\n\nPARAMETERS = {"path": "the file"}\n'


def keep(*acted, filters=("succeeded", "no_leak"), **inputs):
    params = {"filters": [build("filters", {"kind": kind}).to_json() for kind in filters], "target": TARGET}
    return keep_trajectories(params, {"acted": act_artifact(*acted), **inputs}, None)


def reason(one, **inputs):
    """Why `one` is dropped, beside a trajectory that is not."""
    made = keep(GOOD, one, **inputs)
    (row,) = [row for row in made.rows["kept_trajectories"] if row["question_id"] == one.rollout.question_id]
    assert row["kept"] == (row["drop_reason"] is None)
    return row["drop_reason"]


def with_events(one, change):
    """`one`, whose events are changed: {position: event, or None to lose it}."""
    events = [change.get(place, event) for place, event in enumerate(one.rollout.events)]
    return replace(one, rollout=replace(one.rollout, events=tuple(event for event in events if event)))


def with_turn(one, place, **changed):
    turns = list(one.trajectory.turns)
    turns[place] = replace(turns[place], **changed)
    return replace(one, trajectory=replace(one.trajectory, turns=tuple(turns)))


def test_what_is_kept_and_what_is_dropped_is_counted_and_a_row_each():
    made = keep(GOOD, lived(LOOK, ANSWER, question="bad", score=0.0), lived(LOOK, LOOK, question="endless", score=0.0))
    assert made.value["kept"] == [["good", 0]] and made.value["dropped"] == {"failed": 1, "no_answer": 1}
    assert (made.value["asked"], made.value["turns"], made.value["replaced"]) == (3, 3, 1)
    assert made.value["told"] == "1 failed, 1 no_answer" and made.value["template_tools"] is None
    assert [(row["question_id"], row["drop_reason"]) for row in made.rows["kept_trajectories"]] == [
        ("good", None), ("bad", "failed"), ("endless", "no_answer"),
    ]  # fmt: skip


def test_repeats_of_a_question_are_kept_apart():
    made = keep(lived(LOOK, ANSWER, repeat=0, score=0.0), lived(LOOK, ANSWER, repeat=1))
    assert made.value["kept"] == [["q", 1]]


def test_nothing_kept_stops_the_step_and_says_why():
    with pytest.raises(StepError, match="none of 1 trajectories is kept: 1 failed"):
        keep(lived(LOOK, ANSWER, score=0.0))


def test_all_data_are_kept_where_no_filter_asks_for_success():
    assert keep(lived(LOOK, ANSWER, score=0.0), filters=("completed", "no_leak")).value["kept"] == [["q", 0]]


def test_a_passed_turn_that_was_changed_is_dropped():
    assert reason(with_turn(lived(LOOK, ANSWER), 0, accepted=bash("cat names.txt "))) == "broken_history"


def test_a_rewritten_history_is_dropped():
    """The student was asked with something else than what it had said and seen."""
    one = lived(LOOK, FIXED, ANSWER)
    last = len(one.rollout.events) - 1
    told = [dict(message) for message in one.rollout.events[last].sent]
    told[2]["content"] = bash("cat other.txt")
    rewritten = with_events(one, {last: replace(one.rollout.events[last], sent=told)})
    assert reason(one) is None and reason(rewritten) == "broken_history"
    assert reason(with_events(one, {last: None})) == "broken_history"
    assert reason(with_events(one, {0: replace(one.rollout.events[0], received="another word")})) == "broken_history"


def test_events_that_hold_only_what_is_new_are_read_as_the_whole():
    one = lived(LOOK, FIXED, ANSWER)
    asked = [place for place, event in enumerate(one.rollout.events) if event.kind == "lm"]
    short = {asked[1]: (3, 3), asked[2]: (4, 4)}  # the last call comes behind a replaced reply
    change = {
        place: replace(one.rollout.events[place], sent={"after": same, "messages": one.rollout.events[place].sent[first:]})
        for place, (same, first) in short.items()
    }
    assert reason(with_events(one, change)) is None


def test_what_was_run_is_what_was_accepted():
    one = lived(LOOK, FIXED, ANSWER)
    ran = [place for place, event in enumerate(one.rollout.events) if event.kind == "execute"]
    draft = with_events(one, {ran[1]: replace(one.rollout.events[ran[1]], sent="sort names.txt")})
    assert reason(draft) == "not_as_executed"
    assert reason(with_events(one, {ran[0]: None})) == "not_as_executed"
    twice = replace(one, rollout=replace(one.rollout, events=(*one.rollout.events, one.rollout.events[ran[0]])))
    assert reason(twice) == "not_as_executed"


def test_a_sub_agents_events_are_not_the_students():
    one = lived(LOOK, ANSWER)
    more = tuple(replace(event, role="agent", sent="rm x") for event in one.rollout.events)
    assert reason(replace(one, rollout=replace(one.rollout, events=(*one.rollout.events, *more)))) is None


@pytest.mark.parametrize(
    ("said", "word"),
    [("```bash\nls\n```\n```bash\nls\n```", "unread_call"), ("```python\n1\n```", "forbidden_action"), ("", "unread_call")],
)
def test_a_response_that_is_no_allowed_action_is_dropped(said, word):
    assert reason(lived(Say(said, told="write one call"), ANSWER)) == word


def test_a_cut_message_that_was_taken_for_no_answer_is_dropped():
    """It reads like an answer; the rollout went on."""
    one = lived(LOOK, Say("Sor", told="the message was cut"), ANSWER)
    assert reason(with_turn(one, 1, failure=Failure("parse", "truncated"))) == "unread_call"


def test_an_answer_without_words_or_another_than_the_graded_is_dropped():
    one = lived(LOOK, ANSWER)
    assert reason(replace(one, rollout=replace(one.rollout, answer="Other."))) == "no_answer"
    assert reason(lived(LOOK, Say("<think>done</think>\n", told=None))) == "unread_call"


def test_what_leaks_guidance_is_dropped():
    leak = lived(LOOK, Say(bash("ls"), instead=bash("ls", "As recipes/safe_sort.md has it.")), ANSWER)
    guidance = artifact(harness_value(K))
    assert reason(leak, guidance=guidance) == "leak" and reason(leak) is None
    assert reason(lived(LOOK, Say(bash("ls", "<findings> say so")), ANSWER)) == "leak", "tags of a review, whoever reviewed"


def test_tools_of_the_bank_that_ran_are_allowed_until_a_filter_asks():
    bank = artifact(harness_value(Harness({"tools/count.py": TOOL})))
    count = Tool("count", "Counts lines.", {"path": "the file"})
    called = lived(Say('```count\n{"path": "a"}\n```'), LOOK, ANSWER, tools=(EXECUTE_TOOL, count))
    assert reason(called) == "forbidden_action"
    assert reason(called, bank=bank) is None
    made = keep(GOOD, called, filters=("tool_names",), bank=bank)
    assert made.value["dropped"] == {"tool": 1}


MIDDLEWARE = '"""Refuses."""\n\ndef before(call, history):\n    return "no"\n'


@pytest.mark.parametrize("files", [{"tools/count.py": TOOL}, {"middlewares/no.py": MIDDLEWARE}], ids=["tool", "middleware"])
def test_a_call_that_the_bank_refused_was_not_run(files):
    """Of a bank without tools, whose middlewares refuse as well, every such rollout was dropped."""
    bank = artifact(harness_value(Harness(files)))
    one = lived(LOOK, FIXED, ANSWER)
    (first, *_) = [place for place, event in enumerate(one.rollout.events) if event.kind == "execute"]
    assert reason(with_events(one, {first: None}), bank=bank) is None
    assert reason(with_events(one, {first: replace(one.rollout.events[first], sent="rm x")}), bank=bank) == "not_as_executed"


def test_odd_bytes_in_an_observation_are_no_rewriting():
    assert reason(lived(Say(bash("cat x"), told="a\0b\ud800"), ANSWER)) is None
