"""What two sides are compared on: the questions of both, in clusters that the claim is about."""

import pytest

from hbench.exhibits.arm_scores import QuestionScore
from hbench.exhibits.differences import measure
from hbench.exhibits.pairing import Question, pair

pytestmark = pytest.mark.truth


def score(arm, question, value, family="maze", *, seed=0, chain=0, **more):
    return QuestionScore(arm, seed, family, chain, question, value, **more)


def test_questions_of_both_sides_count():
    paired = pair([score("a", "p", 1.0), score("a", "q", 1.0)], [score("b", "q", 0.0), score("b", "r", 0.0)])
    assert paired.questions == [Question("maze", 0, "q")]
    assert paired.of_question() == {("maze", "q"): (1.0, 0.0)}


def test_an_arm_that_is_pooled_has_to_have_the_question_too():
    ours = [score("a0", "p", 1.0), score("a0", "q", 1.0), score("a1", "q", 0.5)]
    paired = pair(ours, [score("b", "p", 0.0), score("b", "q", 0.0)])
    assert paired.of_question() == {("maze", "q"): (0.75, 0.0)}
    assert (len(paired.ours), len(paired.theirs)) == (2, 1)


def both(*rows):
    """Two sides of the same rows."""
    return pair([score("a", *row[0], **row[1]) for row in rows], [score("b", *row[0], **row[1]) for row in rows])


@pytest.mark.parametrize(
    ("rows", "unit"),
    [
        ([(("p", 1.0), {}), (("q", 1.0), {})], "question"),
        ([(("p", 1.0), {"scenario": True}), (("q", 1.0), {"scenario": True})], "scenario"),
        ([(("p", 1.0), {"chain": 0, "adapted": True}), (("p", 0.0), {"chain": 1, "adapted": True})], "chain"),
        ([(("p", 1.0), {"chain": 0}), (("p", 0.0), {"chain": 1})], "question"),
        ([(("p", 1.0), {"chain": 0, "adapted": True}), (("p", 1.0), {"chain": 1, "adapted": True})], "question"),
        ([(("p", 1.0), {"seed": 0}), (("q", 0.0), {"seed": 1})], "seed"),
        ([(("p", 1.0), {"seed": 0}), (("p", 0.0), {"seed": 1})], "question"),
        ([(("p", 1.0, "maze"), {}), (("q", 1.0, "lcm"), {})], "family"),
    ],
)
def test_the_unit_is_the_cluster_that_the_claim_is_about(rows, unit):
    assert both(*rows).unit() == unit


def test_a_family_weighs_the_same_however_many_questions_it_has():
    ours = [score("a", "p", 1.0), score("a", "q", 0.0, "lcm"), score("a", "r", 0.0, "lcm"), score("a", "s", 0.0, "lcm")]
    theirs = [score("b", row.question_id, 0.0, row.family) for row in ours]
    line = measure("all", pair(ours, theirs), "family")
    assert (line.ours, line.theirs, line.difference.value, line.difference.n) == (0.5, 0.0, 0.5, 2)


def test_chains_are_averaged_inside_a_question_where_they_are_not_the_unit():
    """Question p has two chains and q one: a mean over rows would be 1/3."""
    ours = [score("a", "p", 0.0, chain=0), score("a", "p", 0.0, chain=1), score("a", "q", 1.0)]
    theirs = [score("b", row.question_id, 0.0, chain=row.chain) for row in ours]
    assert measure("all", pair(ours, theirs), "question").ours == 0.5
    by_chain = measure("all", pair(ours, theirs), "chain")
    assert (by_chain.ours, by_chain.difference.n) == (0.25, 2)


def test_chains_that_one_side_has_alone_are_runs_of_it():
    ours = [score("a", q, chain / 2, chain=chain, adapted=True) for q in "pq" for chain in (0, 1)]
    paired = pair(ours, [score("b", q, 0.0) for q in "pq"])
    assert (len(paired.ours), len(paired.theirs), paired.unit()) == (2, 1, "question")
    assert paired.of_question()["maze", "p"] == (0.25, 0.0)


def test_seeds_that_both_have_are_paired_and_a_level_of_their_own():
    def study(arm, better):
        return [score(arm, f"{seed} {i}", i / 8 + seed / 4 + better, f"f{i}", seed=seed) for i in range(7) for seed in (0, 1)]

    paired = pair(study("a", 0.125), [*study("b", 0.0), score("b", "2 0", 1.0, "f0", seed=2)])
    assert paired.seeds == (0, 1)
    line = measure("all", paired, paired.unit())
    assert (line.unit, line.difference.value, line.difference.low) == ("family", 0.125, None), "the same everywhere: no spread"


def test_seeds_of_other_families_are_no_repeats():
    paired = both((("p", 1.0, "maze"), {"seed": 0}), (("q", 1.0, "lcm"), {"seed": 1}))
    assert (paired.seeds, paired.families) == ((), ["lcm", "maze"])


def test_where_no_seed_is_shared_questions_are_paired_whatever_the_seed():
    paired = pair([score("a", "p", 1.0, seed=0), score("a", "p", 0.0, seed=1)], [score("b", "p", 0.0, seed=2)])
    assert (len(paired.ours), len(paired.theirs)) == (2, 1), "each seed a training run"
    assert paired.of_question() == {("maze", "p"): (0.5, 0.0)}


def proposals(arm, *draws):
    """Seven questions; each draw of proposals scores the same on all of them."""
    return [score(arm, f"q{i}", sum(draws) / len(draws), draws=draws) for i in range(7)]


def test_a_good_proposal_is_good_at_all_questions_and_counts_as_one():
    """Two of four against one of four, the same on each question: by questions alone it would be certain."""
    line = measure("maze", pair(proposals("a", 1.0, 1.0, 0.0, 0.0), proposals("b", 1.0, 0.0, 0.0, 0.0)), "question")
    assert line.difference.value == 0.25
    assert line.difference.low < 0 < line.difference.high
    assert line.p > 0.3


def test_proposals_against_a_fixed_harness_are_one_level_of_draws():
    line = measure("maze", pair(proposals("a", 1.0, 1.0, 0.5, 0.5), [score("b", f"q{i}", 0.0) for i in range(7)]), "question")
    from scipy import stats

    assert line.p == pytest.approx(stats.ttest_1samp([1.0, 1.0, 0.5, 0.5], 0).pvalue), "questions differ in nothing"


def test_nothing_is_said_where_one_side_has_proposals_and_the_other_training_runs():
    pooled = [*proposals("a0", 1.0, 0.0), *proposals("a1", 1.0, 1.0)]
    line = measure("maze", pair(pooled, proposals("b", 0.0, 0.0)), "question")
    assert (line.difference.value, line.difference.low, line.p) == (0.75, None, None)


def test_questions_of_several_families_weigh_by_family():
    def study(arm, better):
        return [score(arm, f"{f} {i}", better * (i % 2), f) for f, n in (("maze", 4), ("lcm", 8)) for i in range(n)]

    line = measure("all", pair(study("a", 1.0), study("b", 0.0)), "question")
    variances = [0.25 * n / (n - 1) / n for n in (4, 8)]
    assert (line.difference.value, line.difference.n) == (0.5, 12)
    from scipy import stats

    half = stats.t.ppf(0.975, 3) * (sum(variances) / 4) ** 0.5
    assert line.difference.high - 0.5 == pytest.approx(half), "Student's t of the smaller family"
