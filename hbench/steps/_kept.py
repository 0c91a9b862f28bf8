"""The trajectories that were kept, of one act step or of several."""

from collections.abc import Mapping

from hbench.core.action import EXECUTE_TOOL, Tool
from hbench.core.bank import components, tool_of
from hbench.core.digest import Json
from hbench.core.harness import Harness
from hbench.core.output import Artifact
from hbench.core.trajectory import Acted
from hbench.steps._acted_rows import acted_from_rows


def student_tools(bank: Harness | None) -> tuple[Tool, ...]:
    """What a student can call under h, or under h* where it has a bank."""
    made = (each for each in components(bank) if each.enabled and each.sort == "tool") if bank else ()
    return (EXECUTE_TOOL, *map(tool_of, made))


def kept_acted(inputs: Mapping[str, Artifact]) -> list[tuple[Acted, Json]]:
    """(rollout, the tools that its chat template was given) of every kept rollout of the inputs `acted…`, each beside the
    `kept…` of the same ending, in the order of the endings, then of questions and repeats."""
    found = []
    for name in sorted(name for name in inputs if name.startswith("acted")):
        kept = inputs[f"kept{name.removeprefix('acted')}"].value
        wanted = {tuple(key) for key in kept["kept"]}
        acted = acted_from_rows(inputs[name])
        found += [(one, kept["template_tools"]) for one in acted if (one.rollout.question_id, one.rollout.repeat) in wanted]
    return found
