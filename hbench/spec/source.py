"""One file of YAML: its values, and where each key and list item stands."""

import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from hbench.spec.nodes import Walk
from hbench.spec.problems import Mark, Problem
from hbench.spec.tree import Tree, dotted, leaves

_HINTS = (
    ("but found '?'", "inside { } and [ ] write '???' in quotes"),
    ("'\\t' that cannot start", "indent with blanks, not with tabs"),
    ("that cannot start any token", "put the text in quotes"),
    ("mapping values are not allowed", "put text that holds ': ' in quotes"),
    ("found unknown escape character", "use single quotes around text with backslashes"),
)


@dataclass(frozen=True)
class Source:
    """file: as shown in messages. readable is False when nothing could be taken from the file."""

    path: Path
    file: str
    tree: Tree
    problems: tuple[Problem, ...] = ()
    readable: bool = True

    @property
    def extends(self) -> list[str]:
        """Names under `extends`, in order; a single name may stand without brackets."""
        names = self.tree.values.get("extends") or []
        listed = [names] if isinstance(names, str) else names
        return [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []


def read(path: Path) -> Source:
    """`path` read as YAML. Runs no code, opens no other file, and never raises for what the file holds."""
    file = shown(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = "is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else f"cannot be read: {error.strerror}"
        return _unreadable(path, Problem(Mark(file), reason))
    return parse(text, path)


def parse(text: str, path: Path) -> Source:
    """The same for text already in hand; `path` names it. Nobody changes what it gives: equal texts are parsed once."""
    return _parsed(text, path, shown(path))


@lru_cache(maxsize=1024)
def _parsed(text: str, path: Path, file: str) -> Source:
    import yaml

    try:
        root = _composed(text)
    except yaml.YAMLError as error:
        return _unreadable(path, _syntax_problem(error, file, text))
    except RecursionError:
        return _unreadable(path, Problem(Mark(file), "is nested too deeply to be read"))
    if not isinstance(root, yaml.MappingNode):
        what = "is empty" if root is None else f"holds {_sort_of(root)}, not a mapping"
        return _unreadable(path, Problem(Mark(file, 1, 1), what, "a spec is a mapping such as `plan: adaptation`"))
    walk = Walk(file, {(): Mark(file, 1, 1)})
    try:
        walk.mapping(root, ())
    except RecursionError:
        return _unreadable(path, Problem(Mark(file), "is nested too deeply to be read"))
    kept = yaml.serialize(root, Dumper=yaml.BaseDumper) if walk.problems else text
    return _valued(kept, path, walk)


def _composed(text: str) -> Any:
    """The nodes of `text`. Raises YAMLError in the words of the slow reader, which _HINTS knows."""
    import yaml

    try:
        return yaml.compose(text, Loader=yaml.CBaseLoader)
    except (yaml.YAMLError, AttributeError):  # AttributeError: a PyYAML without libyaml
        return yaml.compose(text, Loader=yaml.BaseLoader)


def shown(path: Path) -> str:
    """`path` as messages name it: relative to the working folder where it lies below it."""
    try:
        return path.resolve().relative_to(Path.cwd().resolve()).as_posix()
    except ValueError:
        return path.as_posix()


def _valued(text: str, path: Path, walk: Walk) -> Source:
    """Values come from OmegaConf, which reads 1e-5 as a number. text: without what was already reported."""
    import yaml
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        values = OmegaConf.to_container(OmegaConf.create(text), resolve=False)
    except (OmegaConfBaseException, yaml.YAMLError, ValueError, RecursionError) as error:
        problem = Problem(Mark(walk.file, 1, 1), f"cannot be read: {str(error).splitlines()[0]}")
        return _unreadable(path, *walk.problems, problem)
    for place, value in leaves(values):
        if isinstance(value, float) and not math.isfinite(value):
            walk.report(place, walk.marks[place], f"{dotted(place)}: {value} is not a finite number")
    return Source(path, walk.file, Tree(values, walk.marks, frozenset(walk.unread)), tuple(walk.problems))


def _syntax_problem(error: Exception, file: str, text: str) -> Problem:
    what = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if "another document" in what:
        what = "holds more than one document"
    hint = next((hint for part, hint in _HINTS if part in what), "")
    if mark is None:
        before = text[: getattr(error, "position", 0)]
        return Problem(Mark(file, before.count("\n") + 1, len(before) - before.rfind("\n")), what, hint)
    return Problem(Mark(file, mark.line + 1, mark.column + 1), what, hint)


def _unreadable(path: Path, *problems: Problem) -> Source:
    file = shown(path)
    return Source(path, file, Tree({}, {(): Mark(file)}), problems, readable=False)


def _sort_of(node: Any) -> str:
    return {"sequence": "a list", "scalar": "one value"}[node.id]
