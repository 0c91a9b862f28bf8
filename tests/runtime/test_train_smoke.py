"""`make train-smoke`: every training step for real, on a tiny model, through `hbench run`, stopped twice on its way."""

import os
import signal
import subprocess
import sys
import time

import pytest

from hbench.runtime.training.rows import Progress, rows_file
from tests.runtime.tiny_training import living
from tests.smoke_model import save_smoke_model
from tests.world import World

pytestmark = pytest.mark.long  # `make train-smoke` runs it
SPEC, SFT_UPDATES, RL_UPDATES, A_STEP = "training/smoke", 80, 6, 4 * 8


class Smoke(World):
    """A working folder that holds the model and nothing else; the spec is the one that ships."""

    def stopped_in(self, kind: str, update: int, how: signal.Signals) -> int:
        """Starts the run, sends `how` to its driver when the first unfinished step of `kind` has come to `update`."""
        driver = subprocess.Popen([sys.executable, "-m", "hbench", "run", SPEC, "-q"], cwd=self.folder)
        until = time.monotonic() + 500
        while self.now(kind) < update:
            assert driver.poll() is None and time.monotonic() < until, f"{kind} is at update {self.now(kind)}"
            time.sleep(0.01)
        os.kill(driver.pid, how)
        code = driver.wait(20)
        gone = time.monotonic() + 10
        while (left := living(self.folder)) and time.monotonic() < gone:
            time.sleep(0.05)
        assert left == [], "a training process has outlived its driver"
        return code

    def now(self, kind: str) -> int:
        folders = self.folder.glob("results/steps/*/*.part/train")
        mine = [folder for folder in folders if f'"method": "{kind}"' in _text(folder / "job.json")]
        return max((Progress(rows_file(folder, 0)).look() for folder in mine), default=0)


def _text(file) -> str:
    return file.read_text() if file.exists() else ""


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """The whole spec, run to its end after a kill -9 and a Ctrl-C."""
    made = Smoke(tmp_path_factory.mktemp("smoke"))
    save_smoke_model(made.folder / "smoke-model")
    began = time.monotonic()
    assert made.stopped_in("sft", 15, signal.SIGKILL) == -signal.SIGKILL
    assert made.stopped_in("grpo", 3, signal.SIGINT) == 130
    made.hbench("run", SPEC, "-q", timeout=600)
    print(f"\nthree runs in {time.monotonic() - began:.0f} s")
    return made


def arm_steps(kind: str, arm: str) -> str:
    return (
        f"select distinct r.step_key from plan_steps as s join plan_labels as l using (step_id) join run_steps as r "
        f"using (step_id) where s.kind = '{kind}' and l.arm = '{arm}' and r.step_key is not null"
    )


def updates(smoke, kind: str, arm: str, name: str) -> dict[int, float]:
    query = f"select update, value from updates where step_key in ({arm_steps(kind, arm)}) and name = '{name}' order by 1"
    return {row["update"]: row["value"] for row in smoke.sql(query)}


def test_the_loss_falls(smoke):
    loss = updates(smoke, "train_sft", "sft", "loss")
    print("loss", [round(value, 2) for value in loss.values()])
    assert sorted(loss) == list(range(1, SFT_UPDATES + 1))
    assert sum(loss[u] for u in range(SFT_UPDATES - 3, SFT_UPDATES + 1)) < sum(loss[u] for u in range(1, 5)) / 5


def test_every_update_appears_once(smoke):
    twice = smoke.sql("select step_key, update, name, count(*) as n from updates group by all having n > 1")
    assert twice == []
    assert sorted(updates(smoke, "train_grpo", "rl", "reward")) == list(range(1, RL_UPDATES + 1))


def test_every_completion_is_a_row_with_its_terms(smoke):
    query = f"select update, count(*) as n, count(reward) as judged from completions where step_key in ({arm_steps('train_grpo', 'rl')}) group by update order by update"
    assert smoke.sql(query) == [{"update": u, "n": A_STEP, "judged": A_STEP} for u in range(1, RL_UPDATES + 1)]
    lone = smoke.sql("select count(*) as n from completions c anti join reward_terms t using (step_key, candidate)")
    assert lone == [{"n": 0}]


def test_the_weights_change(smoke):
    """SFT, RL and two segments of multistep RL; the second may meet contexts in which nothing succeeds, and learn nothing."""
    found = smoke.sql("select count(distinct sha256) as n, count(*) as steps from checkpoints")
    assert found[0]["steps"] == 4 and found[0]["n"] >= 3


def test_the_adapter_is_loaded_back_and_proposes(smoke):
    query = (
        "select l.arm, avg(c.applied::int) as applied from candidates as c join run_steps as r using (step_key) "
        "join plan_labels as l using (step_id) where l.purpose = 'propose' group by all"
    )
    applied = {row["arm"]: row["applied"] for row in smoke.sql(query)}
    print("applied", applied)
    assert applied["base"] == 0 and applied["sft"] > 0.2 and applied["rl"] > 0.2


def test_the_reward_of_each_update_is_the_sum_of_its_terms(smoke):
    query = (
        "select c.candidate, any_value(c.reward) as reward, sum(t.value * t.weight) as total from completions as c "
        f"join reward_terms as t using (step_key, candidate) where step_key in ({arm_steps('train_grpo', 'rl')}) group by all"
    )
    rows = smoke.sql(query)
    assert len(rows) == RL_UPDATES * A_STEP and all(abs(row["reward"] - row["total"]) < 1e-9 for row in rows)
    shown = {name: updates(smoke, "train_grpo", "rl", name) for name in ("reward", "task_score", "failed_share")}
    print({name: [round(value, 2) for value in some.values()] for name, some in shown.items()})


def test_the_next_segment_edits_what_the_first_one_made(smoke):
    query = (
        "select count(*) as n from edit_contexts as e join candidates as c on c.step_key = e.from_step_key "
        "and c.candidate = e.from_candidate and c.harness_id = e.harness_id"
    )
    assert smoke.sql(query)[0]["n"] > 0


def test_the_share_of_time_spent_waiting_is_a_row(smoke):
    rows = smoke.sql("select measured from updates where name = 'reward_share'")
    assert len(rows) == 12 and all(0 <= row["measured"] <= 1 for row in rows)
