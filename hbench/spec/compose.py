"""Several files → one tree of values: `extends`, overlays, overrides and arms, each value keeping its mark."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hbench.spec.lineage import Lineage
from hbench.spec.problems import COMMAND_LINE, Mark, Problem
from hbench.spec.source import Source, parse
from hbench.spec.tree import Place, Tree, copied

# Mappings whose keys the author invents or picks: `null` takes an inherited entry out.
DROPPABLE = frozenset({("reward",), ("arms",), ("sweep",)})
# A model block that names no kind has this one.
DEFAULT_KIND = dict.fromkeys(("solver", "proposer", "student", "reviewer", "writer"), "weights")
OWN = ("extends", "description")  # what a file says about itself alone


def merged(line: Lineage) -> Tree:
    """The files of `line` laid over each other, ancestors first."""
    tree = Tree({}, {(): line.sources[-1].tree.marks[()]})
    for source in line.sources:
        tree = overlay(tree, source.tree)
        if source is not line.sources[-1]:
            tree = without(tree, *OWN)
    return without(tree, "extends")


def overlay(base: Tree, over: Tree) -> Tree:
    """`over` laid on `base`: mappings merge, lists replace, a mapping that names another `kind` replaces."""
    values, marks = copied(base.values), dict(base.marks)
    _lay(values, marks, (over.values, over), ())
    return Tree(values, marks, base.unread | over.unread)


def _lay(into: dict, marks: dict, over: tuple[dict, Tree], place: Place) -> None:
    values, tree = over
    for key, value in values.items():
        here, old = (*place, key), into.get(key)
        if value is None and place in DROPPABLE and key in into:
            del into[key]
            _forget(marks, here)
        elif isinstance(value, dict) and isinstance(old, dict) and _same_kind(here, old, value):
            marks[here] = tree.mark(here)
            _lay(old, marks, (value, tree), here)
        elif isinstance(value, dict) and isinstance(old, list) and value and _addresses(value, old):
            items = {int(index): item for index, item in value.items()}
            for index, item in items.items():
                _lay_item(old, marks, (index, item, tree), here)
        else:
            into[key] = copied(value)
            _forget(marks, here)
            marks |= {p: m for p, m in tree.marks.items() if p[: len(here)] == here}
            marks.setdefault(here, tree.mark(here))


def _lay_item(items: list, marks: dict, over: tuple[int, Any, Tree], place: Place) -> None:
    """One item of a list, addressed by `tasks.0.name=value`."""
    index, value, tree = over
    holder = {index: items[index]}
    _lay(holder, marks, ({index: value}, tree), place)
    marks[(*place, index)] = tree.mark((*place, str(index)))
    items[index] = holder[index]


def _addresses(value: dict, old: list) -> bool:
    return all(str(key).isdigit() and int(key) < len(old) for key in value)


def _same_kind(place: Place, old: dict, new: dict) -> bool:
    """A new mapping without a kind, or over one without, adds to it."""
    default = DEFAULT_KIND.get(str(place[-1]))
    before = old.get("kind", default)
    return "kind" not in new or before is None or new["kind"] == before


def _forget(marks: dict, place: Place) -> None:
    for known in [p for p in marks if p[: len(place)] == place]:
        del marks[known]


def without(tree: Tree, *keys: str) -> Tree:
    """`tree` without these top-level keys."""
    values = {k: v for k, v in tree.values.items() if k not in keys}
    return Tree(values, {p: m for p, m in tree.marks.items() if not p or p[0] not in keys}, tree.unread)


def part_of(tree: Tree, place: Place) -> Tree:
    """The mapping at `place` as a tree of its own: an arm's overlay."""
    value: Any = tree.values
    for part in place:
        value = value[part]
    size = len(place)
    marks = {p[size:]: m for p, m in tree.marks.items() if p[:size] == place}
    unread = frozenset(p[size:] for p in tree.unread if p[:size] == place)
    return Tree(value, marks | {(): tree.mark(place)}, unread)


def setting(place: Sequence[str], value: Any, mark: Mark) -> Tree:
    """The tree that sets one value at a dotted place."""
    values: Any = value
    for part in reversed(place):
        values = {part: values}
    marks = {tuple(place[:size]): mark for size in range(1, len(place) + 1)}
    return Tree(values, {(): mark, **marks})


def overridden(tree: Tree, overrides: Sequence[str]) -> tuple[Tree, list[Problem]]:
    """`tree` with every `a.b=value` laid on, in order, and what is wrong with them."""
    problems: list[Problem] = []
    for text in overrides:
        place, written = _split(text)
        made = _value(place[0], written)
        if "" in place or made.problems:
            said = f"{text!r}: {made.problems[0].what}" if "" not in place else f"expected a.b=value, got {text!r}"
            problems.append(Problem(COMMAND_LINE, said))
            continue
        if place[0] == "extends":
            problems.append(Problem(COMMAND_LINE, f"{text!r}: a file names what it extends", "write a small spec"))
            continue
        at = made.tree.mark((place[0],))
        mark = replace(COMMAND_LINE, written=at.written, hidden=at.hidden)
        tree = overlay(_narrowed(tree, place), setting(place, made.tree.values[place[0]], mark))
        problems += _without_effect(tree, ".".join(place))
    return tree, problems


def _split(text: str) -> tuple[list[str], str]:
    """Place and written value. A key of `sweep` is one part, dots and all."""
    dotted, equals, written = text.partition("=")
    place = [part.strip() for part in dotted.split(".")] if equals else [""]
    return (["sweep", ".".join(place[1:])] if place[0] == "sweep" and len(place) > 1 else place), written


def _value(first: str, written: str) -> Source:
    """`written`, read as in a file below the top-level key `first` (only `machine` may name environment variables)."""
    return parse(f"{first or 'x'}:\n  {written}\n", Path(COMMAND_LINE.file))


def _narrowed(tree: Tree, place: list[str]) -> Tree:
    """An override of a swept value takes that value out of the sweep: `seed=1` runs seed 1 alone."""
    sweep, dotted = tree.values.get("sweep"), ".".join(place)
    if place[0] == "sweep" or not isinstance(sweep, dict):
        return tree
    kept = {key: rows for key, rows in sweep.items() if not all(_below(p, dotted) for p in swept_paths(key))}
    return Tree({**tree.values, "sweep": kept}, tree.marks, tree.unread)


def swept_paths(key: str) -> list[str]:
    """The dotted paths that one key of `sweep` walks together: `a, b`."""
    return [path.strip() for path in key.split(",")]


def _below(path: str, dotted: str) -> bool:
    return path == dotted or path.startswith(dotted + ".")


def _without_effect(tree: Tree, dotted: str) -> list[Problem]:
    """An override that every arm, or the sweep, sets again would be lost without a word."""
    arms, sweep = tree.values.get("arms"), tree.values.get("sweep")
    blocks = list(arms.values()) if isinstance(arms, dict) else []
    if blocks and all(_sets(block, dotted.split(".")) for block in blocks):
        hint = f"write arms.NAME.{dotted}=…, NAME being one of {', '.join(arms)}"
        return [Problem(COMMAND_LINE, f"{dotted} has no effect: every arm sets it", hint)]
    together = [key for key in sweep if dotted in swept_paths(key)] if isinstance(sweep, dict) else []
    what = f"{dotted} has no effect: the sweep walks"
    return [Problem(COMMAND_LINE, f"{what} '{key}'", "override the sweep") for key in together]


def _sets(block: Any, place: list[str]) -> bool:
    for part in place:
        if not isinstance(block, dict) or part not in block:
            return False
        block = block[part]
    return not isinstance(block, dict)
