"""Two arms against each other on the questions that both were asked: `compare(results, a, b) -> Comparison`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hbench.core.failure import HbenchError
from hbench.exhibits.arm_scores import ArmScores, read_scores
from hbench.exhibits.comparison_notes import left_out, notes
from hbench.exhibits.differences import Difference, corrected, measure
from hbench.exhibits.pairing import Paired, pair
from hbench.exhibits.sides import find_sides

FOLD_WAIT_S = 5.0  # for another process that folds


@dataclass(frozen=True)
class Flip:
    """A question that one side has right and the other wrong: at least one half, and less. text: how it begins."""

    family: str
    question_id: str
    text: str
    ours: float
    theirs: float


@dataclass(frozen=True)
class Comparison:
    """a, b: the sides as they may be asked for again. of: what the score of each is. questions: how many both were asked.

    families: a line each, none where there is one family. flips: those in favour of a first, the clearest first. left_out:
    what one side alone has. notes: how it was computed, and what to keep in mind.
    """

    a: str
    b: str
    of: tuple[str, str]
    questions: int
    whole: Difference
    families: tuple[Difference, ...]
    flips: tuple[Flip, ...]
    left_out: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Options:
    """unit: of the whole, in place of the one that fits what was asked. grade, selected: see read_scores."""

    arms: Sequence[str] = ()
    bundle: str | None = None
    unit: str | None = None
    grade: str | None = None
    selected: bool = False


def compare(results: Path, a: str, b: str | None = None, options: Options = Options()) -> Comparison:
    """`a` less `b`; finished steps are folded in first. How sides are written: see read_asked.

    Raises HbenchError where a side is not there, or they share no question.
    """
    from hbench.store.database import MAIN, fold

    there = (results / MAIN).exists() or (results / "steps").exists()
    folded = fold(results, wait_s=FOLD_WAIT_S).how if there else "nothing"
    sides = find_sides(results, [a] if b is None else [a, b], options.arms, options.bundle)
    ours, theirs = read_scores(sides, options.grade, options.selected)
    made = compare_scores(ours, theirs, options.unit)
    stale = folded in ("busy", "held", "failed")
    return replace(made, notes=(*made.notes, f"From a database that was not up to date: {folded}.")) if stale else made


def compare_scores(ours: ArmScores, theirs: ArmScores, unit: str | None = None) -> Comparison:
    """The same from scores that were read."""
    paired = pair(ours.scores, theirs.scores)
    if not paired.questions:
        raise HbenchError(_nothing_shared(ours, theirs))
    unit = unit or paired.unit()
    whole = measure("all", paired, unit)
    families = [measure(name, its, its.unit()) for name, its in paired.by_family().items()]
    families = corrected(families) if len(families) > 1 else []
    made = paired, whole, families
    return Comparison(
        ours.side.name,
        theirs.side.name,
        (_of(ours), _of(theirs)),
        len(paired.of_question()),
        whole,
        tuple(families),
        flips(paired, ours, theirs),
        tuple(left_out(ours, theirs, paired)),
        tuple(notes(ours, theirs, *made)),
    )


def _of(scores: ArmScores) -> str:
    told = dict.fromkeys(scores.of.values())
    return "; ".join(f"{arm}: {of}" for arm, of in scores.of.items()) if len(told) > 1 else next(iter(told))


def flips(paired: Paired, ours: ArmScores, theirs: ArmScores) -> tuple[Flip, ...]:
    """Those in favour of ours first; of each the clearest first."""
    texts = {(row.family, row.question_id): row.text for row in (*theirs.scores, *ours.scores)}
    scores = paired.of_question()
    found = [Flip(*key, texts[key], a, b) for key, (a, b) in scores.items() if (a >= 0.5) != (b >= 0.5)]
    return tuple(sorted(found, key=lambda f: (f.ours < f.theirs, -abs(f.ours - f.theirs), f.family, f.question_id)))


def _nothing_shared(ours: ArmScores, theirs: ArmScores) -> str:
    """What to say where nothing is shared."""
    asked = [f"{s.side.name} was asked {_counted(s)}" for s in (ours, theirs)]
    return f"they share no question: {'; '.join(asked)} (the same family, seed and splits give the same questions)"


def _counted(scores: ArmScores) -> str:
    families = sorted({row.family for row in scores.scores})
    seeds = sorted({row.seed for row in scores.scores})
    named = ", ".join(families[:4]) + (f" and {len(families) - 4} more" if len(families) > 4 else "")
    return f"{len({row.question_id for row in scores.scores})} of {named} (seed {', '.join(map(str, seeds))})"
