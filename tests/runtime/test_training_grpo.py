"""Learning from edits in processes of its own: killed and gone on, shared by two, stopped by all when rewards fail."""

import json
import random

import pytest

from hbench.core.failure import StepError
from hbench.runtime.training.job import SERVED
from hbench.runtime.training.rows import rows_files
from tests.runtime.test_training_kill import SEED, killed_at, the_driver, the_rank
from tests.runtime.tiny_training import GRPO, WEIGHTS, Tiny, living, weights

pytestmark = pytest.mark.slow
UPDATES, A_STEP = GRPO["updates"], GRPO["prompts"] * GRPO["group"]


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    monkeypatch.setenv("HBENCH_PARTS", str(tmp_path / "parts"))
    return lambda recipe=GRPO, **training: Tiny.learns_from_edits(tmp_path, recipe, **training)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """A training that nobody kills."""
    folder = tmp_path_factory.mktemp("alone")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HBENCH_PARTS", str(folder / "parts"))
        return Tiny.learns_from_edits(folder).train()


def curve(made, name):
    return {row["update"]: row.get("value", row.get("measured")) for row in made.rows["updates"] if row["name"] == name}


def completions(made):
    """candidate -> what came of it."""
    rows = made.rows["completions"]
    assert len({row["candidate"] for row in rows}) == len(rows), "a completion is there twice"
    return {row["candidate"]: (row["update"], row["context"], row.get("reward"), row["completion_tokens"]) for row in rows}


def test_every_update_leaves_its_curves_and_every_completion_its_row(alone):
    assert sorted(completions(alone)) == list(range(UPDATES * A_STEP))
    for name in ("loss", "reward", "reward_std", "failed_share", "seconds", "reward_seconds", "reward_share", *WEIGHTS):
        assert sorted(curve(alone, name)) == list(range(1, UPDATES + 1)), name
    assert len({value for value in curve(alone, "reward").values()}) > 1, "rewards differ, so there is something to learn"


def test_the_reward_of_an_update_is_the_sum_of_its_terms(alone):
    terms = {name: curve(alone, name) for name in WEIGHTS}
    for update, reward in curve(alone, "reward").items():
        assert reward == pytest.approx(sum(WEIGHTS[name] * terms[name][update] for name in WEIGHTS), abs=1e-6)


def test_killed_and_gone_on_it_learns_the_same_from_the_same_completions(alone, tiny):
    print(f"\nkill seed {SEED}")
    draw, made = random.Random(SEED), tiny()
    moments = sorted(draw.sample(range(2, UPDATES - 4), 2))
    for update, whom in zip(moments, draw.sample([the_driver, the_rank], 2), strict=True):
        killed_at(made, update, whom)
    found = made.train()
    assert completions(found) == completions(alone)
    assert curve(found, "reward") == curve(alone, "reward") and curve(found, "loss") == curve(alone, "loss")
    assert weights(found.folder) == weights(alone.folder)


def test_two_processes_share_an_updates_completions_and_ask_the_driver_for_its_solver(tiny):
    made = tiny({**GRPO, "updates": 8}, processes=2)
    found = made.train()
    assert sorted(completions(found)) == list(range(8 * A_STEP))
    ranks = {row["rank"] for row in found.rows["completions"]}
    places = [(row["update"], row["rank"], row["index"]) for row in found.rows["completions"]]
    assert ranks == {0, 1} and len(set(places)) == len(places)
    assert [file.name for file in rows_files(made.train_folder)] == ["rows-0.jsonl", "rows-1.jsonl"]
    reached = json.loads((made.train_folder / "job.json").read_text())["machine"]["models"]
    assert all(list(reach) == [SERVED] for _, reach in reached), "a rank opens no model of the driver's itself"


def test_a_job_puts_no_gold_into_the_prompts_that_a_trainer_sees(tiny):
    job = tiny().job()
    assert all(set(prompt) == {"context", "messages"} for prompt in job.prompts)
    gold = [question["answer"] for question in job.reward["questions"]["toy"]]
    assert gold and not any(answer in json.dumps(job.prompts) for answer in gold)


@pytest.mark.long
def test_when_rewards_cannot_be_had_all_processes_stop_and_say_why(tiny):
    """A solver that is down is no reward of 0: the step stops, and what was learned stays in its checkpoint.

    It goes down amid an update, so a completion or two of that update may have had their replies already.
    """
    made = tiny({**GRPO, "updates": 5000}, processes=2)
    with made.services() as (run, step):
        down = []

        def told(_, done, __):
            if done >= 6 and not down:
                down.append(done)
                run.run(run._server.close())

        run.progress.step = told
        with pytest.raises(StepError, match=r"no reward could be had for \d of 8 completions") as trouble:
            step.train(made.job())
    assert "the solver gave no reply" in str(trouble.value)
    assert living(made.folder) == []
    assert list(made.train_folder.glob("checkpoints/*/whole.json"))
