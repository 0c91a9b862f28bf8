"""Training: a proposer learns from what its edits do, then adapts families with it (Harness learning, section 4)."""

from collections.abc import Sequence
from typing import Any

from hbench.core.digest import Json
from hbench.core.message import Sampling
from hbench.plan.adaptation import adaptation
from hbench.plan.benchmark import benchmark
from hbench.plan.layout import Layout, Tag
from hbench.plan.measure import measure, report_setting, run_setting, seed_harness, split
from hbench.plan.step import Port, Step
from hbench.spec.block import plain


def training(lay: Layout) -> None:
    """Lays down one arm: what trains its proposer, then the adaptation of every family with it.

    contexts, demonstrate, keep, sft_rows, train_sft; then train_grpo a segment, the contexts of each segment made from the
    candidates of the one before. Arms share what they share.
    """
    whole = lay.spec
    lay.checkpoint = _checkpoint(lay)
    benchmark(lay, _proposer(whole), lay.checkpoint)
    for family in whole.families or (whole.family,):
        lay.spec = lay.on(whole, family)
        adaptation(lay)
    lay.spec, lay.checkpoint = whole, None


def _checkpoint(lay: Layout) -> Port | None:
    """What is laid on the arm's proposer: nothing, or the checkpoint of this spec's SFT or RL."""
    output = getattr(lay.spec.proposer, "output", None)
    if output is None:
        return None
    made = _sft(lay) if output == "sft" else _rl(lay)
    lay.outputs[f"{lay.arm}/checkpoint"] = made
    return made["checkpoint"]


def _sft(lay: Layout) -> Step:
    """Demonstrations of a teacher on seen families; those that succeed train the proposer."""
    spec, kept = lay.spec, _kept(lay)
    shown, recipe = spec.train.demonstrate, spec.train.sft
    params = {
        "model": _proposer(spec),
        "prompts": [prompt.to_json() for prompt in shown.prompts],
        "edit": spec.edit.to_json(),
        "max_length": recipe.max_length,
        "seed": lay.seed("sft_rows"),
    }
    inputs = {"keep": kept, "contexts": _shown_contexts(lay)}
    rows = lay.step("sft_rows", params, inputs, Tag("sft_rows", "training rows of kept demonstrations"))
    trained = {"model": _proposer(spec), "recipe": recipe.to_json(), "seed": lay.seed("sft", recipe.seed)}
    made = lay.step("train_sft", trained, {"rows": rows}, Tag("train_sft", "supervised fine-tuning"))
    if more := spec.train.sft_more:
        trained = {"model": _proposer(spec), "recipe": more.to_json(), "seed": lay.seed("sft_more", more.seed)}
        inputs = {"rows": rows, "checkpoint": made["checkpoint"]}
        made = lay.step("train_sft", trained, inputs, Tag("train_sft", "further fine-tuning", 1))
    return made


def _kept(lay: Layout) -> Step:
    return lay.once("keep", _kept_recipe(lay), lambda: _demonstrated(lay))


def _kept_recipe(lay: Layout) -> Json:
    """All that decides which demonstrations are kept."""
    train = lay.spec.train
    return [train.to_json()["demonstrate"], train.keep.to_json(), _context_recipe(lay, lay.spec.seen)]


def _demonstrated(lay: Layout) -> Step:
    spec, contexts = lay.spec, _shown_contexts(lay)
    shown = spec.train.demonstrate
    params = {
        "teacher": shown.teacher.ref("teacher").to_json(),
        "prompts": [prompt.to_json() for prompt in shown.prompts],
        "per_context": shown.per_context,
        **_judged(lay, spec.seen),
        "seed": lay.seed("demonstrate"),
    }
    inputs = {"contexts": contexts, **_scoring(lay, spec.seen)}
    shows = lay.step("demonstrate", params, inputs, Tag("demonstrate", "the teacher's edits"))
    keeping = {**spec.train.keep.to_json(), "seed": lay.seed("keep")}
    return lay.step("keep", keeping, {"demonstrations": shows, "contexts": contexts}, Tag("keep", "those that succeed"))


def _rl(lay: Layout) -> Step:
    """GRPO, segment by segment. The optimizer starts anew with each, the learning rate rises in the first alone."""
    spec, recipe = lay.spec, lay.spec.train.grpo
    made = _sft(lay) if recipe.start == "sft" else None
    entries = _entries(spec.rl_families(), recipe.per_family or spec.train.contexts.per_family, recipe.stronger)
    parents = (recipe.to_json()["harnesses"] or _kept_recipe(lay)) if recipe.stronger else []
    contexts = _first_contexts(lay, spec.rl_families(), entries, parents)
    for segment in range(recipe.segments):
        if segment:
            contexts = _next_contexts(lay, made, contexts, entries, segment)
        params = {
            "model": _proposer(spec),
            "recipe": _segment_recipe(recipe, segment),
            "prompt": spec.proposer.prompt_json(),
            **_judged(lay, spec.rl_families()),
            "report": lay.json(spec.report) if recipe.credit.kind == "discounted" else None,
            "seed": lay.seed("grpo", recipe.seed, segment),
        }
        inputs = {"contexts": contexts, **_scoring(lay, spec.rl_families())}
        if recipe.credit.kind == "discounted":
            inputs |= _feedback_of(lay, spec.rl_families())
        if made is not None:
            inputs["checkpoint"] = made["checkpoint"]
        made = lay.step("train_grpo", params, inputs, Tag("train_grpo", f"GRPO, segment {segment}", segment))
    return made


def _segment_recipe(recipe: Any, segment: int) -> Json:
    told = {key: value for key, value in recipe.to_json().items() if key not in _OF_THE_PLAN}
    return told | ({"warmup": 0} if segment else {})


_OF_THE_PLAN = ("segments", "per_family", "stronger", "harnesses", "start", "carry")  # shapes the plan, not the step


def _shown_contexts(lay: Layout) -> Step:
    """The contexts of demonstrations: the seed is every parent."""
    spec = lay.spec
    return _first_contexts(lay, spec.seen, _entries(spec.seen, spec.train.contexts.per_family, 0.0), [])


def _entries(families: Sequence[Any], per_family: int, stronger: float) -> list[tuple[Any, int, bool]]:
    """(family, chain, whether its parent is stronger than the seed), family after family."""
    made = []
    for family in families:
        for i in range(per_family):
            # Spread evenly: the i-th is a stronger one when the share rounds up there.
            made.append((family, len(made), int((i + 1) * stronger) > int(i * stronger)))
    return made


def _first_contexts(lay: Layout, families: Sequence[Any], entries: Sequence[Any], parents: Json) -> Step:
    recipe = [_context_recipe(lay, families), [[f.name, chain, strong] for f, chain, strong in entries], parents]
    return lay.once("contexts", recipe, lambda: _reported(lay, entries))


def _reported(lay: Layout, entries: Sequence[tuple[Any, int, bool]]) -> Step:
    """A report on each parent, over feedback questions of its own."""
    whole, reports = lay.spec, []
    for number, (family, chain, stronger) in enumerate(entries):
        lay.spec = lay.on(whole, family)
        parent = _stronger(lay, whole, number) if stronger else seed_harness(lay)
        reports.append(_report(lay, parent, chain, 0, {}))
    lay.spec = whole
    parents = ["stronger" if stronger else "seed" for _, _, stronger in entries]
    return _contexts(lay, entries, reports, parents, 0)


def _stronger(lay: Layout, whole: Any, number: int) -> Step | Port:
    """A parent stronger than the seed: one that the spec names, else the family's best kept demonstration."""
    named = whole.train.grpo.harnesses
    if named:
        params = {"files": dict(named[number % len(named)].files())}
        return lay.step("harness", params, {}, Tag("harness", "stronger parent"))
    family, lay.spec = lay.spec, whole
    kept = _kept(lay)
    lay.spec = family
    return kept[f"best_{family.family.name}"]


def _next_contexts(lay: Layout, made: Step, contexts: Step, entries: Sequence[Any], segment: int) -> Step:
    """Each chain goes on from a candidate that the last segment made of it."""
    whole = lay.spec
    params = {"rule": whole.train.grpo.carry, "seed": lay.seed("carry", segment)}
    inputs = {"trained": made, "contexts": contexts}
    carried = lay.step("carry", params, inputs, Tag("carry", f"parents of segment {segment}", segment))
    reports = []
    for number, (family, chain, _) in enumerate(entries):
        lay.spec = lay.on(whole, family)
        history = {"history_0": carried[f"history_{number}"]}
        reports.append(_report(lay, carried[f"harness_{number}"], chain, segment, history))
    lay.spec = whole
    origins = {f"from_{i}": carried[f"context_{i}"] for i in range(len(entries))}
    return _contexts(lay, entries, reports, ["carried"] * len(entries), segment, origins)


def _report(lay: Layout, parent: Step | Port, chain: int, depth: int, history: dict[str, Port]) -> Step:
    draw = {"round": ["train", chain, depth], "part": 0, "parts": 1, "scoring": "kept"}
    feedback = split(lay, "feedback", draw, sizes=_sizes(lay.spec))
    run = measure(lay, parent, feedback, Tag("train_feedback", f"context {chain}, run on feedback questions", depth))
    inputs = {"evaluated": run, "questions": feedback["questions"], **history}
    return lay.step("report", report_setting(lay), inputs, Tag("train_report", f"context {chain}, report", depth))


def _contexts(
    lay: Layout, entries: Sequence[Any], reports: list[Step], parents: list[str], depth: int, origins: dict | None = None
) -> Step:
    described = [
        {
            "family": family.name,
            "description": family.describe(),
            "chain": chain,
            "depth": depth,
            "parent": parent,
        }
        for (family, chain, _), parent in zip(entries, parents, strict=True)
    ]
    inputs = {f"report_{i}": report for i, report in enumerate(reports)} | (origins or {})
    return lay.step("contexts", {"entries": described}, inputs, Tag("contexts", "edit contexts", depth))


def _judged(lay: Layout, families: Sequence[Any]) -> Json:
    """How an edit is made, run and rewarded: the same in training as in adaptation."""
    spec = lay.spec
    settings = {family.name: run_setting(lay, lay.on(spec, family)) for family in families}
    reward = lay.reward()
    return {"edit": lay.json(spec.edit), "families": settings, "terms": reward["terms"], "no_change": reward["no_change"]}


def _scoring(lay: Layout, families: Sequence[Any]) -> dict[str, Port]:
    return _splits(lay, families, "scoring", "questions")


def _feedback_of(lay: Layout, families: Sequence[Any]) -> dict[str, Port]:
    return _splits(lay, families, "feedback", "feedback")


def _splits(lay: Layout, families: Sequence[Any], role: str, name: str) -> dict[str, Port]:
    """Input name -> the questions of one role of each family."""
    whole, found = lay.spec, {}
    for family in families:
        lay.spec = lay.on(whole, family)
        found[f"{name}_{family.name}"] = split(lay, role, sizes=_sizes(whole))["questions"]
    lay.spec = whole
    return found


def _sizes(spec: Any) -> Json:
    """Held-out questions of a seen family stay held out in training."""
    ours = spec.train.contexts
    return {"feedback": ours.feedback, "scoring": ours.scoring, "evaluation": spec.splits.evaluation}


_OF_CONTEXTS = ("seed", "harness", "solver", "limits", "repeats", "grade", "report", "splits", "edit", "reward")


def _context_recipe(lay: Layout, families: Sequence[Any]) -> Json:
    """All that decides contexts of these families and how their edits are judged."""
    spec = lay.spec
    fields = {name: plain(getattr(spec, name)) for name in _OF_CONTEXTS}
    return [fields, spec.train.contexts.to_json(), [lay.json(family) for family in families]]


def _proposer(spec: Any) -> Json:
    """The model that is trained. How an arm draws from it later is not: a colder arm has the same checkpoint."""
    told, drawn = spec.proposer.ref("proposer").to_json(), Sampling().to_json()
    same = {name: drawn[name] for name in ("temperature", "max_tokens", "top_p")}
    return {**told, "sampling": {**told["sampling"], **same}}
