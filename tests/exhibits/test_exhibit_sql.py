"""Each cell of the first exhibits, computed a second time in plain Python from what was measured."""

import pytest

from hbench.exhibits.exhibit import Exhibit, names, read, regenerate_from
from hbench.exhibits.sources import Source, count_newest_runs
from hbench.exhibits.statistics import mean_interval
from hbench.exhibits.training_runs import runs_interval
from tests.exhibits.database import empty, filled
from tests.exhibits.study import QUESTIONS, Point, Trial, Writer, average, points, proposals

pytestmark = pytest.mark.truth
FAMILIES = ("countdown", "maze", "sudoku")


def regenerated(name: str, study: list[Point]) -> Exhibit:
    writer = Writer()
    writer.points(study)
    return from_rows(name, writer, study)


def from_rows(name: str, writer: Writer, study: list[Point]) -> Exhibit:
    connection = filled(writer.rows)
    count_newest_runs(connection)
    return regenerate_from(connection, (name, *read(name)), [source(study)])


def source(study: list[Point]) -> Source:
    return Source("study", {p.digest: "" for p in study}, tuple(dict.fromkeys(p.arm for p in study)))


def cells(exhibit: Exhibit) -> dict[tuple[str, str], object]:
    return {(cell.row, cell.column): cell for cell in exhibit.cells}


def value(exhibit: Exhibit, row: str, column: str) -> float | None:
    return cells(exhibit)[row, column].value


# The second path: what a proposal is worth, by the accounting rules.


def kept(p: Point, grade: int = 0) -> list[float]:
    return [average(x.held or p.after(t)[1], grade) for x, t in proposals(p)]


def failed(p: Point) -> list[bool]:
    return [x.outcome not in ("applied", "no_change") for x, _ in proposals(p)]


def dev_zero(p: Point) -> list[bool]:
    return [not f and average(x.dev or p.after(t)[0]) == 0 for (x, t), f in zip(proposals(p), failed(p), strict=True)]


def average_of(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def worth(p: Point) -> dict[str, float | None]:
    """The columns of proposal_quality for one point."""
    final = p.after(len(p.rounds))[1]
    made = bool(p.rounds)
    independent = len(p.rounds) == 1
    ok = [score for score, f in zip(kept(p), failed(p), strict=True) if not f]
    return {
        "score": average_of(kept(p)) if independent else average(final),
        "exact": average_of(kept(p, 1)) if independent else average(final, 1),
        "failed_as_zero": sum(ok) / len(kept(p)) if independent else None,
        "failed_left_out": average_of(ok) if independent else None,
        "oracle_best": max(kept(p)) if made else None,
        "selected": average(final) if made else None,
        "failed_share": average_of(failed(p)),
        "dev_zero_share": average_of(dev_zero(p)),
        "proposals": len(kept(p)) if made else None,
    }


def family_means(study: list[Point], arm: str, column: str) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for p in study:
        measured = worth(p)[column]
        if p.arm == arm and measured is not None:
            found.setdefault(p.family, []).append(measured)
    return {family: sum(values) / len(values) for family, values in found.items()}


def test_the_study_has_every_outcome():
    study = points(FAMILIES, (0, 1, 2))
    outcomes = {x.outcome for p in study for x, _ in proposals(p)}
    assert outcomes == {"applied", "no_change", "search_not_found"}
    assert any(any(dev_zero(p)) for p in study)


@pytest.mark.parametrize("seeds", [(0,), (0, 1, 2)])
@pytest.mark.parametrize("arm", ["seed", "independent", "sequential"])
def test_every_cell_of_proposal_quality_is_what_plain_python_makes_of_it(arm, seeds):
    study = points(FAMILIES, seeds)
    found = cells(regenerated("proposal_quality", study))
    for column in worth(study[0]):
        expected = mean_interval(list(family_means(study, arm, column).values()))
        cell = found[arm, column]
        assert cell.n == expected.n, column
        for name in ("value", "low", "high"):
            assert getattr(cell, name) == pytest.approx(getattr(expected, name)), (column, name)
    assert found[arm, "questions"].value == QUESTIONS * len(FAMILIES)  # the study's seeds ask the same questions
    assert found[arm, "families"].value == len(FAMILIES)


def tried(*trials: Trial, dev: float = 0.5, held: float = 0.5, evaluate_all: bool = True) -> Exhibit:
    """An arm of one round with these trials, from a first harness with these scores."""
    made = Point("independent", "maze", 0, {"d": (dev, 0.0)}, {"q": (held, 0.0)}, (trials,), (-1,), evaluate_all)
    return regenerated("proposal_quality", [made])


def test_a_failed_edit_keeps_the_parents_score_counts_as_0_or_is_left_out():
    exhibit = tried(Trial("search_not_found"), Trial("applied", {"d": (1.0, 1.0)}, {"q": (1.0, 1.0)}))
    columns = ("score", "failed_as_zero", "failed_left_out", "failed_share")
    assert [value(exhibit, "independent", c) for c in columns] == [0.75, 0.5, 1.0, 0.5]


def test_a_no_change_keeps_the_parents_score_and_is_no_failure():
    exhibit = tried(Trial("no_change"), Trial("applied", {"d": (1.0, 1.0)}, {"q": (1.0, 1.0)}))
    columns = ("score", "failed_as_zero", "failed_left_out", "failed_share")
    assert [value(exhibit, "independent", c) for c in columns] == [0.75, 0.75, 0.75, 0.0]


def test_where_every_edit_failed_nothing_is_left_when_they_are_left_out():
    exhibit = tried(Trial("no_block"), Trial("truncated"))
    columns = ("score", "oracle_best", "failed_as_zero", "failed_left_out", "failed_share", "dev_zero_share")
    assert [value(exhibit, "independent", c) for c in columns] == [0.5, 0.5, 0.0, None, 1.0, 0.0]


def test_dev_zero_means_it_ran_and_scored_nothing():
    ran = Trial("applied", {"d": (0.0, 0.0)}, {"q": (0.0, 0.0)})
    exhibit = tried(Trial("no_block"), ran, Trial("no_change"), dev=0.25)
    assert value(exhibit, "independent", "dev_zero_share") == pytest.approx(1 / 3)
    assert value(exhibit, "independent", "failed_share") == pytest.approx(1 / 3)


def test_a_failed_edit_is_not_dev_zero_where_its_parent_is():
    assert value(tried(Trial("no_block"), Trial("no_change"), dev=0.0), "independent", "dev_zero_share") == 0.5


def test_without_evaluate_all_a_mean_is_missing_even_where_no_edit_could_be_run():
    assert value(tried(Trial("no_block"), Trial("no_change"), evaluate_all=False), "independent", "score") is None


def test_a_candidate_that_makes_things_worse_lowers_the_mean_and_is_not_the_oracle():
    worse = Trial("applied", {"d": (0.0, 0.0)}, {"q": (0.0, 0.0)})
    exhibit = tried(worse, Trial("no_change"))
    assert [value(exhibit, "independent", c) for c in ("score", "oracle_best")] == [0.25, 0.5]


def test_differences_to_the_seed_are_paired_by_family():
    study = points(FAMILIES, (0, 1))
    found = cells(regenerated("proposal_quality", study))
    theirs = family_means(study, "seed", "score")
    for arm in ("independent", "sequential"):
        expected = runs_interval([family_means(study, arm, "score")], [theirs])
        cell = found[arm, "difference"]
        assert (cell.value, cell.n) == (pytest.approx(expected.value), 3)
        assert (cell.low, cell.high) == (pytest.approx(expected.low), pytest.approx(expected.high))
    assert found["seed", "difference"].value is None


def test_every_cell_of_rounds_is_what_plain_python_makes_of_it():
    study = points(FAMILIES, (0, 1))
    found = cells(regenerated("rounds", study))
    for arm, last in (("independent", 1), ("sequential", 3)):
        for t in range(last + 1):
            dev, held, gap = {}, {}, {}
            for p in (p for p in study if p.arm == arm):
                measured = [average(graded) for graded in p.after(t)]
                for into, number in ((dev, measured[0]), (held, measured[1]), (gap, measured[0] - measured[1])):
                    into.setdefault(p.family, []).append(number)
            for column, by_family in (("dev", dev), ("held_out", held), ("gap", gap)):
                expected = mean_interval([sum(x) / len(x) for x in by_family.values()])
                cell = found[f"{arm} / {t}", column]
                assert (cell.value, cell.n) == (pytest.approx(expected.value), expected.n)
                assert (cell.low, cell.high) == (pytest.approx(expected.low), pytest.approx(expected.high))


def test_rounds_between_first_and_last_are_missing_without_evaluate_all():
    study = [Point(**{**vars(p), "evaluate_all": False}) for p in points()]
    exhibit = regenerated("rounds", study)
    known = [value(exhibit, f"sequential / {t}", "held_out") is not None for t in range(4)]
    assert known == [True, False, False, True]
    assert all(value(exhibit, f"sequential / {t}", "dev") is not None for t in range(4))


def test_proposals_that_were_not_measured_give_no_mean_but_what_was_selected_is_known():
    study = [Point(**{**vars(p), "evaluate_all": False}) for p in points()]
    assert any(x.held for p in study if p.arm == "independent" for x, _ in proposals(p))
    found = cells(regenerated("proposal_quality", study))
    assert found["independent", "score"].n < 3
    assert found["independent", "selected"].n == 3


def test_an_arm_without_rounds_has_its_one_score_at_round_0():
    exhibit = regenerated("rounds", points())
    assert [row for row in exhibit.rows if row[0] == "seed"] == [("seed", "0")]
    assert value(exhibit, "seed / 0", "held_out") is not None
    assert value(exhibit, "seed / 0", "dev") is None


@pytest.mark.parametrize("name", names())
def test_the_sql_of_every_exhibit_runs_on_an_empty_database(name):
    connection = empty()
    count_newest_runs(connection)
    for digests in ([], ["no such spec"]):
        assert connection.execute(read(name)[1], {"specs": digests}).fetchall() == []


@pytest.mark.parametrize("name", names())
def test_the_sql_of_every_exhibit_is_lower_case_and_ordered(name):
    sql = "\n".join(line.split("--")[0] for line in read(name)[1].splitlines())
    assert sql == sql.lower()
    assert "order by" in sql.split("\nselect\n")[-1]


def test_an_arm_of_which_only_the_failures_are_known_has_no_mean():
    """Without evaluate_all the mean was taken over the families in which every edit had failed: it said 0.250 for an arm
    whose other family scored 1.0."""
    failing = Point("independent", "maze", 0, {"d": (0.25, 0.0)}, {"q": (0.25, 0.0)}, ((Trial("no_block"),),), (-1,), False)
    solving = Trial("applied", {"d": (1.0, 1.0)}, {"q": (1.0, 1.0)})
    solved = Point("independent", "lcm", 0, {"d": (0.25, 0.0)}, {"q": (0.25, 0.0)}, ((solving,),), (0,), False)
    exhibit = regenerated("proposal_quality", [failing, solved])
    for column in ("score", "exact", "difference", "failed_as_zero", "oracle_best"):
        assert value(exhibit, "independent", column) is None, column
    assert value(exhibit, "independent", "selected") == 0.625
