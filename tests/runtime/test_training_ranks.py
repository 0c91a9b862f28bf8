"""Several processes train one model: each keeps rows of its own, and none outlives another's death by a minute."""

import json
import os
import random
import signal
import time

import psutil
import pytest

from hbench.core.failure import StepError
from hbench.runtime.training.rows import rows_files
from tests.runtime.test_training_kill import SEED, killed_at
from tests.runtime.tiny_training import SFT, Tiny, living, losses

pytestmark = pytest.mark.slow


def rank_of(process: psutil.Process) -> str | None:
    try:
        return process.environ().get("RANK")
    except psutil.Error:
        return None


def the_launcher(driver) -> int:
    (child,) = (one for one in psutil.Process(driver.pid).children() if "hbench.runtime.training.launcher" in one.cmdline())
    return child.pid


def rank(number: int):
    def found(driver) -> int:
        below = psutil.Process(driver.pid).children(recursive=True)
        return next(one.pid for one in below if rank_of(one) == str(number) and "hbench.runtime.training" in one.cmdline())

    return found


def test_two_processes_learn_what_one_learns(tmp_path):
    """An update's rows are shared between them; its loss is the mean over all of its tokens."""
    one = Tiny.made(tmp_path / "one").train()
    tiny = Tiny.made(tmp_path / "two", processes=2)
    two = tiny.train()
    assert [file.name for file in rows_files(tiny.train_folder)] == ["rows-0.jsonl", "rows-1.jsonl"]
    assert sorted(losses(two)) == sorted(losses(one)) and two.updates == 20
    assert losses(two) == pytest.approx(losses(one), rel=1e-3)


@pytest.mark.long
def test_two_processes_weigh_tokens_as_one_does(tmp_path):
    """Sessions of unequal weight, so that it shows when each process divides by its own."""
    found = []
    for processes in (1, 2):
        tiny = Tiny.made(tmp_path / str(processes), {**SFT, "updates": 5}, processes=processes)
        rows = [json.loads(line) for line in (tiny.folder / "rows.jsonl").read_text().splitlines()]
        told = [row | {"weights": [0, 0, 0, 0, *[(at + 1) / 30] * 3], "group": at} for at, row in enumerate(rows)]
        (tiny.folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in told))
        found.append(tiny.train())
    one, two = found
    assert losses(two) == pytest.approx(losses(one), rel=1e-3)
    norms = [[row["value"] for row in made.rows["updates"] if row["name"] == "grad_norm"] for made in found]
    assert norms[0] == pytest.approx(norms[1], rel=1e-2)


@pytest.mark.long
def test_a_rank_that_dies_ends_the_others_and_is_named_with_its_log(tmp_path):
    tiny = Tiny.made(tmp_path, {**SFT, "updates": 5000}, processes=2)
    driver = tiny.start()
    tiny.reached(7)
    began = time.monotonic()
    os.kill(rank(1)(driver), signal.SIGKILL)
    said = driver.communicate(timeout=60)[0]
    assert time.monotonic() - began < 60 and living(tmp_path) == []
    assert "rank 1 of the training was killed (signal 9)" in said and f"{tiny.train_folder}/log-1.txt" in said
    assert (tiny.train_folder / "checkpoints/checkpoint-5/whole.json").exists()


@pytest.mark.long
def test_what_one_rank_says_is_the_steps_error(tmp_path):
    """3 processes cannot share 4 rows an update."""
    with pytest.raises(StepError, match="4 rows an update cannot be shared by 3 processes"):
        Tiny.made(tmp_path, processes=3).train()


@pytest.mark.long
def test_after_kills_of_driver_launcher_and_ranks_every_update_is_there_once(tmp_path):
    print(f"\nkill seed {SEED}")
    draw, tiny = random.Random(SEED), Tiny.made(tmp_path, {**SFT, "updates": 40}, processes=2)
    moments = sorted(draw.sample(range(2, 36), 3))
    victims = draw.sample([lambda driver: driver.pid, the_launcher, rank(draw.randrange(2))], 3)
    for update, whom in zip(moments, victims, strict=True):
        killed_at(tiny, update, whom)
    made = tiny.train()
    assert sorted(losses(made)) == list(range(1, 41)) and made.updates == 40
