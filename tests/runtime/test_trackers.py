"""TensorBoard and W&B hear of a training through TRL's own switch, and only where the machine block asks for it."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from hbench.core.failure import HbenchError
from hbench.runtime.training import trackers
from hbench.runtime.training.trackers import check_trackers, tracker_environment
from hbench.spec.machine import TrainingBlock
from tests.runtime.tiny_training import SFT, Tiny, losses
from tests.world import World

KEY = "0123456789abcdef" * 4
SHORT = {**SFT, "updates": 3}


def test_nobody_is_told_unless_the_spec_says_so():
    assert TrainingBlock().report_to == () and tracker_environment((), Path("results"), "sft", KEY) == {}
    assert TrainingBlock(report_to="tensorboard").report_to == ("tensorboard",)
    with pytest.raises(ValueError, match="'tensorboard' or 'wandb'"):
        TrainingBlock(report_to=["tensorbord"])


def test_a_step_writes_below_the_results_under_its_own_key(tmp_path):
    told = tracker_environment(("tensorboard", "wandb"), tmp_path, "grpo", KEY)
    assert told["TENSORBOARD_LOGGING_DIR"] == str(tmp_path / "trackers/tensorboard/grpo-01234567")
    assert (told["WANDB_DIR"], told["WANDB_NAME"], told["WANDB_PROJECT"]) == (str(tmp_path / "trackers"), "grpo-01234567", "hbench")
    assert told["WANDB_RUN_ID"] == KEY[:32] and told["WANDB_RESUME"] == "allow"


def test_what_the_user_s_variables_say_counts(tmp_path, monkeypatch):
    monkeypatch.setenv("WANDB_PROJECT", "theirs")
    assert tracker_environment(("wandb",), tmp_path, "sft", KEY)["WANDB_PROJECT"] == "theirs"


def test_a_tracker_that_is_not_installed_is_told(monkeypatch):
    monkeypatch.setattr(trackers, "find_spec", lambda name: None)
    check_trackers(())
    with pytest.raises(HbenchError, match="machine.training.report_to: wandb is not installed: pip install wandb"):
        check_trackers(("wandb",))


@pytest.mark.skipif(find_spec("wandb") is not None, reason="wandb is installed")
def test_it_is_told_before_anything_runs(tmp_path):
    done = World(tmp_path).hbench("run", "new/training", "machine.training.report_to=wandb", "-q", check=False)
    assert (done.returncode, done.stderr) == (2, "machine.training.report_to: wandb is not installed: pip install wandb\n")
    assert not (tmp_path / "results").exists()


@pytest.mark.slow
@pytest.mark.skipif(find_spec("tensorboard") is None, reason="tensorboard is not installed")
def test_tensorboard_has_the_losses_that_the_rows_have(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    tiny = Tiny.made(tmp_path, SHORT, report_to=["tensorboard"])
    made = tiny.train()
    (folder,) = (tmp_path / "results/trackers/tensorboard").iterdir()
    seen = EventAccumulator(str(folder)).Reload()
    assert {e.step: pytest.approx(e.value, rel=1e-5) for e in seen.Scalars("train/loss")} == losses(made)
    assert not list(tiny.train_folder.rglob("events.out*")), "nothing in a folder that goes when the step is done"


@pytest.mark.slow
@pytest.mark.skipif(find_spec("wandb") is None, reason="wandb is not installed")
def test_wandb_has_a_run_of_the_step_s_name(tmp_path, monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "offline")
    Tiny.made(tmp_path, SHORT, report_to=["wandb"]).train()
    (written,) = (tmp_path / "results/trackers/wandb").glob("offline-run-*-part/run-part.wandb")
    assert b"train/loss" in written.read_bytes()
