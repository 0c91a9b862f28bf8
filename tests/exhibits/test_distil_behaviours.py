"""Recovery of behaviours, what reviewers do, and what a rollout takes: each cell a second time in plain Python."""

import random

import pytest

from hbench.exhibits.statistics import ratio_interval, strata_interval
from tests.exhibits.acted import Arm, Lived, Turned, cell, exhibit_of, value
from tests.exhibits.test_distil_scores import agrees

pytestmark = pytest.mark.truth
PATTERNS = {"uspto": ("common", "rare", "native"), "appworld": ("pages",)}
QUESTIONS = 30
# How often an arm shows a pattern: `native` is the base's own, `rare` is shown too seldom to be kept.
SHOWS = {
    "base": {"common": 0.2, "rare": 0.0, "native": 1.0, "pages": 0.1},
    "base_again": {"common": 0.2, "rare": 0.0, "native": 1.0, "pages": 0.1},
    "h_star": {"common": 0.9, "rare": 0.1, "native": 1.0, "pages": 0.8},
    "distilled": {"common": 0.8, "rare": 0.5, "native": 1.0, "pages": 0.4},
}


def shown(domain, arm, spec="study"):
    """question -> the patterns that this arm shows on it, drawn."""
    draw = random.Random(f"{domain} {arm}")
    chances = {pattern: SHOWS[arm][pattern] for pattern in PATTERNS[domain]}
    return {f"{domain} {i}": frozenset(p for p, c in chances.items() if draw.random() < c) for i in range(QUESTIONS)}


def study(arms=tuple(SHOWS)):
    return [
        Arm(arm, domain, {q: (Lived(0.0, shows=its),) for q, its in shown(domain, arm).items()}, patterns=PATTERNS[domain],
            spec=f"distillation/{domain}")
        for domain in PATTERNS
        for arm in arms
    ]  # fmt: skip


@pytest.fixture(scope="module")
def recovery():
    return exhibit_of("distil_recovery", study())


def kept():
    """(domain, pattern) -> the questions on which h* shows it and h does not, where there are ten."""
    found = {}
    for domain, patterns in PATTERNS.items():
        base, star = shown(domain, "base"), shown(domain, "h_star")
        for pattern in patterns:
            those = [q for q in base if pattern in star[q] and pattern not in base[q]]
            found |= {(domain, pattern): those} if len(those) >= 10 else {}
    return found


def shares(domain, pattern, arm):
    its = shown(domain, arm)
    return {question: 100.0 * (pattern in its[question]) for question in kept()[domain, pattern]}


def test_patterns_with_ten_questions_are_kept_and_no_other(recovery):
    assert set(kept()) == {("uspto", "common"), ("appworld", "pages")}
    ran = {row[:2] for row in recovery.rows if value(recovery, " / ".join(row), "recovered") is not None}
    means = {(domain, "mean of patterns") for domain in (*PATTERNS, "all domains")}
    assert ran == {*kept(), *means}


@pytest.mark.parametrize(("domain", "pattern"), [("uspto", "common"), ("appworld", "pages")])
def test_a_pattern_is_recovered_on_the_share_of_its_kept_questions_beside_a_second_run_of_the_base(recovery, domain, pattern):
    row = f"{domain} / {pattern} / distilled"
    ours, chance = (shares(domain, pattern, arm) for arm in ("distilled", "base_again"))
    assert agrees(cell(recovery, row, "recovered"), strata_interval({"": ours}))
    assert agrees(cell(recovery, row, "chance"), strata_interval({"": chance}))
    assert agrees(cell(recovery, row, "excess"), strata_interval({"": {q: ours[q] - chance[q] for q in ours}}))
    assert value(recovery, row, "questions") == len(kept()[domain, pattern])
    assert value(recovery, row, "chance") > 0, "choice alone makes the base look worse than it is"


def test_the_mean_weighs_patterns_alike_and_not_their_questions(recovery):
    strata = {f"{domain} {pattern}": shares(domain, pattern, "distilled") for domain, pattern in kept()}
    found = cell(recovery, "all domains / mean of patterns / distilled", "recovered")
    assert agrees(found, strata_interval(strata))
    assert found.value == pytest.approx(sum(sum(s.values()) / len(s) for s in strata.values()) / 2)
    assert value(recovery, "all domains / mean of patterns / distilled", "patterns") == 2
    assert found.paper_value == 82.3 and cell(recovery, "uspto / rdkit_validation / distilled", "recovered").value is None


def test_without_a_second_run_of_the_base_there_is_no_control():
    made = exhibit_of("distil_recovery", study(("base", "h_star", "distilled")))
    assert value(made, "uspto / common / distilled", "recovered") is not None
    assert value(made, "uspto / common / distilled", "chance") is None


def test_a_mean_has_a_control_where_all_of_its_patterns_have_one():
    """It stood beside the mean of both domains, and was that of one."""
    made = exhibit_of("distil_recovery", [arm for arm in study() if (arm.name, arm.domain) != ("base_again", "appworld")])
    assert value(made, "uspto / mean of patterns / distilled", "chance") is not None
    row = "all domains / mean of patterns / distilled"
    assert value(made, row, "patterns") == 2 and [value(made, row, c) for c in ("chance", "excess")] == [None, None]


def test_an_arm_is_told_where_no_pattern_is_kept():
    few = {q: (Lived(0.0),) for q in shown("uspto", "base")}
    arms = [Arm(arm, "uspto", few, patterns=("common",), spec="distillation/uspto") for arm in ("base", "h_star", "distilled")]
    made = exhibit_of("distil_recovery", arms)
    row = "all domains / mean of patterns / distilled"
    assert (value(made, row, "recovered"), value(made, row, "patterns")) == (None, 0)
    assert not any("Missing rows" in line for line in made.caption)


def test_of_several_repeats_half_are_enough():
    def arm(name, *shares):
        tried = {f"q{i}": tuple(Lived(0.0, shows=frozenset("p" if r < s else "")) for r in range(2)) for i, s in enumerate(shares)}
        return Arm(name, "uspto", tried, patterns=("p",), spec="distillation/uspto")

    made = exhibit_of("distil_recovery", [arm("base", *[0] * 10, 1), arm("h_star", *[1] * 11), arm("distilled", *[1] * 11)])
    assert value(made, "uspto / p / distilled", "recovered") == 50.0
    assert value(made, "uspto / p / distilled", "questions") == 10


REVIEWED = {
    "a": (Lived(1.0, (Turned("replace", 2), Turned("pass", 1))),),
    "b": (Lived(0.0, (Turned("replace", 1), Turned("pass", 3, "malformed"), Turned("pass", 0, "budget"))),),
    "c": (Lived(0.0, (Turned("pass", 1), Turned("pass", 1), Turned("replace", 1))),),
}


def reviewers():
    plain = {question: (Lived(1.0),) for question in REVIEWED}
    at = {"domain": "uspto", "student": "Qwen/Qwen3.6-35B-A3B", "spec": "distillation/weak_uspto"}
    return [Arm("guided", held_out=REVIEWED, reviewer="Qwen/Qwen3.6-35B-A3B", **at), Arm("h_star", held_out=plain, **at)]


def test_a_reviewer_replaces_a_share_of_the_turns_on_which_it_had_its_say():
    made = exhibit_of("distil_reviewers", reviewers())
    row = "Qwen/Qwen3.6-35B-A3B / Qwen/Qwen3.6-35B-A3B / guided"
    assert agrees(cell(made, row, "replaced"), ratio_interval([(100, 2), (100, 1), (100, 3)]))
    assert value(made, row, "first") == pytest.approx(200 / 3) and value(made, row, "last") == 50.0
    assert value(made, row, "tries") == pytest.approx(10 / 7) and value(made, row, "troubles") == pytest.approx(100 / 7)
    assert value(made, row, "past_budget") == pytest.approx(100 / 8) and value(made, row, "turns") == pytest.approx(8 / 3)
    assert (cell(made, row, "replaced").paper_value, cell(made, row, "score").paper_value) == (66.0, 36.0)


def test_code_has_no_reviewer():
    made = exhibit_of("distil_reviewers", reviewers())
    row = "Qwen/Qwen3.6-35B-A3B / none / h_star"
    assert [value(made, row, c) for c in ("score", "replaced", "first", "tries", "past_budget")] == [100.0, None, None, None, None]
    assert cell(made, row, "score").paper_value == 48.0


def latency():
    def arm(name, *seconds, reused=()):
        tried = {f"q{i}": (Lived(1.0, seconds=s, reused=i in reused),) for i, s in enumerate(seconds)}
        return Arm(name, "uspto", tried, spec="distillation/uspto")

    return [arm("base", 10.0, 20.0, 30.0, 40.0), arm("guided", 20.0, 50.0, 60.0, 0.1, reused=(3,))]


def test_times_are_compared_where_both_were_measured():
    made = exhibit_of("distil_latency", latency(), machine={"cores": 2, "memory_gb": 8.0, "host": "somewhere"})
    assert value(made, "uspto / base", "seconds") == 25.0
    ratio = cell(made, "uspto / guided", "ratio")
    assert agrees(ratio, ratio_interval([(20, 10), (50, 20), (60, 30)])) and ratio.value == pytest.approx(130 / 60)
    assert value(made, "uspto / guided", "untimed") == 25.0 and value(made, "uspto / base", "ratio") is None
    assert cell(made, "uspto / guided", "questions").value == 3


def test_a_reply_that_another_arm_has_drawn_counts_with_the_time_that_it_took():
    """Arms share what they ask first: every rollout of the later one was left out."""
    first = Arm("base", "uspto", {"q": (Lived(1.0, seconds=10.0, request="the same"),)}, spec="distillation/uspto")
    later = Arm("guided", "uspto", {"q": (Lived(1.0, seconds=20.0, request="the same", reused=True),)}, spec="distillation/uspto")
    made = exhibit_of("distil_latency", [first, later])
    assert [value(made, f"uspto / {arm}", "seconds") for arm in ("base", "guided")] == [10.0, 20.5]


def test_the_caption_tells_what_times_were_measured_on_and_no_address():
    made = exhibit_of("distil_latency", latency(), machine={"cores": 2, "memory_gb": 8.0, "host": "somewhere"})
    assert "Measured on 2 cores and 8.0 GB; student by openai." in made.caption
    assert not any("somewhere" in line or "://" in line for line in made.caption)
