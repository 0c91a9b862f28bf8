"""What training reads: contexts, demonstrations and completions, counted by family."""

from collections.abc import Sequence

import pytest

from tests.exhibits.study import Point
from tests.exhibits.test_exhibit_sql import value
from tests.exhibits.test_mini import SPEC, Training, arm

pytestmark = pytest.mark.truth


class Trained(Training):
    """A training study with the edges of its plan."""

    def contexts(self, name: str, *families: str) -> str:
        """Its step id; one context a family named."""
        key = self.step(name, "contexts", len(self.rows.get("edit_contexts", [])))
        for position, family in enumerate(families):
            self.add("edit_contexts", step_key=key, position=position, family=family)
        return self.last()

    def last(self) -> str:
        return self.rows["run_steps"][-1]["step_id"]

    def edge(self, step_id: str, name: str, from_step_id: str) -> None:
        self.add("plan_edges", spec_digest=SPEC, step_id=step_id, input=name, from_step_id=from_step_id)

    def sft(self, names: Sequence[str], contexts: str, asked: Sequence[int], kept: Sequence[int]) -> None:
        """asked, kept: the context of each demonstration. Several names share one checkpoint."""
        self.step(names[0], "demonstrate", value={"demonstrations": [{"context": c, "prompt": 0} for c in asked]})
        shown = self.last()
        self.step(names[0], "keep", value={"kept": [{"context": c, "response": "…"} for c in kept]})
        keep = self.last()
        self.edge(keep, "demonstrations", shown)
        self.edge(keep, "contexts", contexts)
        self.edge("rows", "keep", keep)
        for name in names:
            self.step(name, "train_sft")
            self.edge(self.last(), "rows", "rows")

    def rl(self, name: str, contexts: str, drawn: Sequence[tuple[int, float | None]], segment: int = 0) -> None:
        """drawn: the context and the reward of each completion."""
        key = self.step(name, "train_grpo", segment)
        self.edge(self.last(), "contexts", contexts)
        for number, (context, reward) in enumerate(drawn):
            self.add("completions", step_key=key, candidate=number, update=1, context=context, reward=reward)


def made(study: Trained, row: str) -> list[float | None]:
    exhibit = study.exhibit("training_data")
    return [value(exhibit, row, c) for c in ("families", "contexts", "asked", "kept", "completions", "no_signal")]


def test_demonstrations_are_counted_once_where_arms_share_them():
    study = Trained(arm("sft"), arm("sft_long"))
    study.sft(["sft", "sft_long"], study.contexts("sft", "maze", "maze", "lcm"), asked=[0, 0, 1, 1, 2, 2], kept=[0, 1, 1])
    assert made(study, "sft") == [2, 3, 6, 3, None, None]
    assert made(study, "sft_long") == [2, 3, 6, 3, None, None]


def test_rl_counts_the_contexts_of_all_its_segments_and_not_those_of_the_sft_before():
    study = Trained(arm("rl"), arm("multistep"))
    seen = study.contexts("rl", "maze", "lcm")
    for name in ("rl", "multistep"):
        study.sft([name], study.contexts(name, "gcd"), asked=[0], kept=[0])
    study.rl("rl", seen, [(0, 1.0), (0, None), (1, 0.5), (1, 0.5)])
    study.rl("multistep", seen, [(0, 1.0)])
    study.rl("multistep", seen, [(1, 1.0)], segment=1)
    assert made(study, "rl") == [2, 2, None, None, 4, 25.0]
    assert made(study, "multistep")[:5] == [2, 4, None, None, 2]


def test_an_arm_that_trains_nothing_has_no_row():
    study = Trained(arm("seed"), arm("sft"))
    study.sft(["sft"], study.contexts("sft", "maze"), asked=[0], kept=[])
    assert made(study, "sft")[:4] == [1, 1, 1, 0]
    assert ("seed",) not in study.exhibit("training_data").rows
    assert isinstance(study.arms[0], Point)
