"""GRPO in two processes that meet over gloo: they draw, learn and stop as one does.

`python -m tests.engines.test_grpo_ranks FOLDER MODEL SCORE` is one of them; torch's variables say which.
"""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from hbench.core.failure import StepError
from hbench.core.training import Task
from hbench.engines.grpo import train_grpo
from hbench.engines.trainer_log import latest, update_of
from tests.engines.test_grpo import MACHINE, PROMPTS, RECIPE, letters, weights
from tests.engines.training import tiny_ref

torch = pytest.importorskip("torch")
pytest.importorskip("trl")

pytestmark = pytest.mark.slow


def one_missing(update, contexts, responses, generate):
    """The second process alone misses a reward, in the second update."""
    missing = update == 2 and os.environ["RANK"] == "1"
    return [None if missing else 1.0, *letters(update, contexts, responses, generate)[1:]]


def trouble(update, *rest):
    """The second process alone is in trouble, in the second update."""
    if update == 2 and os.environ["RANK"] == "1":
        raise StepError("the solver is gone")
    return letters(update, *rest)


def trained(folder: Path, model: Path, score, rank=0, processes=1) -> None:
    """Trains in this process; leaves said-<rank>.json: texts by update, what was noted, and what was raised."""
    said, noted, raised = {}, {}, None

    def scored(update, contexts, responses, generate):
        said[update] = [one.text for one in responses]
        return score(update, contexts, responses, generate)

    job = Task(tiny_ref(model), {**RECIPE, "updates": 3}, 7, folder, rank, processes, {**MACHINE, "threads": 1})
    try:
        train_grpo(job, PROMPTS, scored, lambda update, name, value: noted.__setitem__(f"{update} {name}", value))
    except StepError as trouble:
        raised = str(trouble)
    (folder / f"said-{rank}.json").write_text(json.dumps({"said": said, "noted": noted, "raised": raised}))


def in_two(folder: Path, model: Path, score) -> list:
    """What each of two processes left."""
    folder.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    shared = {**os.environ, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    shared |= {"ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.engines.test_grpo_ranks", str(folder), str(model), score.__name__]
    started = [
        subprocess.Popen(command, env={**shared, "RANK": rank, "LOCAL_RANK": rank}, stderr=subprocess.PIPE, text=True)
        for rank in ("0", "1")
    ]
    for each in started:
        assert each.wait(timeout=300) == 0, each.stderr.read()[-3000:]
    return [json.loads((folder / f"said-{rank}.json").read_text()) for rank in (0, 1)]


@pytest.mark.long
def test_two_processes_draw_and_learn_what_one_does(tmp_path):
    model = tmp_path / "model"
    (tmp_path / "one").mkdir()
    trained(tmp_path / "one", model, letters)
    one = json.loads((tmp_path / "one" / "said-0.json").read_text())
    first, second = in_two(tmp_path / "two", model, letters)
    assert {update: first["said"][update] + second["said"][update] for update in first["said"]} == one["said"]
    for name in ("reward", "groups_without_signal", "none_share", "completion_tokens"):
        for row in (f"{update} {name}" for update in (1, 2, 3)):
            assert first["noted"][row] == pytest.approx(one["noted"][row])
    found, wanted = weights(tmp_path / "two" / "final"), weights(tmp_path / "one" / "final")
    assert all(torch.allclose(found[name].float(), each.float(), atol=2e-2) for name, each in wanted.items())


@pytest.mark.long
@pytest.mark.parametrize("score, told", [(one_missing, "no reward"), (trouble, "the solver is gone")])
def test_what_one_process_meets_stops_both_behind_a_checkpoint(tmp_path, score, told):
    first, second = in_two(tmp_path / "two", tmp_path / "model", score)
    assert "update 2" in first["raised"] and told in second["raised"]
    assert update_of(latest(tmp_path / "two")) == 1


if __name__ == "__main__":
    place, weights_folder, named = sys.argv[1:]
    trained(Path(place), Path(weights_folder), globals()[named], int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
