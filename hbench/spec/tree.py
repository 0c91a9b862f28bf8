"""Values with the place of each in its file."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hbench.spec.problems import Mark

Place = tuple[str | int, ...]  # ("splits", "feedback"), ("sweep", "seed", 0)


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
        values = copied(self.values)
        for place in places:
            holder = get(values, place[:-1])
            if isinstance(holder, list):
                holder[place[-1]] = None
            else:
                del holder[place[-1]]
        return Tree(values, self.marks, self.unread | set(places))


def leaves(values: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every scalar below `values`, and every empty mapping and list, with its place."""
    inside = values.items() if isinstance(values, dict) else enumerate(values) if isinstance(values, list) else ()
    if not inside or not values:
        yield place, values
        return
    for key, value in inside:
        yield from leaves(value, (*place, key))


def copied(values: Any) -> Any:
    """The same values, whose mappings and lists are nobody else's."""
    if isinstance(values, dict):
        return {key: copied(value) for key, value in values.items()}
    return [copied(value) for value in values] if isinstance(values, list) else values


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
