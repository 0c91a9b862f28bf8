"""How a harness is run, read back from a step's params."""

from dataclasses import dataclass
from typing import Any

from hbench.core.digest import Json
from hbench.core.limits import Limits
from hbench.core.message import Sampling
from hbench.core.model import ModelRef
from hbench.parts.part import build


@dataclass(frozen=True)
class RunSetting:
    """seed: of the spec; every rollout's own seed is derived from it, its question and its repeat.

    repeats: rollouts a question. grade: the name of the grade that counts as the score.
    """

    family: Any
    solver: ModelRef
    limits: Limits
    seed: int
    repeats: int = 1
    grade: str = "score"

    @classmethod
    def of(cls, params: Json) -> "RunSetting":
        return cls(
            family=build("families", params["family"]),
            solver=model_ref(params["solver"]),
            limits=Limits(**params["limits"]),
            seed=params["seed"],
            repeats=params["repeats"],
            grade=params["grade"],
        )


def model_ref(block: Json) -> ModelRef:
    """The model of a step's params. Its `name` is machine's: services find it by identity."""
    sampling = {**block["sampling"], "stop": tuple(block["sampling"].get("stop", ()))}
    return ModelRef(block["role"], "", block["identity"], Sampling(**sampling))


def model_row(model: ModelRef, engine: str) -> dict[str, Json]:
    """The row of table `models` for a step that asked this model; engine: what served it."""
    known = model.identity
    return {
        "role": model.role,
        "model": str(known.get("weights") or known.get("file") or known.get("name") or known.get("kind", "")),
        "revision": known.get("revision") or known.get("as_of"),
        "engine": engine,
        "sampling": model.sampling.to_json(),
        "identity": known,
    }
