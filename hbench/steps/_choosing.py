"""What a selection rule is shown of a round, and what its choice comes to: for select and race alike."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hbench.core.digest import Json
from hbench.core.output import Artifact
from hbench.core.protocols import SelectionRule
from hbench.core.scored import Scored


@dataclass(frozen=True)
class Trial:
    """value: of an evaluate step, or what it would be (see _evaluated.py). prompt_tokens: of its solver calls, in all."""

    value: Json
    prompt_tokens: int = 0

    def scored(self, position: int) -> Scored:
        """As a rule sees it."""
        value = self.value
        return Scored(
            name=value["harness_id"] or "",
            score=value["score"],
            questions=frozenset(value["question_ids"]),
            position=position,
            completion_rate=value["completion_rate"],
            tokens=float(value["tokens"]),
            prompt_tokens=float(self.prompt_tokens),
        )


def trial_of(made: Artifact) -> Trial:
    """Of an evaluate step."""
    return Trial(made.value, sum(row["prompt_tokens"] or 0 for row in made.rows("rollouts")))


@dataclass(frozen=True)
class Round:
    """trials, edits: slot -> how the candidate did, and what the proposer changed, in the short form that reports show."""

    parent: Trial
    trials: Mapping[int, Trial]
    edits: Mapping[int, Json]

    def chosen(self, rule: SelectionRule) -> Scored:
        """The rule's choice: the parent, at position -1, or a candidate at its slot."""
        parent = self.parent.scored(-1)
        found = rule.select(parent, [self._candidate(slot, parent) for slot in sorted(self.trials)])
        return parent if found.name == parent.name else found  # by whatever way

    def _candidate(self, slot: int, parent: Scored) -> Scored:
        """A candidate as the rule sees it. An explicit no-change stands with its parent's score: it says that nothing better
        is known, and a rule that takes the best candidate may take it. An edit that failed has none, nor has one that a race
        dropped: what it scored is over other questions."""
        if self.edits[slot]["outcome"] == "no_change":
            return replace(parent, position=slot)
        found = self.trials[slot].scored(slot)
        return found if len(found.questions) == len(parent.questions) else replace(found, score=None)


def selection_row(rule: Any, told: Round) -> dict[str, Json]:
    """What the rule chose, as a row of the table selections. rule: the part."""
    parent, chosen = told.parent.scored(-1), told.chosen(rule)
    return {
        "rule": rule.kind,
        "parent_id": parent.name,
        "chosen_id": chosen.name,
        "parent_score": parent.score,
        "chosen_score": chosen.score,
        "kept_parent": chosen.position < 0,
        "slot": chosen.position,
    }


def round_value(row: Mapping[str, Json], told: Round) -> dict[str, Json]:
    """The row, the chosen harness, and `history`: the round as later reports show it."""
    slot = row["slot"]
    source = told.parent if slot < 0 else told.trials[slot]
    edits = [{**edit, "slot": i, **_told(told.trials[i].value, told.parent.value)} for i, edit in sorted(told.edits.items())]
    history = {"parent_score": row["parent_score"], "chosen_slot": slot, "edits": edits}
    return {**row, "harness": source.value["harness"], "history": history}


def _told(value: Json, parent: Json) -> dict[str, Json]:
    """Its score, and on how many of the questions, where a race dropped it."""
    met, asked = len(value["question_ids"]), len(parent["question_ids"])
    dropped = value["score"] is not None and met < asked
    return {"score": value["score"]} | ({"questions": [met, asked]} if dropped else {})
