"""A sweep → its points, each a tree of its own."""

from itertools import product
from typing import Any

from hbench.spec.compose import overlay, setting, swept_paths, without
from hbench.spec.interpolate import interpolated
from hbench.spec.problems import Problem
from hbench.spec.tree import Tree

Point = dict[str, Any]  # dotted path -> value
Row = list[tuple[str, Any, int]]  # what one step along one key of the sweep sets: path, value, index in its list


def points(tree: Tree) -> tuple[list[tuple[Point, Tree]], list[Problem]]:
    """Every point with its tree, the first path varying slowest; one point, {}, without a sweep."""
    filled, problems = interpolated(tree, ("sweep",))
    sweep = filled.values.get("sweep") or {}
    if not isinstance(sweep, dict):
        return [], [Problem(tree.mark(("sweep",)), f"sweep: expected a mapping of dotted path to list, got {sweep!r}")]
    axes: list[list[tuple[str, Row]]] = []
    for key, values in sweep.items():
        if ("sweep", key) not in filled.unread and values is not None:
            rows = _rows(filled, key, values, problems)
            axes += [[(key, row) for row in rows]] if rows else []
    plain = without(tree, "sweep")
    return [_point(plain, filled, steps) for steps in product(*axes)], problems


def _rows(tree: Tree, key: str, values: Any, problems: list[Problem]) -> list[Row]:
    paths = swept_paths(key)
    if not isinstance(values, list) or not values:
        problems.append(Problem(tree.mark(("sweep", key)), f"sweep.{key}: expected a list of values, got {values!r}"))
        return []
    rows = []
    for index, value in enumerate(values):
        parts = [value] if len(paths) == 1 else value
        if len(paths) > 1 and (not isinstance(value, list) or len(value) != len(paths)):
            what = f"sweep.{key}: expected rows of {len(paths)} values, got {value!r}"
            problems.append(Problem(tree.mark(("sweep", key, index)), what))
            continue
        rows.append([(path, part, index) for path, part in zip(paths, parts, strict=True)])
    return rows


def _point(tree: Tree, sweep: Tree, steps: tuple[tuple[str, Row], ...]) -> tuple[Point, Tree]:
    point: Point = {}
    for key, row in steps:
        for path, value, index in row:
            point[path] = value
            tree = overlay(tree, setting(path.split("."), value, sweep.mark(("sweep", key, index))))
    return point, tree
