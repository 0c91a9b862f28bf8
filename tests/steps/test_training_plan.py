"""A whole training plan with real jails and a trainer that draws recorded edits in place of learning: its steps fit."""

import pytest

from hbench.core.training import Response, Trained
from hbench.plan import compile
from hbench.runtime.execute import Execution
from hbench.runtime.local import Here
from hbench.runtime.progress import Progress
from hbench.runtime.run import machine_of
from hbench.runtime.services import RunServices, StepServices
from hbench.spec import load
from hbench.steps.edit_reward import EditReward
from hbench.store.artifacts import Store
from tests.world import ASKS_TWICE, MISSES, PROSE, SOLVES, make_world

SPEC = """
plan: training
name: toy
family: {kind: toy, name: toy, ask: sum}
seen: [toy_a, {name: toy_b, ask: copy}]
splits: {feedback: 4, scoring: 4, evaluation: 6}
harness: harnesses/plain.py
solver: {kind: recorded, file: replies/solver.jsonl}
proposer: {weights: tiny, revision: r1, prompt: proposer/search_replace, sampling: {temperature: 1.0}, output: rl}
rounds: 0
train:
  contexts: {per_family: 3, feedback: 3, scoring: 4}
  demonstrate:
    teacher: {kind: recorded, file: replies/proposer.jsonl}
    prompts: [proposer/search_replace, proposer/search_replace_tools]
    per_context: 4
  sft: {updates: 2}
  grpo: {updates: 2, segments: 2, prompts: 2, group: 3, stronger: 0.5, carry: best}
"""
DRAWN = (ASKS_TWICE, MISSES, PROSE)
CHECKPOINT = {"kind": "adapter", "base": {}, "sha256": "a" * 64}


def draw(services, job):
    """Three completions in the first four contexts, judged as a rank judges them."""
    folder, rows = services.part.folder / "trained", {"completions": [], "updates": []}
    folder.mkdir()
    (folder / "adapter").write_text(job.method)
    if job.method == "grpo":
        reward = EditReward(job.reward, services, 60)
        for update in (1, 2):
            asked = [(2 * (update - 1) + i // 3, Response(DRAWN[i % 3])) for i in range(6)]
            judged = reward(asked)
            for i, (one, (context, response)) in enumerate(zip(judged, asked, strict=True)):
                number = 6 * (update - 1) + i
                for table, some in reward.rows(one, response, number).items():
                    rows.setdefault(table, []).extend(some)
                same = None if one.same_as is None else one.same_as + 6 * (update - 1)
                told = {"update": update, "rank": 0, "index": i, "context": context, "reward": one.reward, "same_as": same}
                rows["completions"].append({"candidate": number, **told})
    rows["updates"] += [{"update": u, "name": name, "value": 0.1 * u} for u in (1, 2) for name in ("loss", "reward")]
    return Trained(folder, CHECKPOINT, 2, rows)


def tokens(services, model, talks):
    return [([1] * 9, [-100] * 6 + [1] * 3) for _ in talks]


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """kind -> its artifacts, in the plan's order."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(make_world(tmp_path_factory.mktemp("training"), SPEC).folder)
        patch.setattr(StepServices, "train", draw)
        patch.setattr(StepServices, "tokenise", tokens)
        (spec,) = load("specs/toy.yaml")
        plan, store, heard = compile(spec), Store("results"), []
        services = RunServices(machine_of([spec], store.folder), Progress(quiet=True))
        try:
            Execution([plan], store, Here(store, services), Progress(quiet=True), heard.append, 16).run()
        finally:
            services.close()
        assert [one.error for one in heard if one.status not in ("ran", "cached")] == []
        keys = {one.step_id: one.key for one in heard}
        made = {}
        for step in plan.steps:
            made.setdefault(step.kind, []).append(store.get(keys[step.id]))
        yield made


def test_demonstrations_that_succeed_are_kept_and_become_rows(ran):
    (kept,), (rows,) = ran["keep"], ran["sft_rows"]
    assert {one["response"] for one in kept.value["kept"]} == {SOLVES}
    assert sum(count for count, _ in kept.value["counts"].values()) == len(kept.value["kept"]) == rows.value["rows"]


def test_a_stronger_parent_is_the_best_kept_edit(ran):
    segment, kept = ran["train_grpo"][0], ran["keep"][0].value
    parents = {row["parent_id"] for row in segment.rows("candidates")}
    best = {kept[f"best_{name}"]["id"] for name in ("toy_a", "toy_b")}
    assert len(parents) == 2 and len(parents & best) == 1


def test_the_next_segment_goes_on_from_candidates_of_the_first(ran):
    segment, contexts = ran["train_grpo"][0], ran["contexts"][-1]
    carried = [row for row in contexts.rows("edit_contexts") if row["from_candidate"] is not None]
    harness_of = {row["candidate"]: row["harness_id"] for row in segment.rows("candidates")}
    assert carried and all(row["from_step_key"] == segment.key for row in carried)
    assert all(harness_of[row["from_candidate"]] == row["harness_id"] for row in carried)
    assert "Ask once more." in contexts.value["contexts"][0]["report"], "its report tells the edit that led here"


def test_every_context_has_a_report_on_questions_of_its_own(ran):
    parents = [[one["parent"] for one in made.value["contexts"]] for made in ran["contexts"]]
    assert [sorted(set(some)) for some in parents] == [["seed"], ["seed", "stronger"], ["carried"]]
    assert len({one["report"] for one in ran["contexts"][0].value["contexts"]}) == 6


def test_training_goes_on_from_checkpoint_to_checkpoint(ran):
    assert [made.value["checkpoint"] for made in (*ran["train_sft"], *ran["train_grpo"])] == [CHECKPOINT] * 3
    assert [row["identity"].get("adapter") for made in ran["train_grpo"] for row in made.rows("models")] == ["a" * 64] * 2
