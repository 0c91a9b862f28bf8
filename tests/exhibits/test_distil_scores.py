"""Tables 1 to 3 and the mini study: each cell a second time in plain Python, from what was measured."""

import random

import pytest

from hbench.exhibits.statistics import mean_interval, ratio_interval, strata_interval
from tests.exhibits.acted import Arm, Lived, Turned, cell, exhibit_of, once, value

pytestmark = pytest.mark.truth
DOMAINS = {"spreadsheet": 20, "uspto": 12, "appworld": 9}  # domain -> questions
SCENARIOS = {f"appworld {i}": (f"scenario {i // 3}", 3) for i in range(9)}
PARTIAL = {f"appworld {i}": (f"scenario {i // 4}", 4) for i in range(9)}


def drawn(domain, arm, chance, **more):
    draw = random.Random(f"{domain} {arm}")
    scores = {f"{domain} {i}": float(draw.random() < chance) for i in range(DOMAINS[domain])}
    return Arm(arm, domain, once(scores), spec=f"distillation/{domain}", **more)


@pytest.fixture(scope="module")
def arms():
    return [drawn(d, arm, chance) for d in DOMAINS for arm, chance in (("base", 0.3), ("h_star", 0.5), ("distilled", 0.7))]


@pytest.fixture(scope="module")
def table2(arms):
    return exhibit_of("distil_table2", arms, SCENARIOS)


def scores(arms, name, domain):
    """question or whole scenario -> per cent."""
    (found,) = [arm for arm in arms if (arm.name, arm.domain) == (name, domain)]
    units: dict[str, list[float]] = {}
    for question, (one,) in found.held_out.items():
        units.setdefault(SCENARIOS.get(question, (question,))[0], []).append(one.score)
    return {unit: 100 * min(each) for unit, each in units.items()}


def agrees(cell, wanted):
    numbers = [(getattr(cell, name), getattr(wanted, name)) for name in ("value", "low", "high", "n")]
    return all(one == two if None in (one, two) else one == pytest.approx(two) for one, two in numbers)


@pytest.mark.parametrize("arm", ["base", "h_star", "distilled"])
def test_each_domain_is_a_mean_over_questions_or_scenarios_and_the_macro_average_weighs_domains_alike(arms, table2, arm):
    by_domain = {domain: scores(arms, arm, domain) for domain in DOMAINS}
    for domain, its in by_domain.items():
        assert agrees(cell(table2, arm, domain), mean_interval(list(its.values()))), domain
    macro = cell(table2, arm, "macro")
    assert macro.value == pytest.approx(sum(sum(s.values()) / len(s) for s in by_domain.values()) / 3)
    assert agrees(macro, strata_interval(by_domain))
    assert value(table2, arm, "questions") == 20 + 12 + 3


def test_tgc_is_the_share_of_tasks_with_its_interval_by_scenario(arms, table2):
    (base,) = [arm for arm in arms if (arm.name, arm.domain) == ("base", "appworld")]
    solved = [one.score for one in base.rollouts]
    found = cell(table2, "base", "appworld_tgc")
    assert found.value == pytest.approx(100 * sum(solved) / 9)
    assert agrees(found, ratio_interval([(100 * sum(solved[i : i + 3]), 3) for i in (0, 3, 6)]))


def test_three_tasks_one_wrong_are_two_thirds_by_task_and_nothing_by_scenario():
    """The case by which the domain is judged."""
    held = once({"appworld 0": 1.0, "appworld 1": 1.0, "appworld 2": 0.0})
    made = exhibit_of("distil_table2", [Arm("base", "appworld", held, spec="distillation/appworld")], SCENARIOS)
    assert value(made, "base", "appworld_tgc") == pytest.approx(66.7, abs=0.05)
    assert value(made, "base", "appworld") == 0.0


def test_a_scenario_that_was_not_asked_whole_counts_by_task_alone():
    held = once({f"appworld {i}": 1.0 for i in range(6)})
    made = exhibit_of("distil_table2", [Arm("base", "appworld", held, spec="distillation/appworld")], PARTIAL)
    assert (value(made, "base", "appworld"), cell(made, "base", "appworld").n) == (100.0, 1)
    assert (value(made, "base", "appworld_tgc"), cell(made, "base", "appworld_tgc").n) == (100.0, 2)


def test_differences_of_macro_averages_are_paired_by_question(arms, table2):
    ours, theirs = ({domain: scores(arms, arm, domain) for domain in DOMAINS} for arm in ("distilled", "base"))
    apart = {domain: {q: ours[domain][q] - theirs[domain][q] for q in ours[domain]} for domain in DOMAINS}
    assert agrees(cell(table2, "distilled", "macro_difference"), strata_interval(apart))
    assert value(table2, "base", "macro_difference") is None


def test_there_is_no_macro_average_of_two_domains(arms):
    two = [arm for arm in arms if arm.domain != "uspto"]
    made = exhibit_of("distil_table2", two, SCENARIOS)
    assert value(made, "base", "macro") is None and value(made, "base", "uspto") is None
    assert value(made, "base", "spreadsheet") is not None


@pytest.mark.parametrize(("name", "row"), [("distil_table2", "base"), ("distil_table1", "small / base")])
def test_there_is_no_macro_average_where_no_scenario_was_asked_whole(arms, name, row):
    """It was one over the other two domains, under the same heading."""
    base = [arm for arm in arms if arm.name == "base" and arm.domain != "appworld"]
    part = Arm("base", "appworld", once({"appworld 0": 1.0, "appworld 3": 1.0}), spec="distillation/appworld")
    made = exhibit_of(name, [*base, part], SCENARIOS)
    assert value(made, row, "uspto") is not None and value(made, row, "appworld_tgc") == 100.0
    assert value(made, row, "macro") is None


def test_domains_of_several_specs_are_one_row_beside_the_papers_values(table2):
    assert [row for row in table2.rows if row == ("base",)] == [("base",)]
    assert cell(table2, "distilled", "uspto").paper_value == 30.0
    for agent in ("deepagents", "claude_code"):
        assert value(table2, agent, "macro") is None and cell(table2, agent, "macro").paper_value is not None


def test_another_spec_is_not_compared_with_the_paper(arms):
    from dataclasses import replace

    made = exhibit_of("distil_table2", [*arms, replace(arms[0], spec="distillation/mine")], SCENARIOS)
    assert cell(made, "base", "uspto").paper_value is None and cell(made, "h_star", "uspto").paper_value == 38.0


def free(domain, arm, model, chance):
    made = drawn(domain, f"{arm}", chance, student=model)
    return Arm(arm, domain, made.held_out, student=model, spec=f"distillation/{model} {domain}")


def test_models_are_rows_and_their_cells_have_a_mean_of_their_own():
    study = [free(d, arm, m, c) for m in ("one", "two") for d in DOMAINS for arm, c in (("base", 0.3), ("guided", 0.6))]
    study = [a for a in study if (a.student, a.domain, a.name) != ("two", "uspto", "guided")]
    made = exhibit_of("distil_table1", study, SCENARIOS)
    means = {(m, d): mean_interval(list(scores([a for a in study if a.student == m], "base", d).values())) for m in ("one", "two") for d in DOMAINS}
    assert value(made, "one / base", "uspto") == pytest.approx(means["one", "uspto"].value)
    assert value(made, "all models / base", "macro") == pytest.approx(sum(e.value for e in means.values()) / 6)
    assert value(made, "one / guided", "macro") is not None
    assert value(made, "two / guided", "macro") is None, "a domain is missing"
    assert ("all models", "guided") not in [row for row in made.rows if value(made, " / ".join(row), "questions")]
    assert value(made, "all models / base", "questions") == 2 * (20 + 12 + 3)


STUCK = (Turned(failure="unknown_tool"), Turned())


def table3():
    tests = {f"uspto {i}": float(i % 2) for i in range(8)}
    train = {f"train {i}": (Lived(float(i < 3), kept=i < 2),) for i in range(6)}
    better = {question: 1.0 for question in tests}
    spec = {"spec": "distillation/uspto"}
    return [
        Arm("base", "uspto", once(tests), **spec),
        Arm("direct", "uspto", once(dict.fromkeys(tests, 0.0), turns=STUCK), train, **spec),
        Arm("distilled", "uspto", once(better), {q: (Lived(1.0, kept=True),) for q in train}, **spec),
    ]


def test_success_at_collection_stands_beside_that_on_independent_tests():
    made = exhibit_of("distil_table3", table3())
    columns = ("collected", "kept", "score", "difference", "unknown_tools", "questions")
    assert [value(made, "uspto / direct", c) for c in columns] == [50.0, 2, 0.0, -50.0, 50.0, 8]
    assert [value(made, "uspto / distilled", c) for c in columns] == [100.0, 6, 100.0, 50.0, 0.0, 8]
    assert [value(made, "uspto / base", c) for c in columns] == [None, None, 50.0, None, 0.0, 8]


def mini():
    """Two held-out domains of one kind, as the study has them; `reviewed` replaces first turns and no last one."""
    replaced = (Turned("replace", 1), Turned("pass", 1), Turned("pass", 0, "budget"))
    arms = []
    for family, right in (("files_held_out", 3), ("files_new", 1)):
        at = {"domain": "files", "family": family, "spec": "distillation/mini_distil"}
        tests = {f"{family} {i}": 0.0 for i in range(4)}
        better = {question: float(i < right) for i, question in enumerate(tests)}
        arms += [Arm("base", held_out=once(tests), **at), Arm("reviewed", held_out=once(better, turns=replaced), reviewer="rules", **at)]
        arms.append(Arm("distilled", held_out=once(better), **at))
    at = {"domain": "files", "family": "files", "spec": "distillation/mini_distil"}
    train = {f"train {i}": (Lived(float(i < 3), replaced, kept=i < 3),) for i in range(4)}
    return [*arms, Arm("distilled", held_out={}, collected=train, **at)]


def test_the_mini_study_pairs_by_question_and_tells_first_and_last_turns():
    made = exhibit_of("mini_distil", mini())
    gained = cell(made, "files_held_out / distilled", "difference")
    assert agrees(gained, mean_interval([1.0, 1.0, 1.0, 0.0])) and gained.low is not None
    assert value(made, "files_new / distilled", "difference") == 0.25
    row = "files_held_out / reviewed"
    assert [value(made, row, c) for c in ("replaced", "first", "last", "turns")] == [0.5, 1.0, None, 3.0]
    assert value(made, "files_held_out / base", "replaced") is None
    collected = [value(made, "files, collected / distilled", c) for c in ("collected", "kept", "replaced", "first", "score")]
    assert collected == [0.75, 3, 0.5, 1.0, None]
