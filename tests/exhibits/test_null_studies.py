"""A thousand simulated studies of each shape: what is not there is found one time in twenty, and what is there is covered.

Nothing else tells a wrong interval from a right one. Differences are clustered: a family, a training run or a proposal
favours one side on all of its questions. A rate may be two points off, three times what chance moves it by.
"""

import numpy as np
import pytest

from hbench.exhibits.arm_scores import QuestionScore, read_arms
from hbench.exhibits.differences import measure
from hbench.exhibits.pairing import pair
from hbench.exhibits.sources import count_newest_runs
from hbench.exhibits.statistics import mean_interval
from tests.exhibits.database import filled

pytestmark = pytest.mark.truth
STUDIES = 1000
UNBALANCED = (1, 1, 2, 2, 3, 4, 5, 6, 8, 12, 20)


def question_scores(arm, families, scores, seed=0, draws=None):
    """families, scores: (Q,), of each question. draws: (Q, D), its score in each draw of proposals."""
    drawn = draws.tolist() if draws is not None else [()] * len(scores)
    asked = enumerate(zip(families.tolist(), scores.tolist(), drawn, strict=True))
    return [QuestionScore(arm, seed, str(f), 0, str(i), score, tuple(its)) for i, (f, score, its) in asked]


def clustered(draw, sizes, *, runs=(1, 1), seeds=1, differ=0.1, runs_differ=0.05, effect=0.0):
    """Both sides of a study of families of these sizes: families and training runs favour a side, questions are hard or not."""
    n, family = len(sizes), np.repeat(np.arange(len(sizes)), sizes)  # (Q,)
    favour = draw.normal(effect, differ, n)[family]
    hard = draw.uniform(0.2, 0.8, n)[family] + draw.normal(0, 0.3, len(family))
    sides = []
    for side, count in enumerate(runs):
        sides.append([])
        for run, seed in ((run, seed) for seed in range(seeds) for run in range(count)):
            scores = hard + draw.normal(0, 0.2, len(family)) + (0.0 if side else favour)
            if count * seeds > 1:
                scores = scores + draw.normal(0, runs_differ) + draw.normal(0, runs_differ, n)[family]
            sides[side] += question_scores(f"{side} {run}", family, scores, seed)
    return sides


def tossed(draw, questions=40):
    """One family, right or wrong: a question has its own chance, the same on both sides."""
    chance, one = draw.uniform(0, 1, questions), np.zeros(questions, int)
    return [question_scores(side, one, (draw.uniform(size=questions) < chance).astype(float)) for side in "ab"]


def proposed(draw, questions=12, proposals=4):
    """One family: each side draws proposals, and a proposal is good or bad at all of its questions."""
    sides, one = [], np.zeros(questions, int)
    for side in "ab":
        worth = draw.normal(0.5, 0.2, proposals) + draw.normal(0, 0.1, (questions, 1))
        worth = worth + draw.normal(0, 0.1, (questions, proposals))
        sides.append(question_scores(side, one, worth.mean(axis=1), draws=worth))
    return sides


def told(study, **shape):
    """(unit, share called different, share whose interval holds the effect) of STUDIES seeded studies."""
    draw = np.random.default_rng(0)
    pairs = [pair(*study(draw, **shape)) for _ in range(STUDIES)]
    lines = [measure("all", paired, paired.unit()) for paired in pairs]
    return lines[0].unit, rejected(lines), covered(lines, shape.get("effect", 0.0))


def rejected(lines):
    return np.mean([line.p < 0.05 for line in lines])


def covered(lines, effect=0.0):
    return np.mean([line.difference.low <= effect <= line.difference.high for line in lines])


SHAPES = {
    "few families": (clustered, {"sizes": [4] * 6}, "family"),
    "many families": (clustered, {"sizes": [2] * 24}, "family"),
    "unbalanced families": (clustered, {"sizes": UNBALANCED}, "family"),
    "two training runs a side": (clustered, {"sizes": [2] * 12, "runs": (2, 2)}, "family"),
    "runs that differ most": (clustered, {"sizes": [2] * 8, "runs": (2, 2), "differ": 0.02, "runs_differ": 0.2}, "family"),
    "three seeds, paired": (clustered, {"sizes": [2] * 12, "seeds": 3}, "family"),
    "one family, right or wrong": (tossed, {}, "question"),
    "proposals of one family": (proposed, {}, "question"),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.slow
def test_nothing_is_found_one_time_in_twenty(shape):
    study, its, unit = SHAPES[shape]
    found, rejects, covers = told(study, **its)
    assert found == unit
    assert rejects == pytest.approx(0.05, abs=0.02)
    assert covers == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize("shape", ["few families", "unbalanced families"])
def test_an_effect_is_covered_and_found_more_often(shape):
    study, its, _ = SHAPES[shape]
    _, rejects, covers = told(study, **its, effect=0.15)
    assert covers == pytest.approx(0.95, abs=0.02)
    assert rejects > 0.2


def test_five_families_are_never_enough_and_their_interval_still_covers():
    _, rejects, covers = told(clustered, sizes=[4] * 5)
    assert rejects == 0
    assert covers == pytest.approx(0.95, abs=0.02)


def test_the_mean_of_one_arm_is_covered():
    draw = np.random.default_rng(0)
    means = [[np.mean(0.4 + f + draw.normal(0, 0.3, 8)) for f in draw.normal(0, 0.2, 9)] for _ in range(STUDIES)]
    found = [mean_interval(its) for its in means]
    assert np.mean([each.low <= 0.4 <= each.high for each in found]) == pytest.approx(0.95, abs=0.02)


def test_repeats_are_averaged_inside_a_question_on_the_way_through_sql():
    """Every question is asked three times of both sides, each study a family of its own: 8 questions are 8, not 24."""
    draw = np.random.default_rng(0)
    favour = draw.normal(0, 0.2, (STUDIES, 8))
    rows = {"plan_labels": [], "run_steps": [], "rollouts": []}
    for side in (0, 1):
        scores = 0.5 + (favour[:, :, None] if side else 0) + draw.normal(0, 0.1, (STUDIES, 8, 3))
        for family in range(STUDIES):
            key = f"{side} {family}"
            at = {"arm": str(side), "family": str(family), "seed": 0, "purpose": "held_out", "label": ""}
            rows["plan_labels"].append({"spec_digest": "s", "step_id": key, **at})
            rows["run_steps"].append({"run_id": "r", "step_id": key, "step_key": key, "status": "ran"})
            rows["rollouts"] += [
                {"step_key": key, "candidate": 0, "question_id": str(q), "repeat": r, "score": float(scores[family, q, r])}
                for q in range(8)
                for r in range(3)
            ]
    rows["runs"] = [{"run_id": "r", "spec_digest": "s", "ended_at": "2026-11-30 12:00:00", "outcome": "finished"}]
    connection = filled(rows)
    count_newest_runs(connection)
    paired = pair(*(read_arms(connection, {"specs": ["s"], "arms": [arm]})[0] for arm in "01"))
    lines = [measure(family, its, its.unit()) for family, its in paired.by_family().items()]
    assert {line.difference.n for line in lines} == {8}
    assert rejected(lines) == pytest.approx(0.05, abs=0.02)
    assert covered(lines) == pytest.approx(0.95, abs=0.02)
