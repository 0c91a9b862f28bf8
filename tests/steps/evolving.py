"""Act steps that never ran, for the steps that read them: rollouts as a test says, with the rows that act writes."""

from hbench.core.digest import digest
from hbench.core.failure import Failure
from hbench.core.message import Message
from hbench.core.output import Artifact
from hbench.core.rollout import Rollout
from hbench.core.trajectory import Acted, Trajectory, Turn
from hbench.steps._acted_rows import acted_rows
from tests.steps.stage import value

HEAD = (Message("system", "Work in the workspace."), Message("user", "Sort names.txt."))


def rollout(question: str, score: float, *used: str, repeat: int = 0, failure: Failure | None = None) -> Acted:
    """Two turns: a command, in which the components `used` had a part, and the answer."""
    call = "```bash\nsort names.txt\n```"
    turns = (
        Turn(call, "pass", call, Message("user", "Ada\nBob"), "execute", components=used),
        Turn("Done.", "pass", "Done."),
    )
    grades = {"score": score}
    made = Rollout("h", question, repeat, "Done.", grades, failure is None, failure)
    return Acted(made, Trajectory(question, repeat, HEAD, turns))


def acted(*rollouts: Acted) -> Artifact:
    """The artifact of an act step with these rollouts. A question is failed when its mean is below 1."""
    rows: dict[str, list[dict]] = {}
    for each in rollouts:
        for table, some in acted_rows(each, "score", "files").items():
            rows.setdefault(table, []).extend(some)
    scores: dict[str, list[float]] = {}
    for each in rollouts:
        scores.setdefault(each.trajectory.question_id, []).append(each.rollout.grade("score"))
    failed = [question for question, found in scores.items() if min(found) < 1]
    made = value({"questions": list(scores), "failed": failed})
    return Artifact(made.key, made.value, digest([made.value, rows]), made.folder, lambda table: rows.get(table, []))
