"""kill -9 of a training step at any moment: the next try goes on from the last checkpoint, and nothing is there twice."""

import os
import random
import signal
import time

import psutil
import pytest

from hbench.core.failure import StepError
from hbench.runtime.training.rows import RankRows, cut, lines, rows_file
from tests.runtime.tiny_training import SFT, Tiny, living, losses, weights
from tests.thorough import often

pytestmark = [pytest.mark.fault, pytest.mark.slow]
SEED = int(os.environ.get("HBENCH_KILL_SEED") or time.time())
UPDATES = 60
RECIPE = {**SFT, "updates": UPDATES, "lora": {**SFT["lora"], "dropout": 0.1}}  # dropout draws: the state of chance counts


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """A training that nobody kills."""
    return Tiny.made(tmp_path_factory.mktemp("alone"), RECIPE).train()


def killed_at(tiny: Tiny, update: int, whom) -> None:
    """Starts a driver, waits for `update`, kills `whom(driver)`; returns when everything has ended."""
    driver = tiny.start()
    tiny.reached(update)
    os.kill(whom(driver), signal.SIGKILL)
    gone = time.monotonic() + 60
    while living(tiny.folder) and time.monotonic() < gone:
        time.sleep(0.05)
    assert living(tiny.folder) == [], "a process has outlived its driver"
    driver.wait(60)
    driver.stdout.close()


def the_driver(driver) -> int:
    return driver.pid


def the_rank(driver) -> int:
    (child,) = (one for one in psutil.Process(driver.pid).children() if "hbench.runtime.training" in one.cmdline())
    return child.pid


@pytest.mark.long
def test_after_kills_of_driver_and_rank_the_weights_are_those_of_a_training_left_alone(alone, tmp_path, tried):
    """Trainer, optimizer, schedule and the state of chance come back: else weights or losses would differ."""
    print(f"\nkill seed {SEED}")
    draw, tiny = random.Random(SEED), Tiny.made(tmp_path, RECIPE)
    victims = [the_driver] * often(2, 5) + [the_rank] * often(1, 10)
    draw.shuffle(victims)
    moments = sorted(draw.sample(range(2, UPDATES - 20), len(victims)))  # well before its end
    for update, whom in zip(moments, victims, strict=True):
        tried(f"{whom.__name__} of a training killed at update {update}".replace("_", " "))
        killed_at(tiny, update, whom)
    made = tiny.train()
    assert sorted(losses(made)) == list(range(1, UPDATES + 1)) and made.updates == UPDATES
    assert losses(made) == losses(alone)
    assert weights(made.folder) == weights(alone.folder)


@pytest.mark.long
def test_the_next_try_begins_at_the_last_checkpoint(tmp_path):
    tiny = Tiny.made(tmp_path, {**RECIPE, "updates": 40})
    killed_at(tiny, 17, the_driver)
    before = [row["updates"][0]["update"] for row in lines(tiny.train_folder)]
    seen = []
    with tiny.services() as (run, step):
        run.progress.step = lambda label, done, total: seen.append(done)
        step.train(tiny.job())
    assert seen[0] % 5 == 0 and 15 <= seen[0] <= max(before), "rows behind the checkpoint are cut before anything is trained"


@pytest.mark.long
def test_a_rank_that_was_killed_is_told_and_its_checkpoints_stay(tmp_path):
    tiny = Tiny.made(tmp_path, {**RECIPE, "updates": 5000})
    driver = tiny.start()
    tiny.reached(7)
    os.kill(the_rank(driver), signal.SIGKILL)
    said = driver.communicate(timeout=60)[0]
    assert driver.returncode and "the training process was killed (signal 9)" in said and StepError.__name__ in said
    assert (tiny.train_folder / "checkpoints/checkpoint-5/whole.json").exists()


@pytest.mark.long
def test_a_torn_checkpoint_is_not_gone_on_from(tmp_path):
    """Killed in the middle of saving: the folder is there, and half its files."""
    tiny = Tiny.made(tmp_path, {**RECIPE, "updates": 40})
    killed_at(tiny, 11, the_driver)
    torn = tiny.train_folder / "checkpoints/checkpoint-39"
    torn.mkdir()
    (torn / "trainer_state.json").write_text('{"global_st')
    assert sorted(losses(tiny.train())) == list(range(1, 41))


def test_rows_behind_the_checkpoint_are_cut_and_so_is_a_torn_line(tmp_path):
    file = rows_file(tmp_path, 0)
    rows = RankRows(file)
    for update in range(1, 8):
        rows.note(update, "loss", float(update))
    with file.open("ab") as torn:
        torn.write(b'{"update":3,"rows":{"updates":[{"upd')
    cut(file, 5)
    assert [row["updates"][0]["value"] for row in lines(tmp_path)] == [1.0, 2.0, 3.0, 4.0, 5.0]
    cut(file, 0)
    assert list(lines(tmp_path)) == []
