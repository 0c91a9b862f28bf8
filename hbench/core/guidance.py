"""Guidance K: what the reviewer alone may read, translated from a bank (Harness-Zero, section 3)."""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from hbench.core.bank import MOST_CHARS, Component, is_text, python_problems
from hbench.core.failure import HbenchError
from hbench.core.syntax import parse

Sort = Literal["recipe", "check", "advice", "patterns"]
# A tool becomes a recipe in the student's own actions, a middleware a check of proposals, a skill advice, memory patterns.
BECOMES: Mapping[str, tuple[Sort, str]] = {
    "tool": ("recipe", "recipes/{}.md"),
    "middleware": ("check", "checks/{}.py"),
    "skill": ("advice", "advice/{}.md"),
    "memory": ("patterns", "patterns.md"),
}
_PATHS: Mapping[str, str] = {
    "recipe": r"recipes/[a-z][a-z0-9_]{0,39}\.md",
    "check": r"checks/[a-z][a-z0-9_]{0,39}\.py",
    "advice": r"advice/[a-z][a-z0-9_-]{0,39}\.md",
    "patterns": r"patterns\.md",
}
CHECK = ("proposal", "history")  # check(proposal, history) -> None | {"evidence": text, "instruction": text}


class BrokenGuidance(HbenchError):
    """Files that are no guidance. The message names every trouble, one a line."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of guidance. name: the file's, without folder and ending."""

    path: str
    sort: Sort
    text: str

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1].rsplit(".", 1)[0]


def entries(files: Mapping[str, str]) -> tuple[Entry, ...]:
    """What the guidance holds, sorted by path. Raises BrokenGuidance."""
    check(files)
    return tuple(Entry(path, sort_of(path), files[path]) for path in sorted(files))


def path_of(component: Component) -> str:
    """Where the translation of a bank's component stands."""
    return BECOMES[component.sort][1].format(component.name)


def sort_of(path: str) -> Sort | None:
    """What the file of that path is; None for what guidance cannot hold."""
    return next((sort for sort, pattern in _PATHS.items() if re.fullmatch(pattern, path)), None)


def check(files: Mapping[str, str]) -> None:
    """Raises BrokenGuidance where `problems` has something to say."""
    if found := problems(files):
        raise BrokenGuidance("\n".join(found))


def problems(files: Mapping[str, str]) -> list[str]:
    """What is wrong with `files` as guidance, a sentence each, naming the path."""
    return [f"{path}: {told}" for path in sorted(files) for told in file_problems(path, files[path])]


def file_problems(path: str, text: str) -> list[str]:
    """What is wrong with one file; nothing of it is run."""
    if (sort := sort_of(path)) is None:
        return ["guidance has recipes/NAME.md, checks/NAME.py, advice/NAME.md and patterns.md"]
    if len(text) > MOST_CHARS:
        return [f"{len(text):,} characters; {MOST_CHARS:,} are allowed"]
    if not text.strip():
        return ["it is empty"]
    if not is_text(text):
        return ["it holds half a character (a lone surrogate)"]
    return _check_problems(text) if sort == "check" else []


def _check_problems(text: str) -> list[str]:
    if broken := python_problems(text):
        return broken
    found = [node for node in parse(text).body if isinstance(node, ast.FunctionDef) and node.name == "check"]
    takes = tuple(arg.arg for arg in found[-1].args.args) if found else None
    return [] if takes == CHECK else [f"a check defines check({', '.join(CHECK)})"]
