"""The practice skills: small questions of our own with exact answers."""

import pytest
from pydantic import ValidationError

from hbench.parts.families.practice import FRAMES, SKILLS, Practice
from hbench.parts.part import build


def skill(name):
    return Practice(kind="practice", name=name)


@pytest.mark.parametrize("name", SKILLS)
def test_the_gold_answer_scores_one_and_nothing_else_does(name):
    for question in skill(name).questions(0, 20, seed=1):
        assert question.answer and question.answer.strip() == question.answer
        assert skill(name).grade(f"\n {question.answer} ", question) == {"score": 1.0, "exact": 1.0}
        assert skill(name).grade(f"{question.answer}1", question) == {"score": 0.0, "exact": 0.0}


@pytest.mark.parametrize("name", SKILLS)
def test_a_pool_is_the_same_whatever_part_of_it_is_asked_for(name):
    assert skill(name).questions(0, 12, seed=1)[7:] == skill(name).questions(7, 12, seed=1)
    assert skill(name).questions(0, 12, seed=1) != skill(name).questions(0, 12, seed=2)


def test_a_pool_ends():
    assert [q.pool_index for q in skill("square").questions(1998, 2005, seed=0)] == [1998, 1999]


def test_sixty_skills_each_said_in_a_clause_and_asked_in_several_words():
    assert len(SKILLS) == 60
    assert all(len(s.wordings) >= 3 and len(s.clause.split()) <= 12 for s in SKILLS.values())
    assert all(not set(s.clause) & set(":'\"123456789") for s in SKILLS.values()), "a clause must not look like the data"
    assert skill("sum_list").describe() == "Add up a list of numbers."


@pytest.mark.parametrize("name", SKILLS)
def test_the_wording_is_no_part_of_what_is_asked(name):
    """A pool holds enough different questions for every role, in every frame, and few answers come again and again."""
    questions = skill(name).questions(0, 400, seed=3)
    assert len({q.content_id for q in questions}) >= 60
    answers = [q.answer for q in questions]
    assert max(answers.count(answer) for answer in set(answers)) <= 0.6 * len(answers)
    openings = [frame.split("{")[0][:20] for frame in FRAMES[1:]]
    assert all(any(q.text.startswith(opening) for q in questions) for opening in openings)


def test_one_question_in_two_wordings_has_one_content_id():
    by_content: dict = {}
    for question in skill("factorial").questions(0, 300, seed=4):
        by_content.setdefault(question.content_id, set()).add(question.text)
    assert sum(len(texts) > 1 for texts in by_content.values()) > 20


@pytest.mark.parametrize(
    ("name", "drawn", "answer"),
    [
        ("median_number", {"x": [9, 1, 5]}, 5),
        ("count_above", {"t": 4, "x": [4, 5, 6]}, 2),
        ("from_binary", {"n": "1011"}, 11),
        ("scientific", {"n": 123456}, "1.23e+05"),
        ("divisor_count", {"n": 12}, 6),
        ("polygon_sum", {"n": 5}, 540),
        ("binary_of_value", {"e": "(2 + 3) * 2"}, "1010"),
        ("unique_words", {"x": ["owl", "fox", "owl"]}, ["owl", "fox"]),
        ("mirror_word", {"w": "sun"}, "sunnus"),
        ("letters_within", {"a": "nsu", "b": "sun"}, True),
        ("replace_letter", {"a": "o", "b": "i", "t": "fox owl"}, "fix iwl"),
    ],
)
def test_what_a_skill_means(name, drawn, answer):
    assert SKILLS[name].solve(**drawn) == answer


def test_an_unknown_skill_is_refused_with_the_nearest():
    with pytest.raises(ValidationError, match="no skill 'sum_lists' .did you mean 'sum_list'"):
        skill("sum_lists")


def test_a_skill_survives_its_block():
    assert build("families", skill("square").to_json()) == skill("square")
