"""lm-eval in a process of its own: real tasks on a tiny real model, before and after training; answers graded in the jail."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from hbench.core.benchmark import BenchmarkJob
from hbench.core.failure import HbenchError, StepError
from hbench.core.model import ModelRef
from hbench.runtime.benchmarks.job import CACHE, JOB, write_job
from hbench.runtime.progress import Progress
from hbench.runtime.services import Machine, RunServices
from tests.engines.started import serve
from tests.parts.families.test_lm_eval import own_task  # noqa: F401  a fixture
from tests.runtime.tiny_training import Appended

pytest.importorskip("lm_eval", reason="the extra 'benchmark' is not installed")
long, slow = pytest.mark.long, pytest.mark.slow  # `make test-lm-eval` runs both

BOTH = ("letters", "letters_choice")


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> ModelRef:
    """A model of a few thousand random weights, which knows letters and digits."""
    from tests.engines.tiny_model import save_tiny

    folder = save_tiny(tmp_path_factory.mktemp("tiny") / "model", context=256)
    return ModelRef("student", "tiny", {"weights": str(folder), "dtype": "float32", "context": 256})


def trained(base: ModelRef, folder: Path) -> ModelRef:
    """`base` with an adapter that changes what it says."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    whole = AutoModelForCausalLM.from_pretrained(base.identity["weights"])
    model = get_peft_model(whole, LoraConfig(r=4, target_modules=["q_proj"]))
    torch.manual_seed(1)
    for name, weight in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=2.0)
    model.save_pretrained(folder)
    return base.trained({"kind": "adapter", "sha256": "a" * 64}, folder)


def measured(folder: Path, model: ModelRef, base: ModelRef, tasks=BOTH, **asked):
    """What a benchmark step is given. base: as machine.models knows it."""
    services = RunServices(Machine(folder / "results", {base.digest: (base, {"batch": 4})}), Progress(quiet=True))
    try:
        return services.of(Appended(folder), "benchmark").benchmark(BenchmarkJob(model, tasks, **asked))
    finally:
        services.close()


def paid(folder: Path, base: ModelRef, **budget):
    """(what it measured or how it broke off, the row of `spend`, why nobody paid for more) of the base under a budget"""
    settings = {"batch": 4, "price": {"prompt": 1_000_000, "completion": 2_000_000}}  # 1 and 2 a token
    services = RunServices(Machine(folder / "results", {base.digest: (base, settings)}, budget=budget), Progress(quiet=True))
    with closing(services):
        purse = services.budget.open("step", ["sft"])
        try:
            made = services.of(Appended(folder), "benchmark", "step").benchmark(BenchmarkJob(base, BOTH, limit=6))
        except StepError as trouble:
            made = str(trouble)
        assert services.progress.counts.calls == sum(row["calls"] for row in purse.rows())
        return made, next(iter(purse.rows()), None), purse.refused


def scores(made) -> dict:
    return {(row["benchmark"], row["metric"]): row["value"] for row in made.rows}


@long
def test_before_and_after_training_are_scores_of_two_models(tmp_path, base):
    before = measured(tmp_path / "before", base, base, limit=12)
    after = measured(tmp_path / "after", trained(base, tmp_path / "adapter"), base, limit=12)
    assert before.documents == after.documents == {"letters": 12, "letters_choice": 12}
    named = {("letters", "exact_match,first-number"), ("letters", "exact_match,last-number"), ("letters_choice", "acc,none")}
    assert set(scores(before)) == set(scores(after)) == named
    assert scores(before)["letters_choice", "acc,none"] != scores(after)["letters_choice", "acc,none"]
    assert all(0 <= row["value"] <= 1 and row["stderr"] is not None for row in before.rows) and before.ungraded == 0


@long
def test_each_request_is_a_call_with_its_tokens_and_held_to_budgets(tmp_path, base):
    """The calls of lm-eval stood in no ledger and ran past every budget."""
    whole, row, refused = paid(tmp_path / "whole", base)
    assert (row["role"], row["model"], row["calls"], refused) == ("benchmark", base.digest[:16], 6 + 6 * 7, "")
    assert 6 <= row["completion_tokens"] <= 6 * 16 and row["prompt_tokens"] > 48 * 40 and row["seconds"] > 0
    assert row["cost"] == row["prompt_tokens"] + 2 * row["completion_tokens"]
    halfway = tmp_path / "halfway"
    broken, first, refused = paid(halfway, base, calls=20)
    assert broken == refused == "the run has used up its budget of 20 calls" and first["calls"] == 20
    made, rest, _ = paid(halfway, base)
    assert rest["calls"] == 28 and scores(made) == pytest.approx(scores(whole)), "what was paid for is not asked again"
    assert first["prompt_tokens"] + rest["prompt_tokens"] == row["prompt_tokens"]


@long
@pytest.mark.parametrize(("limit", "most"), [("tokens", 2_000), ("cost", 2_000)])
def test_no_more_tokens_or_money_than_the_budget(tmp_path, base, limit, most):
    broken, row, refused = paid(tmp_path, base, **{limit: most})
    used = row["cost"] if limit == "cost" else row["prompt_tokens"] + row["completion_tokens"]
    assert 0 < used <= most and row["calls"] > 4 and broken == refused and f"({limit})" in refused


@long
def test_what_the_jail_makes_of_answers_is_what_lm_eval_makes_of_them(tmp_path, base):
    from lm_eval import simple_evaluate

    from hbench.engines.benchmark import open_model
    from hbench.parts.families._lm_eval_files import task_file
    from lm_eval.tasks import TaskManager

    ours = scores(measured(tmp_path, base, base, limit=12, seed=3))
    files = [str(task_file(name)) for name in BOTH]
    manager = TaskManager(include_defaults=False)
    asked = {"tasks": files, "task_manager": manager, "limit": 12, "fewshot_random_seed": 3}
    theirs = simple_evaluate(open_model(base, {"batch": 4}, False), **asked)
    found = {key: theirs["results"][key[0]][key[1]] for key in ours}
    assert found == pytest.approx(ours)


@slow
def test_a_scorer_that_evaluates_answers_is_held_by_the_jail(own_task):  # noqa: F811
    from lm_eval.api.instance import Instance

    from hbench.parts.families._lm_eval_task import open_tasks
    from hbench.runtime.benchmarks.grading import JailedScoring

    made, scoring = own_task.parent.parent / "made", JailedScoring("auto")
    task = open_tasks(["trusting"])["tasks"]["trusting"]
    scoring.lay_on("trusting", task)
    docs = list(task.eval_docs)
    task._instances = [Instance("generate_until", doc, ("", {}), 0, metadata=("trusting", i, 1)) for i, doc in enumerate(docs)]
    for instance, said in zip(task._instances, (f"42 if open({str(made)!r}, 'w') else 0", "6 * 7"), strict=True):
        instance.resps = [said]
    with closing(scoring):
        task.apply_filters()
    got = [task.process_results(doc, [each.filtered_resps["none"]]) for doc, each in zip(docs, task._instances, strict=True)]
    assert got == [{"right": 0.0}, {"right": 1.0}] and scoring.ungraded == 1 and not made.exists()


@slow
def test_own_code_that_scores_all_answers_together_is_refused(own_task):  # noqa: F811
    from hbench.parts.families._lm_eval_task import open_tasks
    from hbench.runtime.benchmarks.grading import JailedScoring

    file = own_task / "trusting.yaml"
    file.write_text(file.read_text().replace("aggregation: mean", "aggregation: median"))
    with pytest.raises(HbenchError, match="trusting gives a score of all answers together, made by code of its own"):
        JailedScoring("auto").lay_on("trusting", open_tasks(["trusting"])["tasks"]["trusting"])


@long
def test_a_try_after_a_kill_asks_only_what_had_no_answer(tmp_path, base):
    """The process is killed once it has answers; what is asked again would change the count of its cache."""
    folder = tmp_path / "benchmark"
    folder.mkdir()
    write_job(folder / JOB, BenchmarkJob(base, ("letters",)), {"batch": 1}, "auto")
    command = [sys.executable, "-m", "hbench.runtime.benchmarks", str(folder / JOB)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 300
    while process.poll() is None and answered(folder) < 4 and time.monotonic() < until:
        time.sleep(0.2)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = answers(folder)
    assert before
    made = measured(tmp_path, base, base, tasks=("letters",))
    assert made.documents == {"letters": 56} and before.items() <= answers(folder).items() and len(answers(folder)) == 56


def answers(folder: Path) -> dict:
    from sqlitedict import SqliteDict

    with SqliteDict(str(folder / CACHE), flag="r") as kept:
        return dict(kept)


def answered(folder: Path) -> int:
    try:
        return len(answers(folder)) if (folder / CACHE).exists() else 0
    except Exception:  # it is being made
        return 0


@long
def test_a_process_that_dies_is_an_error_with_the_end_of_its_log(tmp_path, base):
    broken = ModelRef("student", "tiny", {"weights": str(tmp_path / "nowhere"), "dtype": "float32"})
    with pytest.raises(StepError, match="the model .*nowhere cannot be loaded"):
        measured(tmp_path, broken, broken)
    assert json.loads((tmp_path / "benchmark" / JOB).read_text())["job"]["tasks"] == list(BOTH)


@long
def test_a_server_that_dies_under_it_says_why(tmp_path, base, monkeypatch):
    # lm-eval told only that nobody answered at the port.
    monkeypatch.setenv("HBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    reach = {"serve": serve(tmp_path, "falls"), "retries": 0, "max_in_flight": 1}
    services = RunServices(Machine(tmp_path / "results", {base.digest: (base, reach)}), Progress(quiet=True))
    with closing(services), pytest.raises(StepError, match=r"the vLLM server of .* was killed \(signal 9\) \(more in"):
        services.of(Appended(tmp_path), "benchmark").benchmark(BenchmarkJob(base, ("letters",), chat=True))
    assert (tmp_path / "fallen").exists()
