"""What `hbench run distillation/smoke` leaves in its tables, whichever model is the student."""

from collections import Counter
from functools import cached_property

from tests.world import World

SPEC = "distillation/smoke"
ARMS = ("base", "reviewed", "distilled", "direct", "h_star", "selective")
TRAINING, EVALUATION = 8, 4  # as the spec says


class Chain(World):
    """A working folder in which the spec was run."""

    @cached_property
    def turns(self) -> list[dict]:
        """Every turn with its arm, what its rollouts were for, domain and score."""
        return self.sql(
            "select l.arm, l.purpose, l.family, t.question_id, t.turn, t.verdict, t.trouble, t.tool, r.score "
            f"from turns as t join rollouts as r using (step_key, question_id, repeat) {_LABELS} order by all"
        )

    def of(self, arm: str, purpose: str = "held_out") -> list[dict]:
        return [row for row in self.turns if (row["arm"], row["purpose"]) == (arm, purpose)]

    def scores(self, arm: str, purpose: str = "held_out") -> list[float]:
        """One of each rollout."""
        return list({(row["family"], row["question_id"]): row["score"] for row in self.of(arm, purpose)}.values())

    def replaced(self, arm: str, purpose: str = "held_out") -> float:
        """Share of turns."""
        verdicts = Counter(row["verdict"] for row in self.of(arm, purpose))
        return verdicts["replace"] / max(verdicts.total(), 1)


_LABELS = "join (select distinct step_id, step_key from run_steps) as s using (step_key) join plan_labels as l using (step_id)"


def check_tables(chain: Chain) -> None:
    """The reviewer leads to the end whoever acts; what it led is kept, and trained on; what was made has its rows."""
    for arm in ARMS:
        assert len(chain.scores(arm)) == 2 * EVALUATION, arm
    assert chain.scores("reviewed") == [1.0] * 2 * EVALUATION
    assert chain.scores("distilled", "collect") == chain.scores("direct", "collect") == [1.0] * TRAINING
    assert chain.replaced("base") == chain.replaced("direct", "collect") == 0 < chain.replaced("distilled", "collect")
    kept = chain.sql(
        "select count(*) as n, count(*) filter (kept) as kept from kept_trajectories join steps using (step_key) "
        "where kind = 'keep_trajectories'"
    )
    assert kept == [{"n": 2 * TRAINING, "kept": 2 * TRAINING}]
    made = {row["path"] for row in chain.sql("select distinct path from bank_components")}
    assert made == {"memory.md", "middlewares/no_overwrite.py", "middlewares/read_back.py", "skills/commands/SKILL.md", "tools/folder.py"}
    taught = chain.sql("select arm from plan_labels join run_steps using (step_id) join checkpoints using (step_key) order by all")
    assert [row["arm"] for row in taught] == ["direct", "distilled"], "one checkpoint where all turns were replaced: equal rows"
    patterns = {row["pattern"] for row in chain.sql("select distinct pattern from behaviours")}
    assert patterns == {"reads_back", "looks_first"}
