"""A training step runs in a process of its own: what comes back, what is said when it fails, how it is stopped."""

import json
import math
import shutil
import subprocess
import sys
import threading
import time

import pytest

from hbench.core.failure import StepError
from hbench.core.training import TrainingJob
from hbench.runtime.loop import Interrupted
from hbench.runtime.training.processes import environment, hold, wait_until_gone, why
from hbench.spec.machine import TrainingBlock
from tests.runtime.tiny_training import LORA, SFT, Tiny, living, losses, token_row, weights

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    """A tiny training and what it gave."""
    tiny = Tiny.made(tmp_path_factory.mktemp("once"))
    return tiny, tiny.train()


def test_training_gives_a_checkpoint_and_a_loss_for_every_update(once):
    tiny, made = once
    found = losses(made)
    assert sorted(found) == list(range(1, 21)) and made.updates == 20
    assert sum(found[u] for u in range(17, 21)) < sum(found[u] for u in range(1, 5))
    assert made.checkpoint["kind"] == "adapter" and made.checkpoint["base"] == tiny.model().base
    assert {file.name for file in made.folder.iterdir()} == {"adapter_config.json", "adapter_model.safetensors"}


def test_times_are_rows_that_no_digest_holds(once):
    rows = [row for row in once[1].rows["updates"] if row["name"] == "seconds"]
    assert len(rows) == 20 and all(row["measured"] > 0 and "value" not in row for row in rows)


def test_the_checkpoint_answers_when_it_is_laid_on_its_base(once):
    from hbench.core.message import Message, Request, Sampling

    tiny, made = once
    trained = tiny.model().trained(made.checkpoint, made.folder)
    request = Request((Message("user", "a"),), Sampling(max_tokens=4))
    with tiny.services() as (_, step):
        before, after = step.ask(tiny.model(), [request])[0], step.ask(trained, [request])[0]
    assert after.text != before.text, "what was trained says what it said before"


@pytest.mark.long
def test_preferences_are_trained_in_a_process_too(tmp_path):
    tiny = Tiny.made(tmp_path, {**SFT, "updates": 6, "beta": 0.5, "warmup": 0})
    sides = ({"accepted": token_row(i), "rejected": {**token_row(i + 9), "group": 0}} for i in range(8))
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text("".join(json.dumps(pair) + "\n" for pair in sides))
    with tiny.services() as (_, step):
        made = step.train(TrainingJob("dpo", tiny.model(), tiny.setting["recipe"], 3, rows=pairs))
    assert losses(made)[1] == pytest.approx(math.log(2), abs=1e-3) and made.checkpoint["kind"] == "adapter"
    assert {"accuracy", "margin"} <= {row["name"] for row in made.rows["updates"]}


def test_a_finished_training_is_taken_as_it_is(once):
    """The driver died between the end of the training and the step's commit."""
    tiny, made = once
    began = time.monotonic()
    again = tiny.train()
    assert again.checkpoint == made.checkpoint and losses(again) == losses(made)
    assert time.monotonic() - began < 2


@pytest.mark.long
def test_a_commit_that_was_cut_short_can_be_made_again(tmp_path, monkeypatch):
    """The commit had moved what was trained, and was killed before its rename: the step failed for good. Meanwhile this is
    also a machine of a cluster, whose variables are of ranks that nobody starts here."""
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "4")
    tiny = Tiny.made(tmp_path)
    made, before = (whole := tiny.train()), weights(whole.folder)
    shutil.rmtree(made.folder)
    again = tiny.train()
    assert weights(again.folder) == before and again.checkpoint == made.checkpoint and losses(again) == losses(made)


@pytest.mark.long
def test_equal_trainings_give_equal_weights(once, tmp_path):
    other = Tiny.made(tmp_path / "other").train()
    assert weights(other.folder) == weights(once[1].folder)
    assert losses(other) == losses(once[1])


def test_the_job_is_for_its_owners_eyes(once):
    """It holds gold answers, and the address of the driver's models."""
    tiny, _ = once
    assert (tiny.train_folder / "job.json").stat().st_mode & 0o077 == 0


def test_the_driver_loads_no_torch(tmp_path):
    Tiny.made(tmp_path, {**SFT, "updates": 1})
    code = (
        "import sys; from pathlib import Path; from tests.runtime.tiny_training import Tiny\n"
        f"Tiny(Path({str(tmp_path)!r})).train()\n"
        "print(*sorted({'torch', 'trl', 'transformers', 'accelerate', 'peft', 'datasets'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


@pytest.mark.parametrize(("ours", "processes", "theirs"), [(None, 1, "0"), ("3,1", 1, "3"), ("", 1, ""), ("3,1", 2, None)])
def test_one_process_sees_one_gpu(ours, processes, theirs, monkeypatch):
    """With more in sight the trainer would spread each batch over all of them, in a way of its own."""
    if ours is None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    else:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", ours)
    found = environment(TrainingBlock(processes=processes).to_json())
    assert found.get("CUDA_VISIBLE_DEVICES") == theirs


@pytest.mark.long
def test_whole_weights_are_trained_where_the_recipe_has_no_lora(tmp_path):
    made = Tiny.made(tmp_path, {**SFT, "updates": 3, "lora": None}).train()
    assert made.checkpoint["kind"] == "weights" and (made.folder / "config.json").exists()


def test_a_trainers_own_words_are_the_steps_error(tmp_path):
    tiny = Tiny.made(tmp_path, {**SFT, "max_length": 5})
    with pytest.raises(StepError, match="^row 0 has 7 tokens, more than max_length 5"):
        tiny.train()


@pytest.mark.long
def test_a_bug_shows_the_end_of_the_log_and_names_it(tmp_path):
    tiny = Tiny.made(tmp_path, {key: value for key, value in SFT.items() if key != "batch"})
    with pytest.raises(StepError) as told:
        tiny.train()
    lines = str(told.value).splitlines()
    assert "Traceback" in lines[0] or any("Traceback" in line for line in lines)
    assert "KeyError: 'batch'" in lines[-1] and lines[-1].endswith(f"(more in {tiny.train_folder}/log-0.txt)")


def test_the_extra_that_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("hbench.runtime.training.launch.find_spec", lambda name: None if name == "trl" else True)
    with pytest.raises(StepError, match=r"the extra 'train' \(trl missing\): pip install"):
        Tiny.made(tmp_path).train()


@pytest.mark.long
def test_how_far_it_is_can_be_seen(tmp_path):
    tiny, seen = Tiny.made(tmp_path, {**SFT, "updates": 60}), []
    with tiny.services() as (run, step):
        run.progress.step = lambda label, done, total: seen.append((done, total))
        step.train(tiny.job())
    assert seen[0] == (0, 60) and seen[-1] == (60, 60) and seen == sorted(seen)
    assert any(0 < done < 60 for done, _ in seen)


def test_a_killed_rank_is_named_whichever_rank_was_noticed_first(tmp_path):
    """Rank 0 missed rank 1 and ended with exit code 1: on a busy machine the launcher saw that first, and we blamed rank 0.

    Its first line, of a local rank, was then read together with the exit code of the other.
    """
    told = "E1130 api.py:1002] failed (exitcode: 1) local_rank: 0 (pid: 13545) of binary: python\nFailures:\n  rank : 1 (local_rank: 1)\n  exitcode : -9\nRoot Cause:\n  rank : 0 (local_rank: 0)\n  exitcode : 1\n"
    (tmp_path / "log-launch.txt").write_text(told)
    (tmp_path / "trouble-0.json").write_text('{"message": "rank 0 lost its peer"}')
    assert "rank 1 of the training was killed (signal 9)" in str(why(tmp_path, 1, 2))
    (tmp_path / "trouble-0.json").unlink()
    (tmp_path / "log-launch.txt").write_text(told.replace("-9", "-15"))
    assert "rank 0 of the training ended with exit code 1" in str(why(tmp_path, 1, 2))


def test_a_model_in_this_process_makes_way_for_a_training(once):
    """Both at once on two cores: an update took 50 s instead of 10."""
    from hbench.core.message import Message, Request, Sampling

    request, replies = Request((Message("user", "b"),), Sampling(max_tokens=2)), []
    with once[0].services() as (run, step):
        asking = threading.Thread(target=lambda: replies.extend(step.ask(once[0].model(), [request])))
        with run.device.alone():
            asking.start()
            asking.join(3)
            assert not replies
        asking.join(60)
    assert len(replies) == 1


def test_a_run_that_is_stopped_ends_its_training_at_once_and_keeps_the_checkpoint(tmp_path):
    tiny, ended = Tiny.made(tmp_path, {**SFT, "updates": 5000}), []
    with tiny.services() as (run, step):

        def body():
            try:
                step.train(tiny.job())
            except BaseException as trouble:
                ended.append(trouble)

        thread = threading.Thread(target=body)
        thread.start()
        tiny.reached(8)
        began = time.monotonic()
        run.close()
        assert living(tmp_path) == []
        thread.join(5)
        assert time.monotonic() - began < 5
    assert isinstance(ended[0], Interrupted)
    assert (tiny.train_folder / "checkpoints/checkpoint-5/whole.json").exists()


def test_a_try_waits_until_the_processes_of_an_earlier_one_are_gone(tmp_path):
    """Two would write into the same files."""
    waited = []
    code = f"import sys, time; from pathlib import Path; from hbench.runtime.training.processes import hold\nhold(Path({str(tmp_path)!r})); print('held', flush=True); time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    with pytest.raises(StepError, match="processes of an earlier try still train"):
        wait_until_gone(tmp_path, lambda: waited.append(1), seconds=0.3)
    process.kill()
    process.wait()
    wait_until_gone(tmp_path, lambda: None, seconds=5)
    assert waited and hold(tmp_path) > 0


@pytest.mark.long
def test_a_job_that_goes_on_from_an_adapter_takes_its_weights(once, tmp_path):
    tiny, made = once
    told = {**SFT, "updates": 1, "learning_rate": 1e-9, "warmup": 0}
    other = Tiny.made(tmp_path / "more", told)
    with other.services() as (_, step):
        job = other.job()
        job = type(job)(job.method, job.model.trained(made.checkpoint, made.folder), job.recipe, job.seed, job.rows)
        further = step.train(job)
    assert further.checkpoint["base"] == other.model().base
    assert abs(losses(further)[1] - losses(made)[20]) < 1.0 and losses(further)[1] < losses(made)[1] / 1.5
    assert json.loads((further.folder / "adapter_config.json").read_text())["r"] == LORA["rank"]
