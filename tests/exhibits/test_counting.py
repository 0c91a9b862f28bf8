"""Which rows enter a cell, and what the caption says about the others."""

import pytest

from hbench.exhibits.exhibit import Exhibit, read, regenerate_from
from hbench.exhibits.sources import Source, count_newest_runs, whole_or_quick
from tests.exhibits.database import filled
from tests.exhibits.study import Point, Writer, points


def exhibit(writer: Writer, *sources: Source, name: str = "proposal_quality") -> Exhibit:
    connection = filled(writer.rows)
    count_newest_runs(connection)
    return regenerate_from(connection, (name, *read(name)), sources)


def source(study: list[Point], name: str = "study", arms: tuple[str, ...] = ()) -> Source:
    return Source(name, {p.digest: "" for p in study}, arms or tuple(dict.fromkeys(p.arm for p in study)))


def cell(made: Exhibit, row: str, column: str = "score"):
    return next(c for c in made.cells if (c.row, c.column) == (row, column))


def caption(made: Exhibit) -> str:
    return "\n".join(made.caption)


def fixed(score: float, family: str = "maze", arm: str = "seed") -> Point:
    """An arm without proposals whose four questions all score the same."""
    graded = {f"{family}/held/{i}": (score, 0.0) for i in range(4)}
    return Point(arm, family, 0, graded, graded)


@pytest.mark.parametrize("outcome", ["running", "interrupted"])
def test_a_run_that_did_not_come_to_its_end_counts_nowhere(outcome):
    writer = Writer()
    point = fixed(0.5)
    writer.point(point, writer.run(point.digest, outcome=outcome))
    made = exhibit(writer, source([point]))
    assert cell(made, "seed").value is None
    assert any(line.startswith("study: no finished run; `hbench run study` fills ") for line in made.caption)


def test_a_newer_run_that_is_still_going_does_not_hide_the_finished_one():
    writer = Writer()
    point = fixed(0.5)
    writer.points([point])
    writer.run(point.digest, "2026-11-30", outcome="running")
    assert cell(exhibit(writer, source([point])), "seed").value == 0.5


@pytest.mark.parametrize("days", [("2026-11-28", "2026-11-30"), ("2026-11-30", "2026-11-28")])
def test_only_the_newest_finished_run_counts(days):
    """The older run was made by an older version: same steps, other keys."""
    writer = Writer()
    for score, day, version in zip((0.25, 0.75), days, "ab", strict=True):
        point = fixed(score)
        writer.version = version
        writer.point(point, writer.run(point.digest, day))
    made = exhibit(writer, source([fixed(0)]))
    assert cell(made, "seed").value == (0.75 if days[1] > days[0] else 0.25)
    assert "run 2026-11-30." in caption(made)


def test_a_quick_look_does_not_hide_a_whole_run():
    writer = Writer()
    point = fixed(0.5)
    writer.points([point])
    writer.run(point.digest, "2026-11-30")
    writer.rows["runs"][-1]["limited"] = 2
    made = exhibit(writer, source([point]))
    assert cell(made, "seed").value == 0.5
    assert "quick look" not in caption(made)


def test_a_quick_look_is_marked():
    writer = Writer()
    point = fixed(0.5)
    writer.points([point])
    writer.rows["runs"][-1]["limited"] = 2
    assert "A quick look, not a result: run with --limit 2." in exhibit(writer, source([point])).caption


class Made:
    """A spec as far as exhibits read it."""

    def __init__(self, digest: str):
        self.digest = digest

    def limited(self, n: int) -> "Made":
        return Made(f"{self.digest}-{n}")


@pytest.mark.parametrize(
    ("limits", "digests"),
    [
        ({}, ["a", "b"]),
        ({"a": None, "a-8": 8, "b-8": 8}, ["a", "b"]),
        ({"a-4": 4, "b-8": 8}, ["a-8", "b-8"]),
        ({"other-8": 8}, ["a", "b"]),
    ],
)
def test_quick_looks_are_taken_only_where_no_spec_was_run_whole(limits, digests):
    assert [spec.digest for spec in whole_or_quick([Made("a"), Made("b")], limits)] == digests


def test_rows_of_other_specs_do_not_count():
    writer = Writer()
    mine, other = fixed(0.5, "maze"), fixed(1.0, "sudoku")
    writer.points([mine, other])
    assert cell(exhibit(writer, source([mine])), "seed").n == 1


def test_an_arm_with_a_failed_step_is_left_out_whole_and_named():
    writer = Writer()
    study = points()
    writer.points(study)
    for row in writer.rows["run_steps"]:
        if "maze" in row["step_id"] and "independent/candidate_scoring/0/2" in row["step_id"]:
            row |= {"status": "failed", "step_key": None}
    for row in writer.rows["runs"]:
        row["outcome"] = "failed" if "maze" in row["spec_digest"] else row["outcome"]
    made = exhibit(writer, source(study))
    assert (cell(made, "independent").n, cell(made, "sequential").n) == (2, 3)
    assert "Left out, a step failed: independent on maze: `hbench run study --retry-failed 1`." in made.caption


def test_an_arm_that_was_never_run_is_a_row_of_dashes_with_the_spec_that_fills_it():
    writer = Writer()
    study = [fixed(0.5)]
    writer.points(study)
    made = exhibit(writer, source(study, "adaptation/mine", ("seed", "sequential")))
    assert [row[0] for row in made.rows][:2] == ["seed", "sequential"]
    assert all(c.value is None for c in made.cells if c.row == "sequential")
    assert "Missing rows: sequential: `hbench run adaptation/mine` fills them." in made.caption


def test_one_family_gives_a_mean_without_an_interval():
    writer = Writer()
    study = [p for p in points() if p.family == "maze"]
    writer.points(study)
    made = exhibit(writer, source(study))
    assert cell(made, "independent").value is not None
    assert all(c.low is None and c.high is None for c in made.cells)


def test_a_difference_is_taken_only_over_families_with_equal_questions():
    writer = Writer()
    maze, sudoku = fixed(0.25, "maze"), fixed(0.5, "sudoku")
    other = {f"other/{i}": (1.0, 0.0) for i in range(4)}
    arms = [fixed(0.75, "maze", "loop"), Point("loop", "sudoku", 0, other, other)]
    writer.points([maze, sudoku, *arms])
    difference = cell(exhibit(writer, source([maze, sudoku, *arms])), "loop", "difference")
    assert (difference.value, difference.n) == (0.5, 1)


def test_seeds_of_a_family_are_averaged_before_families_are():
    writer = Writer()
    study = [fixed(0.0, "maze"), Point(**{**vars(fixed(1.0, "maze")), "seed": 1}), fixed(1.0, "sudoku")]
    writer.points(study)
    score = cell(exhibit(writer, source(study)), "seed")
    assert (score.value, score.n) == (0.75, 2)


def test_a_sweep_over_anything_but_family_and_seed_makes_rows_of_its_own():
    writer = Writer()
    few, many = fixed(0.25, "few"), fixed(0.75, "many")
    writer.points([few, many])
    swept = Source("study", {few.digest: "proposals=1", many.digest: "proposals=8"}, ("seed",))
    made = exhibit(writer, swept)
    assert cell(made, "seed (proposals=1)").value == 0.25
    assert cell(made, "seed (proposals=8)").value == 0.75


def test_arms_of_one_name_in_two_specs_are_told_apart():
    writer = Writer()
    one, two = fixed(0.25, "maze"), fixed(0.75, "sudoku")
    writer.points([one, two])
    made = exhibit(writer, source([one], "adaptation/base"), source([two], "adaptation/rl"))
    assert cell(made, "adaptation/base: seed").value == 0.25
    assert cell(made, "adaptation/rl: seed").value == 0.75


def test_an_arm_of_two_specs_has_one_name_in_every_round():
    writer = Writer()
    study = [p for p in points(("maze", "sudoku")) if p.arm == "sequential"]
    short = [Point(**{**vars(p), "rounds": p.rounds[:1], "chosen": p.chosen[:1]}) for p in study if p.family == "maze"]
    long = [p for p in study if p.family == "sudoku"]
    writer.points(short + long)
    made = exhibit(writer, source(short, "short"), source(long, "long"), name="rounds")
    assert {row[0] for row in made.rows} == {"short: sequential", "long: sequential"}
    assert len(made.rows) == 2 + 4


def test_splits_with_fewer_questions_than_asked_for_are_named():
    writer = Writer()
    study = [fixed(0.5)]
    writer.points(study)
    step = next(row for row in writer.rows["steps"] if row["kind"] == "split_evaluation")
    step["value"] = {"role": "evaluation", "asked": 16, "got": 12}
    made = exhibit(writer, source(study))
    assert "Fewer questions than asked for (splits.allow_fewer): maze 12 of 16 evaluation." in made.caption


def test_the_caption_names_digests_date_and_every_version():
    writer = Writer()
    study = [fixed(0.5, "maze"), fixed(0.5, "sudoku")]
    writer.points(study)
    writer.rows["runs"][1]["versions"] = {"hbench": "0.2.0"}
    made = exhibit(writer, source(study))
    assert "study: 2 of 2 specs (maze-000, sudoku-0), run 2026-11-29." in made.caption
    assert "Versions: hbench 0.1.0 and 0.2.0." in made.caption


def test_the_caption_names_the_models_and_who_asked_which():
    writer = Writer()
    study = points(("maze",))
    writer.points(study)
    for step in writer.rows["run_steps"]:
        if "/held_out/" in step["step_id"]:
            arm = step["step_id"].split("/")[2]
            writer.add("models", step_key=step["step_key"], role="solver", model="small" if arm == "seed" else "rule_reader")
        if "/propose/" in step["step_id"]:
            writer.add("models", step_key=step["step_key"], role="proposer", model="other")
    said = exhibit(writer, source(study)).caption
    assert "Models: solver rule_reader (independent, sequential), small (seed); proposer other." in said
