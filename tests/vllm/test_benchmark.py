"""lm-eval on a server that hbench starts: likelihoods and texts of the base, and of an adapter that it is given by name."""

import json

import pytest

from hbench.core.benchmark import BenchmarkJob
from hbench.core.model import ModelRef
from hbench.core.published import find_bundle
from hbench.runtime.progress import Progress
from hbench.runtime.services import Machine, RunServices
from tests.runtime.tiny_training import Appended
from tests.vllm.place import SERVE, installed, started
from tests.vllm.test_served import own_notes  # noqa: F401  a fixture

pytest.importorskip("lm_eval", reason="the extra 'benchmark' is not installed")
pytestmark = pytest.mark.long

IDENTITY = {"weights": "embedded/smollm2-135m-instruct", "dtype": "bfloat16", "context": 2048}


def test_a_served_model_and_its_adapter_are_benchmarked(tmp_path):
    installed()
    base = ModelRef("student", "smollm2_135m", IDENTITY)
    adapter = find_bundle("mini") / "adapters/sft"
    tuned = base.trained({"kind": "adapter", "sha256": "b" * 64}, adapter)
    changed = json.loads((adapter / "adapter_config.json").read_text())["target_modules"]
    reach = started(adapters=1, arguments={**SERVE["arguments"], "lora_target_modules": changed})
    services = RunServices(Machine(tmp_path / "results", {base.digest: (base, reach)}), Progress(quiet=True))
    try:
        found = {}
        for name, model in (("base", base), ("sft", tuned)):
            (tmp_path / name).mkdir()
            job = BenchmarkJob(model, ("letters", "letters_choice"), limit=8)
            found[name] = services.of(Appended(tmp_path / name), name).benchmark(job)
    finally:
        services.close()
    rows = {name: {(row["benchmark"], row["metric"]): row["value"] for row in made.rows} for name, made in found.items()}
    print(rows)
    assert set(rows["base"]) == set(rows["sft"]) and len(rows["base"]) == 3
    assert all(0 <= value <= 1 for scores in rows.values() for value in scores.values())
    assert found["base"].documents == {"letters": 8, "letters_choice": 8} and found["base"].empty < 1
