import json
import subprocess
import sys

import pytest
from pydantic import ValidationError

from hbench.core.question import Question
from hbench.parts.families import _library, _pool
from hbench.parts.families._arithmetic import makes
from hbench.parts.families._descriptions import DESCRIPTIONS
from hbench.parts.families.reasoning_gym import ReasoningGym
from hbench.parts.part import build
from tests.where import REPO, cases


def family(name, **fields):
    return ReasoningGym(kind="reasoning_gym", name=name, **fields)


def asked(name, answer, **metadata):
    """A question as this family would store it."""
    return Question.of(name, "?", answer, "?", {"entry": {"source_dataset": name, **metadata}})


def test_the_library_has_106_families_each_described_in_our_words():
    assert len(_library.modules()) == 106
    assert set(DESCRIPTIONS) == set(_library.modules())
    assert all(20 < len(said) < 200 for said in DESCRIPTIONS.values())


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(ValidationError, match="no family 'mase' .did you mean 'maze'"):
        family("mase")


WRONG = [{"min_grid_sice": 5}, {"seed": 1}, {"size": 10}, {"min_grid_size": 9, "max_grid_size": 5}]


@pytest.mark.parametrize("settings", WRONG)
def test_settings_that_the_library_does_not_take_are_refused(settings):
    with pytest.raises(ValidationError, match="settings"):
        family("maze", settings=settings)


def test_settings_change_the_pool():
    small = family("maze", settings={"min_grid_size": 5, "max_grid_size": 5, "min_dist": 3, "max_dist": 5})
    texts = [question.text for question in small.questions(0, 3, seed=0)]
    assert texts != [question.text for question in family("maze").questions(0, 3, seed=0)]
    assert all(sum(len(line) == 5 for line in text.split("\n")) == 5 for text in texts)


def test_a_family_survives_its_block():
    made = family("maze", format="varied", settings={"min_dist": 6})
    assert build("families", made.to_json()) == made
    assert made.to_json()["libraries"] == {"reasoning-gym": _pool.library_version()}


def test_neighbouring_seeds_share_no_question():
    """reasoning-gym makes item i from seed + i, so its own seeds 0 and 1 share all but one question."""
    pools = [{question.content_id for question in family("maze").questions(0, 20, seed)} for seed in (0, 1)]
    assert not pools[0] & pools[1]


def test_a_pool_is_the_same_whatever_part_is_drawn_and_whatever_the_hash_seed(monkeypatch):
    """Families that walk through sets of strings ask other questions under another PYTHONHASHSEED."""
    whole = family("isomorphic_strings").questions(0, 6, seed=3)
    monkeypatch.setenv("PYTHONHASHSEED", "12345")
    assert family("isomorphic_strings").questions(4, 6, seed=3) == whole[4:]


def test_a_pool_ends():
    assert family("acre").questions(4_095, 4_099, seed=0)[0].pool_index == 4_095
    assert family("acre").questions(4_096, 4_099, seed=0) == []


def test_both_wordings_of_a_puzzle_have_one_content_id():
    plain, varied = (family("gcd", format=wording).questions(0, 12, seed=0) for wording in ("canonical", "varied"))
    assert [question.content_id for question in plain] == [question.content_id for question in varied]
    assert {question.meta["wording"] for question in plain} == {0}
    assert len({question.meta["wording"] for question in varied}) >= 3
    assert sum(a.id != b.id for a, b in zip(plain, varied, strict=True)) == sum(q.meta["wording"] > 0 for q in varied)


def test_partial_credit_stands_beside_exact():
    question = asked("chain_sum", "214")
    assert family("chain_sum").grade("214", question) == {"score": 1.0, "exact": 1.0}
    grades = family("chain_sum").grade("the answer is 214", question)
    assert 0 < grades["score"] < 1 and grades["exact"] == 0.0


@pytest.mark.parametrize("answer", ["", "  \n"])
def test_an_empty_answer_scores_zero_also_where_the_library_gives_a_consolation(answer):
    question = asked("countdown", "3*7+25", numbers=[3, 7, 25], target=46)
    assert family("countdown").grade(answer, question) == {"score": 0.0, "exact": 0.0}


def test_an_answer_that_breaks_the_scorer_scores_zero():
    question = asked("prime_factorization", "2 × 3", factors=[2, 3])
    assert family("prime_factorization").grade("two × three", question) == {"score": 0.0, "exact": 0.0}


def test_case_115_a_rounded_gold_is_flagged_and_the_right_answer_still_counts():
    case = json.loads((cases() / "115-oracle-rounded-question-not" / "case.json").read_text())
    question = asked(
        "number_sorting", case["oracle"], direction="ascending", original_numbers=case["question_numbers"]
    )
    assert family("number_sorting").grade(case["right_answer"], question)["score"] == case["expected"]["right_answer"]
    entry = {"answer": case["oracle"], "metadata": question.meta["entry"]}
    assert _pool.gold_was_rounded(entry) is case["expected"]["self_check_flags_task"]
    assert not _pool.gold_was_rounded({**entry, "answer": case["right_answer"]})


def test_case_117_foreign_numbers_are_no_solution():
    """The library's 0.01 and 0.05 for wrong sums stay as partial score; `exact` is what the case calls the score."""
    case = json.loads((cases() / "117-countdown-foreign-numbers" / "case.json").read_text())
    question = asked("countdown", "3*7+25", numbers=case["numbers"], target=case["target"])
    for answer, expected in case["scores"].items():
        if answer != "9**9**9**9":  # never ends: the grader jail's to stop
            grades = family("countdown").grade(answer, question)
            assert expected == "policy" or grades["exact"] == expected, answer
            assert grades["score"] <= 0.05 or expected == 1
        assert expected == "policy" or makes(answer, case["target"], case["numbers"]) == bool(expected)


@pytest.mark.parametrize("answer", ["6*4*1*1", "98/4+0*1*2", "8*5-10-6+0"])
def test_puzzle24_takes_only_its_own_numbers_and_exactly_24(answer):
    """The library counts four numbers from 1 to 10 and drops the fraction: 6*4*1*1 would solve every puzzle."""
    question = asked("puzzle24", "10*(8 - 5) - 6", numbers=[8, 5, 10, 6])
    assert family("puzzle24").grade(answer, question)["exact"] == 0.0
    assert family("puzzle24").grade("10*(8 - 5) - 6", question)["exact"] == 1.0


@pytest.mark.parametrize("answer", ["True", "no answer at all", "?"])
def test_a_wrong_guess_about_a_halting_game_is_wrong(answer):
    """The library calls every answer that is not empty right."""
    question = asked("game_of_life_halting", "False")
    assert family("game_of_life_halting").grade(answer, question) == {"score": 0.0, "exact": 0.0}
    assert family("game_of_life_halting").grade("false.", question) == {"score": 1.0, "exact": 1.0}


@pytest.mark.parametrize("answer", ["0", "0.68", ".6", "0."])
def test_the_beginning_of_a_probability_is_not_that_probability(answer):
    """The library compares as many digits as the answer has, so `0` would be right for every question."""
    question = asked("coin_flip", "0.6875")
    assert family("coin_flip").grade(answer, question)["exact"] == 0.0
    assert [family("coin_flip").grade(right, question)["exact"] for right in ("11/16", "0.6875", "0.68751")] == [1.0] * 3


def test_case_119_blanks_around_an_answer_do_not_count():
    for case in json.loads((cases() / "119-blanks-around-answer" / "case.json").read_text()):
        score = family("rotate_matrix").grade(case["answer"], asked("rotate_matrix", case["gold"]))["score"]
        assert score == case["score"] or (case["score"] == "less than 1" and score < 1)


def test_grading_one_family_loads_that_family_alone_and_leaves_the_library_whole():
    program = """
import sys
from hbench.core.question import Question
from hbench.parts.families.reasoning_gym import ReasoningGym
family = ReasoningGym(kind="reasoning_gym", name="chain_sum")
family.grade("", Question.of("chain_sum", "?", "3", "?", {"entry": {}}))
print([heavy for heavy in ("sympy", "matplotlib", "numpy", "reasoning_gym.games.maze") if heavy in sys.modules])
import reasoning_gym
print(reasoning_gym.create_dataset("maze", seed=1, size=1)[0]["metadata"]["source_dataset"])
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=REPO, capture_output=True, text=True)
    assert done.stdout.split("\n")[:2] == ["[]", "maze"], done.stderr


def test_a_library_that_fails_to_draw_is_an_error_of_the_step():
    from hbench.core.failure import StepError

    with pytest.raises(StepError, match="cannot make questions 0 to 2 of maze: AssertionError"):
        _pool.entries("maze", {"min_grid_size": 1}, seed=0, start=0, stop=2)


REPLACES_MAX = (
    "__import__('sys').modules['hbench.parts.families.reasoning_gym'].__dict__.__setitem__('max', lambda *_: 1.0)"
)


@pytest.mark.parametrize("name", ["binary_matrix", "spiral_matrix", "string_insertion", "n_queens", "composite"])
def test_an_answer_that_is_a_program_is_not_run(name):
    """Scorers call eval() on the answer: one answer replaced `max` in the grading process and got 1.0."""
    settings = {"datasets": [{"name": "spiral_matrix", "weight": 1.0}]} if name == "composite" else {}
    family = ReasoningGym(kind="reasoning_gym", name=name, settings=settings)
    (question,) = family.questions(0, 1, 3)
    assert family.grade(REPLACES_MAX, question)["score"] == 0.0
    assert family.grade("nothing right", question)["score"] == 0.0


def test_a_list_still_counts_as_the_library_counts_it():
    family = ReasoningGym(kind="reasoning_gym", name="spiral_matrix")
    (question,) = family.questions(0, 1, 3)
    as_list = str([int(n) for n in question.answer.split()])
    assert family.grade(question.answer, question)["score"] == 1.0
    assert family.grade(as_list, question)["score"] == 0.1


@pytest.mark.parametrize(
    "answer", ["eval(chr(95)+chr(95))", "exec('1')", "x.__class__", "(1).real", "open(3)", "[1][0]", "lambda: 1", "print(2)"]
)
def test_what_sympy_would_run_is_no_formula(answer):
    from hbench.parts.families._guards import is_formula

    assert not is_formula("countdown", answer)


@pytest.mark.parametrize("answer", ["(25-3)*2", "3*x**2 + 2.5*x + C", "sin(x)/2 + log(Abs(x))", "x**3/3 + C", "sqrt(2)*x", "7"])
def test_a_formula_goes_to_sympy(answer):
    from hbench.parts.families._guards import is_formula

    assert is_formula("simple_integration", answer)
