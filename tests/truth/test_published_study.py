"""The committed study, from its rows to its exhibit and its rewards, without SQL and without anything of hbench."""

import csv
from collections import defaultdict

import pytest

from tests.truth import plain
from tests.where import REPO

pytestmark = pytest.mark.truth
POOLED = {"rl": ("rl_0", "rl_1")}
DIFFERENCES = {"difference": "score", "reward_difference": "reward", "failed_difference": "failed_or_zero"}
COLUMNS = (
    "score", "reward", "parsed", "applied", "completed", "failed_or_zero", "best", "idle", "prompts", "proposals", *DIFFERENCES,
)  # fmt: skip


@pytest.fixture(scope="module")
def study():
    return plain.Study(plain.of_bundle(REPO / "results/published/mini"))


@pytest.fixture(scope="module")
def worths(study):
    """(study, arm) -> family -> column -> value, every arm weighed as sft is."""
    made = study.points()
    weighed = {p.spec: plain.weights(study.steps[p.proposals[0].reward_step]) for p in made if p.arm == "sft"}
    found: dict[tuple[str, str], dict] = defaultdict(dict)
    for point in made:
        found[point.spec, point.arm][point.family] = plain.worth(point, weighed[point.spec])
    return dict(found)


@pytest.fixture(scope="module")
def printed():
    """(row, column) -> what the committed exhibit says."""
    with (REPO / "results/exhibits/mini.csv").open() as file:
        return {(row["row"], row["column"]): row for row in csv.DictReader(file)}


def values(worths, study, arm, column):
    """Family -> value; the mean of its runs where arms are pooled."""
    runs = [worths[study, each] for each in POOLED.get(arm, (arm,))]
    known = [family for family in runs[0] if all(run.get(family, {}).get(column) is not None for run in runs)]
    return {family: plain.average([run[family][column] for run in runs]) for family in known}


def expected(worths, study, arm, column):
    ours = values(worths, study, arm, DIFFERENCES.get(column, column))
    if column not in DIFFERENCES:
        return plain.cell([float(ours[family]) for family in ours])
    theirs = values(worths, study, "sft", DIFFERENCES[column])
    return plain.cell([ours[family] - theirs[family] for family in ours if family in theirs and arm != "sft"])


@pytest.mark.parametrize("column", COLUMNS)
def test_a_column_of_the_printed_study_is_what_its_rows_say(worths, printed, column, tried):
    rows = [row for row, its in printed if its == column]
    assert len(rows) > 20
    for row in rows:
        study, arm = row.split(" / ")
        told = printed[row, column]
        value, n, low, high = expected(worths, study, arm, column)
        assert int(told["n"]) == n, row
        bounds = () if arm in POOLED else (("low", low), ("high", high))  # two levels: see test_null_studies
        for name, number in (("value", value), *bounds):
            assert (float(told[name]) if told[name] else None) == (None if number is None else pytest.approx(number)), (row, name)
        tried(row)


def test_every_reward_of_the_study_is_what_its_rows_say(study, tried):
    """Each term from the edit and from how its harness ran on the scoring questions; the reward is their weighed sum."""
    seen, wrong = plain.false_rewards(study)
    assert wrong == []
    assert seen == {key for key, step in study.steps.items() if step["kind"] == "reward"} and len(seen) > 5_000
    tried("every reward of the committed study")
