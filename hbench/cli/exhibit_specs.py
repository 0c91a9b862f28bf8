"""How to get to an exhibit: which specs fill it, by which commands, and the most that they may ask of which models."""

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hbench.core.published import PREFIX, find_bundle
from hbench.exhibits.bundled import bundled_spec
from hbench.exhibits.exhibit import read
from hbench.plan.bounds import Bound


def how_to_get(name: str, results: Path) -> str:
    """Text for people. Raises HbenchError for an unknown exhibit, SpecError for a bad spec."""
    block, _ = read(name)
    lines = [f"{name}: {block.title}", *([block.source] if block.source else []), ""]
    bundles: dict[str, list[str]] = {}
    for named in block.from_:
        spec = bundled_spec(named)
        lines += [*_to_run(spec, results), ""] if spec else []
        if spec != named:
            bundles.setdefault(named.split()[0], []).append(spec)
    lines += [line for bundle, specs in bundles.items() for line in (*_bundled(bundle, specs, results), "")]
    lines += [f"not to be had by running: {row}: {why}\n" for row, why in block.unfilled.items()]
    return "\n".join([*lines, f"hbench exhibit {name}"])


def _bundled(bundle: str, specs: Sequence[str], results: Path) -> Iterator[str]:
    here = find_bundle(bundle, results)
    yield f"Rows come from the bundle {bundle}, which is " + ("here." if here else "not here.") + " It is made anew by:"
    yield f"  hbench export {' '.join(filter(None, specs)) or 'SPEC…'} --name {bundle.removeprefix(PREFIX)}"


def _to_run(named: str, results: Path) -> Iterator[str]:
    from hbench.plan import compile
    from hbench.plan.show import left_to_run
    from hbench.runtime.foresee import foresee
    from hbench.spec import load
    from hbench.store.artifacts import Store

    path, *overrides = shlex.split(named)
    points = load(path, overrides)
    states: Counter[str] = Counter()
    most: dict[str, Bound] = defaultdict(Bound)
    for plan in map(compile, points):
        seen = foresee(plan, Store(results))
        states.update(seen.values())
        for role, cost in left_to_run(plan, seen).items():
            most[role] += cost
    many = f"{len(points)} specs" if len(points) > 1 else "1 spec"
    yield f"{named} ({many}, arms {', '.join(points[0].arms)}; {states['cached']} of {states.total()} steps are there)"
    yield f"  models: {', '.join(_weights(points)) or 'none'}"
    yield from (f"  hbench {command} {named}" for command in ("plan", "run"))
    for role, cost in most.items():
        most = f"at most {cost.calls:,} calls of the {role}, {cost.tokens:,} completion tokens"
        yield f"  calls of the {role} {cost.told()}" if cost.unknown else f"  {most}"


def _weights(points: Sequence[Any]) -> list[str]:
    """The models that the specs name anywhere, sorted."""
    found: set[str] = set()

    def look(value: Any) -> None:
        if isinstance(value, dict):
            found.update({value["weights"]} if isinstance(value.get("weights"), str) else ())
        for each in value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ():
            look(each)

    look([arm.model_dump() for point in points for arm in point.arms.values()])
    return sorted(found)
