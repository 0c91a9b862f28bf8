"""`${dotted.path}` and `${.name}`, filled in on the whole tree. Environment variables only under `machine`."""

import os
from dataclasses import dataclass, field
from typing import Any

from hbench.spec.problems import Problem, did_you_mean
from hbench.spec.nodes import ENVIRONMENT, OPENING
from hbench.spec.tree import Place, Tree, copied, dotted, get, leaves


def interpolated(tree: Tree, below: Place = ()) -> tuple[Tree, list[Problem]]:
    """`tree` with every interpolation at or below `below` filled in; what has no value is taken out and reported."""
    places = [p for p, v in leaves(tree.values) if p[: len(below)] == below and isinstance(v, str) and "${" in v]
    if not places:
        return tree, []
    filling = _Filling(tree)
    filled = {place: filling.at(place) for place in places}
    values = copied(tree.values)
    for place, value in filled.items():
        get(values, place[:-1])[place[-1]] = value
    made = Tree(values, tree.marks, tree.unread)
    return made.taken_out([place for place, value in filled.items() if value is _NOTHING]), filling.problems


_NOTHING = object()


class _NoValue(Exception):
    """what, hint: why an interpolation has no value."""


@dataclass
class _Filling:
    tree: Tree
    done: dict[Place, Any] = field(default_factory=dict)
    open: list[Place] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def at(self, place: Place) -> Any:
        """The value at `place`, interpolations filled in, or _NOTHING after reporting why."""
        if place not in self.done:
            self.open.append(place)
            try:
                self.done[place] = self._filled(place, get(self.tree.values, place))
            except _NoValue as trouble:
                what, hint = trouble.args
                self.problems.append(Problem(self.tree.mark(place), f"{dotted(place)}: {what}", hint, incomplete=True))
                self.done[place] = _NOTHING
            self.open.pop()
        return self.done[place]

    def _filled(self, place: Place, text: str) -> Any:
        whole = OPENING.fullmatch(text)
        if whole:
            return self._target(place, whole[1].removesuffix("}"))
        filled = OPENING.sub(lambda m: self._text(place, m[1].removesuffix("}")), text)
        return filled.replace("\\${", "${")

    def _text(self, place: Place, inside: str) -> str:
        value = self._target(place, inside)
        if isinstance(value, dict | list) or value is None:
            raise _NoValue(f"${{{inside}}} cannot stand inside text", "use it alone, as the whole value")
        written = self.tree.marks[t].written if (t := _absolute(place, inside)) in self.tree.marks else ""
        # 1.10 was written, 1.1 was read: inside text it stands as written.
        return written if written and "${" not in written and not isinstance(value, str) else str(value)

    def _target(self, place: Place, inside: str) -> Any:
        if environment := ENVIRONMENT.fullmatch(inside):
            return _environment(*environment.groups())
        target = _absolute(place, inside)
        if target[:1] == ("machine",) and place[0] != "machine":
            raise _NoValue(f"${{{inside}}} reads machine settings, which are not hashed", "they may not reach a result")
        try:
            value = get(self.tree.values, target)
        except KeyError:
            known = {dotted(p) for p in self.tree.marks if p}
            raise _NoValue(f"${{{inside}}} names nothing", did_you_mean(dotted(target), known)) from None
        return self._value(target, value, inside)

    def _value(self, target: Place, value: Any, inside: str) -> Any:
        if isinstance(value, dict):
            return {key: self._value((*target, key), item, inside) for key, item in value.items()}
        if isinstance(value, list):
            return [self._value((*target, i), item, inside) for i, item in enumerate(value)]
        if not isinstance(value, str) or "${" not in value:
            return value
        if target in self.open:
            chain = " → ".join(dotted(p) for p in (*self.open[self.open.index(target) :], target))
            raise _NoValue(f"interpolations go in a loop: {chain}", "")
        filled = self.at(target)
        if filled is _NOTHING:
            raise _NoValue(f"${{{inside}}} has no value", f"see {self.tree.mark(target)}")
        return filled


def _environment(variable: str, default: str | None) -> str:
    value = os.environ.get(variable, default)
    if value is None:
        hint = f"export {variable}=… or write ${{oc.env:{variable},DEFAULT}}"
        raise _NoValue(f"the environment variable {variable} is not set", hint)
    return value


def _absolute(place: Place, inside: str) -> Place:
    """`${a.b}` counts from the top; each leading dot of `${.b}` goes one mapping up from the value."""
    dots = len(inside) - len(inside.lstrip("."))
    names = tuple(int(n) if n.isdigit() else n for n in inside.lstrip(".").split("."))
    return (place[: max(len(place) - dots, 0)] if dots else ()) + names
