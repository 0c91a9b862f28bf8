"""The mini study's table and the curves of its training, from rows."""

from collections.abc import Sequence

import pytest

from hbench.exhibits.exhibit import Exhibit
from hbench.exhibits.figure import plot
from tests.exhibits.study import Point, Trial, Writer, all_at, scored
from tests.exhibits.test_exhibit_sql import from_rows, value
from tests.exhibits.test_proposal_flow import MINI, code

pytestmark = pytest.mark.truth
MAX, MIN, DUMP, FIXED = (
    code(f"    answer = {made}\n") for made in ("max(numbers(question))", "min(numbers(question))", "calc(question)", "5")
)
SPEC = "mini".ljust(64, "0")


def trial(text: str, held: float, dev: float = 0.5, **terms: float) -> Trial:
    return scored("maze", dev, held, text=text, terms=terms)


def arm(name: str, *trials: Trial) -> Point:
    start = (all_at("maze", "dev", 0.0), all_at("maze", "held", 0.0))
    return Point(name, "maze", 0, *start, *(((trials,), (-1,)) if trials else ()), spec=SPEC, text=MINI)


class Training(Writer):
    """A study of one spec in which steps of training stand beside the arms."""

    def __init__(self, *arms: Point):
        super().__init__()
        self.arms = list(arms)
        self.run_id = self.run(SPEC)
        self.add("specs", spec_digest=SPEC, name="mini-unseen", point={})
        for each in arms:
            self.point(each, self.run_id)

    def step(self, name: str, purpose: str, round_: int | None = None, value=None) -> str:
        return self._steps(Point(name, "training", 0, {}, {}, spec=SPEC), self.run_id)(purpose, round_, None, value)

    def demonstrate(self, name: str, *texts: str, kept: Sequence[int]) -> None:
        shown = self.step(name, "demonstrate")
        for number, text in enumerate(texts):
            self.candidate(shown, number, Trial("applied", text=text), parent=MINI)
        self.step(name, "keep", value={"kept": [{"candidate": i, "response": "…"} for i in kept]})

    def grpo(self, name: str, *texts: str, segment: int = 0, updates: int = 0, **values: float) -> str:
        key = self.step(name, "train_grpo", segment)
        for number, text in enumerate(texts):
            self.candidate(key, number, Trial("applied", text=text), parent=MINI)
        self.log(key, updates, **values)
        return key

    def log(self, key: str, updates: int, **values: float) -> None:
        """Every value grows by its own size with each update."""
        for update in range(1, updates + 1):
            for name, each in values.items():
                self.add("updates", step_key=key, update=update, name=name, value=each * update)

    def exhibit(self, name: str) -> Exhibit:
        return from_rows(name, self, self.arms)


def cell(exhibit: Exhibit, arm: str, column: str) -> float | None:
    return value(exhibit, f"mini-unseen / {arm}", column)


def test_reward_and_terms_are_means_over_proposals():
    right = trial(MAX, 1.0, task_score=1.0, completed=1.0)
    exhibit = Training(arm("sft", right, Trial("no_block", terms={"task_score": 0.0, "completed": 0.0}))).exhibit("mini")
    columns = ("score", "reward", "parsed", "applied", "completed", "failed_or_zero", "best")
    assert [cell(exhibit, "sft", c) for c in columns] == [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 1.0]


def test_every_arm_is_rewarded_by_the_weights_of_sft():
    """An arm trained on the task score alone was weighed by its own, 0 for all but the task score: equal edits had a lower reward by construction."""
    same = trial(MAX, 1.0, task_score=1.0, completed=1.0)
    study = Training(arm("sft", same), arm("rl_first", same))
    for row in study.rows["reward_terms"][2:]:
        row["weight"] = {"task_score": 1.0, "completed": 0.0}[row["term"]]
    exhibit = study.exhibit("mini")
    assert [cell(exhibit, "rl_first", c) for c in ("reward", "reward_difference")] == [1.0, 0.0]


def test_bare_dumps_hard_coded_answers_and_idle_harnesses_are_shares_of_all_proposals():
    idle = trial(FIXED, 0.0, dev=0.0, completed=1.0)
    exhibit = Training(arm("rl_0", trial(DUMP, 1.0, completed=1.0), idle, idle, Trial("no_block"))).exhibit("mini")
    assert [cell(exhibit, "rl", c) for c in ("bare", "hard_coded", "idle")] == [0.25, 0.5, 0.5]


def test_a_harness_that_a_kept_demonstration_made_is_copied_and_may_be_left_out():
    written_anew = code("    # the largest\n    answer  =  max(numbers(question))\n")
    study = Training(arm("sft", trial(written_anew, 1.0), trial(MIN, 0.5), trial(DUMP, 0.25)), arm("seed"))
    study.demonstrate("sft", MAX, DUMP, kept=[0])
    exhibit = study.exhibit("mini")
    assert cell(exhibit, "sft", "copied") == pytest.approx(1 / 3)
    assert cell(exhibit, "sft", "uncopied") == 0.375
    assert cell(exhibit, "seed", "copied") is None


def test_demonstrations_count_for_every_arm_and_what_rl_made_for_its_own_alone():
    trials = (trial(MAX, 1.0), trial(MIN, 0.5))
    study = Training(arm("base", *trials), arm("rl_0", *trials), arm("multistep_0", *trials))
    study.demonstrate("rl_0", MAX, kept=[0])
    study.grpo("rl_0", MIN)
    study.grpo("multistep_0", DUMP)
    exhibit = study.exhibit("mini")
    assert [cell(exhibit, row, "copied") for row in ("base", "rl", "multistep_0")] == [0.5, 1.0, 0.5]
    assert cell(exhibit, "rl", "uncopied") is None
    assert [cell(exhibit, row, "uncopied_families") for row in ("base", "rl")] == [1, 0], "families left out are told"


def test_a_fixed_harness_has_a_score_and_nothing_that_proposals_have():
    exhibit = Training(arm("seed"), arm("sft", trial(MAX, 1.0))).exhibit("mini")
    assert cell(exhibit, "seed", "score") == 0.0
    assert cell(exhibit, "seed", "difference") == -1.0
    assert all(cell(exhibit, "seed", c) is None for c in ("reward", "parsed", "best", "copied", "bare", "proposals"))


def test_curves_follow_updates_through_the_segments():
    study = Training(arm("rl_0"), arm("multistep_0"))
    study.grpo("rl_0", updates=3, reward=0.25)
    for segment in range(2):
        study.grpo("multistep_0", segment=segment, updates=2, reward=0.5)
    exhibit = study.exhibit("training_curves")
    assert [row for row in exhibit.rows if row[1] == "multistep_0"] == [("rl", "multistep_0", str(u)) for u in (1, 2, 3, 4)]
    assert [value(exhibit, f"rl / multistep_0 / {u}", "reward") for u in (1, 2, 3, 4)] == [0.5, 1.0, 0.5, 1.0]
    assert [value(exhibit, f"rl / rl_0 / {u}", "reward") for u in (1, 2, 3)] == [0.25, 0.5, 0.75]
    made = {panel.y_label: panel for panel in plot(exhibit, exhibit.block.figure, "update").panels}
    assert list(made) == ["reward"]
    assert {curve.label for curve in made["reward"].curves} == {"single-step RL, seed 0", "multistep RL"}


def test_long_curves_are_means_over_stretches():
    study = Training(arm("rl_0"))
    study.grpo("rl_0", updates=100, reward=1.0)
    exhibit = study.exhibit("training_curves")
    assert [row[2] for row in exhibit.rows][:2] == ["3", "6"]
    assert exhibit.rows[-1] == ("rl", "rl_0", "100") and len(exhibit.rows) == 34
    assert [value(exhibit, f"rl / rl_0 / {u}", "reward") for u in (3, 6, 99, 100)] == [2, 5, 98, 100]


def test_a_checkpoint_that_several_arms_start_from_has_one_curve():
    study = Training(arm("sft"), arm("sft_cold"), arm("rl_0"))
    for name in ("sft", "sft_cold", "rl_0"):
        key = study.step(name, "train_sft")
        study.rows["run_steps"][-1]["step_key"] = "trained"
    study.log("trained", 2, loss=1.0)
    study.grpo("rl_0", updates=1, reward=1.0)
    exhibit = study.exhibit("training_curves")
    assert set(exhibit.rows) == {("sft", "sft", "1"), ("sft", "sft", "2"), ("rl", "rl_0", "1")}
    assert key != "trained"
