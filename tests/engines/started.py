"""Servers of tests/engines/stand_in.py, started as vLLM is."""

import json
import sys
from pathlib import Path

from hbench.core.model import ModelRef
from hbench.engines.vllm_command import ToServe
from hbench.engines.vllm_server import VLLMServer

PROGRAM = Path(__file__).parent / "stand_in.py"


def python(folder: Path) -> str:
    """A program that takes a Python's words and starts the stand-in with those behind the module."""
    script = folder / "python"
    script.write_text(f'#!/bin/sh\nshift 2\nexec "{sys.executable}" "{PROGRAM}" "$@"\n')
    script.chmod(0o755)
    return str(script)


def serve(folder: Path, how: str = "", **more) -> dict:
    """A serve block as its JSON. how: see stand_in.py."""
    return {"python": python(folder), "start_timeout_s": 30.0, "environment": {"STAND_IN": how}, **more}


def server(folder: Path, how: str = "", adapters: int = 0, check=lambda: None, **more) -> VLLMServer:
    what = ToServe("org/tiny", "tiny", {"weights": "org/tiny"}, serve(folder, how, **more), adapters)
    return VLLMServer(what, folder / "tiny.log", check)


def ref(adapter: str | None = None, files: Path | None = None) -> ModelRef:
    return ModelRef("solver", "tiny", {"weights": "org/tiny", **({"adapter": adapter} if adapter else {})}, files=files)


def told(log: Path, word: str) -> list:
    """What every server that wrote this log said under `word`."""
    return [json.loads(line.partition(" ")[2]) for line in log.read_text().splitlines() if line.startswith(word + " ")]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
