"""A harness as lm-eval's model: lm-eval's own task loop asks, the harness answers in its jail, lm-eval grades."""

from pathlib import Path

import pytest

from hbench.core.failure import HbenchError
from hbench.parts.families._lm_eval_files import own_folders
from tests.world import make_world, write_replies

pytest.importorskip("lm_eval", reason="the extra 'benchmark' is not installed")
pytestmark = pytest.mark.slow

COUNTS = '''
import re

def run(question, tools):
    tools.lm(question)
    return f"I count {len(re.findall(chr(39) + '(.*)' + chr(39), question)[-1])}"
'''
SPEC = """
plan: evaluation
name: toy
family: {kind: toy, name: toy, ask: sum}
splits: {evaluation: 6}
harness: harnesses/plain.py
solver: {kind: recorded, file: replies/solver.jsonl}
sweep: {family.name: [one, two]}
arms:
  plain: {}
  counts: {harness: harnesses/counts.py}
"""


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """A function: what lm-eval's evaluation gives of a task with these model_args."""
    import lm_eval
    from lm_eval.tasks import TaskManager

    from hbench.runtime.lm_eval_model import register

    world = make_world(tmp_path, SPEC)
    (world.folder / "specs/harnesses/counts.py").write_text(COUNTS)
    write_replies(world.folder / "specs/replies/solver.jsonl", [{"reply": "Is it 1? I think it is 5."}])
    monkeypatch.chdir(world.folder)
    register()
    tasks = TaskManager(include_defaults=False, include_path=[*own_folders()])

    def evaluated(args: str, task: str = "letters", **more):
        return lm_eval.simple_evaluate(model="hbench", model_args=args, tasks=[task], task_manager=tasks, **more)

    return evaluated


def test_a_harness_answers_and_lm_eval_grades(asked):
    found = asked("spec=toy,arm=counts", limit=10)["results"]["letters"]
    assert found["exact_match,first-number"] == found["exact_match,last-number"] == 1.0


def test_the_solver_of_the_spec_is_asked_and_the_answer_is_not_cut(asked):
    made = asked("spec=toy,harness=harnesses/plain.py", limit=8, log_samples=True)
    assert {sample["resps"][0][0] for sample in made["samples"]["letters"]} == {"Is it 1? I think it is 5."}
    rights = [sample["doc"]["letters"] == 5 for sample in made["samples"]["letters"] if sample["filter"] == "last-number"]
    assert made["results"]["letters"]["exact_match,last-number"] == sum(rights) / 8
    assert made["results"]["letters"]["exact_match,first-number"] == 0.0


def test_points_that_differ_in_more_than_their_family_must_be_told_apart(asked):
    file = Path("specs/toy.yaml")
    file.write_text(file.read_text().replace("family.name: [one, two]", "seed: [0, 1]"))
    with pytest.raises(HbenchError, match="toy is 2 experiments that answer differently: set what it sweeps, e.g. seed="):
        asked("spec=toy", limit=1)


@pytest.mark.parametrize(
    ("args", "task", "told"),
    [
        ("spec=toy,arm=other", "letters", "toy has no arm 'other' .there are: plain, counts"),
        ("harness=harnesses/plain.py", "letters", "spec=FILE says which harness"),
        ("spec=toy", "letters_choice", "no log-likelihood of one: only generate_until"),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_line(asked, args, task, told):
    with pytest.raises(HbenchError, match=told):
        asked(args, task, limit=1)
