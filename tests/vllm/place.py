"""Where vLLM is, and specs that have hbench start it with the embedded model."""

import json
import os
from pathlib import Path

import pytest

from tests.where import REPO

PYTHON = Path(os.environ.get("HBENCH_VLLM_PYTHON") or REPO / ".venv-vllm/bin/python")
FAST = "avx512" in Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else True
SERVE = {
    "python": str(PYTHON),
    "start_timeout_s": 1200,
    "adapter_rank": 8,
    # Weights in bfloat16 are computed in float32 by a CPU that does not know it, here as in this process.
    "arguments": {"enforce_eager": True, "max_num_seqs": 32, "dtype": "bfloat16" if FAST else "float32", **json.loads(os.environ.get("HBENCH_VLLM_ARGUMENTS") or "{}")},
    "environment": {"VLLM_CPU_KVCACHE_SPACE": 1, "VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_NUM_THREADS": os.cpu_count() or 1},
}

ADAPTED = """
plan: adaptation
extends: [base, models/smollm2_135m]
name: adapted
family: {kind: reasoning_gym, name: products}
splits: {feedback: 4, scoring: same_as_feedback, evaluation: 4}
harness: harnesses/mini.py
rounds: 1
proposals: 8
report: {prompt: report/mini, failures: 1, history: 0, show_gold: false, show_traces: false}
solver: {sampling: {max_tokens: 24}}
proposer: {prompt: proposer/mini, sampling: {temperature: 1.0, max_tokens: 96}}
"""
ARMS = """
arms:
  untrained: {}
  sft: {proposer: {adapter: published/mini/sft}}
  rl: {proposer: {adapter: published/mini/rl_0}}
"""
_MEASURED = """
plan: evaluation
name: measured
family: {kind: toy}
splits: {evaluation: COUNT}
harness: harnesses/plain.py
solver:
  name: smollm2_135m
  weights: embedded/smollm2-135m-instruct
  dtype: bfloat16
  context: 2048
  sampling: {max_tokens: TOKENS, extra: {ignore_eos: true}}
"""


def installed() -> None:
    """Skips without vLLM, saying so; fails where HBENCH_NEEDS_VLLM says that it has to be there."""
    if not PYTHON.exists():
        (pytest.fail if os.environ.get("HBENCH_NEEDS_VLLM") else pytest.skip)("vLLM is not installed: make test-vllm")


def measured(count: int, tokens: int) -> str:
    """A spec of one call a question, each of so many tokens."""
    return _MEASURED.replace("COUNT", str(count)).replace("TOKENS", str(tokens))


def machine(in_flight: int = 32, **models: dict) -> str:
    """The machine block that reaches models by these names so."""
    return f"machine: {json.dumps({'in_flight': in_flight, 'models': models})}\n"


def started(**more) -> dict:
    """How a model is reached that hbench serves itself."""
    return {"engine": "auto", "max_in_flight": 32, "serve": {**SERVE, **more}}
