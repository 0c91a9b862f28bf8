"""Steps that adaptation and evaluation plans share: splits, the first harness, running a harness on questions."""

from typing import Any

from hbench.core.digest import Json
from hbench.plan.layout import Layout, Tag
from hbench.plan.step import Port, Step


def split(lay: Layout, role: str, draw: Json = None, round_: int | None = None, sizes: Json = None) -> Step:
    """The questions of one role. draw: where feedback and scoring questions are drawn anew; see steps/split.py.

    sizes: role -> count, where they are not those of the spec's `splits`.
    """
    spec = lay.spec

    def tell() -> Json:
        params = {
            "family": lay.json(spec.family),
            "role": role,
            "sizes": sizes or spec.splits.sizes(),
            "allow_fewer": spec.splits.allow_fewer and sizes is None,  # other sizes shrink otherwise: splits might overlap
            "seed": lay.seed("questions"),
        }
        return params | ({"most": spec.splits.most} if spec.splits.most is not None else {})

    params = lay.told(("split", role, *(sizes or {}).items()), spec, tell)
    params = params if draw is None else params | {"draw": draw}
    return lay.step("split", params, {}, Tag(f"split_{role}", f"{role} questions", round_ if draw else None))


def seed_harness(lay: Layout) -> Step:
    """The harness that the spec names: h0."""
    params = {"files": dict(lay.spec.harness.files())}
    return lay.step("harness", params, {}, Tag("harness", "first harness"))


def run_setting(lay: Layout, spec: Any, seed: int | None = None) -> Json:
    """How a harness is run and graded under `spec`, as steps/run_setting.py reads it."""
    drawn = spec.seed if seed is None else seed

    def tell() -> Json:
        setting = {
            "family": lay.json(spec.family),
            "solver": lay.model("solver"),
            "limits": lay.json(spec.limits),
            "repeats": spec.repeats,
            "grade": spec.grade,
            "seed": drawn,
        }
        # An unconfined harness may read gold: its results are nobody else's.
        return setting | ({"sandbox": "none"} if spec.machine.sandbox == "none" else {})

    return lay.told(("run", drawn), spec, tell)


def report_setting(lay: Layout) -> Json:
    """What a report shows, and of which family."""
    spec = lay.spec
    return lay.told("report", spec, lambda: {"family": lay.json(spec.family), **lay.json(spec.report)})


def measure(lay: Layout, harness: Step | Port, questions: Step, tag: Tag, seed: int | None = None) -> Step:
    """`harness` (a step with one, or a field that holds one) run and graded on `questions`. A failed edit has no harness:
    the step then runs nothing."""
    made = harness if isinstance(harness, Port) else harness["harness"]
    inputs = {"harness": made, "questions": questions["questions"]}
    return lay.step("evaluate", run_setting(lay, lay.spec, seed), inputs, tag)


def held_out(lay: Layout, harness: Step, evaluation: Step, tag: Tag) -> Step:
    """A leaf: nothing in the plan reads it."""
    return measure(lay, harness, evaluation, tag)
