"""What a report of multi-hop questions tells: right or wrong, gold, and supporting documents found and missed."""

import json

import pytest

from hbench.core.digest import text_digest
from hbench.core.prompt import load_prompt
from hbench.core.question import Question
from hbench.steps._report_documents import supporting_documents
from hbench.steps.report import report
from tests.steps.test_report import HARNESS, PARAMS, artifact, family  # noqa: F401

MAYOR, TOWN, OTHER = ({"id": name, "title": f"The {name}"} for name in ("mayor", "town", "other"))
TOLD = {**PARAMS, "failures": 6, "successes": 6, "prompt": load_prompt("report/multihop_qa").to_json()}


def question(text: str, *supporting: dict, unique: bool = False, gold: str = "Ada") -> Question:
    meta = {"supporting": [one["id"] for one in supporting], "supporting_titles": [one["title"] for one in supporting]}
    return Question.of("sums", text, gold, text, {**meta, "titles_are_unique": unique})


def searches(asked: Question, *results: list[dict]) -> tuple[list[dict], list[dict]]:
    """Rows of one search after the other, and their texts."""
    events, texts = [], []
    for position, found in enumerate(results):
        both = [json.dumps({"query": f"query {position}", "top_k": 7}), json.dumps(found)]
        texts += [{"digest": text_digest(text), "text": text} for text in both]
        keys = {"sent_digest": text_digest(both[0]), "received_digest": text_digest(both[1])}
        events.append({"question_id": asked.id, "repeat": 0, "position": position, "kind": "search", **keys})
    return events, texts


def told(outcomes: list[tuple[Question, float, tuple]], **changed) -> str:
    """The report on questions, each with its score and what its searches found."""
    rollouts, events, texts = [], [], []
    for asked, score, results in outcomes:
        row = {"question_id": asked.id, "repeat": 0, "harness_id": HARNESS.id, "answer": "Bob", "score": score}
        rollouts.append(row | {"completed": True, "failure": None, "boundary": None, "error": None})
        more = searches(asked, *results)
        events, texts = events + more[0], texts + more[1]
    questions = [asked for asked, _, _ in outcomes]
    value = {"harness": {"files": dict(HARNESS.files), "id": HARNESS.id}, "n": len(questions)}
    value |= {"score": sum(score for _, score, _ in outcomes) / len(outcomes), "completion_rate": 1.0}
    value["question_ids"] = [asked.id for asked in questions]
    evaluated = artifact(value, {"rollouts": rollouts, "events": events, "texts": texts})
    inputs = {"evaluated": evaluated, "questions": artifact([asked.to_json() for asked in questions])}
    return report({**TOLD, **changed}, inputs, None).value["text"]


LED = question("Who leads the town?", TOWN, MAYOR)
OUTCOMES = [(LED, 0.0, ([OTHER, TOWN], [TOWN])), (question("Who is she?", MAYOR), 1.0, ([MAYOR],))]


def test_each_question_is_told_as_right_or_wrong_with_gold_and_its_documents():
    text = told(OUTCOMES)
    assert "1 of 2 questions answered right, score 0.500." in text
    assert "### 1 (wrong)\n    Who leads the town?\n" in text and "### 2 (right)\n    Who is she?\n" in text
    assert "The right answer:\n    Ada\nSupporting documents found: The town (call 1, place 2)\n" in text
    assert "Supporting documents missed: The mayor\n" in text and "Supporting documents missed: none\n" in text
    assert "Searches found 2 of 3 supporting documents." in text


@pytest.mark.parametrize(
    ("switch", "gone"),
    [
        ("show_gold", "The right answer"),
        ("show_answers", "Bob"),
        ("show_retrieved", "documents found:"),
        ("show_missed", "documents missed:"),
        ("show_traces", "query 0"),
    ],
)
def test_each_part_has_its_own_switch(switch, gone):
    shown, hidden = told(OUTCOMES), told(OUTCOMES, **{switch: False})
    assert gone in shown and gone not in hidden
    kept = {"The right answer", "Bob", "documents found:", "documents missed:", "query 0"} - {gone}
    assert all(part in hidden for part in kept)


def test_the_number_found_is_told_only_with_both_halves():
    assert "Searches found" not in told(OUTCOMES, show_missed=False)
    assert "Searches found" not in told(OUTCOMES, show_retrieved=False)


def test_questions_beyond_the_limits_are_still_told_as_right_or_wrong():
    text = told(OUTCOMES, failures=0, successes=0)
    assert "- wrong: Who leads the town?\n- right: Who is she?\n" in text and "Ada" not in text


def test_scores_only_tells_no_question_and_no_document():
    text = told(OUTCOMES, scores_only=True)
    assert text.count("\n") == 4 and "documents" not in text and "town" not in text


def test_a_question_without_supporting_documents_has_no_word_about_them():
    text = told([(Question.of("sums", "1 + 1?", "2", "1 + 1?"), 0.0, ())])
    assert "documents" not in text


def found(asked: Question, *results: list[dict]):
    events, texts = searches(asked, *results)
    return supporting_documents(asked.to_json(), events, {row["digest"]: row["text"] for row in texts})


def test_another_paragraph_of_the_same_title_is_not_the_supporting_one():
    """MuSiQue: 327 titles of its slice stand over several paragraphs."""
    namesake = {"id": "elsewhere", "title": TOWN["title"]}
    assert found(LED, [namesake]).missed == ("The town", "The mayor")


def test_where_titles_are_unique_another_edition_of_the_text_is_the_same_document():
    edition = {"id": "another digest", "title": TOWN["title"]}
    assert found(question("Where?", TOWN, unique=True), [edition]).missed == ()


def test_a_supporting_document_known_by_title_alone_is_looked_for_by_title():
    """HotpotQA's fullwiki files name supporting titles whose paragraphs they do not hold."""
    asked = Question.of("sums", "Where?", "x", "Where?", {"supporting": [], "supporting_titles": ["The town"]})
    asked.meta["titles_are_unique"] = True
    assert found(asked, [TOWN]).retrieved == ({"title": "The town", "call": 1, "place": 1},)
    assert found(asked, [OTHER]).missed == ("The town",)


def test_what_another_question_found_does_not_count():
    text = told([(LED, 0.0, ()), (question("Which?", OTHER), 0.0, ([TOWN, MAYOR],))])
    assert "found 0 of 3" in text
