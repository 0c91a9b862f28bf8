"""The query behind a cell gives what the cell is made of."""

import pytest

from hbench.exhibits.behind import Behind, behind, cell_sql
from hbench.exhibits.block import ExhibitBlock
from hbench.exhibits.cells import Line
from hbench.exhibits.exhibit import read, regenerate_from
from hbench.exhibits.sources import Source
from hbench.exhibits.statistics import mean
from tests.exhibits.database import filled
from tests.exhibits.study import Writer, points
from tests.exhibits.test_exhibit_sql import source

FAMILIES = ("countdown", "maze", "sudoku")


def by_family(rows: list[tuple], arm: str) -> dict[str, float]:
    """Of rows (arm, family, seed, value): family -> mean over its seeds."""
    found: dict[str, list[float]] = {}
    for its, family, _, value in rows:
        if its == arm and value is not None:
            found.setdefault(family, []).append(value)
    return {family: mean(values) for family, values in found.items()}


@pytest.fixture
def made():
    study, writer = points(FAMILIES, (0, 1)), Writer()
    writer.points(study)
    connection = filled(writer.rows)
    exhibit = regenerate_from(connection, ("proposal_quality", *read("proposal_quality")), [source(study)])
    return exhibit, connection


def asked(made, arm: str, column: str) -> tuple[float | None, list[tuple]]:
    """The cell's value, and the rows that its query gives."""
    exhibit, connection = made
    row = exhibit.rows.index((arm,))
    value = next(cell.value for cell in exhibit.cells if (cell.row, cell.column) == (arm, column))
    return value, connection.execute(cell_sql(exhibit.block, column, exhibit.behind[row])).fetchall()


@pytest.mark.parametrize("arm", ["seed", "independent", "sequential"])
def test_a_mean_is_made_of_its_rows(made, arm):
    value, rows = asked(made, arm, "score")
    assert value == pytest.approx(mean(list(by_family(rows, arm).values())))
    assert {row[0] for row in rows} == {arm}


def test_a_difference_is_made_of_its_rows_and_the_baselines(made):
    value, rows = asked(made, "independent", "difference")
    ours, theirs = by_family(rows, "independent"), by_family(rows, "seed")
    assert value == pytest.approx(mean([ours[family] - theirs[family] for family in ours]))


BLOCK = ExhibitBlock.model_validate(
    {"title": "T", "from": ["x"], "rows": ["study", "arm"], "baseline": "base", "pool": {"rl": ["rl_0", "rl_1"]}}
    | {"columns": {"score": {}, "more": {"statistic": "difference", "of": "score"}}}
)


def unit(arm: str, digest: str = "d", **more) -> dict:
    return {"spec_digest": digest, "arm": arm, "family": "maze", "seed": 0, "study": "it's", "score": 1.0, **more}


def test_a_row_that_pools_arms_names_them_and_quotes_are_doubled():
    units = [unit("rl_0"), unit("rl_1"), unit("base")]
    row = behind(BLOCK, Line("x", "", "rl", ("it's", "rl"), units[:2]), units)
    assert cell_sql(BLOCK, "score", row) == (
        "select arm, family, seed, score from units where study = 'it''s' and arm in ('rl_0', 'rl_1') order by all"
    )
    assert "arm in ('rl_0', 'rl_1', 'base')" in cell_sql(BLOCK, "more", row)


def test_points_of_a_sweep_are_told_apart_by_their_specs_alone():
    units = [unit("rl_0", "one"), unit("rl_0", "two")]
    row = behind(BLOCK, Line("x", "two", "rl_0", ("it's", "rl_0 (two)"), units[1:]), units)
    assert row.where == "study = 'it''s' and spec_digest = 'two' and arm = 'rl_0'"


def test_what_was_not_run_has_no_query():
    assert behind(BLOCK, Line("x", "", "rl", ("–", "rl"), []), []) == Behind("x")
    assert cell_sql(BLOCK, "score", Behind("x")) == ""


def test_every_row_of_an_exhibit_says_whose_it_is(made):
    assert [row.spec for row in made[0].behind] == ["study"] * len(made[0].rows)
    assert source(points()) == Source("study", source(points()).points, ("seed", "independent", "sequential"))
