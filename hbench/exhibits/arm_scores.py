"""What arms scored on each held-out question, one row a question."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from hbench.core.failure import HbenchError
from hbench.exhibits.arm_scores_sql import GRADES, RUNS, SCORES, TRAINED, UNFINISHED
from hbench.exhibits.sides import WAIT_S, Side
from hbench.exhibits.sources import count_newest_runs


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """score: mean over repeats, and over proposals, in [0, 1]. draws: of an arm that scores what its proposals do, the same
    for each prompt that they answer, or of a single one for each proposal; () of another arm. adapted: whether its harness
    came of rounds, which another chain would have gone otherwise. scenario: whether it is one of AppWorld's, right when all its
    tasks are; question_id is then the scenario's. text: how the question begins; "" where it is not known."""

    arm: str
    seed: int
    family: str
    chain: int
    question_id: str
    score: float
    draws: tuple[float, ...] = ()
    adapted: bool = False
    scenario: bool = False
    text: str = ""


@dataclass(frozen=True)
class ArmScores:
    """of: what the score of each arm is. limited: N of --limit N where that was a quick look. trained: arms with a training
    step of their own. unfinished: (arm, family) that stay out since a step failed or was skipped. unrun: how many specs of
    the side have no finished run.
    """

    side: Side
    scores: tuple[QuestionScore, ...]
    of: dict[str, str]
    limited: tuple[int, ...]
    trained: tuple[str, ...]
    unfinished: tuple[tuple[str, str], ...]
    unrun: int


def read_scores(sides: Sequence[Side], grade: str | None = None, selected: bool = False) -> list[ArmScores]:
    """The scores of each side, from its newest finished runs; does not fold.

    An arm of one round whose proposals were all run on held-out questions scores their mean, a failed edit and a no-change
    keeping the parent's; any other arm scores what its last harness does. selected: that of all arms. grade: a grade by
    name, in place of the one that the spec names. Raises HbenchError where the arms have no such scores.
    """
    from hbench.store.query import open_read_only

    found: dict[int, ArmScores] = {}
    for folder in dict.fromkeys(side.folder for side in sides):
        with closing(open_read_only(folder, WAIT_S)) as connection:
            count_newest_runs(connection, [digest for side in sides if side.folder == folder for digest in side.points])
            found |= {i: _read(connection, s, grade, selected) for i, s in enumerate(sides) if s.folder == folder}
    return [found[i] for i in range(len(sides))]


def _read(connection: Any, side: Side, grade: str | None, selected: bool) -> ArmScores:
    asked = {"specs": list(side.points), "arms": list(side.arms)}
    scores, of = read_arms(connection, asked, grade, selected)
    if not scores:
        raise HbenchError(_nothing(connection, side, asked, grade))
    runs = _rows(connection, RUNS, {"specs": asked["specs"]})
    trained, unfinished = _rows(connection, TRAINED, asked), _rows(connection, UNFINISHED, asked)
    limits = tuple(sorted({limited for _, limited in runs if limited is not None}))
    return ArmScores(side, scores, of, limits, tuple(a for (a,) in trained), tuple(unfinished), len(side.points) - len(runs))


def read_arms(
    connection: Any, asked: Mapping[str, Sequence[str]], grade: str | None = None, selected: bool = False
) -> tuple[tuple[QuestionScore, ...], dict[str, str]]:
    """The scores of `asked`, specs and arms; and arm -> what its score is. Needs `count_newest_runs`."""
    of: dict[str, str] = {}
    scores = []
    found = _rows(connection, SCORES, {**asked, "grade": grade, "selected": selected})
    for arm, rounds, proposals, *row, draws, scenario, text in found:
        of.setdefault(arm, _told(rounds, proposals))
        scores.append(QuestionScore(arm, *row, tuple(draws), rounds > 0, scenario, text))
    return tuple(scores), of


def _rows(connection: Any, sql: str, values: Mapping[str, Any]) -> list[tuple]:
    return connection.execute(sql, values).fetchall()


def _told(rounds: int, proposals: int | None) -> str:
    if proposals:
        return f"mean of {proposals} proposals" if proposals > 1 else "its proposal"
    return f"the harness after {rounds} round{'s' * (rounds != 1)}" if rounds else "as it is"


def _nothing(connection: Any, side: Side, asked: Mapping[str, Sequence[str]], grade: str | None) -> str:
    if grade is not None:
        names = ", ".join(name for (name,) in _rows(connection, GRADES, asked))
        return f"{side.name} has no grade '{grade}' on held-out questions" + (f" (there are: {names})" if names else "")
    failed = _rows(connection, UNFINISHED, asked)
    why = "a step failed or was skipped" if failed else "none of its steps is labelled held_out"
    return f"{side.name} has no scores on held-out questions: {why}"
