"""A training step of a few seconds: a random model of a few thousand weights, in processes as a run starts them.

`python -m tests.runtime.tiny_training FOLDER` is a driver of its own, for tests that kill it.
"""

import hashlib
import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hbench.core.harness import Harness
from hbench.core.limits import Limits
from hbench.core.model import ModelRef
from hbench.core.training import Trained, TrainingJob
from hbench.parts.part import build
from hbench.runtime.progress import Progress
from hbench.runtime.services import Machine, RunServices
from hbench.spec.machine import TrainingBlock
from tests.canned_edit import write_canned

LORA = {"rank": 4, "alpha": 8, "dropout": 0.0, "targets": "all-linear", "from_layer": None}
SFT = {
    "updates": 20,
    "epochs": 1.0,
    "batch": 4,
    "learning_rate": 1e-2,
    "warmup": 2,
    "schedule": "linear",
    "floor": 0.1,
    "max_length": 64,
    "clip": 1.0,
    "weight_decay": 0.0,
    "seed": 0,
    "lora": LORA,
}
GRPO = {
    **{key: SFT[key] for key in ("learning_rate", "warmup", "schedule", "floor", "clip", "weight_decay", "seed", "lora")},
    "updates": 30,
    "prompts": 2,
    "group": 4,
    "temperature": 1.0,
    "top_p": 1.0,
    "max_tokens": 6,
    "clip_low": 0.2,
    "clip_high": 0.28,
    "kl": 0.0,
    "loss": "dapo",
    "scale": "group",
    "iterations": 1,
    "credit": {"kind": "immediate"},
}
HARNESS = "def run(question, tools):\n    return ''\n"
WEIGHTS = {"parsed": 0.05, "applied": 0.1, "completed": 0.15, "task_score": 1.0}
SETTING = "setting.json"


class Appended:
    """A part folder without a store. tables: what was appended."""

    def __init__(self, folder: Path):
        self.folder, self.tables = folder, {}
        folder.mkdir(exist_ok=True)

    def append(self, rows):
        for table, some in rows.items():
            self.tables.setdefault(table, []).extend(some)

    def rows(self, table):
        return self.tables.get(table, [])


@dataclass(frozen=True)
class Tiny:
    """folder: holds the model, the rows, and the part folder of the step."""

    folder: Path

    @classmethod
    def made(cls, folder: Path, recipe=SFT, more=None, **training) -> "Tiny":
        """training: machine.training. more: what else the job needs, as JSON."""
        from tests.engines.tiny_model import save_tiny

        folder.mkdir(exist_ok=True, parents=True)
        save_tiny(folder / "model")
        rows = [token_row(i) for i in range(16)]
        (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        block = TrainingBlock(**{"threads": 1, "save_every": 5, **training})
        (folder / SETTING).write_text(json.dumps({"recipe": recipe, "training": block.to_json(), "more": more or {}}))
        return cls(folder)

    @classmethod
    def learns_from_edits(cls, folder: Path, recipe=GRPO, **training) -> "Tiny":
        """GRPO: every completion stands for one of two harnesses, which ask a recorded solver of the driver's.

        The edit format lies in folder/parts; HBENCH_PARTS must name it where the driver is this process.
        """
        write_canned(folder / "parts")
        solver = folder / "solver.jsonl"
        solver.write_text(json.dumps({"reply": "no number"}) + "\n")
        return cls.made(folder, recipe, {"solver": str(solver), "reward": edit_reward(solver)}, **training)

    @property
    def setting(self):
        return json.loads((self.folder / SETTING).read_text())

    @property
    def train_folder(self) -> Path:
        return self.folder / "part" / "train"

    def model(self) -> ModelRef:
        return ModelRef("proposer", "tiny", {"weights": str(self.folder / "model"), "dtype": "float32"})

    def job(self) -> TrainingJob:
        told = self.setting
        if "prompts" in told["recipe"]:
            prompts = [{"context": i, "messages": [{"role": "user", "content": text}]} for i, text in enumerate("abcd")]
            return TrainingJob("grpo", self.model(), told["recipe"], 3, prompts=prompts, reward=told["more"]["reward"])
        return TrainingJob("sft", self.model(), told["recipe"], 3, rows=self.folder / "rows.jsonl")

    @contextmanager
    def services(self):
        """(RunServices, the step's services)"""
        known = {self.model().digest: (self.model(), {})}
        if file := self.setting["more"].get("solver"):
            known[recorded(file).digest] = (recorded(file), {"file": file})
        machine = Machine(self.folder / "results", known, training=self.setting["training"])
        run = RunServices(machine, Progress(quiet=True))
        try:
            yield run, run.of(Appended(self.folder / "part"), "training", "key-of-the-step")
        finally:
            run.close()

    def train(self) -> Trained:
        """In this process as the driver."""
        with self.services() as (_, step):
            return step.train(self.job())

    def start(self) -> subprocess.Popen:
        """A driver in a process of its own."""
        command = [sys.executable, "-m", "tests.runtime.tiny_training", str(self.folder)]
        environment = {**os.environ, "HBENCH_PARTS": str(self.folder / "parts")}
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)

    def reached(self, update: int, seconds: float = 300.0) -> int:
        """Waits until rank 0 has left a row of `update`; the update it has come to by then."""
        until = time.monotonic() + seconds
        while (now := self.now()) < update:
            assert time.monotonic() < until, f"still at update {now}: {self.logs()}"
            time.sleep(0.005)
        return now

    def now(self) -> int:
        from hbench.runtime.training.rows import Progress as Read
        from hbench.runtime.training.rows import rows_file

        return Read(rows_file(self.train_folder, 0)).look()

    def logs(self) -> str:
        return "\n".join(f"{file.name}:\n{file.read_text()[-2000:]}" for file in sorted(self.train_folder.glob("log-*")))


def token_row(i: int):
    """Four tokens of prompt, three of completion; two rows share a prompt."""
    said = [7, i % 30 + 4, 0]
    return {"input_ids": [2, 5, i // 2 + 4, 3, *said], "labels": [-100] * 4 + said, "group": i // 2}


def recorded(file: str) -> ModelRef:
    return ModelRef("solver", file, {"kind": "recorded", "file": hashlib.sha256(Path(file).read_bytes()).hexdigest()})


def edit_reward(solver: Path):
    """What steps/edit_reward.py takes: four contexts of one harness, three questions."""
    family = build("families", {"kind": "toy", "name": "toy", "ask": "copy"})
    harness = Harness.of(HARNESS).tidied()
    setting = {"family": family.to_json(), "solver": recorded(str(solver)).to_json(), "limits": Limits().to_json()}
    context = {"family": "toy", "harness": {"files": dict(harness.files), "id": harness.id}}
    return {
        "edit": {"kind": "canned", "runs": True},
        "families": {"toy": {**setting, "repeats": 1, "grade": "score", "seed": 0}},
        "terms": {name: {"kind": name, "weight": weight} for name, weight in WEIGHTS.items()},
        "no_change": "form_only",
        "credit": {"kind": "immediate"},
        "contexts": [{**context, "position": position} for position in range(4)],
        "questions": {"toy": [question.to_json() for question in family.questions(0, 3, 0)]},
        "feedback": {},
        "report": None,
        "prompt": None,
    }


def losses(trained: Trained) -> dict[int, float]:
    """update -> loss; each update must have left one."""
    rows = [row for row in trained.rows["updates"] if row["name"] == "loss"]
    assert len({row["update"] for row in rows}) == len(rows), "an update left two rows"
    return {row["update"]: row["value"] for row in rows}


def weights(folder: Path):
    """The adapter's tensors as bytes."""
    return (folder / "adapter_model.safetensors").read_bytes()


def living(folder: Path) -> list[int]:
    """Processes whose command line names `folder`, but this one and its driver."""
    import psutil

    found = []
    for process in psutil.process_iter(["pid", "cmdline", "status"]):
        words = " ".join(process.info["cmdline"] or [])
        if str(folder) in words and "tiny_training" not in words and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(process.info["pid"])
    return found


def main() -> None:
    made = Tiny(Path(sys.argv[1])).train()
    print(json.dumps({"checkpoint": made.checkpoint, "updates": made.updates, "losses": losses(made)}))


if __name__ == "__main__":
    main()
