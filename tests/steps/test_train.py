"""The two training steps: what they hand to a trainer, and what they keep of what it made."""

import json

import pytest

from hbench.core.failure import StepError
from hbench.core.harness import Harness
from hbench.core.training import Response, Trained
from hbench.steps.edit_reward import EditReward
from hbench.steps.harness import harness_value
from tests.steps.stage import EDIT, PROMPT, REPORT, TERMS, Stage, context, contexts_value, port, questions, setting, value
from tests.world import HARNESS, SOLVES

PARENT = harness_value(Harness.of(HARNESS).tidied())
MODEL = {"role": "proposer", "identity": {"weights": "tiny", "revision": "r1"}, "sampling": {"temperature": 1.0}}
FAMILY = {"name": "toy", "description": "Add."}
RECIPE = {"updates": 3, "learning_rate": 1e-4}
CHECKPOINT = {"kind": "adapter", "base": MODEL["identity"], "sha256": "a" * 64}


@pytest.fixture
def stage(tmp_path):
    made = Stage(tmp_path)
    yield made
    made.close()


class Trainer:
    """Trains nothing: remembers the job, and gives a folder and the rows that a trainer would."""

    def __init__(self, folder, **rows):
        self.folder, self.rows, self.job = folder / "trained", rows, None

    def __call__(self, job):
        self.job = job
        self.folder.mkdir(parents=True)
        (self.folder / "adapter_model.safetensors").write_bytes(b"weights")
        logged = [{"update": u, "name": n, "value": v} for u in (3, 1, 2) for n, v in (("loss", 1 / u), ("reward", u / 10))]
        times = [{"update": 1, "name": "seconds", "measured": 0.5}, {"update": 3, "name": "loss"}]
        return Trained(self.folder, CHECKPOINT, 3, {"updates": logged[:-2] + times[:1] + logged[-2:], **self.rows})


def sft(stage, trainer, **inputs):
    lines = stage.folder / "made"
    (lines / "files").mkdir(parents=True, exist_ok=True)
    (lines / "files" / "rows.jsonl").write_text("{}\n")
    rows = value({"file": "rows.jsonl"})
    object.__setattr__(rows, "folder", lines)
    params = {"model": MODEL, "recipe": RECIPE, "seed": 5}
    return stage.run("train_sft", params, {"rows": rows, **inputs}, train=trainer)


def grpo_params(stage, **changed):
    run = setting(stage.records("solver", {"reply": "7"}))
    return {"model": MODEL, "recipe": RECIPE, "prompt": PROMPT, "edit": EDIT, "families": {"toy": run}, "terms": TERMS,
            "no_change": "form_only", "report": REPORT, "seed": 5, **changed}  # fmt: skip


def grpo(stage, trainer, contexts=2, params=None, **inputs):
    made = contexts_value(*(context(PARENT, i, report=f"Score 0.{i}.") for i in range(contexts)))
    given = {"contexts": made, "questions_toy": questions(5), **inputs}
    return stage.run("train_grpo", params or grpo_params(stage), given, train=trainer)


def test_sft_hands_over_the_rows_and_keeps_the_checkpoint(stage):
    trainer = Trainer(stage.folder)
    made = sft(stage, trainer)
    job = trainer.job
    assert (job.method, job.recipe, job.seed, job.rows.name) == ("sft", RECIPE, 5, "rows.jsonl") and job.model.files is None
    assert made.value == {"checkpoint": CHECKPOINT, "updates": 3, "loss_first": 1.0, "loss_last": pytest.approx(1 / 3)}
    assert (made.folder / "files" / "checkpoint" / "adapter_model.safetensors").read_bytes() == b"weights"
    (row,) = made.rows("checkpoints")
    assert (row["role"], row["base_model"], row["folder"], row["sha256"]) == ("proposer", "tiny", "checkpoint", "a" * 64)
    assert made.rows("models")[0]["identity"] == MODEL["identity"] and len(made.rows("updates")) == 7


def test_training_goes_on_from_a_checkpoint(stage):
    first = sft(stage, Trainer(stage.folder / "sft"))
    trainer = Trainer(stage.folder)
    made = grpo(stage, trainer, checkpoint=port(first, "checkpoint"))
    assert trainer.job.model.identity == {**MODEL["identity"], "adapter": "a" * 64}
    assert trainer.job.model.files == first.folder / "files" / "checkpoint"
    assert made.rows("models")[0]["identity"]["adapter"] == "a" * 64


def test_grpo_tells_the_reward_over_updates(stage):
    made = grpo(stage, Trainer(stage.folder))
    assert made.value == {"checkpoint": CHECKPOINT, "updates": 3, "reward_first": 0.1, "reward_last": 0.3, "segment": None}


def test_grpo_asks_in_each_context_what_adaptation_asks(stage):
    trainer = Trainer(stage.folder)
    grpo(stage, trainer)
    asked = []
    proposing = {"proposer": MODEL, "prompt": PROMPT, "edit": EDIT, "seed": 0, "family": FAMILY}

    def ask(model, requests):
        asked.extend(requests)
        raise StepError("enough")

    for i in range(2):
        with pytest.raises(StepError, match="enough"):
            stage.run("propose", proposing, {"report": value({"text": f"Score 0.{i}.", "harness": PARENT})}, ask=ask)
    trained_on = [(prompt["context"], prompt["messages"]) for prompt in trainer.job.prompts]
    assert trained_on == [(i, [m.to_json() for m in request.messages]) for i, request in enumerate(asked)]


def test_no_gold_is_in_what_a_trainer_reads(stage):
    """TRL prints a dataset's columns when a reward is missing: they hold ids and messages, nothing of scoring questions."""
    trainer = Trainer(stage.folder)
    scoring, feedback = questions(5), questions(3, 100)
    recipe = {**RECIPE, "credit": {"kind": "discounted", "discount": 0.5, "horizon": 1}}
    grpo(stage, trainer, params=grpo_params(stage, recipe=recipe), questions_toy=scoring, feedback_toy=feedback)
    told = json.dumps([*trainer.job.prompts, trainer.job.recipe])
    for question in (*scoring.value, *feedback.value):
        assert question["answer"] not in told and question["text"] not in told
    assert {key for prompt in trainer.job.prompts for key in prompt} == {"context", "messages"}
    assert scoring.value[0]["answer"] in json.dumps(trainer.job.reward), "the reward alone holds it"


def test_the_reward_can_be_made_of_what_the_job_holds(stage):
    trainer = Trainer(stage.folder)
    grpo(stage, trainer)
    with stage.store.open("e" * 64) as part:
        reward = EditReward(json.loads(json.dumps(trainer.job.reward)), stage.services.of(part, ""))
        assert reward([(1, Response(SOLVES))])[0].reward == pytest.approx(1.30)


def test_rows_of_completions_are_kept_as_the_trainer_gives_them(stage):
    row = {"candidate": 4, "update": 1, "rank": 0, "index": 4, "context": 1, "reward": None, "trouble": "refused"}
    made = grpo(stage, Trainer(stage.folder, completions=[row]))
    assert [{k: v for k, v in one.items() if v is not None} for one in made.rows("completions")] == [
        {k: v for k, v in row.items() if v is not None}
    ]


def test_without_contexts_there_is_nothing_to_train_on(stage):
    with pytest.raises(StepError, match="no edit contexts"):
        grpo(stage, Trainer(stage.folder), contexts=0)


def test_a_trained_proposer_is_asked_and_recorded(stage):
    """The checkpoint is part of who was asked: in the model's row, in the call's event and in the reply's identity."""
    first, asked = sft(stage, Trainer(stage.folder)), []

    def ask(model, requests):
        asked.append(model)
        from hbench.core.message import Reply

        return [Reply(SOLVES) for _ in requests]

    params = {"proposer": MODEL, "prompt": PROMPT, "edit": EDIT, "seed": 0, "family": FAMILY}
    inputs = {"report": value({"text": "Score 0.", "harness": PARENT}), "checkpoint": port(first, "checkpoint")}
    made = stage.run("propose", params, inputs, ask=ask)
    (model,) = asked
    assert model.identity["adapter"] == "a" * 64 and model.files == first.folder / "files" / "checkpoint"
    assert made.rows("models")[0]["identity"] == model.identity and made.rows("events")[0]["model"] == model.digest[:16]
