"""Appendix C.2 and Figure 4: rounds of revision, against other training and against independent proposals."""

import pytest

from hbench.exhibits.figure import plot
from tests.exhibits.study import Point, Trial, all_at, average, scored
from tests.exhibits.test_exhibit_sql import regenerated, value

FAMILIES = ("maze", "sudoku")


def rounds(name: str, family: str, *helds: float, wording: str = "varied") -> Point:
    """Sequential rounds whose one edit each scores that on held-out questions, and is always adopted."""
    tried = tuple((scored(family, 0.5, held),) for held in helds)
    start = (all_at(family, "dev", 0.25), all_at(family, "held", 0.25))
    spec = f"{family} {wording}".ljust(64, "0")
    return Point(name, family, 0, *start, tried, (0,) * len(tried), wording=wording, spec=spec)


def c2() -> list[Point]:
    made = []
    for wording, better in (("canonical", 0.0), ("varied", 0.25)):
        for family in FAMILIES:
            made.append(rounds("seed", family, wording=wording))
            made.append(rounds("rl", family, 0.25, 0.5, 0.5, wording=wording))
            made.append(rounds("multistep", family, 0.25, 0.5 + better, 0.5 + better, wording=wording))
    return made


def test_multistep_stands_against_single_step_in_every_round_and_wording():
    exhibit = regenerated("multistep", c2())
    found = [value(exhibit, f"varied / multistep / {t}", "difference") for t in range(4)]
    assert found == [0, 0, 0.25, 0.25]
    assert [value(exhibit, f"canonical / multistep / {t}", "difference") for t in range(4)] == [0, 0, 0, 0]
    assert value(exhibit, "varied / rl / 3", "held_out") == 0.5
    assert value(exhibit, "varied / rl / 3", "difference") is None
    assert value(exhibit, "canonical / rl / 2", "kept_parent") == 0


def test_the_two_wordings_are_panels_of_one_figure():
    made = regenerated("multistep", c2())
    panels = plot(made, made.block.figure, "round").panels
    assert [panel.title for panel in panels] == ["canonical wording", "varied wording"]
    assert [[d.value for d in c.dots] for c in panels[1].curves] == [[0.25, 0.25, 0.5, 0.5], [0.25, 0.25, 0.75, 0.75]]
    assert [(level.label, level.at.value) for level in panels[0].levels] == [("seed harness", 0.25)]


def independent(name: str, family: str, *helds: float) -> Point:
    """One round; a None is an edit that failed."""
    trials = tuple(Trial("no_block") if held is None else scored(family, 0.5, held) for held in helds)
    base = rounds(name, family)
    return Point(**{**vars(base), "rounds": (trials,), "chosen": (0,)})


def figure4() -> list[Point]:
    made = []
    for family, held in zip(FAMILIES, (0.75, 1.0), strict=True):
        made += [rounds("seed", family), independent("base", family, 0.5, None, 0.75)]
        made.append(rounds("base_sequential", family, 0.5, held))
    return made


def test_five_edits_in_a_row_stand_against_the_mean_and_the_best_of_independent_ones():
    exhibit = regenerated("figure4", figure4())
    last = "varied / base_sequential / 2"
    assert value(exhibit, last, "held_out") == 0.875
    assert value(exhibit, last, "over_mean") == pytest.approx(0.875 - 0.5)
    assert value(exhibit, last, "over_best") == pytest.approx(0.875 - 0.75)
    assert [value(exhibit, f"varied / base_sequential / {t}", "gain") for t in range(3)] == [None, 0.25, 0.375]
    one = "varied / base / 1"
    assert [value(exhibit, one, c) for c in ("mean", "best", "held_out", "proposals")] == [0.5, 0.75, 0.5, 3]


def test_a_trained_proposers_rounds_stand_against_its_own_independent_edits():
    study = [rounds("rl_sequential", "maze", 1.0), independent("rl", "maze", 0.25, 0.75), independent("base", "maze", 0.0)]
    assert value(regenerated("figure4", study), "varied / rl_sequential / 1", "over_mean") == 0.5


def test_the_figure_has_rounds_as_a_curve_and_independent_ones_as_lines():
    made = regenerated("figure4", figure4())
    (panel,) = plot(made, made.block.figure, "round").panels
    assert [(c.label, [d.value for d in c.dots]) for c in panel.curves] == [("base, sequential", [0.25, 0.5, 0.875])]
    assert {level.label: level.at.value for level in panel.levels} == {
        "seed harness": 0.25,
        "base, mean of k": 0.5,
    }


def test_an_independent_arm_asked_other_questions_is_not_compared():
    other = independent("base", "maze", 0.5)
    other = Point(**{**vars(other), "rounds": ((Trial("applied", {"d": (1.0, 1.0)}, {"q": (1.0, 1.0)}),),)})
    assert average(other.after(1)[1]) == 1.0
    assert value(regenerated("figure4", [rounds("base_sequential", "maze", 1.0), other]), "varied / base_sequential / 1", "over_mean") is None
