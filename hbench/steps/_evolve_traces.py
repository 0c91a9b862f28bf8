"""What an evolver reads of rollouts: traces of failed questions, as the student lived through them. No gold is in them."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from hbench.core.cut import cut
from hbench.core.failure import Failure
from hbench.core.output import Artifact
from hbench.core.trajectory import Acted
from hbench.steps._acted_rows import acted_from_rows

MOST_TRACES = 60  # questions of one round: the notes of more fit into no request
_MOST_CHARS, _MOST_OF_ONE = 24_000, 4_000  # of a trace, and of one message in it


@dataclass(frozen=True, slots=True)
class Trace:
    """One rollout of a failed question. score: in [0, 1]."""

    question_id: str
    score: float
    text: str


def failed_traces(acted: Artifact, seed: int) -> list[Trace]:
    """One of each question that is still failed, its worst rollout, in the order of the questions; of more than MOST_TRACES
    some, drawn with `seed`."""
    failed, scores = set(acted.value["failed"]), _scores(acted)
    worst: dict[str, tuple[float, Acted]] = {}
    for each in acted_from_rows(acted):
        question, score = each.trajectory.question_id, scores[each.trajectory.question_id, each.trajectory.repeat]
        if question in failed and (question not in worst or score < worst[question][0]):
            worst[question] = (score, each)
    chosen = sorted(worst)
    if len(chosen) > MOST_TRACES:
        chosen = random.Random(seed).sample(chosen, MOST_TRACES)
    return [Trace(q, worst[q][0], told(worst[q][1])) for q in acted.value["questions"] if q in set(chosen)]


def helped(acted: Artifact) -> frozenset[str]:
    """Paths of components that had a part in a rollout of a question that is solved now."""
    failed = set(acted.value["failed"])
    solved = (each.trajectory for each in acted_from_rows(acted) if each.trajectory.question_id not in failed)
    return frozenset(path for trajectory in solved for turn in trajectory.turns for path in turn.components)


def told(acted: Acted) -> str:
    """The rollout as text: what the student was told, did and saw, and how it ended."""
    parts = [f"[{message.role}]\n{cut(message.content, _MOST_OF_ONE)}" for message in acted.trajectory.head]
    for number, turn in enumerate(acted.trajectory.turns):
        parts.append(f"[turn {number}: the student]\n{cut(turn.accepted, _MOST_OF_ONE)}")
        if turn.components:
            parts.append(f"[turn {number}: components that had a part]\n{', '.join(turn.components)}")
        if turn.observation:
            parts.append(f"[turn {number}: what came back]\n{cut(turn.observation.content, _MOST_OF_ONE)}")
    return _within([*parts, f"[the end]\n{_end(acted.rollout.failure)}"])


def _end(failure: Failure | None) -> str:
    """How the rollout ended. What a grader says of its own trouble may hold gold, and is left out."""
    if failure is None:
        return "It ended by itself."
    return failure.kind if failure.boundary == "grader" else f"{failure.kind}: {failure.message[:500]}"


def _within(parts: Sequence[str]) -> str:
    """All parts, without those in the middle where they are too long together: both ends tell the most."""
    first, last, rest, room = [], [], list(parts), _MOST_CHARS
    while rest:
        end, at = (first, 0) if len(first) <= len(last) else (last, -1)
        if len(rest[at]) > room:
            break
        room -= len(rest[at])
        end.append(rest.pop(at))
    left_out = [f"[… {len(rest)} parts left out …]"] if rest else []
    return "\n\n".join([*first, *left_out, *reversed(last)])


def _scores(acted: Artifact) -> dict[tuple[str, int], float]:
    return {(row["question_id"], row["repeat"]): row["score"] for row in acted.rows("rollouts")}
