"""The most that a step may ask of models."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hbench.core.bank import MOST_COMPONENTS
from hbench.parts.families._lm_eval_requests import most_requests
from hbench.parts.part import build
from hbench.plan.step import Port, Step
from hbench.steps._evolve_traces import MOST_TRACES
from hbench.steps._well_formed import TRIES


@dataclass(frozen=True, slots=True)
class Bound:
    """The most that a step may ask of a model. tokens: completion tokens. unknown: why there is no such bound; "": there is."""

    calls: int = 0
    tokens: int = 0
    unknown: str = ""

    def __add__(self, other: "Bound") -> "Bound":
        return Bound(self.calls + other.calls, self.tokens + other.tokens, self.unknown or other.unknown)

    def told(self) -> str:
        """For people: the bound, or that there is none."""
        if self.unknown:
            return f"not bounded ({self.unknown})"
        return f"{self.calls:>12,} calls {self.tokens:>16,} completion tokens"


def bounds(step: Step) -> dict[str, Bound]:
    """Role asked -> upper bound of one step; {} for one that asks no model. What a trainer samples counts as proposer, what
    lm-eval asks of whatever model as benchmark."""
    params = step.params
    if step.kind == "evaluate":
        return {"solver": _runs(params, question_count(step) * params["repeats"])}
    if step.kind == "race":
        candidates = sum(name.startswith("harness_") for name in step.inputs)
        most = build("races", params["race"]).most_rollouts(candidates, question_count(step))
        return {"solver": _runs(params, most * params["repeats"])}
    if step.kind == "propose":
        return {"proposer": Bound(1, params["proposer"]["sampling"]["max_tokens"])}
    if step.kind == "demonstrate":
        parents = len(_source(step, "contexts").params["entries"])
        asked = parents * params["per_context"]
        teacher = Bound(asked, asked * params["teacher"]["sampling"]["max_tokens"])
        return {"teacher": teacher, "solver": _trials(step, asked + parents)}
    if step.kind == "train_grpo":
        recipe = params["recipe"]
        drawn = recipe["updates"] * recipe["prompts"] * recipe["group"] * (1 + 2 * recipe["credit"].get("horizon", 0))
        return {"proposer": Bound(drawn, drawn * recipe["max_tokens"]), "solver": _trials(step, drawn)}
    if step.kind == "act":
        return _acted(step)
    if step.kind == "evolve" and params["evolver"].get("kind") != "command":
        notes = min(MOST_TRACES, question_count(_source(step, "acted")))
        return {"evolver": _calls(notes + TRIES, params["evolver"])}
    if step.kind == "guidance":
        bank = _source(step, "bank")
        components = len(bank.params["files"]) if bank.kind == "harness" else MOST_COMPONENTS
        return {"writer": _calls(components * TRIES, params["writer"])}
    if step.kind == "benchmark":
        asked = params["benchmark"]
        return {"benchmark": sum((_benchmarked(name, asked["limit"]) for name in asked["tasks"]), Bound())}
    return {}


def _benchmarked(name: str, limit: int | None) -> Bound:
    most = most_requests(name, limit)
    return Bound(unknown=most) if isinstance(most, str) else Bound(*most)


def _acted(step: Step) -> dict[str, Bound]:
    """The student's turns, of its sub-agents as many again, and the tries of a reviewer at each."""
    params, target = step.params, step.params["target"]
    if params.get("outside"):
        return {}
    turns = question_count(step) * params["repeats"] * target["turns"]
    found = {"student": _calls(turns * (2 if target["agent"] else 1), params["student"])}
    review = params["review"]
    return found | ({"reviewer": _calls(turns * review["tries"], review["reviewer"])} if review else {})


def _calls(calls: int, model: Mapping[str, Any]) -> Bound:
    return Bound(calls, calls * model["sampling"]["max_tokens"])


def _runs(setting: Mapping[str, Any], rollouts: int) -> Bound:
    limits, sampling = setting["limits"], setting["solver"]["sampling"]
    tokens = min(limits["calls"] * sampling["max_tokens"], limits["tokens"] + sampling["max_tokens"])
    return Bound(rollouts * limits["calls"], rollouts * tokens)


def _trials(step: Step, candidates: int) -> Bound:
    """What scoring `candidates` may ask of the solver, were all of the family with the most questions."""
    settings = step.params["families"]
    each = [
        _runs(setting, _split_size(_source(step, f"questions_{name}")) * setting["repeats"])
        for name, setting in settings.items()
    ]
    most = max(each, key=lambda bound: bound.calls, default=Bound())
    return Bound(candidates * most.calls, candidates * most.tokens)


def question_count(step: Step) -> int:
    """How many questions the split behind an evaluate or act step asks for."""
    return _split_size(_source(step, "questions"))


def _source(step: Step, name: str) -> Step:
    source = step.inputs[name]
    return source.step if isinstance(source, Port) else source


def _split_size(split: Step) -> int:
    sizes = split.params["sizes"]
    size = sizes[split.params["role"]]
    whole = sizes["feedback"] if size == "same_as_feedback" else size
    return min(whole, split.params.get("most", whole))
