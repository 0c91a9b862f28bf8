"""The files behind a spec: each once, ancestors first; and the keys on which unrelated ones disagree."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hbench.core.places import roots
from hbench.spec.problems import Problem, did_you_mean
from hbench.spec.source import Source, read, shown
from hbench.spec.tree import Place

UNCOMPARED = frozenset({"extends", "description"})


@dataclass(frozen=True)
class Lineage:
    """sources: the named file last. ancestors: file -> every file that it extends, however far."""

    sources: tuple[Source, ...]
    ancestors: Mapping[Path, frozenset[Path]]
    problems: tuple[Problem, ...]


def lineage(path: Path) -> Lineage:
    """`path` and all that it extends. Raises nothing: what is wrong stands in `problems`."""
    walk = _Walk()
    walk.visit(path.resolve(), ())
    problems = walk.problems + [p for s in walk.order for p in s.problems]
    clashes = _clashes(walk.order, walk.ancestors) if not problems else []
    return Lineage(tuple(walk.order), walk.ancestors, tuple(problems + clashes))


def find_spec(name: str, beside: Path | None = None) -> Path | None:
    """The file of a spec named relative to specs/, with or without .yaml; `./name` is relative to the file `beside`.

    specs/ is the folder of that name above `beside`, then the working folder's, then what ships with hbench.
    """
    file = name if name.endswith(".yaml") else f"{name}.yaml"
    if name.startswith((".", "/")):
        found = ((beside.parent if beside else Path.cwd()) / file).resolve()
        return found if found.is_file() else None
    return next((root / file for root in spec_folders(beside) if (root / file).is_file()), None)


def spec_folders(beside: Path | None = None) -> list[Path]:
    """Folders in which names are looked up, first match wins."""
    above = [folder for folder in beside.resolve().parents if folder.name == "specs"] if beside else []
    return list(dict.fromkeys([*above, *(root.resolve() for root in roots("specs"))]))


@dataclass
class _Walk:
    """A depth-first walk over `extends`."""

    order: list[Source] = field(default_factory=list)
    ancestors: dict[Path, frozenset[Path]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def visit(self, path: Path, chain: tuple[Path, ...]) -> None:
        if path in self.ancestors:
            return
        source = read(path)
        self._shape(source)
        above: set[Path] = set()
        for index, name in enumerate(source.extends):
            parent = self._parent(source, name, index)
            if parent is None:
                continue
            if parent in (*chain, path):
                self._loop(source, index, (*chain, path), parent)
                continue
            self.visit(parent, (*chain, path))
            above |= {parent, *self.ancestors[parent]}
        self.ancestors[path] = frozenset(above)
        self.order.append(source)

    def _shape(self, source: Source) -> None:
        names = source.tree.values.get("extends")
        if names is not None and not isinstance(names, str) and names != source.extends:
            mark = source.tree.mark(("extends",))
            self.problems.append(Problem(mark, f"extends: expected a name or a list of names, got {names!r}"))

    def _parent(self, source: Source, name: str, index: int) -> Path | None:
        found = find_spec(name, source.path)
        if found is None:
            folders = spec_folders(source.path)
            known = [f.relative_to(r).with_suffix("").as_posix() for r in folders for f in r.rglob("*.yaml")]
            where = ", ".join(shown(folder) for folder in folders) or "no specs folder found"
            hint = did_you_mean(name, known) or f"looked in {where}"
            self.problems.append(Problem(source.tree.mark(("extends", index)), f"extends: no spec '{name}'", hint))
        return found.resolve() if found else None

    def _loop(self, source: Source, index: int, chain: tuple[Path, ...], parent: Path) -> None:
        names = " → ".join(shown(p) for p in (*chain[chain.index(parent) :], parent))
        self.problems.append(Problem(source.tree.mark(("extends", index)), f"extends goes in a loop: {names}"))


@dataclass(frozen=True)
class _Clash:
    place: Place
    first: Source
    second: Source


def _clashes(order: list[Source], ancestors: Mapping[Path, frozenset[Path]]) -> list[Problem]:
    """Keys that two files, neither of which extends the other, set apart, unless a file below both sets them."""
    set_below: dict[str, dict[Place, tuple[Source, object]]] = defaultdict(dict)  # by the top-level key
    found: list[_Clash] = []
    for source in order:
        above = ancestors[source.path]
        here = {p: v for p, v in _settings(source.tree.values) if p and p[0] not in UNCOMPARED}
        found = [c for c in found if not ({c.first.path, c.second.path} <= above and _covers(here, c.place))]
        for place, value in here.items():
            set_by = set_below[place[0]]
            for known in [p for p in set_by if _touch(p, place)]:
                earlier, before = set_by[known]
                if earlier.path not in above and (known != place or before != value):
                    found.append(_Clash(place, earlier, source))
                if known != place:
                    del set_by[known]
            set_by[place] = (source, value)
    return [_said(clash, order[-1]) for clash in found]


def _settings(values: object, place: Place = ()) -> Iterator[tuple[Place, object]]:
    """What a file sets: every value that is not a mapping with something in it; a list is one value."""
    if not isinstance(values, dict) or not values:
        yield place, values
        return
    for key, value in values.items():
        yield from _settings(value, (*place, key))


def _touch(a: Place, b: Place) -> bool:
    """One place lies at or below the other: both cannot hold."""
    size = min(len(a), len(b))
    return a[:size] == b[:size]


def _covers(here: Mapping[Place, object], place: Place) -> bool:
    """Whether a file that sets `here` decides `place`: sets it, or names the kind of a mapping around it."""
    return any(_touch(p, place) or (p[-1] == "kind" and p[:-1] == place[: len(p) - 1]) for p in here)


def _said(clash: _Clash, child: Source) -> Problem:
    dotted = ".".join(str(part) for part in clash.place)
    at = clash.first.tree.mark(clash.place)
    return Problem(clash.second.tree.mark(clash.place), f"{dotted} is also set at {at}", f"set it in {child.file}")
