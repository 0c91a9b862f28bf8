"""What a comparison says about itself: how it was computed, what to keep in mind, and what it leaves out."""

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from hbench.exhibits.arm_scores import ArmScores
from hbench.exhibits.block import COUNTS
from hbench.exhibits.pairing import Paired
from hbench.exhibits.statistics import LEAST

if TYPE_CHECKING:
    from hbench.exhibits.differences import Difference

MANY = COUNTS | {"seed": "seeds"}
SHOWN = 4  # names in full; beyond that their number


def counted(n: int, unit: str) -> str:
    return f"{n} {unit if n == 1 else MANY[unit]}"


def notes(
    ours: ArmScores, theirs: ArmScores, paired: Paired, whole: "Difference", families: Sequence["Difference"]
) -> Iterator[str]:
    """One sentence each."""
    yield _method(paired, whole)
    if whole.difference.n < LEAST:
        yield from _few(whole)
        yield from _finer(paired, whole)
    if whole.difference.n > 1 and whole.difference.low is None and whole.p is not None:
        yield f"No interval: the difference is the same in all {MANY[whole.unit]}."
    if families:
        units = " or ".join(dict.fromkeys(line.unit for line in families))
        levels = _levels(paired.by_family()[families[0].name], families[0].unit)
        yield f"In a family: over its {units}s{levels}; Holm corrects p for {len(families)} families."
    if any(line.p is None for line in (whole, *families)):
        yield "No p where one side has proposals and the other pools training runs: they vary by other things."
    for side in (ours, theirs):
        yield from _of_side(side, paired, (whole, *families))


def _method(paired: Paired, whole: "Difference") -> str:
    n = whole.difference.n
    over = counted(n, whole.unit)
    if whole.unit in ("question", "scenario") and len(paired.families) > 1:
        over += f", {len(paired.families)} families weighing the same"
    test = "Student's t" if n >= LEAST else "Student's t, p by flipping signs"
    if n == 1:
        return "Paired by question."
    return f"Paired by question; 95% interval over {over}{_levels(paired, whole.unit)} ({test})."


def _levels(paired: Paired, unit: str) -> str:
    """What is drawn beside the clusters."""
    if paired.seeds:
        return f" and {len(paired.seeds)} seeds, two levels" if unit != "seed" else ""
    drawn = paired.drawn() if unit in ("question", "scenario") and len(paired.families) == 1 else paired
    if drawn is None or max(runs := (len(drawn.ours), len(drawn.theirs))) == 1:
        return ""
    what = "runs" if drawn == paired else "the prompts or proposals drawn"
    return f" and {what} ({runs[0]} against {runs[1]}), two levels"


def _few(whole: "Difference") -> Iterator[str]:
    n = whole.difference.n
    if n == 1:
        yield f"A single {whole.unit}: nothing can be said of how another would turn out."
        return
    least = f"{counted(n, whole.unit)} allow no p below {2 / 2**n:.3g}, however clear the difference"
    yield f"{least}; the interval takes them for normal." if whole.difference.low is not None else f"{least}."


def _finer(paired: Paired, whole: "Difference") -> Iterator[str]:
    """What else may be asked where there are few clusters: whether the sides differ on the questions of these alone."""
    unit = "scenario" if paired.scenarios & set(paired.families) else "question"
    asked = {(question.family, question.id) for question in paired.questions}
    if whole.unit in ("family", "chain", "seed") and len(asked) > whole.difference.n:
        these = counted(whole.difference.n, whole.unit)
        yield f"--unit {unit} asks about {'this' if whole.difference.n == 1 else 'these'} {these} alone, over {counted(len(asked), unit)}."


def _adapted(side: ArmScores) -> bool:
    return any(row.adapted and not row.draws for row in side.scores)


def _of_side(side: ArmScores, paired: Paired, lines: Sequence["Difference"]) -> Iterator[str]:
    if side.limited:
        yield f"{side.side.name} is a quick look, not a result: run with --limit {' and '.join(map(str, side.limited))}."
    in_family = {line.unit for line in lines} & {"question", "scenario"}
    if in_family and len({(row.arm, row.seed, row.chain) for row in side.scores}) == 1 and _adapted(side):
        yield f"{side.side.name} adapted once in a family: how it would turn out again is not in that interval."
    alone = [arm for arm in side.trained if len(side.side.arms) == 1 and not paired.seeds]
    if alone:
        yield f"{side.side.name} is one training run: how another would turn out is not in the interval."


def left_out(ours: ArmScores, theirs: ArmScores, paired: Paired) -> Iterator[str]:
    """What one side has and the other has not, one sentence each."""
    for side, other in ((ours, theirs), (theirs, ours)):
        name, its, others = side.side.name, side.scores, other.scores
        mine, shared = {row.family for row in its}, set(paired.families)
        if alone := sorted(mine - {row.family for row in others}):
            yield f"Families of {name} alone: {some(alone)}."
        asked = {(row.family, row.question_id) for row in its if row.family in shared}
        if missing := asked - set(paired.of_question()):
            yield f"Questions of {name} alone: {len(missing)} ({some(sorted({family for family, _ in missing}))})."
        seeds = {row.seed for row in its}
        if paired.seeds or seeds & {row.seed for row in others}:
            yield from _only("Seeds", name, seeds, {row.seed for row in others})
        if side.unfinished:
            listed = some([f"{arm} on {family}" for arm, family in side.unfinished])
            yield f"A step failed or was skipped: {listed} of {name}."
        if side.unrun:
            yield f"{side.unrun} of {len(side.side.points)} specs of {name} have no finished run."


def _only(what: str, name: str, its: Collection[int], others: Collection[int]) -> Iterator[str]:
    if alone := sorted(set(its) - set(others)):
        yield f"{what} of {name} alone: {some(list(map(str, alone)))}."


def some(names: Sequence[str]) -> str:
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
