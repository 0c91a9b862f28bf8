"""Whatever is done to a results folder, in whatever order: what was finished is there, whole, once, also in the database."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from hbench.core.output import Artifact, Output
from hbench.store.artifacts import Store
from hbench.store.database import fold, rebuild
from hbench.store.query import query
from hbench.store.unneeded import remove, unneeded
from hbench.store.verify import finished, step_fault
from tests.store.made import key, record, rollout
from tests.thorough import often

NAMES = st.sampled_from(["a", "b", "c"])
SCORES = st.dictionaries(st.integers(0, 5), st.sampled_from([0.0, 0.5, 1.0]), max_size=4)


class AnyOrder(RuleBasedStateMachine):
    """done, left: step -> question -> score, of what was finished, and of what somebody began and left."""

    def __init__(self):
        super().__init__()
        self.store = Store(Path(tempfile.mkdtemp(prefix="any-order-")) / "results")
        self.done: dict[str, dict[int, float]] = {}
        self.left: dict[str, dict[int, float]] = {}
        self.folded: set[str] | None = None

    @rule(name=NAMES, scores=SCORES, commit=st.booleans(), torn=st.booleans(), output=SCORES)
    def work(self, name, scores, commit, torn, output):
        opened = self.store.open(key(name))
        assert isinstance(opened, Artifact) == (name in self.done)
        if isinstance(opened, Artifact):
            return
        with opened as part:
            mine = self.left.setdefault(name, {})
            for question, score in scores.items():
                part.append(rollout(question, score=score))
            mine |= scores
            assert {row["question_id"]: row["score"] for row in part.rows("rollouts")} == {f"q{q}": s for q, s in mine.items()}
            if commit:
                rows = [rollout(question, score=score) for question, score in output.items()]
                given = {table: [row for some in rows for row in some[table]] for table in (rows[0] if rows else ())}
                part.commit(Output({"of": name}, given), record())
                self.done[name] = self.left.pop(name) | output
            elif torn and mine:
                with (part.folder / "rows.jsonl").open("a") as file:
                    file.write('{"rollouts": [{"question_id": "q9", "sco')

    @rule()
    def fold(self):
        done = fold(self.store.folder)
        assert done.how in ("folded", "nothing") and done.messages == ()
        self.folded = set(self.done)

    @rule()
    def rebuild(self):
        assert rebuild(self.store.folder).messages == ()
        self.folded = set(self.done)

    @precondition(lambda self: self.folded is not None)
    @rule(file=st.sampled_from(["hbench.duckdb", "texts.duckdb"]), ruin=st.sampled_from(["gone", "torn", "garbage"]))
    def lose_a_database(self, file, ruin):
        path = self.store.folder / file
        if path.exists():
            held = path.read_bytes()
            path.unlink()
            if ruin != "gone":
                path.write_bytes(held[: len(held) // 3] if ruin == "torn" else b"no database")
        rebuild(self.store.folder)
        self.folded = set(self.done)

    @precondition(lambda self: self.done or self.left)
    @rule(needed=st.sets(NAMES))
    def remove_what_nobody_needs(self, needed):
        for each in unneeded(self.store.folder, {key(name) for name in needed}, since=float("inf")):
            assert remove(each)
        self.done = {name: scores for name, scores in self.done.items() if name in needed}
        self.left = {name: scores for name, scores in self.left.items() if name in needed}
        rebuild(self.store.folder)
        self.folded = set(self.done)

    @invariant()
    def what_was_finished_is_whole(self):
        for name in ("a", "b", "c"):
            found = self.store.get(key(name))
            assert (found is not None) == (name in self.done)
            if found:
                there = {row["question_id"]: row["score"] for row in found.rows("rollouts")}
                assert there == {f"q{q}": s for q, s in self.done[name].items()}
        assert [step_fault(folder) for folder in finished(self.store.folder)] == [None] * len(self.done)

    @invariant()
    def the_database_has_what_was_folded_once(self):
        if self.folded and (self.store.folder / "hbench.duckdb").exists():
            rows = query(self.store.folder, "select step_key, question_id, score from rollouts order by all").rows
            wanted = [(key(name), f"q{q}", s) for name in self.folded & self.done.keys() for q, s in self.done[name].items()]
            assert rows == sorted(wanted)

    def teardown(self):
        shutil.rmtree(self.store.folder.parent)


AnyOrder.TestCase.settings = settings(max_examples=often(3, 25), stateful_step_count=often(8, 15), deadline=None)
test_any_order = AnyOrder.TestCase
