"""The QA exhibits: each cell computed a second time in plain Python from what was measured."""

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from hbench.exhibits.exhibit import Exhibit
from hbench.exhibits.statistics import Estimate, mean_interval
from tests.exhibits.chains import FEEDBACK, HELD, SCORING, Chain, Folder, Proposal, average, regenerated, study

pytestmark = pytest.mark.truth
FAMILIES = ("musique", "2wiki")


@pytest.fixture(scope="module")
def chains() -> list[Chain]:
    return study(FAMILIES)


@pytest.fixture(scope="module")
def folder(chains, tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("results")
    Folder(made).fill(chains)
    return made


def cells(made: Exhibit) -> dict[tuple[str, str], object]:
    return {(cell.row, cell.column): cell for cell in made.cells}


def agrees(cell, expected: Estimate) -> bool:
    numbers = [(getattr(cell, name), getattr(expected, name)) for name in ("value", "low", "high", "n")]
    return all(one == two if None in (one, two) else one == pytest.approx(two) for one, two in numbers)


def over_chains(chains: list[Chain], family: str, arm: str, worth) -> Estimate:
    """The mean over an arm's chains with its interval."""
    values = [worth(chain) for chain in chains if (chain.family, chain.arm) == (family, arm)]
    return mean_interval([value for value in values if value is not None])


def values_of(chain: Chain) -> list[float]:
    """EM of every proposal, in order."""
    return [chain.worth(t, p) for t, proposals in enumerate(chain.rounds) for p in proposals]


def test_four_chains_have_students_interval_with_three_degrees_of_freedom():
    # t(3, 97.5 %) = 3.182446; the deviation of 1, 2, 3, 4 is sqrt(5 / 3).
    found = mean_interval([0.1, 0.2, 0.3, 0.4])
    assert found.high - 0.25 == pytest.approx(3.182446 * (5 / 3) ** 0.5 / 10 / 2, abs=1e-6)


def test_the_study_has_failed_edits_and_chains_that_differ(chains):
    assert any(p.text is None for c in chains for proposals in c.rounds for p in proposals)
    assert len({average(c.harnesses[-1].held) for c in chains if c.arm == "rl"}) > 2


@pytest.mark.parametrize("family", FAMILIES)
def test_every_cell_by_round_is_what_plain_python_makes_of_it(folder, chains, family):
    found = cells(regenerated("qa_rounds", folder, chains))
    for arm, rounds in (("rl", 3), ("independent", 1)):
        for t in range(rounds + 1):
            row = f"{family} / {arm} / {t}"
            of = {
                "em": lambda c: average(c.harnesses[t].held),
                "f1": lambda c: average([0.5 + em / 2 for em in c.harnesses[t].held]),
                "dev": lambda c: average(c.harnesses[t].dev),
                "recall": lambda c: min(c.harnesses[t].text.count("search("), 2) / 2,
                "mean": lambda c: average([c.worth(t - 1, p) for p in c.rounds[t - 1]]) if t else None,
                "best": lambda c: max(c.worth(t - 1, p) for p in c.rounds[t - 1]) if t else None,
                "proposals": lambda c: len(c.rounds[t - 1]) if t else None,
                "failed_share": lambda c: average([p.text is None for p in c.rounds[t - 1]]) if t else None,
            }
            for column, worth in of.items():
                assert agrees(found[row, column], over_chains(chains, family, arm, worth)), (row, column)
            assert found[row, "chains"].value == 4


def selected(chain: Chain) -> float | None:
    after = chain.harnesses[1:]
    return average(max(after, key=lambda p: average(p.dev)).held) if after else None


@pytest.mark.parametrize("family", FAMILIES)
def test_every_account_of_a_run_is_what_plain_python_makes_of_it(folder, chains, family):
    found = cells(regenerated("qa_runs", folder, chains))
    for arm in ("seed", "rl", "independent"):
        row = f"{family} / {arm}"
        final = over_chains(chains, family, arm, lambda c: average(c.harnesses[-1].held))
        of = {
            "selected": selected,
            "mean": lambda c: average(values_of(c)) if c.rounds else None,
            "best": lambda c: max(values_of(c), default=None),
            "last_proposals": lambda c: average(values_of(c)[-len(c.rounds[-1]) :]) if c.rounds else None,
            "proposals": lambda c: len(values_of(c)) or None,
        }
        assert agrees(found[row, "final"], final)
        for column, worth in of.items():
            assert agrees(found[row, column], over_chains(chains, family, arm, worth)), (row, column)
        runs = [average(c.harnesses[-1].held) for c in chains if (c.family, c.arm) == (family, arm)]
        assert (found[row, "best_run"].value, found[row, "best_run"].n) == (max(runs), 4)
        assert found[row, "questions"].value == HELD


def test_differences_from_the_seed_are_paired_by_chain(folder, chains):
    found = cells(regenerated("qa_runs", folder, chains))
    expected = over_chains(chains, "2wiki", "rl", lambda c: average(c.harnesses[-1].held) - average(c.seed.held))
    assert agrees(found["2wiki / rl", "difference"], expected)


def test_families_of_two_specs_keep_the_names_of_their_arms(folder, chains):
    rows = regenerated("qa_runs", folder, chains).rows
    assert [row for row in rows if row[0] == "2wiki"] == [("2wiki", arm) for arm in ("seed", "rl", "independent")]


def test_what_the_paper_has_and_we_have_not_is_a_row_of_its_own(folder, chains):
    found = cells(regenerated("qa_rounds", folder, chains))
    assert found["musique / rl / 3", "em"].paper_value == 0.2450
    assert (found["musique / base / 10", "em"].value, found["musique / base / 10", "em"].paper_value) == (None, 0.1380)
    assert found["2wiki / rl / 3", "em"].paper_value is None


def spent(chain: Chain, rounds: int) -> tuple[int, int]:
    """Solver and proposer tokens of the first rounds: rollouts of n questions use 100 + 10 x place each."""

    def rollouts(n: int) -> int:
        return sum(100 + 10 * i for i in range(n))

    solver = 0
    for proposals in chain.rounds[:rounds]:
        ran = sum(p.text is not None for p in proposals)
        solver += rollouts(FEEDBACK) + rollouts(SCORING) * (1 + ran)
    return solver, 1000 * sum(len(proposals) for proposals in chain.rounds[:rounds])


def test_what_adaptation_uses_adds_up_over_rounds(folder, chains):
    found = cells(regenerated("qa_budget", folder, chains))
    for arm, rounds in (("rl", 3), ("independent", 1)):
        for t in range(rounds + 1):
            row = f"musique / {arm} / {t}"
            of = {
                "proposals": lambda c: sum(len(p) for p in c.rounds[:t]),
                "feedback_questions": lambda c: FEEDBACK * t,
                "solver_tokens": lambda c: spent(c, t)[0],
                "proposer_tokens": lambda c: spent(c, t)[1],
                # One minute a step: feedback, parent, select, and a proposal with its trial.
                "minutes": lambda c: sum(3 + 2 * len(p) for p in c.rounds[:t]),
                "em": lambda c: average(c.harnesses[t].held),
            }
            for column, worth in of.items():
                expected = over_chains(chains, "musique", arm, worth).value
                assert found[row, column].value == pytest.approx(expected), column
    assert found["musique / seed / 0", "solver_tokens"].value == 0


def drawn(chain: Chain, n: int) -> tuple[float, float]:
    """What the scoring questions choose, and what an oracle does, of n proposals: the mean over every choice of n."""
    proposals = chain.rounds[0]
    chosen, best = [], []
    for some in combinations(proposals, n):
        ran = [p for p in some if p.text is not None]
        chosen.append(chain.worth(0, max(ran, key=lambda p: average(p.dev)) if ran else Proposal(None)))
        best.append(max(chain.worth(0, p) for p in some))
    return average(chosen), average(best)


@pytest.mark.parametrize("n", [2, 4, 6])
def test_independent_proposals_are_expected_over_every_choice_of_n(folder, chains, n):
    found = cells(regenerated("qa_equal_proposals", folder, chains))
    row = f"2wiki / independent / {n}"
    assert agrees(found[row, "selected"], over_chains(chains, "2wiki", "independent", lambda c: drawn(c, n)[0]))
    assert agrees(found[row, "best"], over_chains(chains, "2wiki", "independent", lambda c: drawn(c, n)[1]))
    assert agrees(found[row, "mean"], over_chains(chains, "2wiki", "independent", lambda c: average(values_of(c))))


def test_a_chain_after_n_proposals_is_its_harness_after_so_many_rounds(folder, chains):
    found = cells(regenerated("qa_equal_proposals", folder, chains))
    for t in (1, 2, 3):
        row = f"2wiki / rl / {2 * t}"
        assert agrees(found[row, "selected"], over_chains(chains, "2wiki", "rl", lambda c: average(c.harnesses[t].held)))
        best = over_chains(chains, "2wiki", "rl", lambda c: max(values_of(c)[: 2 * t]))
        assert agrees(found[row, "best"], best)


def curve(chain: Chain) -> list[tuple[float, float]]:
    """(tokens, EM) after each round; for one round after each number of proposals."""
    points = [(0.0, average(chain.seed.held))]
    if len(chain.rounds) != 1:
        rounds = range(1, len(chain.rounds) + 1)
        return points + [(sum(spent(chain, t)), average(chain.harnesses[t].held)) for t in rounds]
    k, total = len(chain.rounds[0]), sum(spent(chain, 1))
    before = sum(100 + 10 * i for i in range(FEEDBACK)) + sum(100 + 10 * i for i in range(SCORING))
    return points + [(before + (total - before) * n / k, drawn(chain, n)[0]) for n in range(1, k + 1)]


def test_at_equal_tokens_each_arm_stands_with_what_they_pay_for(folder, chains):
    found = cells(regenerated("qa_equal_tokens", folder, chains))
    for arm in ("rl", "independent", "seed"):
        for tenth in (1, 4, 7, 10):

            def worth(chain: Chain, tenth: int = tenth) -> float:
                mine = [c for c in chains if (c.family, c.chain) == (chain.family, chain.chain) and c.rounds]
                budget = min(curve(c)[-1][0] for c in mine) * tenth / 10
                return [em for tokens, em in curve(chain) if tokens <= budget][-1]

            row = f"musique / {arm} / {10 * tenth}"
            assert agrees(found[row, "selected"], over_chains(chains, "musique", arm, worth)), row


def test_corpora_and_questions_are_counted(folder, chains):
    found = cells(regenerated("qa_corpora", folder, chains))
    assert found["musique", "documents"].value == 5000
    assert (found["musique", "documents"].paper_value, found["musique", "documents"].within) == (21100, False)
    assert (found["2wiki", "held_out"].value, found["2wiki", "development"].value) == (HELD, SCORING)
    assert (found["2wiki", "scoring"].value, found["2wiki", "scoring"].paper_value) == (SCORING, 64), "of one round"
    assert found["2wiki", "supporting"].value == 2
    assert found["hotpotqa", "documents"].value is None


def test_multistep_stands_against_single_step_in_every_round(tmp_path):
    single = [c for c in study(chains=2) if c.arm == "rl"]
    both = [*single, *(replace(c, arm="multistep") for c in single)]
    Folder(tmp_path).fill(both)
    found, rounds = cells(regenerated("qa_multistep", tmp_path, both)), cells(regenerated("qa_rounds", tmp_path, both))
    for t in range(4):
        assert found[f"musique / multistep / {t}", "em"].value == rounds[f"musique / rl / {t}", "em"].value
        assert found[f"musique / multistep / {t}", "difference"].value == 0
    assert found["musique / rl / 3", "difference"].value is None, "it is what is compared with"


def test_without_evaluate_all_only_ends_are_measured_and_no_mean_is_guessed(tmp_path):
    chains = [Chain(**{**vars(c), "evaluate_all": False}) for c in study(chains=2)]
    Folder(tmp_path).fill(chains)
    found = cells(regenerated("qa_rounds", tmp_path, chains))
    known = [found[f"musique / rl / {t}", "em"].value is not None for t in range(4)]
    assert known == [True, False, False, True]
    assert found["musique / independent / 1", "mean"].value is None
    curve_cells = cells(regenerated("qa_equal_proposals", tmp_path, chains))
    assert curve_cells["musique / independent / 4", "selected"].value is None


def test_without_evaluate_all_chains_of_failures_alone_make_no_mean(tmp_path):
    """Only failed edits are known without measuring: a mean over the chains that happen to be known is one of failures."""
    chains = [Chain(**{**vars(c), "evaluate_all": False}) for c in study(chains=3)]
    chains = [Chain(**{**vars(c), "rounds": ((Proposal(None),) * 2,) * len(c.rounds)}) if c.chain else c for c in chains]
    Folder(tmp_path).fill(chains)
    found = cells(regenerated("qa_runs", tmp_path, chains))
    for column in ("mean", "best", "last_proposals"):
        assert found["musique / rl", column].value is None and found["musique / independent", column].value is None
    assert found["musique / rl", "selected"].value is None
    assert found["musique / independent", "selected"].n == 3


def test_a_chain_that_is_missing_is_said(tmp_path):
    chains = study(chains=3)
    ran = [c for c in chains if c.chain < 2]
    Folder(tmp_path).fill(ran)
    made = regenerated("qa_runs", tmp_path, chains)
    assert cells(made)["musique / rl", "final"].n == 2
    assert "1 of 3 specs not run to the end: `hbench run adaptation/musique`." in made.caption


def test_revisions_show_shares_of_chains_and_diffs_with_marks(folder, chains):
    made = regenerated("qa_revisions", folder, chains)
    found = cells(made)

    def searches(chain: Chain) -> int:
        return chain.harnesses[-1].text.count("search(")

    third = over_chains(chains, "musique", "rl", lambda c: float(searches(c) >= 3))
    for column in ("third_search", "seen_third_search"):
        assert found["musique / rl / 3", column].value == third.value
    assert found["musique / rl / 0", "changed"].value == 0
    assert found["musique / rl / 3", "seen_passages_reach_answer"].value == 1
    assert found["musique / rl / 2", "seen_third_search"].value is None
    changed = [c for c in chains if c.harnesses[-1].text != c.seed.text]
    assert {diff.title for diff in made.diffs} == {f"{c.family}, {c.arm}, chain {c.chain}" for c in changed}
