"""Race rules: who goes on, who cannot win any more, and what a race takes at most."""

import random

import pytest

from hbench.core.scored import Scored
from hbench.core.standing import Standing
from hbench.parts.part import build
from hbench.parts.races.halving import Halving
from hbench.parts.races.paired import Paired, chance_to_catch_up
from hbench.parts.selections._ranking import ranking

ONLY_THE_LOST = Paired(risk=0, pieces=16)
RULES = [Halving(), Paired(), ONLY_THE_LOST]


def ones(scores: str) -> list[float]:
    """"110" -> three questions, two of them solved."""
    return [float(one) for one in scores]


def survivors(rule, questions, *scores, parent=""):
    return set(rule.survivors(Standing(dict(enumerate(map(ones, scores))), questions, ones(parent))))


def winner(scores, parent, alive):
    """As strict_improvement chooses among those alive."""
    ran = [Scored(str(i), sum(scores[i]), position=i) for i in alive]
    best = next(iter(ranking(ran)), None)
    return best.position if best and best.score > sum(parent) else -1


def raced(rule, scores, parent):
    """Who is chosen of those that come to the end, and how many rollouts that takes."""
    alive, total, ran, before = list(range(len(scores))), len(parent), 0, 0
    for done in (*rule.looks(total), total):
        ran, before = ran + len(alive) * (done - before), done
        if done < total and alive:
            alive = [i for i in rule.survivors(Standing({i: scores[i][:done] for i in alive}, total, parent)) if i in alive]
    return winner(scores, parent, alive), ran


def test_halving_keeps_the_better_half():
    assert survivors(Halving(), 8, "11", "00", "10", "00") == {0, 2}


def test_of_equal_candidates_halving_keeps_the_earlier():
    assert survivors(Halving(), 8, "10", "01", "10") == {0, 1}


def test_halving_looks_at_a_quarter_and_at_half():
    assert Halving().looks(16) == (4, 8) and Halving().looks(5) == (2, 3) and Halving().looks(1) == ()


def test_halving_takes_at_most_half_the_rollouts_of_eight_candidates():
    assert Halving().most_rollouts(8, 16) == 64


@pytest.mark.parametrize("rule", RULES)
def test_a_candidate_that_cannot_rise_above_the_parent_any_more_is_dropped(rule):
    assert survivors(rule, 4, "00", "11", parent="1110") == {1}
    assert survivors(rule, 4, "00", "00", parent="1111") == set()


@pytest.mark.parametrize("rule", RULES)
def test_without_a_parent_to_beat_somebody_always_goes_on(rule):
    assert survivors(rule, 4, "000", "000", "000")


def test_who_can_only_draw_level_with_an_earlier_one_is_dropped():
    assert survivors(ONLY_THE_LOST, 4, "11", "00") == {0}
    assert survivors(ONLY_THE_LOST, 4, "00", "11") == {0, 1}


def test_paired_drops_nobody_without_a_difference():
    assert survivors(Paired(risk=0.4), 20, "1010", "1010", "1010") == {0, 1, 2}


def test_paired_drops_who_lost_again_and_again_and_never_won():
    assert survivors(Paired(), 20, "1111", "0000", "1110") == {0, 2}


def test_a_loss_and_a_win_each_are_no_reason_to_drop():
    assert survivors(Paired(), 20, "1100", "0110") == {0, 1}


def test_the_chance_to_catch_up_falls_with_the_lead_and_with_the_questions_left():
    assert chance_to_catch_up([1, 1, 1], 5) < chance_to_catch_up([1, 0, 0], 5)
    assert chance_to_catch_up([1, 0], 2) < chance_to_catch_up([1, 0], 20) < 0.5


def test_with_no_risk_a_race_chooses_as_full_scoring_does():
    draw = random.Random(0)
    for _ in range(300):
        n, skills = draw.randint(1, 16), [draw.random() for _ in range(draw.randint(1, 8))]
        scores = [[float(draw.random() < skill) for _ in range(n)] for skill in skills]
        parent = [float(draw.random() < 0.3) for _ in range(n)]
        chosen, ran = raced(ONLY_THE_LOST, scores, parent)
        assert chosen == winner(scores, parent, range(len(scores))) and ran <= n * len(scores)


def test_no_race_takes_more_rollouts_than_its_rule_says():
    draw = random.Random(1)
    for _ in range(100):
        n, candidates = draw.randint(1, 20), draw.randint(1, 9)
        scores = [[float(draw.random() < 0.5) for _ in range(n)] for _ in range(candidates)]
        for rule in RULES:
            assert raced(rule, scores, [0.0] * n)[1] <= rule.most_rollouts(candidates, n) <= n * candidates


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_built_from_its_block(rule):
    assert build("races", rule.to_json()) == rule
