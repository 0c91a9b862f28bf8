"""Adaptation: a frozen solver inside a harness that a proposer edits round by round (Harness learning, section 3)."""

from typing import Any

from hbench.core.digest import Json
from hbench.plan.layout import Layout, Tag
from hbench.plan.measure import held_out, measure, report_setting, run_setting, seed_harness, split
from hbench.plan.step import Step


def adaptation(lay: Layout) -> None:
    """Lays down one arm: rounds of evaluate, report, propose, score, select; then the held-out measurement.

    With a race, one step scores all candidates of a round and chooses among them.

    Independent proposals are the same plan with `rounds: 1` and more proposals; fixed harnesses have `rounds: 0`.
    """
    spec = lay.spec
    evaluation = split(lay, "evaluation")
    first = current = seed_harness(lay)
    past: list[Step] = []
    for t in range(spec.rounds):
        reports = [_report(lay, current, past, t, part) for part in range(spec.reports)]
        proposals = [_propose(lay, reports[i % len(reports)], t, i) for i in range(spec.proposals)]
        scoring, draw = _scoring(lay, t), _scoring_seed(lay, t)
        parent = measure(lay, current, scoring, Tag("parent_scoring", f"round {t}, score the parent", t), draw)
        race = _race(lay, parent, (scoring, draw), proposals, t) if spec.race else None
        trials = [race or _score(lay, p, (scoring, draw), t, i) for i, p in enumerate(proposals)]
        for i, (proposal, trial) in enumerate(zip(proposals, trials, strict=True)):
            _reward(lay, (proposal, trial, parent), t, i)
        if spec.evaluate_all:
            held_out(lay, current, evaluation, Tag("held_out_round", f"round {t}, held out, parent", t))
            for i, p in enumerate(proposals):
                held_out(lay, p, evaluation, Tag("held_out_candidate", f"round {t}, held out, candidate {i}", t, i))
        current = race or _select(lay, parent, trials, proposals, t)
        past.append(current)
    held_out(lay, first, evaluation, Tag("held_out_seed", "held out, first harness"))
    lay.outputs[f"{lay.arm}/held_out"] = held_out(lay, current, evaluation, Tag("held_out", "held out"))
    lay.outputs[f"{lay.arm}/final_harness"] = current


def _draw(lay: Layout, t: int, part: int = 0) -> Json:
    """Which draw of development questions a round, and which of its parts one of its reports uses; None: always the same."""
    spec = lay.spec
    if spec.splits.redraw != "each_round":
        return None
    return {"round": [spec.chain, t], "part": part, "parts": spec.reports}


def _scoring(lay: Layout, t: int) -> Step:
    """A round's scoring questions: those of its first report's feedback, or a split of their own."""
    same = lay.spec.splits.scoring == "same_as_feedback"
    return split(lay, "feedback" if same else "scoring", _draw(lay, t), t)


def _report(lay: Layout, current: Step, past: list[Step], t: int, part: int) -> Step:
    spec, which = lay.spec, f", report {part}" if lay.spec.reports > 1 else ""
    feedback = split(lay, "feedback", _draw(lay, t, part), t)
    run = measure(lay, current, feedback, Tag("feedback", f"round {t}, run on feedback questions{which}", t))
    shown = range(max(0, t - spec.report.history), t)
    history = {f"history_{r}": past[r]["history"] for r in shown}
    inputs = {"evaluated": run, "questions": feedback["questions"], **history}
    return lay.step("report", report_setting(lay), inputs, Tag("report", f"round {t}, report{which and f' {part}'}", t))


def _propose(lay: Layout, report: Step, t: int, slot: int) -> Step:
    spec = lay.spec
    params = {
        "proposer": lay.model("proposer"),
        "prompt": lay.json(spec.proposer.prompt) if spec.proposer.prompt else None,
        "edit": lay.json(spec.edit),
        "family": lay.described(),
        "seed": lay.seed("propose", t, slot, *([spec.chain] if spec.chain else [])),
    }
    inputs = {"report": report} | ({"checkpoint": lay.checkpoint} if lay.checkpoint else {})
    return lay.step("propose", params, inputs, Tag("propose", f"round {t}, candidate {slot}", t, slot))


def _score(lay: Layout, proposal: Step, on: tuple[Step, int], t: int, slot: int) -> Step:
    """on: the scoring questions, and the seed of the solver's draws."""
    return measure(lay, proposal, on[0], Tag("candidate_scoring", f"round {t}, score candidate {slot}", t, slot), on[1])


def _race(lay: Layout, parent: Step, on: tuple[Step, int], proposals: list[Step], t: int) -> Step:
    """Scores all candidates and selects, in one step, which bears the labels of both."""
    scoring, draw = on
    rules = {"race": lay.json(lay.spec.race), "rule": lay.json(lay.spec.selection)}
    inputs: dict[str, Any] = {"parent": parent, "questions": scoring["questions"]}
    for i, proposal in enumerate(proposals):
        inputs |= {f"harness_{i}": proposal["harness"], f"edit_{i}": proposal["edit"]}
    tags = [Tag("candidate_scoring", f"round {t}, race candidate {i}", t, i) for i in range(len(proposals))]
    for tag in (*tags, Tag("select", f"round {t}, race and select", t)):
        made = lay.step("race", run_setting(lay, lay.spec, draw) | rules, inputs, tag)
    return made


def _reward(lay: Layout, scored: tuple[Step, Step, Step], t: int, slot: int) -> Step:
    inputs = dict(zip(("candidate", "trial", "parent"), scored, strict=True))
    tag = Tag("reward", f"round {t}, reward of candidate {slot}", t, slot)
    params = lay.reward() | {"slot": slot} if scored[1].kind == "race" else lay.reward()
    return lay.step("reward", params, inputs, tag)


def _select(lay: Layout, parent: Step, trials: list[Step], proposals: list[Step], t: int) -> Step:
    inputs: dict[str, Any] = {"parent": parent}
    inputs |= {f"candidate_{i}": trial for i, trial in enumerate(trials)}
    inputs |= {f"edit_{i}": proposal["edit"] for i, proposal in enumerate(proposals)}
    return lay.step("select", {"rule": lay.json(lay.spec.selection)}, inputs, Tag("select", f"round {t}, select", t))


def _scoring_seed(lay: Layout, t: int) -> int:
    """`rescore: fresh` draws parent and candidates anew each round; otherwise equal runs are answered from the store."""
    fresh = getattr(lay.spec.selection, "rescore", "same") == "fresh"
    return lay.seed("scoring", t) if fresh else lay.spec.seed
