"""The two functions that adaptation and training share, so that a reward cannot drift between them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from hbench.core.candidate import Candidate
from hbench.core.failure import EditFailure
from hbench.core.harness import Harness
from hbench.core.protocols import EditFormat, Services
from hbench.core.question import Question
from hbench.core.rollout import Rollout
from hbench.core.training import Response

__all__ = ["Response", "revise", "trial"]


def revise(parent: Harness, response: Response, edit: EditFormat) -> Candidate:
    """The candidate that `response` makes of `parent`: parsed and applied, not yet run. Never raises for a bad edit."""
    explanation = ""
    try:
        parsed = edit.parse(response.text, response.finish_reason)
        explanation = getattr(parsed, "explanation", "")
        harness = edit.apply(parent, parsed).tidied()
        if harness.id == parent.id:
            raise EditFailure("apply", "no_change", "the edited harness equals its parent")
    except EditFailure as bad:
        return Candidate(parent, response.text, None, bad.failure, explanation)
    return Candidate(parent, response.text, harness, None, explanation)


def trial(
    candidate: Candidate,
    questions: Sequence[Question],
    setting: Any,
    services: Services,
    heard: Callable[[Rollout], None] | None = None,
    before: Sequence[Rollout] = (),
) -> Candidate:
    """`candidate` with its rollouts on `questions`, in question order; unchanged when its edit failed.

    heard: told of each rollout as it ends; what it raises ends the trial. before: rollouts that an earlier try finished.
    """
    if candidate.harness is None:
        return candidate
    found: list[Rollout] = list(before)

    def keep(rollout: Rollout) -> None:
        if heard is not None:
            heard(rollout)
        found.append(rollout)

    done = {(rollout.question_id, rollout.repeat) for rollout in before}
    services.run_harness(candidate.harness, questions, setting, keep, skip=done)
    place = {question.id: i for i, question in enumerate(questions)}
    found.sort(key=lambda r: (place[r.question_id], r.repeat))
    return replace(candidate, rollouts=tuple(found), grade=setting.grade)
