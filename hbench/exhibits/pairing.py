"""What two sides were both asked: their scores question by question, and what only one of them has."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from hbench.exhibits.arm_scores import QuestionScore
from hbench.exhibits.statistics import mean


class Question(NamedTuple):
    """chain: 0 where there are none."""

    family: str
    chain: int
    id: str


Run = Mapping[Question, float]
Draws = Mapping[Question, tuple[float, ...]]


@dataclass(frozen=True)
class Paired:
    """ours, theirs: one mapping a training run; every run of one seed has the same questions.

    seeds: where several are shared, ours[i] and theirs[i] are those of seeds[i], means over the arms that are pooled. Else
    () and runs are arms, of a seed each where no seed is shared. scenarios: families whose questions are scenarios.
    chained: whether a side adapted in each chain anew, and came out with something else.
    draws: where there is one seed, what each question scored in each draw of a side's proposals; see QuestionScore.
    """

    ours: tuple[Run, ...]
    theirs: tuple[Run, ...]
    seeds: tuple[int, ...] = ()
    scenarios: frozenset[str] = frozenset()
    chained: bool = False
    draws: tuple[Draws, Draws] = ({}, {})

    def by_family(self) -> "dict[str, Paired]":
        """Each family alone, in their order."""
        sides = [[_by_family(run) for run in side] for side in (self.ours, self.theirs)]
        alone = {f: [tuple(run[f] for run in side) for side in sides] for f in self.families}
        return {family: replace(self, ours=ours, theirs=theirs) for family, (ours, theirs) in alone.items()}

    @property
    def questions(self) -> list[Question]:
        """Each once, sorted."""
        return sorted(set().union(*self.ours))

    @property
    def families(self) -> list[str]:
        return sorted({q.family for q in self.questions})

    def unit(self) -> str:
        """What the claim is about: families where there are several; of one, its chains, scenarios or questions.

        Seeds of one family with other questions each are no repeats of the same questions: then it is about seeds.
        """
        if len(self.families) > 1:
            return "family"
        if self.chained and len({q.chain for q in self.questions}) > 1:
            return "chain"
        if len(self.seeds) > 1 and not set.intersection(*(set(run) for run in self.ours)):
            return "seed"
        return "scenario" if self.scenarios & set(self.families) else "question"

    def by(self, unit: str) -> tuple[list[dict[str, float]], list[dict[str, float]]]:
        """Each run's mean over each cluster. A chain repeats its questions: it is averaged first where it is no cluster."""
        if unit == "seed":
            ours, theirs = ([mean(_averaged(run)) for run in side] for side in (self.ours, self.theirs))
            names = [str(seed) for seed in self.seeds]
            return [dict(zip(names, ours, strict=True))], [dict(zip(names, theirs, strict=True))]
        return [_clustered(run, unit) for run in self.ours], [_clustered(run, unit) for run in self.theirs]

    def drawn(self) -> "Paired | None":
        """The same with the draws of proposals as runs, of one family. None where one side has draws and the other runs:
        they differ by other things."""
        sides = [self._drawn(side, draws) for side, draws in zip((self.ours, self.theirs), self.draws, strict=True)]
        if any(len(side) > 1 for side in (self.ours, self.theirs)) and sides != [self.ours, self.theirs]:
            return None
        return replace(self, ours=sides[0], theirs=sides[1])

    def _drawn(self, side: tuple[Run, ...], draws: Draws) -> tuple[Run, ...]:
        if self.seeds or len(side) > 1 or not all(draws.get(question) for question in side[0]):
            return side
        return tuple(dict(zip(side[0], scores, strict=True)) for scores in zip(*(draws[q] for q in side[0]), strict=True))

    def of_question(self) -> dict[tuple[str, str], tuple[float, float]]:
        """(family, question id) -> both scores, means over runs and chains."""
        found: dict[tuple[str, str], tuple[list[float], list[float]]] = {}
        for place, side in enumerate((self.ours, self.theirs)):
            for run in side:
                for question, score in run.items():
                    found.setdefault((question.family, question.id), ([], []))[place].append(score)
        return {key: (mean(ours), mean(theirs)) for key, (ours, theirs) in sorted(found.items())}


def _by_family(run: Run) -> dict[str, dict[Question, float]]:
    found: dict[str, dict[Question, float]] = {}
    for question, score in run.items():
        found.setdefault(question.family, {})[question] = score
    return found


def _averaged(run: Run) -> list[float]:
    """One score a question: the mean over its chains."""
    grouped: dict[tuple[str, str], list[float]] = {}
    for question, score in run.items():
        grouped.setdefault((question.family, question.id), []).append(score)
    return [mean(scores) for scores in grouped.values()]


CLUSTER: dict[str, Callable[[Question], str]] = {
    "family": lambda q: q.family,
    "chain": lambda q: str(q.chain),
    "scenario": lambda q: f"{q.family} {q.id}",
    "question": lambda q: f"{q.family} {q.id}",
}


def _clustered(run: Run, unit: str) -> dict[str, float]:
    grouped: dict[str, dict[Question, float]] = {}
    for question, score in run.items():
        grouped.setdefault(CLUSTER[unit](question), {})[question] = score
    return {cluster: mean(_averaged(its)) for cluster, its in sorted(grouped.items())}


def pair(ours: Sequence[QuestionScore], theirs: Sequence[QuestionScore]) -> Paired:
    """By question, in the seeds that both have; where they have none in common, by question whatever the seed.

    Chains are paired where both sides have the same ones; else each is a run by itself.
    """
    if {row.chain for row in ours} != {row.chain for row in theirs}:
        ours, theirs = ([replace(r, arm=f"{r.arm} {r.chain}", chain=0) for r in rows] for rows in (ours, theirs))
    made = _by_seed(ours, theirs)
    scenarios = frozenset(row.family for row in (*ours, *theirs) if row.scenario)
    return replace(made, scenarios=scenarios, chained=any(map(_chained, (ours, theirs))))


def _chained(rows: Sequence[QuestionScore]) -> bool:
    """Whether chains came out otherwise in a question; a harness that was given is the same in all of them."""
    found: dict[tuple[str, int, str, str], set[float]] = {}
    for row in rows:
        if row.adapted:
            found.setdefault((row.arm, row.seed, row.family, row.question_id), set()).add(row.score)
    return any(len(scores) > 1 for scores in found.values())


def _by_seed(ours: Sequence[QuestionScore], theirs: Sequence[QuestionScore]) -> Paired:
    sides = [_by_run(rows) for rows in (ours, theirs)]
    seeds = sorted({seed for _, seed in sides[0]} & {seed for _, seed in sides[1]})
    by_seed = {s: _shared([[run for (_, seed), run in side.items() if seed == s] for side in sides]) for s in seeds}
    by_seed = {seed: found for seed, found in by_seed.items() if found[0][0]}
    if len(by_seed) > 1:
        means = [[_over(found[i]) for found in by_seed.values()] for i in (0, 1)]
        if len({frozenset(q.family for q in run) for run in means[0]}) > 1:  # seeds of other families are no repeats
            return Paired((_merged(means[0]),), (_merged(means[1]),))
        return Paired(tuple(means[0]), tuple(means[1]), tuple(by_seed))
    shared = next(iter(by_seed.values()), ((), ())) if seeds else _shared([list(side.values()) for side in sides])
    return Paired(*shared, draws=tuple(_draws(rows, by_seed) for rows in (ours, theirs)))


def _draws(rows: Sequence[QuestionScore], seeds: Collection[int]) -> Draws:
    """seeds: those that count; none: all."""
    return {Question(r.family, r.chain, r.question_id): r.draws for r in rows if not seeds or r.seed in seeds}


def _by_run(rows: Sequence[QuestionScore]) -> dict[tuple[str, int], dict[Question, float]]:
    found: dict[tuple[str, int], dict[Question, float]] = {}
    for row in rows:
        found.setdefault((row.arm, row.seed), {})[Question(row.family, row.chain, row.question_id)] = row.score
    return found


def _shared(sides: Sequence[Sequence[Run]]) -> tuple[tuple[Run, ...], tuple[Run, ...]]:
    """Every run with the questions that all of both sides have."""
    questions = sorted(set.intersection(*(set(run) for side in sides for run in side)))
    ours, theirs = (tuple({q: run[q] for q in questions} for run in side) for side in sides)
    return ours, theirs


def _merged(runs: Sequence[Run]) -> Run:
    """One run of all questions; one that several have scores their mean."""
    found: dict[Question, list[float]] = {}
    for run in runs:
        for question, score in run.items():
            found.setdefault(question, []).append(score)
    return {question: mean(scores) for question, scores in sorted(found.items())}


def _over(runs: Sequence[Run]) -> Run:
    return {question: mean([run[question] for run in runs]) for question in runs[0]}
