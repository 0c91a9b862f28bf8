"""An evolver's changes laid on a bank, one by one: what is not founded on a trace, or is no component, is refused."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from hbench.core import bank as banks
from hbench.core.digest import Json, text_digest
from hbench.core.failure import EditFailure, Failure
from hbench.core.harness import Harness
from hbench.parts.edits._files import Change
from hbench.parts.edits.bank import Bank, Edit

IDLE_ROUNDS = 2  # without a sign of benefit, and a component goes


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of one change. cites: those of its citations that are there."""

    change: Change
    cites: tuple[str, ...] = ()
    failure: Failure | None = None


@dataclass(frozen=True)
class Revised:
    """A bank after a round. idle: path -> rounds in a row without a sign of benefit. dropped: those that this cost it."""

    bank: Harness
    tried: tuple[Tried, ...]
    idle: Mapping[str, int]
    dropped: Mapping[str, int]


def revised(bank: Harness, changes: Sequence[Change], known: Set[str]) -> tuple[Harness, list[Tried]]:
    """`bank` with every change that can be taken, and what became of each. known: ids of the questions with traces.

    The manifest comes last: it may switch what another change has made.
    """
    tried = []
    for change in sorted(changes, key=lambda change: change.path == banks.MANIFEST):
        cites = tuple(cite for cite in change.cites if cite in known)
        try:
            bank, failure = _taken(bank, change, cites, known), None
        except EditFailure as bad:
            failure = bad.failure
        tried.append(Tried(change, cites, failure))
    return bank, tried


def _taken(bank: Harness, change: Change, cites: Sequence[str], known: Set[str]) -> Harness:
    if not cites:
        said = f"it cites {', '.join(change.cites[:3])}" if change.cites else "it cites nothing"
        raise EditFailure("apply", "no_citation", f"{change.path}: {said}, and a change must cite a trace that is there")
    made = Bank().apply(bank, Edit((change,), ""))
    if named := sorted(one for one in known if one in made.files.get(change.path, "")):
        raise EditFailure("apply", "names_a_question", f"{change.path} names question {named[0]}: components are for all")
    return made


def settled(before: Harness, idle: Mapping[str, int], helped: Set[str], made: Harness, tried: Sequence[Tried]) -> Revised:
    """The round's end: components of `made` count their rounds without benefit, and go after IDLE_ROUNDS.

    helped: paths that had a part in a question that is solved now. A component that changed begins anew.
    """
    counts, dropped = {}, {}
    for path in sorted(set(made.files) - {banks.MANIFEST}):
        same = before.files.get(path) == made.files[path]
        counts[path] = idle.get(path, 0) + 1 if same and path not in helped else 0
    files = dict(made.files)
    for path in [path for path, rounds in counts.items() if rounds >= IDLE_ROUNDS]:
        files, dropped[path] = banks.without(files, path), counts.pop(path)
    return Revised(Harness(files).tidied(), tuple(tried), counts, dropped)


def component_rows(before: Harness, after: Revised) -> list[dict[str, Json]]:
    """Rows of the table bank_components: every component of the bank before or after."""
    cites: dict[str, list[str]] = {}
    for one in after.tried:
        if one.failure is None:
            cites[one.change.path] = list(one.cites)
    switches = banks.manifest(after.bank.files)
    rows = []
    for path in sorted((set(before.files) | set(after.bank.files)) - {banks.MANIFEST}):
        there = path in after.bank.files
        rows.append(
            {
                "path": path,
                "action": _action(before.files.get(path), after.bank.files.get(path)),
                "enabled": there and switches.get(path, True),
                "cites": cites.get(path, []),
                "idle_rounds": after.idle.get(path, after.dropped.get(path, 0)),
            }
        )
    return rows


def _action(old: str | None, new: str | None) -> str:
    if new is None:
        return "dropped"
    return "added" if old is None else "kept" if old == new else "changed"


def change_rows(before: Harness, after: Revised) -> dict[str, list[dict[str, Any]]]:
    """Rows of the tables candidates and texts: every change, taken or refused, as a candidate of its own."""
    rows, texts = [], {}
    for number, one in enumerate(after.tried):
        said, failure = _as_text(one.change), one.failure
        texts[text_digest(said)] = said
        rows.append(
            {
                "candidate": number,
                "parent_id": before.id,
                "harness_id": None if failure else after.bank.id,
                "response_digest": text_digest(said),
                "explanation": one.change.why,
                "outcome": failure.kind if failure else "applied",
                "parsed": True,
                "applied": failure is None,
                "boundary": failure.boundary if failure else None,
                "error": failure.message if failure else None,
                "finish_reason": "stop",
            }
        )
    return {"candidates": rows, "texts": [{"digest": digest, "text": text} for digest, text in texts.items()]}


def _as_text(change: Change) -> str:
    blocks = ["\n".join(["<<<<<<< SEARCH", *b.search, "=======", *b.replace, ">>>>>>> REPLACE"]) for b in change.blocks]
    body = {"write": change.text, "edit": "\n".join(blocks), "delete": "DELETE"}[change.action]
    return f"FILE: {change.path}\nCITES: {', '.join(change.cites)}\nWHY: {change.why}\n{body}"
