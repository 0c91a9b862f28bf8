"""The command line and the environment of a vLLM server. Starts nothing."""

import json
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.engines import embedded

HOST = "127.0.0.1"
# The module behind `vllm serve`: that command itself fails in the CPU build, whose distribution has another name.
MODULE = "vllm.entrypoints.openai.api_server"
OF_RANKS = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "GROUP_RANK")
SPOKEN_ELSEWHERE = "chat_template"  # of an identity: its digest alone


@dataclass(frozen=True)
class ToServe:
    """weights: a Hugging Face name or a folder. name: what the server calls them. identity: of the model's base, hashed.

    serve: machine.models.<name>.serve. adapters: most LoRA adapters of one batch; 0: none can be given.
    """

    weights: str
    name: str
    identity: Json
    serve: Json
    adapters: int = 0


def command(what: ToServe, port: int) -> list[str]:
    """The words. Raises HbenchError when its Python is not there, or the identity asks for what was not given."""
    flags = {
        "model": _weights(what.weights),
        "served_model_name": what.name,
        "host": HOST,
        "port": port,
        "generation_config": "vllm",  # else the weights' own file would add top_k and penalties that no spec names
        "uvicorn_log_level": "warning",  # a line a request would fill the end of the log, which errors show
        **_of_identity(what),
        **_of_machine(what),
        **(what.serve.get("arguments") or {}),
    }
    if what.identity.get(SPOKEN_ELSEWHERE) and not flags.get(SPOKEN_ELSEWHERE):
        raise HbenchError(f"{what.name} has a chat template of its own: give its file as serve.arguments.{SPOKEN_ELSEWHERE}")
    words = [python_of(what.serve), "-m", MODULE]
    for name, value in flags.items():
        words += _flag(name.replace("_", "-"), value)
    return words


def environment(what: ToServe, key: str) -> dict[str, str]:
    """All its variables. key: what requests must bring, since whoever reaches the port could have it load any adapter."""
    ours = {name: value for name, value in os.environ.items() if name not in OF_RANKS}
    told = {"VLLM_API_KEY": key, "VLLM_HOST_IP": HOST, "VLLM_NO_USAGE_STATS": "1", "PYTHONUNBUFFERED": "1"}
    told["PYTHONSAFEPATH"] = "1"  # a folder called vllm where we are would be imported in its place
    told |= {"VLLM_ALLOW_RUNTIME_LORA_UPDATING": "True"} if what.adapters else {}
    told |= {"VLLM_SERVER_DEV_MODE": "1"} if sleeps(what.serve) else {}  # /sleep and /wake_up are there only then
    told |= _visible(what.serve.get("gpus"), ours)
    return ours | told | {name: str(value) for name, value in (what.serve.get("environment") or {}).items()}


def sleeps(serve: Json) -> bool:
    return serve.get("hand_over") == "sleep"


def python_of(serve: Json) -> str:
    """The interpreter to start, as it was written: a link in an environment must not be followed. Raises HbenchError."""
    named = serve.get("python")
    if not named:
        return sys.executable
    found = shutil.which(named) or shutil.which(str(Path(named).expanduser()))
    if found is None:
        raise HbenchError(f"serve.python: {named} is no program here (see machine.models in the spec)")
    return os.path.abspath(found)


def _weights(named: str) -> str:
    if named.startswith(embedded.PREFIX):
        return str(embedded.unpack(named))
    return str(Path(named).absolute()) if Path(named).is_dir() else named


def _of_identity(what: ToServe) -> dict[str, Json]:
    """What the model block says; nothing where it says nothing."""
    identity = what.identity
    known = {"dtype": identity.get("dtype"), "quantization": identity.get("quantisation"), "max_model_len": identity.get("context")}
    if not (Path(what.weights).is_dir() or what.weights.startswith(embedded.PREFIX)):  # the revision of a folder is its digest
        known["revision"] = identity.get("revision")
    return known


def _of_machine(what: ToServe) -> dict[str, Json]:
    serve = what.serve
    lora = {"enable_lora": True, "max_loras": what.adapters, "max_lora_rank": serve.get("adapter_rank")}
    return {
        "enable_prefix_caching": serve.get("prefix_caching", True),
        "gpu_memory_utilization": serve.get("memory_share"),
        "tensor_parallel_size": len(serve["gpus"]) if serve.get("gpus") else None,
        **(lora if what.adapters else {}),
        **({"enable_sleep_mode": True} if sleeps(serve) else {}),
        **({"trust_remote_code": True} if serve.get("trust_remote_code") else {}),
    }


def _flag(name: str, value: Json) -> list[str]:
    """--name, --no-name, nothing (for None), or --name with its value; a list is one word each, a mapping is JSON."""
    if value is None:
        return []
    if isinstance(value, bool):
        return [f"--{name}" if value else f"--no-{name}"]
    if isinstance(value, list | tuple):
        return [f"--{name}", *map(str, value)]
    return [f"--{name}", json.dumps(value) if isinstance(value, Mapping) else str(value)]


def _visible(gpus: list[int] | None, ours: Mapping[str, str]) -> dict[str, str]:
    """The GPUs it may see, counted among those that we see."""
    if not gpus:
        return {}
    seen = [each for each in ours.get("CUDA_VISIBLE_DEVICES", "").split(",") if each]
    if seen and max(gpus) >= len(seen):
        raise HbenchError(f"serve.gpus: there is no GPU {max(gpus)} among those to be seen ({', '.join(seen)})")
    return {"CUDA_VISIBLE_DEVICES": ",".join(seen[each] if seen else str(each) for each in gpus)}
