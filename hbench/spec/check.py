"""Everything under specs/, checked: experiments with each sweep point and arm, fragments, exhibits."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hbench.core.failure import HbenchError
from hbench.core.places import roots
from hbench.spec.compose import without
from hbench.spec.lineage import lineage
from hbench.spec.load import Spec, load, specs_of_files
from hbench.spec.problems import Mark, Problem, SpecError
from hbench.spec.nodes import OPENING
from hbench.spec.source import Source, read, shown
from hbench.spec.tree import Tree, leaves

Compile = Callable[[Any], Any] | None
FILES_A_PROCESS = 16  # fewer are checked sooner than a process is made
ALSO = ("extends", "let", "sweep", "arms")  # keys beside those of a plan's block


@dataclass(frozen=True)
class CheckResult:
    """How many files of each sort were checked, and what is wrong with them."""

    experiments: int = 0
    points: int = 0
    arms: int = 0
    fragments: int = 0
    exhibits: int = 0
    problems: tuple[Problem, ...] = ()

    def summary(self) -> str:
        """One line for people."""
        inside = f"{self.points} points, {self.arms} arms"
        counts = f"{self.experiments} experiments ({inside}), {self.fragments} fragments, {self.exhibits} exhibits"
        return f"{counts}: {len(self.problems) or 'no'} problems"

    def __add__(self, other: "CheckResult") -> "CheckResult":
        names = ("experiments", "points", "arms", "fragments", "exhibits", "problems")
        return CheckResult(*(getattr(self, name) + getattr(other, name) for name in names))


@dataclass(frozen=True)
class Checks:
    """compile: Spec -> anything, raising HbenchError. exhibit: the pydantic class of an exhibit's YAML.

    Both belong to packages that come after this one, so that the caller hands them in.
    """

    compile: Compile = None
    exhibit: Any = None


def check_all(folder: Path | str | None = None, compile: Compile = None, exhibit: Any = None) -> CheckResult:
    """Every YAML file under `folder`, by default specs/. Raises nothing for what the files hold."""
    _read_anew()
    root = Path(folder) if folder else next(iter(roots("specs")), Path("specs"))
    files = sorted([*root.rglob("*.yaml"), *root.rglob("*.yml")])
    return _summed(_side_by_side(files, Checks(compile, exhibit)))


def check_files(files: Sequence[Path | str], compile: Compile = None, exhibit: Any = None) -> CheckResult:
    """The same for the files named."""
    _read_anew()
    checks = Checks(compile, exhibit)
    return _summed(_check(Path(f), checks) if Path(f).is_file() else _named(f, checks) for f in files)


def _read_anew() -> None:
    """Prompts and harnesses are read from the disk again: once for all files."""
    from hbench.spec.files import forget

    forget()


def _side_by_side(files: Sequence[Path], checks: Checks) -> Iterator[CheckResult]:
    """Each file's result, in any order: the files are shared by processes, where this one can be forked."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    workers = min(os.cpu_count() or 1, 4, len(files) // FILES_A_PROCESS)
    if workers < 2 or "fork" not in multiprocessing.get_all_start_methods():
        yield from (_check(file, checks) for file in files)
        return
    with ProcessPoolExecutor(workers, multiprocessing.get_context("fork")) as pool:
        yield from pool.map(partial(_check, checks=checks), files)


def _summed(results: Any) -> CheckResult:
    total = sum(results, CheckResult())
    return CheckResult(**{**vars(total), "problems": tuple(sorted(set(total.problems)))})


def _check(file: Path, checks: Checks) -> CheckResult:
    if file.suffix == ".yml":
        return CheckResult(problems=(Problem(Mark(shown(file)), "a spec's file name ends in .yaml"),))
    if "exhibits" in file.resolve().parts:
        return _exhibit(file, checks)
    line = lineage(file)
    if not line.sources[-1].readable:
        return CheckResult(problems=line.problems)
    if any("plan" in source.tree.values for source in line.sources):
        return _experiment(partial(specs_of_files, line), checks)
    return _fragment(line.sources[-1], line.problems)


def _named(name: str, checks: Checks) -> CheckResult:
    return _experiment(partial(load, name, anew=False), checks)


def _experiment(read: Callable[[], list[Spec]], checks: Checks) -> CheckResult:
    try:
        specs = read()
    except SpecError as error:
        return CheckResult(experiments=1, problems=error.problems)
    problems = []
    for spec in specs if checks.compile else ():
        try:
            checks.compile(spec)
        except HbenchError as error:
            problems.append(Problem(Mark(spec.file), f"{spec.name}: {error}"))
    return CheckResult(1, len(specs), sum(len(spec.arms) for spec in specs), problems=tuple(problems))


def _fragment(source: Source, problems: Sequence[Problem]) -> CheckResult:
    """A file that others extend: like a spec of any plan, in which everything may be missing."""
    from hbench.spec.plans import PLANS
    from hbench.spec.validate import validated

    tree = source.tree
    known = {key for plan in PLANS.values() for key in plan.model_fields} | set(ALSO)
    if not known & set(tree.values):
        what = "is no experiment (it has no plan), no fragment (no key of a spec) and no exhibit (not under exhibits/)"
        return CheckResult(problems=(*problems, Problem(tree.mark(()), what)))
    body = _without_interpolations(without(tree, *ALSO))
    tries: list[list[Problem]] = []
    for plan in PLANS:
        tries.append([p for p in validated(body, plan)[1] if not p.incomplete])
        if not tries[-1]:
            break  # it suits one plan: that is enough
    return CheckResult(fragments=1, problems=(*problems, *min(tries, key=len)))


def _without_interpolations(tree: Tree) -> Tree:
    """What only the spec that extends a fragment can fill in is left out here."""
    return tree.taken_out([p for p, v in leaves(tree.values) if isinstance(v, str) and OPENING.search(v)])


def _exhibit(file: Path, checks: Checks) -> CheckResult:
    from hbench.spec.validate import read_block

    problems = read_block(file, checks.exhibit)[1] if checks.exhibit is not None else read(file).problems
    return CheckResult(exhibits=1, problems=tuple(problems))
