"""A race's rows: what was run, what was not, and how far each candidate came."""

from collections.abc import Callable, Sequence

from hbench.core.digest import Json
from hbench.core.output import Artifact
from hbench.core.question import Question

NOT_RUN = "not_run"


def not_run_rows(harness_id: str, candidate: int, questions: Sequence[Question], repeats: int, message: str) -> list[dict[str, Json]]:
    """Rows of table rollouts for the questions on which a candidate was not run. They have neither score nor cost."""
    row = {"candidate": candidate, "harness_id": harness_id, "failure": NOT_RUN, "error": message}
    return [{**row, "question_id": question.id, "repeat": repeat} for question in questions for repeat in range(repeats)]


def raced_rows(race: Artifact, slot: int) -> Callable[[str], list[dict]]:
    """As an artifact's `rows`: those of the candidate at this slot alone, without what was not run."""
    number = next(row["candidate"] for row in race.rows("races") if row["slot"] == slot)

    def rows(table: str) -> list[dict]:
        return [row for row in race.rows(table) if row["candidate"] == number and row.get("failure") != NOT_RUN]

    return rows
