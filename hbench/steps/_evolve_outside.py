"""A coding agent of somebody else's as evolver: a program on a copy of training traces and of the bank, and nothing else.

It runs with the user's rights. Its folder holds no gold, no evaluation question and no key; that it looks nowhere else is
its own word.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from hbench.core.brief_folder import brief_folder
from hbench.core.digest import Json
from hbench.core.failure import Failure, StepError
from hbench.core.harness import Harness, tidy_source
from hbench.core.prompt import frozen_prompt, render
from hbench.core.protocols import Services
from hbench.core.text_folder import text_of, texts_in
from hbench.parts.edits._files import Change
from hbench.parts.edits.bank import Bank
from hbench.steps._evolve_by_model import Proposed
from hbench.steps._evolve_traces import Trace

README, TRACES, BANK, CITES = "README.md", "traces", "bank", "cites.json"
PLACE = "{workspace}"


def proposed_outside(params: Json, parent: Harness, bank: Json, traces: Sequence[Trace], services: Services) -> Proposed:
    """What the program has changed in its copy of the bank. Raises StepError when it fails, or takes longer than it may."""
    order = params["evolver"]
    with brief_folder("hbench-evolve-") as folder:
        _lay_out(folder, params, parent, bank, traces)
        words = [word.replace(PLACE, str(folder)) for word in order["command"]]
        done = services.run_outside(words, folder, order["wall_s"])
        if done.code is None:
            raise StepError(f"the evolver {words[0]} took longer than {order['wall_s']:g} s")
        if done.code:
            last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:] or ["it said nothing"]
            raise StepError(f"the evolver {words[0]} ended with exit code {done.code}: {last[0][:500]}")
        changes, failure = _changes(folder, parent)
    return Proposed(tuple(changes), (), failure, done.stdout)


def _lay_out(folder: Path, params: Json, parent: Harness, bank: Json, traces: Sequence[Trace]) -> None:
    values = {"domain": params["domain"], "bank": bank, "notes": [], "folder": True, "most": Bank().most}
    told = render(frozen_prompt(params["prompt"]), values)
    _write(folder / README, "\n\n".join(message.content.strip() for message in told) + "\n")
    for trace in traces:
        _write(folder / TRACES / f"{trace.question_id}.md", f"Score {trace.score:.2f}\n\n{trace.text}\n")
    (folder / BANK).mkdir()
    for path, text in parent.files.items():
        _write(folder / BANK / path, text)


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode("utf-8", "replace"))


def _changes(folder: Path, parent: Harness) -> tuple[list[Change], Failure | None]:
    """What differs from `parent`, with its citations; a failure where the folder or cites.json cannot be read."""
    cites, trouble = _cites(folder / CITES)
    try:
        left = texts_in(folder / BANK)
    except ValueError as bad:
        return [], Failure("parse", "unreadable_bank", str(bad)[:2000])
    changes = []
    for path in sorted(set(left) | set(parent.files)):
        founded = dict(zip(("cites", "why"), cites.get(path, ((), "")), strict=True))
        if path not in left:
            changes.append(Change(path, "delete", **founded))
        elif tidy_source(left[path]) != parent.files.get(path):
            changes.append(Change(path, "write", left[path], **founded))
    most = Bank().most
    if len(changes) > most:
        return [], Failure("parse", "too_many_files", f"{len(changes)} files change; {most} may")
    return changes, trouble


def _cites(file: Path) -> tuple[Mapping[str, tuple[tuple[str, ...], str]], Failure | None]:
    """path -> (ids, why). A file that cannot be read founds nothing."""
    try:
        read = json.loads(text_of(file, CITES)) if file.exists() or file.is_symlink() else {}
        if not isinstance(read, dict):
            raise ValueError(f"{CITES} is no object")
    except (ValueError, RecursionError) as bad:
        return {}, Failure("parse", "unreadable_cites", str(bad)[:2000])
    return {path: _founded(said) for path, said in read.items()}, None


def _founded(said: Json) -> tuple[tuple[str, ...], str]:
    said = said if isinstance(said, dict) else {"cites": said}
    ids, why = said.get("cites"), said.get("why", "")
    ids = [ids] if isinstance(ids, str) else ids if isinstance(ids, list) else []
    return tuple(one for one in ids if isinstance(one, str)), why[:500] if isinstance(why, str) else ""
