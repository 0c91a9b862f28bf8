"""One file of YAML: its values, and where each key and list item stands."""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hbench.spec.problems import Mark, Problem

Place = tuple[str | int, ...]  # ("splits", "feedback"), ("sweep", "seed", 0)

REFERENCE = re.compile(r"\.*[A-Za-z_][\w-]*(?:\.[\w-]+)*")  # inside ${…}: dotted.path, or .name of the same mapping
ENVIRONMENT = re.compile(r"oc\.env:([A-Za-z_]\w*)(?:,(.*))?")
OPENING = re.compile(r"(?<!\\)\$\{([^{}]*\}?)")

_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("str", "map", "seq")}
_HINTS = (
    ("but found '?'", "inside { } and [ ] write '???' in quotes"),
    ("'\\t' that cannot start", "indent with blanks, not with tabs"),
    ("that cannot start any token", "put the text in quotes"),
    ("mapping values are not allowed", "put text that holds ': ' in quotes"),
    ("found unknown escape character", "use single quotes around text with backslashes"),
)


@dataclass(frozen=True)
class Tree:
    """Values with their marks. unread: places already reported, so that nothing more is said about them."""

    values: dict[str, Any]
    marks: Mapping[Place, Mark]
    unread: frozenset[Place] = frozenset()

    def mark(self, place: Place) -> Mark:
        """The mark of `place`, or of the nearest place around it."""
        while place not in self.marks and place:
            place = place[:-1]
        return self.marks[place]

    def taken_out(self, places: Collection[Place]) -> "Tree":
        """The tree without `places`, which count as reported. An item of a list becomes null: others stay put."""
        if not places:
            return self
        values = deepcopy(self.values)
        for place in places:
            holder = get(values, place[:-1])
            if isinstance(holder, list):
                holder[place[-1]] = None
            else:
                del holder[place[-1]]
        return Tree(values, self.marks, self.unread | set(places))


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
    """The same for text already in hand; `path` names it."""
    import yaml

    file = shown(path)
    try:
        root = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        return _unreadable(path, _syntax_problem(error, file, text))
    except RecursionError:
        return _unreadable(path, Problem(Mark(file), "is nested too deeply to be read"))
    if not isinstance(root, yaml.MappingNode):
        what = "is empty" if root is None else f"holds {_sort_of(root)}, not a mapping"
        return _unreadable(path, Problem(Mark(file, 1, 1), what, "a spec is a mapping such as `plan: adaptation`"))
    walk = _Walk(file, {(): Mark(file, 1, 1)})
    walk.mapping(root, ())
    kept = yaml.serialize(root, Dumper=yaml.BaseDumper) if walk.problems else text
    return _valued(kept, path, walk)


def shown(path: Path) -> str:
    """`path` as messages name it: relative to the working folder where it lies below it."""
    try:
        return path.resolve().relative_to(Path.cwd().resolve()).as_posix()
    except ValueError:
        return path.as_posix()


def _valued(text: str, path: Path, walk: "_Walk") -> Source:
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


def leaves(values: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every scalar below `values`, and every empty mapping and list, with its place."""
    inside = values.items() if isinstance(values, dict) else enumerate(values) if isinstance(values, list) else ()
    if not inside or not values:
        yield place, values
        return
    for key, value in inside:
        yield from leaves(value, (*place, key))


def get(values: Any, place: Iterable[str | int]) -> Any:
    """The value at `place`. Raises KeyError where there is none."""
    for part in place:
        if isinstance(values, dict) and str(part) in values:
            values = values[str(part)]
        elif isinstance(values, list) and isinstance(part, int) and part < len(values):
            values = values[part]
        else:
            raise KeyError(part)
    return values


def dotted(place: Iterable[str | int]) -> str:
    """A place as people write it: splits.feedback, sweep.seed.0."""
    return ".".join(str(part) for part in place)


@dataclass
class _Walk:
    """One pass over the nodes: collects marks, and takes out of the tree what cannot stay."""

    file: str
    marks: dict[Place, Mark]
    problems: list[Problem] = field(default_factory=list)
    unread: set[Place] = field(default_factory=set)
    seen: set[int] = field(default_factory=set)

    def report(self, place: Place, mark: Mark, what: str, hint: str = "") -> None:
        self.problems.append(Problem(mark, what, hint))
        self.unread.add(place)

    def mapping(self, node: Any, place: Place) -> None:
        kept: dict[str, Any] = {}
        for key, value in node.value:
            trouble = _key_trouble(key)
            if trouble:
                self.report(place, self.mark_of(key), *trouble)
            elif key.value in kept:
                first = self.marks[(*place, key.value)]
                what = f"key '{key.value}' is given twice"
                self.report((*place, key.value), self.mark_of(key), what, f"first at line {first.line}")
            elif self.entry(value, (*place, key.value), self.mark_of(key)):
                kept[key.value] = (key, value)
        node.value = list(kept.values())

    def entry(self, node: Any, place: Place, mark: Mark) -> bool:
        """Walks on below `place`; False when the value cannot stay."""
        text = node.value if node.id == "scalar" else ""
        hidden = place[0] == "machine" and "${" in text
        self.marks[place] = replace(mark, written=text if node.id == "scalar" and not node.style else "", hidden=hidden)
        trouble = _value_trouble(node, place, id(node) in self.seen)
        self.seen.add(id(node))
        if trouble:
            self.report(place, self.mark_of(node), f"{dotted(place)}: {trouble[0]}", trouble[1])
            return False
        if node.id == "mapping":
            self.mapping(node, place)
        elif node.id == "sequence":
            node.value = [n for i, n in enumerate(node.value) if self.entry(n, (*place, i), self.mark_of(n))]
        return True

    def mark_of(self, node: Any) -> Mark:
        return Mark(self.file, node.start_mark.line + 1, node.start_mark.column + 1)


def _key_trouble(key: Any) -> tuple[str, str] | None:
    import yaml

    if key.id != "scalar":
        return "a key must be text", "put text that begins with { or [ in quotes"
    if key.value == "<<" and key.style is None:
        return "merge keys are not read", "use `extends`, or `let` with ${let.name}"
    if key.tag not in _TAGS:
        return f"tag {key.tag} is not read", "specs hold plain values only"
    sort = yaml.SafeLoader("").resolve(yaml.ScalarNode, key.value, (key.style is None, False))
    if key.style is None and (sort != "tag:yaml.org,2002:str" or re.fullmatch(r"[-+]?[\d_.]+[eE][-+]?\d+", key.value)):
        return f"key {key.value or '(empty)'} is not text in YAML", f'quote it: "{key.value}"'
    return None


def _value_trouble(node: Any, place: Place, seen: bool) -> tuple[str, str] | None:
    if seen:
        return "anchors and aliases are not read", "give it a name under `let` and write ${let.name}"
    if node.tag not in _TAGS:
        return f"tag {node.tag} is not read", "specs hold plain values only"
    if node.id != "scalar":
        return None
    if node.style is None and re.fullmatch(r"[-+]?(0[0-7_]+|[0-9_]+(:[0-5]?[0-9])+(\.[0-9_]*)?)", node.value):
        return f"{node.value} is an octal or base-60 number in YAML", "write it in decimal, or quote it"
    return _interpolation_trouble(node.value, place)


def _interpolation_trouble(text: str, place: Place) -> tuple[str, str] | None:
    for inside in OPENING.findall(text):
        name = inside[:-1]
        if inside.endswith("}") and REFERENCE.fullmatch(name):
            continue
        if inside.endswith("}") and ENVIRONMENT.fullmatch(name):
            if place[0] == "machine":
                continue
            what = f"the environment variable {ENVIRONMENT.fullmatch(name)[1]} may be read under `machine` only"
            return what, "what is hashed must not depend on it"
        hint = "write ${dotted.path} or ${.name}, or \\${ for the signs themselves; long texts belong into prompts/"
        return f"${{{inside} is not an interpolation", hint
    return None


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
