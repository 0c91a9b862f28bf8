"""Table 9, Table 10 and appendix C.1: what a proposer's edits are worth, each cell by hand."""

import pytest

from hbench.exhibits.figure import plot
from hbench.exhibits.statistics import mean_interval
from hbench.exhibits.training_runs import runs_interval
from tests.exhibits.study import Point, Trial, all_at, average, points, proposals, scored
from tests.exhibits.test_exhibit_sql import FAMILIES, cells, family_means, regenerated, value

pytestmark = pytest.mark.truth


def arm(name: str, family: str, *trials: Trial, seed: float = 0.25, **more) -> Point:
    """One round of these trials from a harness that scores `seed` everywhere; without trials that harness alone."""
    rounds = {"rounds": (trials,), "chosen": (-1,)} if trials else {}
    return Point(name, family, 0, all_at(family, "dev", seed), all_at(family, "held", seed), **rounds, **more)


def table9() -> list[Point]:
    """Two families, one of the hard five; sft fails half of the time, rl never does, the tool loop is fixed."""
    made = []
    for family, hard in (("maze", False), ("sokoban", True)):
        right = scored(family, 1.0, 0.5 if hard else 1.0)
        made += [
            arm("seed", family),
            arm("tool_loop", family, seed=0.75),
            arm("sft", family, Trial("no_block"), right),
            arm("rl", family, scored(family, 0.5, 0.5), right),
        ]
    return made


def test_table9_has_mean_and_oracle_over_all_families_and_without_the_hard_five():
    exhibit = regenerated("table9", table9())
    found = {row: [value(exhibit, row, c) for c in ("mean", "best", "families")] for row in map(" / ".join, exhibit.rows)}
    assert found["all / seed"] == [0.25, None, 2]
    assert found["all / tool_loop"] == [0.75, None, 2]
    assert found["all / sft"] == [(0.625 + 0.375) / 2, 0.75, 2]
    assert found["all / rl"] == [(0.75 + 0.5) / 2, 0.75, 2]
    assert found["without the hard five / sft"] == [0.625, 1.0, 1]
    assert found["without the hard five / rl"] == [0.75, 1.0, 1]
    assert found["without the hard five / tool_loop"] == [0.75, None, 1]
    assert value(exhibit, "all / rl", "difference") == pytest.approx(0.125)


def test_table9_keeps_the_two_sets_of_families_apart():
    overs = [row[0] for row in regenerated("table9", table9()).rows]
    assert overs == ["all"] * 4 + ["without the hard five"] * 4


def test_figure3_has_mean_and_oracle_over_proposers_beside_the_fixed_harnesses():
    made = regenerated("table9", table9())
    all_families, easier = plot(made, made.block.figure, "arm").panels
    assert [(c.label, [d.value for d in c.dots]) for c in all_families.curves] == [
        ("mean of k", [0.5, 0.625]),
        ("best of k (oracle)", [0.75, 0.75]),
    ]
    assert [(level.label, level.at.value) for level in easier.levels] == [("seed harness", 0.25), ("fixed tool loop", 0.75)]


def test_sequential_arms_stand_in_no_row_of_table9():
    exhibit = regenerated("table9", [p for p in points() if p.arm != "seed"] + [arm("seed", "maze")])
    assert value(exhibit, "all / seed", "families") == 1
    assert ("all", "sequential") not in exhibit.rows


def test_table10_counts_what_failed_or_ran_and_scored_nothing():
    ran, idle = scored("maze", 0.5, 0.5), scored("maze", 0.0, 0.5)
    exhibit = regenerated("table10", [arm("rl", "maze", Trial("no_block"), idle, ran, ran), arm("seed", "maze")])
    columns = ("failed_or_zero", "failed_share", "dev_zero_share", "count", "proposals")
    assert [value(exhibit, "rl", c) for c in columns] == [0.5, 0.25, 0.25, 2, 4]
    assert [value(exhibit, "seed", c) for c in columns] == [None] * 5
    assert not any("Missing rows" in line for line in exhibit.caption)


def test_table10_counts_a_no_change_of_a_parent_that_scores_nothing():
    exhibit = regenerated("table10", [arm("rl", "maze", Trial("no_change"), Trial("no_change"), seed=0.0)])
    assert [value(exhibit, "rl", c) for c in ("failed_or_zero", "failed_share")] == [1.0, 0.0]


def test_every_cell_of_table10_is_what_plain_python_makes_of_it():
    study = points(FAMILIES, (0, 1))
    exhibit = regenerated("table10", study)
    for name in ("independent", "sequential"):
        either = [family_means(study, name, column) for column in ("failed_share", "dev_zero_share")]
        expected = mean_interval([either[0][family] + either[1][family] for family in either[0]])
        cell = cells(exhibit)[name, "failed_or_zero"]
        assert (cell.value, cell.low, cell.high) == pytest.approx((expected.value, expected.low, expected.high))
        assert value(exhibit, name, "proposals") == sum(len(list(proposals(p))) for p in study if p.arm == name)


def test_failed_edits_are_counted_three_ways_and_each_is_compared_with_the_teacher():
    study = [
        point
        for family in FAMILIES
        for point in (
            arm("teacher", family, scored(family, 1.0, 0.5), scored(family, 1.0, 0.5)),
            arm("rl", family, Trial("no_block"), scored(family, 1.0, 1.0)),
        )
    ]
    exhibit = regenerated("failed_three_ways", study)
    assert [value(exhibit, "rl", c) for c in ("keeps", "zero", "left_out")] == [0.625, 0.5, 1.0]
    differences = [value(exhibit, "rl", f"{c}_difference") for c in ("keeps", "zero", "left_out")]
    assert differences == [0.125, 0.0, 0.5]
    assert value(exhibit, "teacher", "keeps_difference") is None


def test_a_family_whose_edits_all_failed_is_not_in_the_mean_that_leaves_them_out():
    study = [arm("rl", "maze", Trial("no_block")), arm("rl", "sudoku", scored("sudoku", 1.0, 1.0))]
    found = cells(regenerated("failed_three_ways", study))
    assert (found["rl", "left_out"].value, found["rl", "left_out"].n) == (1.0, 1)
    assert (found["rl", "keeps"].value, found["rl", "keeps"].n) == (0.625, 2)


def test_best_of_a_prompt_is_a_mean_over_prompts():
    trials = [scored("maze", 1.0, held) for held in (0.0, 0.25, 0.5, 1.0)]  # prompts 0 1 0 1
    exhibit = regenerated("mini", [arm("sft", "maze", *trials, prompts=2)])
    assert [value(exhibit, "study / sft", c) for c in ("best", "prompts")] == [0.75, 2]


def test_training_runs_are_pooled_and_set_against_what_they_started_from():
    families = [f"family {i}" for i in range(6)]
    study = []
    for i, family in enumerate(families):
        study.append(arm("sft", family, scored(family, 1.0, 0.25)))
        for name, held in (("rl_0", 0.5), ("rl_1", (0.75, 1.0)[i % 2])):
            study.append(arm(name, family, scored(family, 1.0, held)))
    exhibit = regenerated("mini", study)
    runs = [{p.family: average(p.rounds[0][0].held) for p in study if p.arm == name} for name in ("sft", "rl_0", "rl_1")]
    found, expected = cells(exhibit)["study / rl", "difference"], runs_interval(runs[1:], runs[:1])
    assert (found.value, found.n, found.low, found.high) == pytest.approx((expected.value, 6, expected.low, expected.high))
    assert found.value == pytest.approx(0.4375)
    assert value(exhibit, "study / rl", "runs") == 2
    assert [row[1] for row in exhibit.rows] == ["sft", "rl", "rl_0", "rl_1"]
    assert any(line.startswith("rl pools rl_0 and rl_1: families and training runs are two levels") for line in exhibit.caption)
