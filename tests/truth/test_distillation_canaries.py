"""Every question of a distillation is made of canaries: who was asked with them says who reads what of which split."""

import json

import pytest

from hbench.core.question import Question
from tests.world import World, write_replies

pytestmark = [pytest.mark.truth, pytest.mark.slow]
DOMAIN = '''
"""Jobs made of canaries."""

from typing import ClassVar, Literal

from hbench.core.question import Question
from hbench.parts.part import Part


class Canary(Part):
    """Jobs made of canaries: nobody knows their answers."""

    packages: ClassVar[tuple[str, ...]] = ()
    own_process_per_answer: ClassVar[bool] = False
    kind: Literal["canary"]
    name: str = "canary"

    def describe(self):
        return "Say the word that belongs to the text."

    def versions(self):
        return {}

    def questions(self, start, stop, seed):
        return [Question.of(self.name, f"text-{i}-canary", f"gold-{i}-canary", i, None, i) for i in range(start, stop)]

    def files(self, question):
        return {"in.txt": b"nothing"}

    def collected(self, question):
        return ()

    def grade_names(self):
        return ("score",)

    def grade_work(self, work, question):
        return {"score": float(work.answer == question.answer)}
'''
SPEC = """
plan: distillation
name: canary
domain: {kind: canary}
splits: {training: 3, evaluation: 2}
target: {turns: 2, command_s: 10}
student: {kind: recorded, file: replies/student.jsonl}
let:
  by_hand: {kind: recorded, file: replies/by_hand.jsonl}
  bank: {kind: evolved, evolver: "${let.by_hand}", rounds: 2}
  review:
    reviewer: {kind: recorded, file: replies/reviewer.jsonl}
    guidance: {kind: written, bank: "${let.bank}", writer: "${let.by_hand}"}
arms:
  base: {}
  h_star: {bank: "${let.bank}"}
  reviewed: {review: "${let.review}"}
  oracle: {review: {reviewer: {kind: recorded, file: replies/reviewer.jsonl}, oracle: true}}
"""
EVALUATION, TRAINING = range(2), range(2, 5)  # as the pool is cut
EDIT = "Look.\n\nFILE: memory.md\nCITES: {}\nWHY: it did not look\n<<<<<<< WRITE\nLook first.\n>>>>>>> WRITE\n"


def canaries(what, places):
    return {f"{what}-{i}-canary" for i in places}


@pytest.fixture(scope="module")
def asked(tmp_path_factory) -> dict[tuple[str, str], str]:
    """(arm, role) -> all that such a model was asked with."""
    folder = tmp_path_factory.mktemp("canary")
    (folder / "specs/replies").mkdir(parents=True)
    (folder / "parts/domains").mkdir(parents=True)
    (folder / "parts/domains/canary.py").write_text(DOMAIN)
    (folder / "specs/canary.yaml").write_text(SPEC)
    failed = Question.of("canary", "text-2-canary", "gold-2-canary", 2).id
    by_hand = [
        {"match": "The trace of question", "reply": "Failure: it gives up."},
        {"match": "What went wrong, question by question", "reply": EDIT.format(failed)},
        {"reply": "It gives up: have it look."},
    ]
    write_replies(folder / "specs/replies/by_hand.jsonl", by_hand)
    write_replies(folder / "specs/replies/student.jsonl", [{"reply": "I cannot."}])
    write_replies(folder / "specs/replies/reviewer.jsonl", [{"reply": json.dumps({"decision": "pass", "reason": "fine"})}])
    world = World(folder)
    world.hbench("run", "specs/canary.yaml", "-q")
    rows = world.sql(
        "select distinct l.arm, e.role, e.sent from event_texts e join run_steps r using (step_key) "
        "join plan_labels l using (step_id)"
    )
    found: dict[tuple[str, str], str] = {}
    for row in rows:
        found[row["arm"], row["role"]] = found.get((row["arm"], row["role"]), "") + row["sent"]
    return found


def read(said, places):
    """The texts and the gold of these questions that stand in it."""
    return [{each for each in canaries(what, places) if each in said} for what in ("text", "gold")]


def test_held_out_questions_reach_those_who_are_measured_and_their_gold_reaches_nobody(asked, tried):
    roles = {role for _, role in asked}
    assert roles == {"student", "reviewer", "evolver", "writer"}
    for (arm, role), said in asked.items():
        texts, gold = read(said, EVALUATION)
        assert texts == (canaries("text", EVALUATION) if role in ("student", "reviewer") else set()), (arm, role)
        tried(f"held-out texts and the {role} of {arm}")
        assert gold == (canaries("gold", EVALUATION) if (arm, role) == ("oracle", "reviewer") else set()), (arm, role)
        tried(f"held-out gold and the {role} of {arm}")


def test_training_questions_reach_the_evolver_and_their_gold_reaches_nobody(asked, tried):
    for (arm, role), said in asked.items():
        texts, gold = read(said, TRAINING)
        assert role != "evolver" or texts == canaries("text", TRAINING)
        assert gold == set(), (arm, role)
        tried(f"training gold and the {role} of {arm}")
