"""How many questions there are, and which rollouts train."""

from tests.exhibits.acted import LONG, Arm, Lived, Turned, cell, exhibit_of, once, value

PASSED, REPLACED = Turned(tries=1), Turned("replace", tries=1)


def distilled(**collected: tuple[Lived, ...]) -> Arm:
    held = once({"h1": 1.0, "h2": 0.0, "h3": 1.0})
    return Arm("distilled", "appworld", held, collected, spec="distillation/appworld")


def test_questions_are_counted_by_what_they_are_for_and_by_scenario():
    scenarios = {"h1": ("a", 2), "h2": ("a", 2)}
    made = exhibit_of("distil_data", [distilled(t1=(Lived(1.0, kept=True),), t2=(Lived(0.0),))], scenarios)
    row = "appworld / distilled"
    assert [value(made, row, c) for c in ("training", "evaluation", "scenarios")] == [2, 3, 2.0]
    assert [value(made, row, c) for c in ("collected", "kept", "trained")] == [2, 1, 1]


def test_turns_and_tokens_are_those_of_the_rollouts_that_were_kept():
    kept = Lived(1.0, (REPLACED, PASSED, PASSED), kept=True)
    short = Lived(1.0, (PASSED,), kept=True)
    made = exhibit_of("distil_data", [distilled(t1=(kept, Lived(0.0, (REPLACED, REPLACED))), t2=(short,))])
    row = "appworld / distilled"
    assert [value(made, row, c) for c in ("collected", "kept")] == [3, 2]
    assert [value(made, row, c) for c in ("turns", "replaced", "tokens")] == [2.0, 25.0, 20.0]


def test_a_rollout_that_is_too_long_is_kept_and_not_trained_on():
    long = Lived(1.0, (PASSED,) * (LONG + 1), kept=True)
    made = exhibit_of("distil_data", [distilled(t1=(long, Lived(1.0, kept=True)))])
    row = "appworld / distilled"
    assert [value(made, row, c) for c in ("kept", "trained", "tokens")] == [2, 1, 10.0]


def test_the_papers_numbers_stand_beside():
    made = exhibit_of("distil_data", [distilled(t1=(Lived(1.0, kept=True),))])
    assert cell(made, "appworld / distilled", "kept").paper_value == 282
    assert cell(made, "uspto / distilled", "training").paper_value == 500
