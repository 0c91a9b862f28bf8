"""The execution report: what it tells the proposer, and what it never tells."""

import json
from pathlib import Path

import pytest

from hbench.core.digest import text_digest
from hbench.core.harness import Harness
from hbench.core.output import Artifact
from hbench.core.prompt import load_prompt
from hbench.core.question import Question
from hbench.steps._report_trace import clip
from hbench.steps.report import report

FAMILY = '''
from typing import Literal
from hbench.parts.part import Part

class Sums(Part):
    kind: Literal["sums"] = "sums"
    name: str = "sums"

    def describe(self):
        return "Add two numbers."
'''
HARNESS = Harness.of("def run(question, tools):\n    return tools.lm(question)\n")
QUESTIONS = [Question.of("sums", f"What is {n} + {n}?", str(2 * n), n) for n in range(1, 7)]
PARAMS = {
    "family": {"kind": "sums", "version": 1},
    "failures": 4,
    "successes": 0,
    "history": 5,
    "show_gold": True,
    "show_answers": True,
    "show_retrieved": True,
    "show_missed": True,
    "show_traces": True,
    "trace_chars": 2000,
    "scores_only": False,
}


@pytest.fixture(autouse=True)
def family(tmp_path, monkeypatch):
    (tmp_path / "families").mkdir()
    (tmp_path / "families" / "sums.py").write_text(FAMILY)
    monkeypatch.setenv("HBENCH_PARTS", str(tmp_path))


def rollout(i: int, score: float, **changed) -> dict:
    row = {"question_id": QUESTIONS[i].id, "repeat": 0, "harness_id": HARNESS.id, "answer": f"answer{i}"}
    row |= {"score": score, "completed": True, "failure": None, "boundary": None, "error": None, "seconds": 1.5}
    return row | changed


def call(i: int, position: int, kind: str, sent, received) -> tuple[dict, list[dict]]:
    """The row of one tool call, and its texts."""
    texts = [v if isinstance(v, str) else json.dumps(v) for v in (sent, received)]
    row = {"question_id": QUESTIONS[i].id, "repeat": 0, "position": position, "kind": kind, "seconds": 9.0}
    row |= {"sent_digest": text_digest(texts[0]), "received_digest": text_digest(texts[1]), "reused": False}
    return row, [{"digest": text_digest(t), "text": t} for t in texts]


def artifact(value, rows=None) -> Artifact:
    return Artifact("key", value, "digest", Path(), lambda table: (rows or {}).get(table, []))


def evaluated(rollouts: list[dict], calls=()) -> Artifact:
    value = {
        "harness": {"files": dict(HARNESS.files), "id": HARNESS.id},
        "score": sum(r["score"] for r in rollouts) / len(rollouts),
        "completion_rate": sum(r["completed"] for r in rollouts) / len(rollouts),
        "n": len(QUESTIONS),
        "question_ids": [q.id for q in QUESTIONS],
    }
    texts = [text for _, both in calls for text in both]
    rows = {"rollouts": rollouts, "events": [row for row, _ in calls], "texts": texts}
    return artifact(value, rows)


def told(rollouts: list[dict], calls=(), history=(), prompt="report/reasoning_gym", **changed) -> str:
    inputs = {"evaluated": evaluated(rollouts, calls), "questions": artifact([q.to_json() for q in QUESTIONS])}
    inputs |= {f"history_{i}": artifact(value) for i, value in enumerate(history)}
    params = PARAMS | {"prompt": load_prompt(prompt).to_json()} | changed
    return report(params, inputs, None).value["text"]


def past(score: float | None, chosen: int = -1, **changed) -> dict:
    edit = {"explanation": "Ask twice.", "outcome": "applied", "message": "", "slot": 0, "score": score}
    return {"parent_score": 0.25, "chosen_slot": chosen, "edits": [edit | changed]}


def test_the_scores_stand_first():
    slow = rollout(3, 0.0, completed=False, failure="timeout", boundary="limits")
    text = told([rollout(0, 1.0), rollout(1, 0.0), rollout(2, 0.5), slow])
    assert "Score 0.375 on 6 questions, 1 of them fully solved.\n75 % of the runs" in text
    assert "Failures: timeout 1." in text


def test_a_failing_question_is_told_with_answer_gold_and_failure():
    text = told([rollout(1, 0.0, failure="error", boundary="harness", error="ZeroDivisionError: division by zero")])
    for part in ("What is 2 + 2?", "answer1", "    4\n", "Failure: error: ZeroDivisionError: division by zero"):
        assert part in text


def test_a_solved_question_is_told_only_where_the_spec_asks():
    rollouts = [rollout(0, 1.0), rollout(1, 0.0)]
    assert "What is 1 + 1?" not in told(rollouts)
    assert "What is 1 + 1?" in told(rollouts, successes=1)


def test_gold_answers_and_traces_vanish_when_the_spec_hides_them():
    rollouts, calls = [rollout(4, 0.0)], [call(4, 0, "lm", [{"role": "user", "content": "sent-text"}], "said-text")]
    shown = told(rollouts, calls)
    hidden = told(rollouts, calls, show_gold=False, show_answers=False, show_traces=False)
    for part in ("    10\n", "answer4", "sent-text", "said-text"):
        assert part in shown and part not in hidden


def test_scores_only_tells_scores_and_nothing_else():
    rollouts = [rollout(4, 0.0, failure="error", boundary="harness")]
    calls = [call(4, 0, "python", "print(1)", {"stdout": "1"})]
    text = told(rollouts, calls, [past(0.5)], scores_only=True, successes=3)
    assert text.count("\n") == 4 and "What is" not in text and "error" not in text and "Ask twice" not in text


def test_each_sort_of_failure_is_seen_before_a_second_of_the_same():
    slow = rollout(4, 0.0, failure="timeout", boundary="limits")
    text = told([*(rollout(i, 0.0) for i in range(4)), slow, rollout(5, 0.5)], failures=3)
    assert all(f"What is {n} + {n}?" in text for n in (1, 5, 6)) and "3 more were not solved" in text


def test_the_text_does_not_depend_on_the_order_in_which_rollouts_ended():
    rollouts = [rollout(i, 0.0, seconds=float(i)) for i in range(6)]
    slower = [row | {"seconds": 7.0} for row in reversed(rollouts)]
    assert told(rollouts) == told(slower)


def test_a_trace_shows_each_call_and_what_came_back():
    calls = [
        call(1, 1, "python", "print(2 + 2)", {"stdout": "4\n", "stderr": "", "ok": True}),
        call(1, 0, "lm", [{"content": "first"}, {"content": "the last message"}], '{"a": 1}'),
        call(2, 0, "lm", [{"role": "user", "content": "another question's"}], "x"),
    ]
    text = told([rollout(1, 0.0)], calls)
    assert text.index("the last message") < text.index("print(2 + 2)")
    assert '{"a": 1}' in text and "first" not in text and "another question's" not in text


def test_what_the_harness_printed_is_told_with_the_trace():
    _, texts = call(1, 0, "lm", "debug: 17", "x")
    rollouts = [rollout(1, 0.0, output_digest=text_digest("debug: 17"))]
    assert "It printed:\n    debug: 17" in told(rollouts, [({"question_id": "-", "repeat": 0}, texts)])
    assert "debug: 17" not in told(rollouts, [({"question_id": "-", "repeat": 0}, texts)], show_traces=False)


def test_a_long_trace_is_cut_in_its_middle():
    calls = [call(1, n, "lm", [{"role": "user", "content": f"call-{n}-" + "x" * 5000}], "y" * 5000) for n in range(30)]
    text = told([rollout(1, 0.0)], calls, trace_chars=1000)
    assert "call-0-" in text and "call-29-" in text and "call-15-" not in text and len(text) < 3000


def test_what_a_broken_machine_did_is_never_told():
    """A dead server must not reach the proposer as if the harness had failed."""
    dead = rollout(1, 0.0, answer=None, failure="infra_error", boundary="service", error="connection refused")
    calls = [call(0, 0, "service", "POST /v1", "503"), call(0, 1, "lm", [{"role": "user", "content": "q"}], "r")]
    text = told([rollout(0, 0.0), dead], calls)
    assert not any(word in text for word in ("infra_error", "connection", "What is 2 + 2?", "503"))


@pytest.mark.attack
def test_a_graders_words_are_not_quoted():
    crashed = rollout(0, 0.0, failure="crash", boundary="grader", error="cannot compare with gold-canary")
    text = told([crashed], show_gold=False)
    assert "gold-canary" not in text and "could not be graded" in text


@pytest.mark.attack
@pytest.mark.control
def test_control_a_harness_s_own_words_are():
    crashed = rollout(0, 0.0, answer=None, failure="error", boundary="harness", error="cannot compare with gold-canary")
    assert "gold-canary" in told([crashed], show_gold=False)


def test_a_gold_answer_that_only_a_checker_knows_is_left_out():
    question = Question.of("sums", "Colour the graph.", None, "g")
    run = evaluated([rollout(0, 0.0, question_id=question.id)])
    run.value["question_ids"][0] = question.id
    inputs = {"evaluated": run, "questions": artifact([question.to_json()])}
    params = PARAMS | {"prompt": load_prompt("report/reasoning_gym").to_json()}
    assert "right answer" not in report(params, inputs, None).value["text"]


def test_earlier_edits_are_told_with_their_effect_oldest_first():
    failed = past(None, explanation="Vote.", outcome="search_not_found", message="block 1: the program has no line 'x'")
    text = told([rollout(0, 0.0)], history=[past(0.5, chosen=0), failed])
    assert "Round 1\nThe harness scored 0.250.\n- Ask twice.\n  Scored 0.500, adopted." in text
    assert "- Vote.\n  Not run: search_not_found: block 1: the program has no line 'x'\nNo edit was adopted." in text
    assert text.index("Ask twice.") < text.index("Vote.")


def test_an_edit_that_a_race_dropped_is_told_with_the_questions_it_was_scored_on():
    text = told([rollout(0, 0.0)], history=[past(0.125, questions=[4, 16])])
    assert "Scored 0.125 on the first 4 of 16 questions, not adopted." in text


def test_no_more_rounds_are_told_than_the_spec_asks():
    history = [past(0.5, explanation=f"edit-{i}") for i in range(12)]
    text = told([rollout(0, 0.0)], history=history)
    assert [f"edit-{i}" in text for i in (6, 7, 11)] == [False, True, True]


def test_text_of_a_model_is_never_read_as_a_template():
    text = told([rollout(0, 0.0, answer="{{ 7 * 7 }} {% endblock %}")])
    assert "{{ 7 * 7 }} {% endblock %}" in text


def test_repeats_of_a_question_are_told_once_by_the_worst():
    rollouts = [rollout(0, 1.0), rollout(0, 0.0, repeat=1, answer="the bad one")]
    text = told(rollouts)
    assert text.count("What is 1 + 1?") == 1 and "the bad one" in text and "0 of them fully solved" in text


def test_the_value_holds_the_harness_and_the_rows_its_text_once():
    inputs = {"evaluated": evaluated([rollout(0, 0.0)]), "questions": artifact([q.to_json() for q in QUESTIONS])}
    out = report(PARAMS | {"prompt": load_prompt("report/small").to_json()}, inputs, None)
    (row,), (text,) = out.rows["reports"], out.rows["texts"]
    assert out.value["harness"]["id"] == row["harness_id"] == HARNESS.id
    assert row["text_digest"] == text["digest"] and text["text"] == out.value["text"]


def test_a_long_text_keeps_its_beginning_and_its_end():
    cut = clip("a" * 100 + "b" * 100, 30)
    assert cut.startswith("a" * 20) and cut.endswith("b" * 10) and "170 characters left out" in cut
