"""What judging completions adds to a GRPO step: group 8, 16 scoring questions of 2 calls each to a server that takes 50 ms.

`python tests/bench/grpo.py` trains the embedded model twice by the way a run does: once every completion becomes a harness
that is run in the jail, once the reward is made of the completion alone. It prints the seconds of a step and the share added.
What the model says makes no harness, so an edit format of the bench's own takes each completion as a word for one of two.
"""

import argparse
import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))

from hbench.core.harness import Harness  # noqa: E402
from hbench.core.limits import Limits  # noqa: E402
from hbench.core.message import Sampling  # noqa: E402
from hbench.core.model import ModelRef  # noqa: E402
from hbench.core.training import TrainingJob  # noqa: E402
from hbench.parts.part import build  # noqa: E402
from hbench.runtime.progress import Progress  # noqa: E402
from hbench.runtime.services import Machine, RunServices  # noqa: E402
from hbench.spec.machine import TrainingBlock  # noqa: E402
from hbench.spec.training import GrpoBlock  # noqa: E402
from tests.bench.overhead import asked, server  # noqa: E402
from tests.canned_edit import write_canned  # noqa: E402

GROUP, QUESTIONS, CALLS, AIM = 8, 16, 2, 0.15
HARNESS = "def run(question, tools):\n    return ''\n"


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--updates", type=int, default=4, help="the first one is left out of the figures")
    words.add_argument("--max-tokens", type=int, default=96)
    words.add_argument("--weights", default="embedded/smollm2-135m-instruct")
    chosen = words.parse_args()
    with server() as url, tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        write_canned(Path("parts"))
        constant = seconds(chosen, url, runs=False)
        calls = asked(url)
        judged = seconds(chosen, url, runs=True)
        calls = asked(url) - calls
    added = judged["seconds"] / constant["seconds"] - 1
    wanted = chosen.updates * GROUP * QUESTIONS * CALLS
    print(f"a step with a constant reward: {constant['seconds']:.2f} s, {constant['reward_seconds']:.2f} s of it waiting")
    print(f"the same with {GROUP} harnesses on {QUESTIONS} questions of {CALLS} calls: {judged['seconds']:.2f} s, "
          f"{judged['reward_seconds']:.2f} s of it waiting for rewards; {calls} calls of {wanted}")  # fmt: skip
    print(f"added: {added:.1%} of the step by the clock, {judged['reward_share']:.1%} by the trainer's own account (aim {AIM:.0%})")


def seconds(chosen: argparse.Namespace, url: str, runs: bool) -> dict[str, float]:
    """name -> median over the updates but the first."""
    folder = Path("judged" if runs else "constant")
    folder.mkdir()
    proposer = ModelRef("proposer", "small", {"weights": chosen.weights})
    solver = ModelRef("solver", "mock", {"weights": "mock", "as_of": "2026-11-01"}, Sampling(max_tokens=16))
    models = {proposer.digest: (proposer, {}), solver.digest: (solver, {"base_url": url})}
    training = TrainingBlock(threads=2, save_every=1000).to_json()
    services = RunServices(Machine(folder / "results", models, training=training), Progress(quiet=True))
    try:
        made = services.of(Kept(folder), "bench").train(job(chosen, proposer, solver, runs))
    finally:
        services.close()
    times = {}
    for row in made.rows["updates"]:
        if row.get("measured") is not None and row["update"] > 1:
            times.setdefault(row["name"], []).append(row["measured"])
    return {name: median(some) for name, some in times.items()}


class Kept:
    """A part folder that keeps no rows."""

    def __init__(self, folder: Path):
        self.folder = folder

    def append(self, rows) -> None: ...


def job(chosen: argparse.Namespace, proposer: ModelRef, solver: ModelRef, runs: bool) -> TrainingJob:
    family = build("families", {"kind": "toy", "name": "toy", "ask": "copy"})
    questions = [question.to_json() for question in family.questions(0, QUESTIONS, 0)]
    harness = Harness.of(HARNESS).tidied()
    context = {"position": 0, "family": "toy", "harness": {"files": dict(harness.files), "id": harness.id}}
    setting = {"family": family.to_json(), "solver": solver.to_json(), "limits": Limits().to_json(),
               "repeats": 1, "grade": "score", "seed": 0}  # fmt: skip
    weights = {"parsed": 0.05, "applied": 0.1, "completed": 0.15, "task_score": 1.0}
    recipe = GrpoBlock(updates=chosen.updates, prompts=1, group=GROUP, max_tokens=chosen.max_tokens, start="base").to_json()
    reward = {
        "edit": build("edits", {"kind": "canned", "runs": runs}).to_json(),
        "families": {"toy": setting},
        "terms": {name: {"kind": name, "weight": weight} for name, weight in weights.items()},
        "no_change": "form_only",
        "credit": {"kind": "immediate"},
        "contexts": [context],
        "questions": {"toy": questions},
        "feedback": {},
        "report": None,
        "prompt": None,
    }
    text = "Say in one sentence what a program should do. " + " ".join(f"Line {i}: x = {i}." for i in range(40))
    prompts = [{"context": 0, "messages": [{"role": "user", "content": text}]}]
    return TrainingJob("grpo", replace(proposer), recipe, 1, prompts=prompts, reward=json.loads(json.dumps(reward)))


if __name__ == "__main__":
    main()
