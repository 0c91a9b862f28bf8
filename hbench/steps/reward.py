"""What a candidate's reward would be: one row a term, so that any weighting can be recomputed in SQL."""

from collections.abc import Mapping

from hbench.core.candidate import Candidate
from hbench.core.digest import Json
from hbench.core.failure import Failure
from hbench.core.harness import Harness
from hbench.core.output import Artifact, Output
from hbench.core.protocols import Services
from hbench.parts.part import build
from hbench.parts.rewards._total import reward_terms, stands_for_parent, total
from hbench.steps._candidate_rows import term_rows
from hbench.steps._raced import raced_rows
from hbench.steps._rollout_rows import rollouts_from_rows

VERSION = 2  # 2: exact means, whatever the order of rollouts


def reward(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """inputs: `candidate` (propose), its `trial` and its `parent`'s (evaluate on scoring questions). Value: {"reward", "terms"}.

    In a race the trial is that of all candidates, params hold the candidate's slot, and what it did before it was dropped counts.

    Harness learning, section 3: the immediate reward of an edit, Σ weight x term.
    """
    candidate = _candidate(inputs["candidate"].value, params["grade"])
    ran = inputs["parent" if stands_for_parent(candidate, params["no_change"]) else "trial"]
    rows = raced_rows(ran, params["slot"]) if "slot" in params and ran is inputs["trial"] else ran.rows
    candidate = candidate.with_rollouts(tuple(rollouts_from_rows(rows("rollouts"), rows("grades"))))
    terms = {name: build("rewards", block) for name, block in params["terms"].items()}
    values = reward_terms(candidate, terms, params["no_change"])
    return Output({"reward": total(values, terms), "terms": values}, {"reward_terms": term_rows(values, terms)})


def _candidate(value: Json, grade: str) -> Candidate:
    failure = value["failure"]
    return Candidate(
        parent=Harness(value["parent"]["files"]),
        response=value["response"],
        harness=Harness(value["harness"]["files"]) if value["harness"] else None,
        failure=Failure(failure["boundary"], failure["kind"], failure["message"]) if failure else None,
        explanation=value["explanation"],
        grade=grade,
    )
