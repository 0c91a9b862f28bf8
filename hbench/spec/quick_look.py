"""A spec put together from three words, harness, family and model: for a look without a file. It is never a result.

Its one arm is called `quick_look`, so that no spec that stands in a file has its digest; whoever runs it marks it as limited.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.harness import Harness
from hbench.spec.compose import merged, overlay, overridden
from hbench.spec.files import FolderSource, HarnessSource
from hbench.spec.lineage import find_spec, lineage
from hbench.spec.load import Spec, specs_of
from hbench.spec.looked_at import model_tree, subject_tree
from hbench.spec.problems import COMMAND_LINE
from hbench.spec.tree import Tree

ARM = "quick_look"
TARGET = "target"  # in a harness's place: the plain one of the distillation plan


@dataclass(frozen=True)
class Look:
    """harness: a program for a family; for a domain `target`, or the bank that makes it h*. family: or a domain.

    family and model are words as spec/looked_at.py reads them. limit: how many questions.
    """

    harness: HarnessSource | FolderSource | str
    family: str
    model: str
    limit: int

    @property
    def on_domain(self) -> bool:
        return not isinstance(self.harness, HarnessSource)


def quick_look(look: Look, overrides: Sequence[str] = ()) -> Spec:
    """The spec of a quick look. Raises HbenchError for what there is not, SpecError for what does not go together."""
    field, role = ("domain", "student") if look.on_domain else ("family", "solver")
    tree = merged(lineage(find_spec("base")))
    for over in (subject_tree(look.family, field), model_tree(look.model, role), _asked(look)):
        tree = overlay(tree, over)
    tree, problems = overridden(tree, overrides)
    spec, *more = specs_of(tree, COMMAND_LINE.file, problems)
    if more or list(spec.arms) != [ARM]:
        raise HbenchError("a quick look is one spec of one arm: more stands in a file (`hbench new` writes one)")
    return spec


def of_files(files: dict[str, str], harness_id: str) -> HarnessSource | FolderSource:
    """A harness that an earlier run made, as a spec takes it."""
    made = Harness(files)
    if set(files) == {"harness.py"}:
        return HarnessSource(name=harness_id, digest=made.id, text=made.text)
    return FolderSource(name=harness_id, digest=made.id, texts=files)


def _asked(look: Look) -> Tree:
    named = look.harness if isinstance(look.harness, str) else look.harness.name
    words = f"{named} on {look.family} by {look.model}"
    splits = {"evaluation": look.limit, "allow_fewer": True}
    shared: Json = {"name": f"quick look: {words}", "arms": {ARM: {}}}
    if not look.on_domain:
        values = {"plan": "evaluation", "harness": look.harness, "splits": splits, **shared}
    else:
        bank = {"kind": "given", "folder": look.harness} if isinstance(look.harness, FolderSource) else None
        values = {"plan": "distillation", "train": None, "bank": bank, "splits": {"training": 1, **splits}, **shared}
    return Tree(values, {(): COMMAND_LINE})
