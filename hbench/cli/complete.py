"""What the shell offers behind <TAB>: names of specs, arms, exhibits, bundles, kinds. `hbench --install-completion` sets it up.

Nothing here fails: where something cannot be read, nothing is offered. Nothing heavy is loaded either.
"""

from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any

import typer

BLOCKS = ("machine", "solver", "proposer", "student", "splits", "report", "reward", "train", "review", "target")


def _quietly(offer: Callable[..., Iterable[str]]) -> Callable[..., list[str]]:
    """`offer`, sorted, cut to what the word begins with, and empty where it raises."""

    @wraps(offer)
    def offered(ctx: typer.Context, incomplete: str) -> list[str]:
        try:
            return sorted(word for word in set(offer(ctx, incomplete)) if word.startswith(incomplete))
        except Exception:  # whatever is wrong with a file, the shell is no place to say so
            return []

    return offered


@_quietly
def specs(ctx: Any, incomplete: str) -> Iterable[str]:
    """Experiments by their names under specs/, or as files where the word begins as one."""
    if incomplete.startswith(("specs/", "./", "/", "~")):
        return [str(file) for file in Path().glob("specs/**/*.yaml") if _is_experiment(file)]
    return _names("**/*.yaml", _is_experiment, without=("exhibits", "schema"))


@_quietly
def arms(ctx: Any, incomplete: str) -> Iterable[str]:
    """The arms of the spec on the line."""
    from hbench.spec.compose import merged
    from hbench.spec.lineage import find_spec, lineage

    spec = ctx.params.get("spec") or ctx.args[0]  # the line is not parsed while --arm lacks its value
    file = Path(spec) if Path(spec).is_file() else find_spec(spec)
    return [name for name, block in merged(lineage(file)).values["arms"].items() if block is not None]


@_quietly
def exhibits(ctx: Any, incomplete: str) -> Iterable[str]:
    """Exhibits under specs/exhibits."""
    return _stems("exhibits/*.yaml")


@_quietly
def bundles(ctx: Any, incomplete: str) -> Iterable[str]:
    """Bundles, of the results folder on the line and those that ship."""
    from hbench.core.published import bundle_names

    return bundle_names(ctx.params.get("results"))


@_quietly
def exported(ctx: Any, incomplete: str) -> Iterable[str]:
    """What `hbench export` takes: specs, and bundles as published/NAME."""
    return [*specs(ctx, incomplete), *(f"published/{name}" for name in bundles(ctx, ""))]


@_quietly
def words(ctx: Any, incomplete: str) -> Iterable[str]:
    """What `hbench kinds` tells of; not every block of a spec."""
    from hbench.parts.part import SORTS, kinds
    from hbench.steps import step_kind

    parts = [kind for sort in SORTS for kind in kinds(sort)]
    return [*_stems("new/*.yaml"), *SORTS, *parts, *step_kind.names(), *BLOCKS]


@_quietly
def plans(ctx: Any, incomplete: str) -> Iterable[str]:
    """Plans of which there is a starting spec."""
    return _stems("new/*.yaml")


@_quietly
def harnesses(ctx: Any, incomplete: str) -> Iterable[str]:
    """Harnesses and banks under specs/, Python files here, and the target harness."""
    from hbench.core.places import roots

    banks = [f"banks/{folder.name}" for root in roots("specs") for folder in root.glob("banks/*") if folder.is_dir()]
    return ["target", *_stems("harnesses/*.py"), *banks, *(str(file) for file in Path().glob(f"{incomplete}*.py"))]


@_quietly
def families(ctx: Any, incomplete: str) -> Iterable[str]:
    """Families, and domains where the harness on the line is one for them."""
    from hbench.parts.families._library import modules
    from hbench.parts.part import kinds

    if (harness := ctx.params.get("harness") or "") == "target" or harness.startswith("banks/"):
        return kinds("domains")
    files = [name for name in _stems("families/*.yaml") if not name.startswith(("rg_", "mini_"))]
    return [*kinds("families"), *files, *modules()]


@_quietly
def models(ctx: Any, incomplete: str) -> Iterable[str]:
    """Models under specs/models, those made of rules, and adapters of bundles."""
    from hbench.core.published import bundle_names, find_bundle

    there = [(name, folder) for name in bundle_names(ctx.params.get("results")) if (folder := find_bundle(name))]
    adapters = [f"published/{name}/{each.name}" for name, folder in there for each in folder.glob("adapters/*")]
    return [*_stems("models/*.yaml"), "rule_reader", "files_expert", *adapters]


def _stems(pattern: str) -> list[str]:
    from hbench.core.places import roots

    return [file.stem for root in roots("specs") for file in root.glob(pattern) if not file.stem.startswith("_")]


def _names(pattern: str, fits: Callable[[Path], bool], without: tuple[str, ...]) -> list[str]:
    from hbench.core.places import roots

    found = [(file.relative_to(root), file) for root in roots("specs") for file in root.glob(pattern)]
    return [name.with_suffix("").as_posix() for name, file in found if name.parts[0] not in without and fits(file)]


def _is_experiment(file: Path) -> bool:
    """By its first line, which names a schema; a file without one may be anything."""
    with file.open(encoding="utf-8") as text:
        first = text.readline()
    return "fragment.json" not in first and "exhibit.json" not in first
