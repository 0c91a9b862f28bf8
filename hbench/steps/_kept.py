"""The trajectories that were kept, of one act step or of several, and how rows are made of them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hbench.core.action import EXECUTE_TOOL, Tool
from hbench.core.bank import components, tool_of
from hbench.core.digest import Json
from hbench.core.harness import Harness
from hbench.core.output import Artifact
from hbench.core.training import TurnTokens
from hbench.core.trajectory import Acted
from hbench.steps._acted_rows import acted_from_rows, cut_turns


def student_tools(bank: Harness | None) -> tuple[Tool, ...]:
    """What a student can call under h, or under h* where it has a bank."""
    made = (each for each in components(bank) if each.enabled and each.sort == "tool") if bank else ()
    return (EXECUTE_TOOL, *map(tool_of, made))


@dataclass(frozen=True)
class Kept:
    """tools: what its chat template was given. cut: turns in which the student was cut at its limit of tokens."""

    acted: Acted
    tools: Json
    cut: frozenset[int]


def kept_acted(inputs: Mapping[str, Artifact]) -> list[Kept]:
    """Every kept rollout of the inputs `acted…`, each beside the `kept…` of the same ending, in the order of the endings,
    then of questions and repeats."""
    found = []
    for name in sorted(name for name in inputs if name.startswith("acted")):
        kept = inputs[f"kept{name.removeprefix('acted')}"].value
        wanted = {tuple(key) for key in kept["kept"]}
        acted, cut = acted_from_rows(inputs[name]), cut_turns(inputs[name])
        keyed = {(one.rollout.question_id, one.rollout.repeat): one for one in acted}
        found += [Kept(one, kept["template_tools"], cut.get(key, frozenset())) for key, one in keyed.items() if key in wanted]
    return found


def row_fault(found: Sequence[TurnTokens] | str, longest: int) -> str | None:
    """Why the rows of a conversation cannot be trained on: chat_template, too_long; None where they can.

    found: its rows, or why the chat template has none. longest: most tokens of one.
    """
    if isinstance(found, str):
        return "chat_template"
    return "too_long" if any(len(row.ids) > longest for row in found) else None


def told(dropped: Mapping[str, int]) -> str:
    """How many were dropped, for people: `2 chat_template, 1 too_long`."""
    return ", ".join(f"{count} {reason}" for reason, count in sorted(dropped.items()))


def write_lines(file: Path, rows: Iterable[Json]) -> None:
    """Writes a line of JSON each."""
    file.parent.mkdir(exist_ok=True)
    with file.open("w", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
