"""Tasks of lm-eval as families: the real library, tasks of our own on local files, and the grader's jail."""

import asyncio
import json
import os

import pytest

from hbench.core.failure import Failure
from hbench.core.question import Question
from hbench.engines.jail import Jails
from hbench.parts.families._lm_eval_files import config_of, data_file, grades_in, task_file
from hbench.parts.part import build
from tests.where import cases
from tests.world import make_world, write_replies

pytest.importorskip("lm_eval", reason="the extra 'benchmark' is not installed")
pytestmark = pytest.mark.slow

TRUSTING = """
task: trusting
custom_dataset: !function scores.rows
output_type: generate_until
test_split: test
doc_to_text: "{{asked}}"
doc_to_target: "42"
process_results: !function scores.score
metric_list: [{metric: right, aggregation: mean, higher_is_better: true}]
"""
SCORES = """
from datasets import Dataset

def rows(**_):
    return {"test": Dataset.from_list([{"asked": "Six times seven?"}, {"asked": "Seven times six?"}])}

def score(doc, results):
    return {"right": float(eval(results[0]) == 42)}
"""


ADAPTED = """
plan: adaptation
name: letters
family: {kind: lm_eval, name: letters}
splits: {feedback: 4, scoring: 4, evaluation: 8}
harness: harnesses/plain.py
solver: {kind: recorded, file: replies/solver.jsonl}
proposer: {kind: recorded, file: replies/proposer.jsonl, prompt: proposer/search_replace}
arms:
  seed: {rounds: 0}
  adapted: {rounds: 1, proposals: 1}
"""
COUNTS = """Count in code.
<<<<<<< SEARCH
    return reply.strip()
=======
    return str(len(question.split("'")[1]))
>>>>>>> REPLACE
"""


def family(name: str, **fields):
    return build("families", {"kind": "lm_eval", "name": name, **fields})


def graded(block, sandbox, question, *answers):
    async def go():
        jails = Jails(sandbox, zygotes=1)
        try:
            return [await jails.grade(block, answer, question) for answer in answers]
        finally:
            await jails.close()

    return asyncio.run(go())


@pytest.fixture
def own_task(tmp_path, monkeypatch):
    """A task of the user's own, whose scorer evaluates the answer."""
    folder = tmp_path / "parts" / "lm_eval"
    folder.mkdir(parents=True)
    (folder / "trusting.yaml").write_text(TRUSTING)
    (folder / "scores.py").write_text(SCORES)
    os.chmod(tmp_path, 0o755)
    monkeypatch.chdir(tmp_path)
    return folder


def test_questions_are_lm_evals_with_splits_that_a_seed_orders():
    letters = family("letters")
    first, again, other = (letters.questions(0, 99, seed) for seed in (1, 1, 2))
    assert first == again and [q.id for q in first] != [q.id for q in other] and {q.id for q in first} == {q.id for q in other}
    assert len(first) == 56 and letters.questions(10, 12, 1) == first[10:12]
    assert first[0].text == f"How many letters does the word '{first[0].meta['doc']['word']}' have?\nAnswer:"
    assert {question.meta["gold_score"] for question in first} == {1.0}


def test_of_all_documents_those_that_lm_eval_evaluates_come_first():
    splits = [question.meta["split"] for question in family("letters", docs="all").questions(0, 99, 0)]
    assert splits == ["test"] * 56 + ["training"] * 8


def test_shots_stand_before_the_question_and_are_the_same_in_any_slice():
    shown = family("letters", shots=2).questions(0, 4, 0)
    assert all(question.text.count("Answer:") == 3 for question in shown)
    assert family("letters", shots=2).questions(2, 4, 0) == shown[2:]
    assert [q.content_id for q in shown] == [q.content_id for q in family("letters").questions(0, 4, 0)]


def test_every_filter_gives_a_grade_and_the_spec_says_which_is_the_score():
    question = family("letters").questions(0, 1, 0)[0]
    answer = f"It has {question.answer} letters, not 1"
    assert family("letters").grade(answer, question) == {
        "score": 1.0, "exact_match,first-number": 1.0, "exact_match,last-number": 0.0
    }
    assert family("letters", metric="exact_match,last-number").grade(answer, question)["score"] == 0.0


def test_grades_are_told_without_loading_a_task():
    assert grades_in(config_of(task_file("gsm8k"))) == ("exact_match,strict-match", "exact_match,flexible-extract")
    assert family("gsm8k").grade_names()[0] == "score"


def test_an_answer_is_cut_at_stops_only_where_the_spec_names_them():
    restated, echoed = json.loads((cases() / "129-lm-eval-stop-and-template/case.json").read_text())
    told = {"question": "How many?", "answer": "So it is 12.\n#### 12"}
    question = Question.of("gsm8k_local", "How many?", told["answer"], "how many?", {"doc": told})
    assert family("gsm8k_local").grade(restated["raw"], question)["score"] == 1.0
    assert family("gsm8k_local", stops=restated["until"]).grade(restated["raw"], question)["score"] == 0.0
    last = family("gsm8k_local", metric="exact_match,flexible-extract")
    assert last.grade(echoed["raw"], question)["score"] == 1.0  # the last number counts


@pytest.mark.skipif(data_file("gsm8k/gsm8k_test.jsonl") is None, reason="GSM8K is not in $HBENCH_DATA")
def test_gsm8k_on_local_files_is_lm_evals_gsm8k():
    ours, theirs = (config_of(task_file(name)) for name in ("gsm8k_local", "gsm8k"))
    same = ("doc_to_text", "doc_to_target", "metric_list", "filter_list", "num_fewshot", "output_type")
    assert {key: ours[key] for key in same} == {key: theirs[key] for key in same}
    asked = family("gsm8k_local").questions(0, 20, 0)
    assert {question.meta["gold_score"] for question in asked} == {1.0}


@pytest.mark.parametrize("sandbox", ["namespaces", "landlock"])
def test_a_scorer_that_evaluates_answers_is_held_by_the_jail(own_task, sandbox):
    trusting, made = family("trusting"), own_task.parent.parent / "made"
    question = family("trusting", check_gold=False).questions(0, 1, 0)[0]
    hostile = f"42 if open({str(made)!r}, 'w') else 0"
    grades = graded(trusting.to_json(), sandbox, question, "6 * 7", hostile, "41")
    assert grades[0] == {"score": 1.0, "right,none": 1.0} and grades[2]["score"] == 0.0
    assert isinstance(grades[1], Failure) and not made.exists()


def test_control_the_hostile_answer_does_what_it_says(own_task):
    made = own_task.parent.parent / "made"
    question = family("trusting").questions(0, 1, 0)[0]
    assert family("trusting").grade(f"42 if open({str(made)!r}, 'w') else 0", question)["score"] == 1.0 and made.exists()


def test_an_edited_task_is_another_family(own_task):
    before = family("trusting").to_json()
    (own_task / "scores.py").write_text(SCORES.replace("42)", "43)"))
    after = family("trusting")
    assert after.to_json() != before
    assert after.grade("43", after.questions(0, 1, 0)[0])["score"] == 1.0


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"name": "no_such_task"}, "lm-eval has no task 'no_such_task'"),
        ({"name": "mmlu"}, "mmlu is a group of tasks: a family is one task in YAML"),
        ({"name": "letters_choice"}, "of the sort multiple_choice: only generate_until"),
        ({"name": "letters", "metric": "exact_match,none"}, "it gives exact_match,first-number, exact_match,last-number"),
        ({"name": "letters", "shots": 1, "docs": "all"}, "shots are drawn from the training documents"),
    ],
)
def test_what_cannot_be_adapted_is_said_when_the_spec_is_read(fields, told):
    with pytest.raises(ValueError, match=told):
        family(**fields)


@pytest.mark.long  # `make test-lm-eval` runs it
def test_a_harness_adapts_to_a_task_of_lm_eval_as_to_any_family(tmp_path):
    """A whole plan, with a recorded proposer whose edit counts letters in code: held-out questions are lm-eval's own."""
    world = make_world(tmp_path, ADAPTED)
    write_replies(tmp_path / "specs/replies/proposer.jsonl", [{"reply": COUNTS}])
    world.hbench("run", "toy", timeout=600)
    scores = world.sql("select arm, score from held_out where purpose = 'held_out' order by arm")
    assert [(row["arm"], row["score"]) for row in scores] == [("adapted", 1.0), ("seed", 0.0)]
