"""The engine behind a model: chosen by what the model is and by how this machine reaches it."""

import hashlib
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.model import TRAINED, ModelRef
from hbench.core.places import find_file
from hbench.core.protocols import LM
from hbench.engines import embedded

if TYPE_CHECKING:
    from hbench.engines.openai_lm import Reach

ENGINES = ("auto", "openai", "transformers", "recorded")


def open_lm(ref: ModelRef, machine: Json) -> LM:
    """The LM of `ref`. machine: its entry under machine.models, may be empty; nothing in it can change a reply.

    Cheap: connections and weights come with the first request. Every LM also has `check()`, which raises HbenchError
    when it cannot be reached. Raises HbenchError when nothing says how to reach the model.
    """
    if ref.identity.get("kind") == "rules":
        return _of_rules(ref.identity)
    engine = machine.get("engine") or "auto"
    if engine not in ENGINES:
        raise HbenchError(f"machine.models.{ref.name}.engine: {engine!r} is none of {', '.join(ENGINES)}")
    engine = _choose(ref, machine) if engine == "auto" else engine
    if engine == "recorded":
        from hbench.engines.recorded import RecordedLM

        return RecordedLM(_recorded_file(ref, machine), machine.get("latency_ms") or 0)
    if engine == "openai":
        from hbench.engines.openai_lm import OpenAILM

        return OpenAILM(reach_of(ref, machine), ref.files)
    from hbench.engines.transformers_lm import TransformersLM

    return TransformersLM(ref.identity, machine.get("batch") or 16, machine.get("threads") or 1, ref.files)


def reach_of(ref: ModelRef, machine: Json) -> "Reach":
    """How a server is asked for the model, under the name that it has there. Raises HbenchError."""
    from hbench.engines.openai_lm import Reach

    reach = Reach.of(_weights(ref), machine)
    return replace(reach, model=trained_name(ref) or reach.model)


def _of_rules(identity: Json) -> LM:
    from hbench.engines.files_expert import FilesExpert
    from hbench.engines.rule_reader import RuleReader

    return {FilesExpert.name: FilesExpert}.get(identity.get("name"), RuleReader).of(identity)


def _choose(ref: ModelRef, machine: Json) -> str:
    if ref.identity.get("kind") == "recorded":
        return "recorded"
    if machine.get("base_url") or machine.get("port"):
        return "openai"
    weights = _weights(ref)
    if weights.startswith(embedded.PREFIX) or find_spec("transformers"):
        return "transformers"
    raise HbenchError(
        f"nothing says how to reach the {ref.role} model {weights}: set machine.models.{ref.name}.base_url to an "
        "OpenAI-compatible server, or install the extra 'local' to run it in this process (pip install 'hbench[local]')"
    )


def trained_name(ref: ModelRef) -> str | None:
    """What a server calls the model once it was trained; None for one that was not."""
    found = next((ref.identity[key] for key in TRAINED if ref.identity.get(key)), None)
    return found[:16] if found and ref.files else None


def _weights(ref: ModelRef) -> str:
    weights = ref.identity.get("weights")
    if not weights:
        raise HbenchError(f"the {ref.role} model {ref.name} names no weights")
    return weights


def _recorded_file(ref: ModelRef, machine: Json) -> Path:
    """machine's `file`, a path or a name under specs/; its digest must be the one that the model's identity holds."""
    name = machine.get("file")
    if not name:
        raise HbenchError(f"the recorded model {ref.name} names no file")
    found = Path(name) if Path(name).is_file() else find_file("specs", name)
    if found is None:
        raise HbenchError(f"the recorded replies {name} are neither here nor under specs/")
    known = ref.identity.get("file")
    if known and known != hashlib.sha256(found.read_bytes()).hexdigest():
        raise HbenchError(f"the recorded replies {found} have changed since the spec was read: run the command again")
    return found
