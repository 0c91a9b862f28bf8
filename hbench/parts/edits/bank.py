"""Changes of several components of a bank: whole files, SEARCH/REPLACE blocks and deletions, by path."""

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from hbench.core import bank as banks
from hbench.core.failure import EditFailure
from hbench.core.harness import Harness
from hbench.core.syntax import parse
from hbench.core.thinking import after_thinking
from hbench.parts.edits._elided import elided_line
from hbench.parts.edits._files import Change, read_changes
from hbench.parts.edits._replaced import replaced
from hbench.parts.part import Part


@dataclass(frozen=True, slots=True)
class Edit:
    """changes: at least one, of different files. explanation: the text before the first."""

    changes: tuple[Change, ...]
    explanation: str


class Bank(Part):
    """Each change names one file of a bank and the questions it rests on. Whether these are there is for who applies it to see.

    Only tools/NAME.py, middlewares/NAME.py, skills/NAME/SKILL.md, memory.md and manifest.json can change: the target
    harness itself is no file of a bank. (Harness-Zero, evolution.)
    """

    kind: Literal["bank"] = "bank"
    most: int = Field(20, ge=1, description="Most files that one edit may change")

    def parse(self, response: str, finish_reason: str = "stop") -> Edit:
        """The changes in `response`. Raises EditFailure("parse", …): truncated_response, no_edit_blocks, malformed_block,
        unterminated_block, empty_search or too_many_files.
        """
        if finish_reason == "length":
            raise EditFailure("parse", "truncated_response", "the response was cut at the token limit")
        said = after_thinking(response)
        if said is None:
            raise EditFailure("parse", "no_edit_blocks", "the thought was never closed, so there is no answer")
        changes, explanation = read_changes(said)
        if len(changes) > self.most:
            raise EditFailure("parse", "too_many_files", f"{len(changes)} files change; {self.most} may")
        return Edit(changes, explanation)

    def apply(self, parent: Harness, edit: Edit) -> Harness:
        """All changes or none. Raises EditFailure("apply", …): outside_bank, file_not_found, search_not_found,
        search_ambiguous, overlapping_edits, elided_code, bad_component or no_change.
        """
        files = dict(parent.files)
        for change in edit.changes:
            files = _changed(files, change)
        if found := banks.problems(files):
            raise EditFailure("apply", "bad_component", "\n".join(found))
        made = Harness(files).tidied()
        if made.id == parent.id:
            raise EditFailure("apply", "no_change", "the edited bank equals its parent")
        return made


def _changed(files: dict[str, str], change: Change) -> dict[str, str]:
    path, old = change.path, files.get(change.path)
    if not banks.is_path(path):
        raise EditFailure("apply", "outside_bank", f"{path} is no file of a bank: the target harness cannot change")
    if change.action != "write" and old is None:
        raise EditFailure("apply", "file_not_found", f"the bank has no {path}")
    if change.action == "delete":
        return banks.without(files, path)
    text = change.text if change.action == "write" else replaced(old, change.blocks, path)
    if path.endswith(".py") and (line := _elided(text, old or "")):
        raise EditFailure("apply", "elided_code", f"{path}: line {line} stands for lines left out; write them in full")
    return {**files, path: text}


def _elided(text: str, old: str) -> int | None:
    try:
        tree = parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = None
    return elided_line(text, old, tree)
