"""The two sides of a comparison: which arms of which specs, in a results folder or a published bundle."""

import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hbench.core.failure import HbenchError
from hbench.core.published import PREFIX
from hbench.exhibits.bundled import bundle_folder, bundle_sources
from hbench.exhibits.checkpoint_arms import arms_of_checkpoint
from hbench.exhibits.sources import Source, count_newest_runs, load_sources
from hbench.spec.problems import did_you_mean
from hbench.store.bundle import read_manifest

KEY = re.compile("[0-9a-f]{8,64}")  # a training step's key, or how it begins
WAIT_S = 10.0  # for a fold that has the database


@dataclass(frozen=True)
class Side:
    """points: spec digest -> what tells that sweep point apart besides family, seed and chain. arms: pooled if several.

    name: as it may be asked for again. folder: of results, or of a bundle.
    """

    name: str
    folder: Path
    points: Mapping[str, str]
    arms: tuple[str, ...]


@dataclass(frozen=True)
class Asked:
    """What a side's text says. place: `published/NAME` or "". spec: with its overrides, or a checkpoint; "" for all."""

    place: str
    spec: str
    arms: tuple[str, ...]

    def named(self, arms: Sequence[str]) -> str:
        """The text that asks for these arms of it."""
        path, *more = shlex.split(self.spec) if self.spec else [""]
        arm = f":{'+'.join(arms)}" if arms else ""
        return " ".join(filter(None, (self.place if path else self.place + arm, path and path + arm, *more)))


def read_asked(text: str) -> Asked:
    """`SPEC[:ARM]`, or KEY of a checkpoint, with `published/NAME` before it for a bundle; `published/NAME[:ARM]`, `:ARM`.

    Several arms that are pooled have `+` between. Overrides stand behind a spec, as on the command line.
    """
    try:
        first, *more = shlex.split(text)
    except ValueError:
        raise HbenchError(f"{text!r} names no spec") from None
    place = ""
    if first.startswith(PREFIX):
        _, name, *behind = first.split("/", 2)
        name, colon, arm = name.partition(":")
        place = PREFIX + name
        if arm or not (behind or more):
            return Asked(place, "", _pooled(arm))
        first, *more = [*behind, *more]
    spec, colon, arm = first.rpartition(":") if ":" in first else (first, "", "")
    return Asked(place, shlex.join([spec, *more]) if spec else "", _pooled(arm))


def _pooled(arms: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(arm for arm in arms.split("+") if arm))


def find_sides(results: Path, texts: Sequence[str], arms: Sequence[str] = (), bundle: str | None = None) -> tuple[Side, Side]:
    """Both sides. texts: one or two; a second of `:ARM` alone, or none, is of the first one's spec.

    arms: for sides that name none; one for both, or one for each. bundle: the place of sides that name none. Raises
    HbenchError for what is not there or could be several things, SpecError for a faulty spec.
    """
    first, *rest = map(read_asked, texts)
    if not rest and len(arms) + bool(first.arms) < 2:
        raise HbenchError(f"{texts[0]} against what? Name a second side, as {texts[0]} :ARM, or both with --arm ARM --arm ARM")
    other = rest[0] if rest else replace(first, arms=())
    if not other.spec and not other.place:
        other = replace(first, arms=other.arms)
    if len(arms) > 2:
        raise HbenchError(f"--arm at most twice, once a side; `--arm {'+'.join(arms)}` pools them")
    given = [_pooled(arm) for arm in arms]
    asked = [replace(a, arms=a.arms or (given[min(i, len(given) - 1)] if given else ())) for i, a in enumerate((first, other))]
    default = PREFIX + bundle.removeprefix(PREFIX) if bundle else ""
    placed = [replace(a, place=a.place or default) for a in asked]
    sides = [_side(results, each, [arm for a in placed if a.spec == each.spec for arm in a.arms]) for each in placed]
    _check_apart(*sides)
    return sides[0], sides[1]


def _check_apart(one: Side, other: Side) -> None:
    shared = [arm for arm in one.arms if arm in other.arms]
    if shared and one.folder == other.folder and set(one.points) & set(other.points):
        raise HbenchError(f"{one.name} and {other.name} both have the arm '{shared[0]}': against itself it is no different")


def _side(results: Path, asked: Asked, together: Sequence[str]) -> Side:
    """together: the arms that both sides ask of its spec."""
    if not asked.place:
        return _from_folder(results, asked, together)
    folder = bundle_folder(asked.place, results)
    manifest = read_manifest(folder)
    if asked.spec in manifest["adapters"] and not asked.arms:  # published/NAME/ARM, as specs name a trained model
        users = [arm for arm, adapter in manifest["arms"].items() if adapter == asked.spec]
        asked = Asked(asked.place, "", (asked.spec if asked.spec in users else users[0],))
    if KEY.fullmatch(asked.spec) and asked.spec not in manifest["specs"]:
        return _from_folder(folder, asked)
    wanted = f"{asked.place} {asked.spec}".strip()
    return _chosen(asked, folder, bundle_sources(folder, [wanted]))


def _from_folder(folder: Path, asked: Asked, together: Sequence[str] = ()) -> Side:
    """Of specs as they read today, or of what a checkpoint was trained for."""
    from hbench.store.query import open_read_only

    checkpoint = KEY.fullmatch(asked.spec) is not None
    with closing(open_read_only(folder, WAIT_S)) as connection:
        count_newest_runs(connection, None if checkpoint else ())
        found = arms_of_checkpoint(connection, asked.spec) if checkpoint else None
        if found:
            return _chosen(asked, folder, [Source(asked.spec, {digest: "" for digest in found.specs}, found.arms)])
        if asked.place:
            raise HbenchError(f"{asked.place} holds no checkpoint {asked.spec}")
        return _that_ran(connection, folder, asked, together)


def _that_ran(connection: Any, folder: Path, asked: Asked, together: Sequence[str]) -> Side:
    """Of the whole spec where it was run; else of its run with the asked arms alone (`--arm`), or with those of both sides.

    Raises HbenchError where no run of the spec, as it reads today, came to its end.
    """
    from hbench.spec import load

    path, *more = shlex.split(asked.spec)
    whole = load(path, more)
    ran = {digest for (digest,) in connection.execute("select spec_digest from counted_runs").fetchall()}
    for arms in ((), asked.arms, together):
        specs = [spec.only(arms) for spec in whole] if arms else whole
        side = _chosen(asked, folder, load_sources(connection, [asked.spec], {asked.spec: specs}))
        if ran & set(side.points):
            return side
    raise HbenchError(f"{asked.spec}, as it reads today, has no finished run: `hbench run {asked.spec}` makes one")


def _chosen(asked: Asked, folder: Path, sources: Sequence[Source]) -> Side:
    """The side of these arms. Raises HbenchError where there are none of that name, or several to choose from."""
    there = list(dict.fromkeys(arm for source in sources for arm in source.arms))
    arms = asked.arms or (tuple(there) if len(there) == 1 else ())
    name = asked.named(())
    if not arms:
        shown = asked.named(("ARM",))
        shown = f"'{shown}'" if " " in shown else shown
        raise HbenchError(f"{name} has several arms; say which, as {shown} or with --arm ARM (there are: {', '.join(there)})")
    if unknown := [arm for arm in arms if arm not in there]:
        hint = did_you_mean(unknown[0], there)
        raise HbenchError(f"{name} has no arm '{unknown[0]}' ({hint + ' ' if hint else ''}there are: {', '.join(there)})")
    points = {digest: variant for source in sources for digest, variant in source.points.items()}
    variants = sorted(set(points.values()))
    if len(variants) > 1:
        listed = "; ".join(variants)
        raise HbenchError(f"{name} is swept; set one value behind it, as '{name} {variants[0]}' (there are: {listed})")
    return Side(asked.named(arms), folder, points, arms)
