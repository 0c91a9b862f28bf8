"""Unique strings are planted in gold answers and in question texts; where they turn up says where questions leak."""

import json

import pytest

from tests.server import ModelServer
from tests.world import ASKS_TWICE, HARNESS, make_world

pytestmark = pytest.mark.truth

# A family of the working folder: every text and every gold answer is a canary that tells its place in the pool.
FAMILY = '''
"""Questions made of canaries."""

from typing import ClassVar, Literal

from hbench.core.question import Question
from hbench.parts.part import Part


class Canary(Part):
    """Questions made of canaries."""

    kind: Literal["canary"]
    name: str = "canary"
    own_process_per_answer: ClassVar[bool] = False

    def describe(self):
        return "Say the word that belongs to the text."

    def versions(self):
        return {}

    def questions(self, start, stop, seed):
        return [Question.of(self.name, f"text-{i:04d}-canary", f"gold-{i:04d}-canary", i, None, i) for i in range(start, stop)]

    def grade_names(self):
        return ("score", "exact")

    def grade(self, answer, question):
        right = float(answer == question.answer)
        return {"score": right, "exact": right}
'''

SPEC = """
plan: adaptation
name: canary
family: {kind: canary}
splits: {feedback: 3, scoring: 4, evaluation: 5}
harness: harnesses/plain.py
solver: {name: solver, weights: solver, as_of: 2026-11-01}
proposer: {name: proposer, weights: proposer, as_of: 2026-11-01, prompt: proposer/search_replace}
report: {failures: 3, show_gold: %s}
rounds: 2
proposals: 2
selection: {kind: best_candidate}
evaluate_all: true
machine: {models: {solver: {base_url: "%s"}, proposer: {base_url: "%s"}}}
"""


@pytest.fixture
def run(tmp_path):
    """A function: runs the canary spec with show_gold on or off; gives the requests by role, and a way to query."""

    def go(show_gold):
        world = make_world(tmp_path / show_gold)
        (world.folder / "parts/families").mkdir(parents=True)
        (world.folder / "parts/families/canary.py").write_text(FAMILY)
        (world.folder / "specs/harnesses/plain.py").write_text(HARNESS)
        with ModelServer(lambda asked: ASKS_TWICE if "SEARCH" in asked else "a guess") as server:
            (world.folder / "specs/canary.yaml").write_text(SPEC % (show_gold, server.url, server.url))
            world.hbench("run", "specs/canary.yaml", "-q")
        asked = {"solver": "", "proposer": ""}
        for body in server.bodies:
            asked[body["model"]] += json.dumps(body["messages"])
        return world, asked

    return go


def questions(world, role):
    rows = world.sql(f"select q.text, q.answer from split_questions s join questions q using (question_id) where s.role = '{role}'")
    return {row["text"] for row in rows}, {row["answer"].strip('"') for row in rows}


def test_gold_and_held_out_texts_stay_where_they_belong(run):
    world, asked = run("true")
    texts, gold = questions(world, "evaluation")
    assert len(texts) == 5
    everything = asked["solver"] + asked["proposer"]
    assert not [g for g in gold if g in everything]
    assert not [t for t in texts if t in asked["proposer"]]
    assert all(t in asked["solver"] for t in texts)
    other = world.sql(
        "select distinct l.purpose from events e join texts x on x.digest = e.sent_digest "
        "join run_steps r using (step_key) join plan_labels l using (step_id) "
        f"where regexp_matches(x.text, '{'|'.join(texts)}')"
    )
    assert {row["purpose"] for row in other} <= {"held_out", "held_out_seed", "held_out_round", "held_out_candidate"}


# Who reads the texts and the gold answers of a split, where the spec shows gold in reports: the control is the proposer.
READERS = {
    ("feedback", "texts"): {"solver", "proposer"},
    ("feedback", "gold"): {"proposer"},
    ("scoring", "texts"): {"solver"},
    ("scoring", "gold"): set(),
    ("evaluation", "texts"): {"solver"},
    ("evaluation", "gold"): set(),
}


@pytest.mark.slow
def test_each_split_is_read_by_those_it_is_for_and_by_nobody_else(run, tried):
    world, asked = run("true")
    for (split, what), readers in READERS.items():
        canaries = dict(zip(("texts", "gold"), questions(world, split), strict=True))[what]
        assert len(canaries) == {"feedback": 3, "scoring": 4, "evaluation": 5}[split]
        for role, said in asked.items():
            found = {canary for canary in canaries if canary in said}
            assert found == (canaries if role in readers else set()), (split, what, role)
            tried(f"{what} of {split} questions and the {role}")


def test_feedback_gold_vanishes_when_the_spec_hides_it(run):
    world, asked = run("false")
    texts, gold = questions(world, "feedback")
    assert all(t in asked["proposer"] for t in texts)
    assert not [g for g in gold if g in asked["proposer"] + asked["solver"]]
