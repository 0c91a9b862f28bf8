"""A results folder in which a small training spec has run: its real plan, with rows and checkpoints made for tests."""

from pathlib import Path

from hbench.core.digest import digest, text_digest
from hbench.core.folder_digest import folder_digest
from hbench.core.output import Output
from hbench.plan import compile
from hbench.plan.step import Step
from hbench.spec import Spec, load
from hbench.store.artifacts import Store
from hbench.store.part import StepRecord

HARNESS = "def run(question, tools):\n    return tools.lm(question)\n"
SPEC = """\
plan: training
name: trained
family: {kind: toy}
splits: {feedback: 2, scoring: same_as_feedback, evaluation: 4}
harness: harnesses/plain.py
solver: {weights: embedded/tiny}
proposer: {weights: embedded/tiny, prompt: proposer/search_replace}
proposals: 2
seen: [one, two]
families: [three]
train:
  contexts: {per_family: 1, feedback: 2, scoring: 2}
  demonstrate: {teacher: {kind: recorded, file: replies/shown.jsonl}, prompts: [proposer/search_replace]}
  sft: {updates: 3, lora: {rank: 8, alpha: 16}}
  grpo: {segments: 2, updates: 4, max_tokens: 64, lora: {rank: 8, alpha: 16}}
arms:
  base: {}
  sft: {proposer: {output: sft}}
  sft_cold: {proposer: {output: sft, sampling: {temperature: 0.5}}}
  rl: {proposer: {output: rl}}
"""


def write_specs(folder: Path) -> None:
    """specs/trained.yaml and what it names, under `folder`."""
    for name, text in (("harnesses/plain.py", HARNESS), ("replies/shown.jsonl", '{"reply": "an edit"}\n'), ("trained.yaml", SPEC)):
        file = folder / "specs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def put_study(results: Path, name: str = "trained") -> Spec:
    """Every step of the spec, finished in one run. The working folder holds its files; see `write_specs`."""
    store, spec = Store(results), load(name)[0]
    plan = compile(spec)
    store.put_plan(spec.digest, plan.rows())
    row = {"run_id": "run-1", "spec_digest": spec.digest, "started_at": "2026-01-01T00:00:00", "git_commit": "abc+"}
    row |= {"versions": {"hbench": "0.1.0"}, "machine": {"host": "my-host", "cores": 2, "models": {"m": {"base_url": "http://my-host"}}}}
    with store.open_run("run-1") as journal:
        for step in plan.steps:
            put_step(store, step)
            ended = {"run_id": "run-1", "step_id": step.id, "step_key": key(step), "status": "ran", "seconds": 1.0}
            journal.append({"run_steps": [ended]})
        journal.append({"runs": [row | {"ended_at": "2026-01-02T00:00:00", "outcome": "finished"}]})
    return spec


def key(step: Step) -> str:
    return digest(step.id)


def put_step(store: Store, step: Step) -> None:
    with store.open(key(step)) as part:
        trains = step.kind in ("train_sft", "train_grpo")
        files = {"checkpoint": adapter(part.folder / "made", step)} if trains else {}
        value = {"checkpoint": checkpoint(files["checkpoint"], step), "updates": 3} if trains else {"of": step.kind}
        record = StepRecord(step.kind, step.version, step.params, 1.0, {"host": "my-host", "torch": "2"})
        part.commit(Output(value, rows(step), files), record)


def adapter(folder: Path, step: Step) -> Path:
    """A folder as a trainer leaves it; another step's holds other weights."""
    folder.mkdir()
    (folder / "adapter_config.json").write_text('{"peft_type": "LORA", "r": 8}')
    (folder / "adapter_model.safetensors").write_bytes(bytes.fromhex(key(step)))
    return folder


def checkpoint(folder: Path, step: Step) -> dict:
    return {"kind": "adapter", "base": step.params["model"]["identity"], "sha256": folder_digest(folder)}


def rows(step: Step) -> dict[str, list[dict]]:
    """A few rows of the sort that such a step leaves."""
    name = digest(step.id)[:8]
    if step.kind == "split":
        question = {"question_id": f"q-{name}", "family": step.params["family"]["name"], "text": "2?", "answer": "2", "pool_index": 0}
        return {"questions": [question], "split_questions": [{"position": 0, "role": step.params["role"], "question_id": f"q-{name}"}]}
    if step.kind == "evaluate":
        sent, received = f"asked by {name}", f"answered to {name}"
        event = {"question_id": "q", "position": 0, "kind": "lm", "role": "solver"}
        event |= {"sent_digest": text_digest(sent), "received_digest": text_digest(received)}
        return {
            "rollouts": [{"question_id": "q", "harness_id": f"h-{name}", "score": 1.0, "completed": True}],
            "events": [event],
            "models": [{"role": "solver", "model": "tiny", "engine": "openai http://my-host:8000/v1"}],
            "texts": [{"digest": text_digest(t), "text": t} for t in (sent, received, f"nobody asks for {name}")],
            "harnesses": [{"harness_id": f"h-{name}", "path": "harness.py", "text": HARNESS, "lines": 2}],
        }
    if step.kind == "propose":
        said = f"an edit of {name}"
        candidate = {"parent_id": "h", "harness_id": f"h-{name}", "response_digest": text_digest(said), "outcome": "applied"}
        return {"candidates": [candidate], "texts": [{"digest": text_digest(said), "text": said}]}
    if step.kind in ("train_sft", "train_grpo"):
        return {"updates": [{"update": u, "name": "loss", "value": 1.0 / u} for u in (1, 2, 3)]}
    return {}
