"""Distillation: what an evolved harness does is taught to a student by reviewing it (Harness-Zero, section 3)."""

from dataclasses import dataclass, replace
from typing import Any

from hbench.core.digest import Json
from hbench.plan.benchmark import benchmark
from hbench.plan.layout import Layout, Tag
from hbench.plan.step import Port, Step
from hbench.spec.acting import GivenBank, GivenGuidance


@dataclass(frozen=True)
class _Stage:
    """Who acts, and under which condition. learned: steps behind which training questions stand."""

    student: Any
    repeats: int = 1
    bank: Step | None = None
    review: Any = None
    guidance: Step | None = None
    outside: Any = None
    checkpoint: Step | None = None

    @property
    def learned(self) -> bool:
        made = [each.kind for each in (self.bank, self.guidance, self.checkpoint) if each]
        return any(kind != "harness" for kind in made)


def distillation(lay: Layout) -> None:
    """Lays down one arm: h is evolved into h*, h* translated into guidance K, trajectories reviewed with K train the
    student; then the student is measured on held-out questions, under h or as the arm says. Arms share what they share.
    """
    whole = lay.spec
    stage = replace(_stage(lay, whole), checkpoint=_trained(lay) if whole.train else None)
    apart = _learned_from(lay) if stage.learned else {}
    benchmark(lay, _model(lay, "student", whole.student), stage.checkpoint["checkpoint"] if stage.checkpoint else None)
    for domain in whole.measured or (whole.domain,):
        lay.spec = lay.on(whole, domain)
        held_out = _act(lay, stage, _questions(lay, "evaluation"), Tag("held_out", "held out"), **apart)
        if whole.behaviours:
            patterns = {name: lay.json(detector) for name, detector in whole.behaviours.items()}
            lay.step("behaviours", {"patterns": patterns}, {"acted": held_out}, Tag("behaviours", "patterns of behaviour"))
        lay.outputs[f"{lay.arm}/held_out"] = held_out
    lay.spec = whole


def _stage(lay: Layout, block: Any) -> _Stage:
    """The condition that the spec, or its `train.collect`, names, with what makes its bank and guidance."""
    review = block.review
    return _Stage(
        student=block.student or lay.spec.student,
        repeats=block.repeats,
        bank=_bank(lay, block.bank) if block.bank else None,
        review=review,
        guidance=_guidance(lay, review.guidance) if review and review.guidance else None,
        outside=getattr(block, "outside", None),
    )


def _questions(lay: Layout, role: str) -> Step:
    spec = lay.spec
    params = {
        "domain": lay.json(spec.domain),
        "role": role,
        "sizes": spec.splits.own(spec.domain.name).sizes(),
        "allow_fewer": spec.splits.own(spec.domain.name).allow_fewer,
        "seed": lay.seed("questions"),
    }
    params |= {"most": spec.splits.most} if spec.splits.most is not None else {}
    return lay.step("split", params, {}, Tag(f"split_{role}", f"{role} questions"))


def _learned_from(lay: Layout) -> dict[str, Step | Port]:
    """Training questions of every domain that taught: none of them may be measured, and the act step looks."""
    whole, found = lay.spec, {}
    for i, domain in enumerate((whole.train and whole.train.domains) or (whole.domain,)):
        lay.spec = lay.on(whole, domain)
        found[f"apart_{i}"] = _questions(lay, "training")["questions"]
    lay.spec = whole
    return found


def _act(lay: Layout, stage: _Stage, questions: Step, tag: Tag, **more: Step | Port) -> Step:
    """A student at work on `questions`. more: `failed`, an earlier act whose failed questions alone are tried again; `apart_…`."""
    spec = lay.spec
    params = {
        "domain": lay.json(spec.domain),
        "target": lay.json(spec.target),
        "outside": lay.json(stage.outside) if stage.outside else None,
        "student": _model(lay, "student", stage.student),
        "review": _review(lay, stage.review) if stage.review else None,
        "repeats": stage.repeats,
        "grade": spec.grade,
        "seed": lay.seed("act", *([spec.chain] if spec.chain else [])),
    }
    # In an unconfined workspace gold may be read: its results are nobody else's.
    params |= {"sandbox": "none"} if spec.machine.sandbox == "none" else {}
    inputs: dict[str, Step | Port] = {"questions": questions["questions"]}
    inputs |= {"bank": stage.bank["harness"]} if stage.bank else {}
    inputs |= {"guidance": stage.guidance["harness"]} if stage.guidance else {}
    inputs |= {"checkpoint": stage.checkpoint["checkpoint"]} if stage.checkpoint else {}
    return lay.step("act", params, inputs | more, tag)


def _model(lay: Layout, role: str, block: Any) -> Json:
    return lay.told(role, block, lambda: block.ref(role).to_json())


def _review(lay: Layout, review: Any) -> Json:
    return {
        "reviewer": _model(lay, "reviewer", review.reviewer),
        "prompt": lay.json(review.prompt),
        "turn_prompt": lay.json(review.turn_prompt),
        "budget": review.budget,
        "tries": review.tries,
        "oracle": review.oracle,
        "when": lay.json(review.when),
    }


def _bank(lay: Layout, bank: Any) -> Step:
    """h*: the bank that the spec names, or one evolved on training questions."""
    if isinstance(bank, GivenBank):
        return lay.step("harness", {"files": bank.folder.files()}, {}, Tag("bank", "the bank that is given"))
    spec = lay.spec
    recipe = [bank, spec.domain, spec.splits, spec.target, spec.student]
    recipe = [block.to_json() for block in recipe] + [spec.grade, spec.seed, spec.chain]
    return lay.once("bank", recipe, lambda: _evolved(lay, bank))


def _evolved(lay: Layout, bank: Any) -> Step:
    """Round by round: act on the training questions that are still failed, revise the bank on what went wrong."""
    training, made, acted = _questions(lay, "training"), None, None
    if bank.start:
        made = lay.step("harness", {"files": bank.start.files()}, {}, Tag("bank", "the bank to begin with"))
    for t in range(bank.rounds):
        stage, failed = _Stage(lay.spec.student, bank=made), {"failed": acted["failed"]} if acted else {}
        acted = _act(lay, stage, training, Tag("evolve_act", f"round {t}, act on training questions", t), **failed)
        by_model = hasattr(bank.evolver, "ref")
        params = {
            "evolver": _model(lay, "evolver", bank.evolver) if by_model else lay.json(bank.evolver),
            "notes": lay.json(bank.notes),
            "prompt": lay.json(bank.prompt),
            "domain": lay.described(),
            "round": t,
            "seed": lay.seed("evolve", t),
        }
        inputs: dict[str, Step | Port] = {"acted": acted}
        inputs |= {"bank": made["harness"]} if made else {}
        inputs |= {"components": made["components"]} if t else {}
        made = lay.step("evolve", params, inputs, Tag("evolve", f"round {t}, revise the bank", t))
    return made


def _guidance(lay: Layout, guidance: Any) -> Step:
    """K: given, or translated from a bank by a model."""
    if isinstance(guidance, GivenGuidance):
        return lay.step("harness", {"files": guidance.folder.files()}, {}, Tag("guidance", "the guidance that is given"))
    params = {
        "writer": _model(lay, "writer", guidance.writer),
        "prompt": lay.json(guidance.prompt),
        "domain": lay.described(),
        "call": lay.json(lay.spec.target.call),
        "seed": lay.seed("guidance"),
    }
    inputs = {"bank": _bank(lay, guidance.bank)["harness"]}
    return lay.step("guidance", params, inputs, Tag("guidance", "guidance translated from the bank"))


def _trained(lay: Layout) -> Step:
    """The student trained on accepted responses: collect, keep, mask, SFT; then, if asked for, preference optimisation.

    Of several domains each has a bank and guidance of its own, evolved on its own training questions.
    """
    whole, train, inputs = lay.spec, lay.spec.train, {}
    for i, domain in enumerate(train.domains or (whole.domain,)):
        lay.spec, of = lay.on(whole, domain), f", {domain.name}" if train.domains else ""
        stage = _stage(lay, train.collect)
        private = {"guidance": stage.guidance, "bank": stage.bank}
        private = {name: made["harness"] for name, made in private.items() if made}
        acted = _act(lay, stage, _questions(lay, "training"), Tag("collect", f"collect trajectories{of}"))
        params = {"filters": [lay.json(each) for each in train.keep], "target": lay.json(whole.target)}
        tag = Tag("keep_trajectories", f"those that are kept{of}")
        kept = lay.step("keep_trajectories", params, {"acted": acted, **private}, tag)
        inputs |= {f"acted_{i}": acted, f"kept_{i}": kept}
    lay.spec = whole
    made = lay.outputs[f"{lay.arm}/checkpoint"] = _fine_tuned(lay, inputs)
    return made


def _fine_tuned(lay: Layout, inputs: dict[str, Step | Port]) -> Step:
    """inputs: acted_0, kept_0 …, of one domain each."""
    spec, train, made = lay.spec, lay.spec.train, None
    student, dpo = _model(lay, "student", spec.student), train.dpo
    rows = {"model": student, "max_length": train.max_length, "hide": train.hide}
    if dpo is None or dpo.start == "sft":
        rows_of = {**rows, "max_length": train.longest_taught}
        params = {**rows_of, "loss_weights": train.loss_weights, "rare": train.rare, "seed": lay.seed("trajectory_rows")}
        taught = lay.step("trajectory_rows", params, inputs, Tag("trajectory_rows", "training rows of kept trajectories"))
        recipe = {**train.sft.to_json(), "max_length": train.longest_taught}
        params = {"model": student, "recipe": recipe, "seed": lay.seed("sft", train.sft.seed)}
        made = lay.step("train_sft", params, {"rows": taught}, Tag("train_sft", "supervised fine-tuning"))
    if dpo is None:
        return made
    pairs = lay.step("pair_rows", rows, inputs, Tag("pair_rows", "rejected and accepted responses"))
    params = {"model": student, "recipe": dpo.to_json(), "seed": lay.seed("dpo", dpo.seed)}
    begun = {"checkpoint": made["checkpoint"]} if made else {}
    return lay.step("train_dpo", params, {"rows": pairs, **begun}, Tag("train_dpo", "preference optimisation"))
