"""A run is tried again and again, as its spec grows and shrinks, its server breaks and its budget ends, in any order:
what was answered is never asked again, what was measured is right, and what is broken is no score."""

import re
import shutil
import tempfile
from collections import Counter
from contextlib import chdir
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import hbench
from hbench.store.query import query
from hbench.store.verify import finished, step_fault
from tests.server import ModelServer
from tests.thorough import often
from tests.world import make_world

pytestmark = [pytest.mark.fault, pytest.mark.slow]
# One call at a time: what is under way when a step stops is not finished, and may be asked again.
SPEC = """
plan: evaluation
name: any
family: {{kind: toy, ask: sum}}
splits: {{evaluation: {count}}}
harness: harnesses/plain.py
solver: {{name: solver, weights: solver, as_of: 2026-11-01}}
machine: {{models: {{solver: {{base_url: "{url}", retries: 0, max_in_flight: 1}}}}, budget: {budget}}}
"""
MOST = st.none() | st.integers(0, 4)


class Broken(Exception):
    """The server answers no more: the connection ends without a word."""


def right(prompt: str) -> bool:
    """The model is right where the first number is even."""
    return int(re.findall(r"\d+", prompt)[0]) % 2 == 0


class AnyOrder(RuleBasedStateMachine):
    """answered: how often each prompt was. left: how many answers the server still gives; None: as many as are wanted."""

    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="any-order-"))
        self.world, self.answered, self.left = make_world(self.folder / "world"), Counter(), None
        self.server = ModelServer(self.answer)
        self.server.__enter__()
        self.server._server.handle_error = lambda *_: None  # what it breaks by is no news
        self.results, self.measured = self.world.folder / "results", set()

    def answer(self, prompt: str) -> str:
        if self.left == 0:
            raise Broken
        self.left = None if self.left is None else self.left - 1
        self.answered[prompt] += 1
        first, second = map(int, re.findall(r"\d+", prompt))
        return str(first + second if right(prompt) else first)

    @rule(count=st.integers(1, 6), answers=MOST, calls=MOST)
    def run(self, count, answers, calls):
        self.left = answers
        budget = "{}" if calls is None else f"{{calls: {calls}}}"
        (self.world.folder / "specs/toy.yaml").write_text(SPEC.format(count=count, url=self.server.url, budget=budget))
        before = self.answered.total()
        with chdir(self.world.folder):
            outcome = hbench.run("specs/toy.yaml").outcome
        assert outcome in {"finished"} | ({"failed"} if answers is not None else set()) | ({"spent"} if calls is not None else set())
        assert calls is None or self.answered.total() - before <= calls
        self.measured |= {count} if outcome == "finished" else set()

    @precondition(lambda self: self.measured)
    @rule(count=st.integers(1, 6))
    def lose_a_step(self, count):
        """Somebody deletes what was measured: it is measured again, and not asked again."""
        for key in self.steps(count):
            shutil.rmtree(self.results / "steps" / key[:2] / key, ignore_errors=True)
        (self.results / "hbench.duckdb").unlink(missing_ok=True)
        self.measured.discard(count)

    @precondition(lambda self: self.measured)
    @rule()
    def lose_the_database(self):
        (self.results / "hbench.duckdb").unlink(missing_ok=True)

    def steps(self, count: int) -> list[str]:
        sizes = self.rows("select step_key, count(*) from rollouts group by all")
        return [key for key, size in sizes if size == count]

    def rows(self, sql: str) -> list[tuple]:
        hbench.sql("select 1", self.results)  # folds
        return query(self.results, sql).rows

    @invariant()
    def nothing_is_asked_twice(self):
        assert max(self.answered.values(), default=1) == 1

    @invariant()
    def what_was_measured_is_whole_and_right(self):
        if not self.measured:
            return
        assert [step_fault(folder) for folder in finished(self.results) if step_fault(folder)] == []
        found = self.rows("select step_key, q.text, r.score, r.failure from rollouts r join questions q using (question_id)")
        assert sorted(Counter(key for key, *_ in found).values()) == sorted(self.measured)
        assert [row for row in found if (row[2], row[3]) != (float(right(row[1])), None)] == []

    def teardown(self):
        self.server.__exit__(None, None, None)
        shutil.rmtree(self.folder)


AnyOrder.TestCase.settings = settings(
    max_examples=often(3, 20),
    stateful_step_count=often(6, 10),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # a step takes a second: shrinking would take half an hour
)
test_any_order = AnyOrder.TestCase
