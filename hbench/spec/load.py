"""load(path, overrides) → one Spec a sweep point, or every problem at once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core.digest import Json, digest
from hbench.spec.compose import merged, overlay, overridden, part_of, without
from hbench.spec.interpolate import interpolated
from hbench.spec.lineage import Lineage, find_spec, lineage, spec_folders
from hbench.spec.problems import COMMAND_LINE, Mark, Problem, SpecError, did_you_mean
from hbench.spec.tree import Tree
from hbench.spec.sweep import points

if TYPE_CHECKING:
    from hbench.spec.machine import MachineBlock
    from hbench.spec.schema import AdaptationSpec, EvaluationSpec

NOT_IN_ARMS = ("name", "plan", "machine", "extends", "sweep", "arms")  # an arm is a variant of one spec on one machine


@dataclass(frozen=True)
class Spec:
    """One validated experiment description: one point of a sweep, with all its arms.

    point: dotted path -> value. digest: of all but name, description and machine.
    """

    name: str
    plan: str
    file: str
    point: Mapping[str, Json]
    digest: str
    arms: "Mapping[str, AdaptationSpec | EvaluationSpec]"
    machine: "MachineBlock"

    @cached_property
    def text(self) -> str:
        """YAML of what is hashed: every field that can change a result, defaults written out. Holds no secret."""
        import yaml

        return yaml.safe_dump(_hashed(self), sort_keys=False, allow_unicode=True, width=120)

    def only(self, arms: Sequence[str]) -> "Spec":
        """The same with these arms alone: another spec, whose steps are those of the whole one. Raises SpecError."""
        unknown = [name for name in arms if name not in self.arms]
        if unknown:
            hint = did_you_mean(unknown[0], self.arms) or f"there are: {', '.join(self.arms)}"
            raise SpecError([Problem(Mark(self.file), f"{self.name} has no arm '{unknown[0]}'", hint)])
        return _digested(replace(self, arms={name: block for name, block in self.arms.items() if name in arms}))

    def limited(self, most: int) -> "Spec":
        """The same with at most `most` questions a split: another spec, with a digest of its own."""
        fewer = {name: block.limited(most) for name, block in self.arms.items()}
        return _digested(replace(self, arms=fewer))


def load(path: Path | str, overrides: Sequence[str] = (), *, anew: bool = True) -> list[Spec]:
    """The specs of a file, or of a name under specs/; one a sweep point. overrides: `a.b=value`, laid on last.

    anew: prompts and harnesses are read from the disk again; else those count that an earlier call has read. Raises
    SpecError with every problem. Runs no code of the spec, opens no network; no secret reaches what is hashed.
    """
    from hbench.spec.files import forget

    if anew:
        forget()
    return specs_of_files(lineage(_file(path)), overrides)


def specs_of_files(line: Lineage, overrides: Sequence[str] = ()) -> list[Spec]:
    """The same for files that are read already, prompts and harnesses as an earlier call has read them."""
    tree, problems = overridden(merged(line), overrides)
    problems = [*line.problems, *problems]
    if not all(source.readable for source in line.sources):
        raise SpecError(problems)
    return specs_of(tree, line.sources[-1].file, problems)


def specs_of(tree: Tree, file: str, known: Sequence[Problem] = ()) -> list[Spec]:
    """The specs of a tree that is laid together. known: what is wrong with it already. Raises SpecError."""
    problems = list(known)
    specs = _points(tree, file, problems)
    if problems:
        raise SpecError(problems)
    return _named_apart(specs)


def _file(path: Path | str) -> Path:
    found = Path(path) if Path(path).is_file() else find_spec(str(path))
    if found is None:
        known = [f.relative_to(r).with_suffix("").as_posix() for r in spec_folders() for f in r.rglob("*.yaml")]
        raise SpecError([Problem(Mark(str(path)), "there is no such spec", did_you_mean(str(path), known))])
    return found


def _points(tree: Tree, file: str, problems: list[Problem]) -> list[Spec]:
    """Every point that holds; what is wrong is added to `problems`."""
    from hbench.spec.budget import budget_problems

    plan = _plan(tree, problems)
    found, wrong = points(_of_plan(tree, plan, file))
    problems += wrong
    specs: list[Spec] = []
    for point, at in found if plan else ():
        arms = _arms(at, plan, problems)
        problems += [*_unreached(arms, at), *budget_problems(arms, at)]
        if arms and not problems:
            specs.append(_digested(Spec(_name(arms, file), plan, file, point, "", arms, _machine(arms, at))))
    if not problems:
        problems += _same(specs, tree)
    return specs


def _plan(tree: Tree, problems: list[Problem]) -> str | None:
    from hbench.spec.plans import PLANS

    plan = tree.values.get("plan")
    if isinstance(plan, str) and plan in PLANS:
        return plan
    known = ", ".join(PLANS)
    if plan is None or plan == "???":
        problems.append(Problem(tree.mark(("plan",)), "plan is missing", f"one of: {known}", incomplete=True))
    else:
        hint = did_you_mean(str(plan), PLANS) or f"one of: {known}"
        problems.append(Problem(tree.mark(("plan",)), f"there is no plan '{plan}'", hint))
    return None


def _of_plan(tree: Tree, plan: str | None, file: str) -> Tree:
    """Files that several plans extend may say what only some of them read: inherited keys of other plans go."""
    from hbench.spec.plans import PLANS

    ours = PLANS[plan].model_fields if plan else tree.values
    inherited = {k for k in tree.values.keys() - set(ours) if tree.mark((k,)).file not in (file, COMMAND_LINE.file)}
    others = {key for block in PLANS.values() for key in block.model_fields} if inherited else set()
    return without(tree, *(inherited & others))


def _arms(tree: Tree, plan: str, problems: list[Problem]) -> dict[str, Any]:
    """Arm -> its validated block."""
    from hbench.spec.validate import validated

    made: dict[str, Any] = {}
    for name, arm in _overlays(tree, problems).items():
        filled, wrong = interpolated(without(overlay(without(tree, "arms"), arm), "extends"))
        block, also_wrong = validated(without(filled, "let"), plan)
        problems += [*wrong, *also_wrong]
        if block is not None:
            made[name] = block
    return made


def _overlays(tree: Tree, problems: list[Problem]) -> dict[str, Tree]:
    """Arm -> what it lays on the spec; one arm, `main`, where the spec names none."""
    arms = tree.values.get("arms")
    if arms is None or ("arms",) in tree.unread:
        return {"main": Tree({}, {(): tree.mark(())})}
    if not isinstance(arms, dict):
        problems.append(Problem(tree.mark(("arms",)), f"arms: expected a mapping of name to changes, got {arms!r}"))
        return {}
    found = {}
    for name, changes in arms.items():
        mark, wrong = tree.mark(("arms", name)), ""
        if not name.replace("_", "a").replace("-", "a").isalnum():
            wrong = "a name holds letters, digits, _ and - only"
        elif not isinstance(changes, dict):
            wrong = "expected a mapping" if changes is not None else "is empty"
        if wrong:
            hint = "write {} for an arm without changes" if changes is None else ""
            problems.append(Problem(mark, f"arms.{name}: {wrong}", hint))
            continue
        found[name] = part_of(tree, ("arms", name))
        for key in set(changes) & set(NOT_IN_ARMS):
            mark = tree.mark(("arms", name, key))
            problems.append(Problem(mark, f"arms.{name}: an arm cannot set {key}", "it is the spec's"))
    return found


def _unreached(arms: Mapping[str, Any], tree: Tree) -> list[Problem]:
    """A name under machine.models that no model has, while one nearly like it is not there: it would be passed over."""
    if not arms:
        return []
    settings = next(iter(arms.values())).machine.models
    asked = {ref.name for block in arms.values() for ref in block.models()}
    near = {name: did_you_mean(name, asked - set(settings)) for name in settings if name not in asked}
    return [
        Problem(tree.mark(("machine", "models", name)), f"machine.models: no model is called '{name}'", hint)
        for name, hint in near.items()
        if hint
    ]


def _machine(arms: Mapping[str, Any], tree: Tree) -> Any:
    """The machine block that all arms share, recorded as it was written."""
    written = tree.values.get("machine") or {}
    return next(iter(arms.values())).machine.as_written(written)


def _name(arms: Mapping[str, Any], file: str) -> str:
    return next(iter(arms.values())).name or Path(file).stem


def _digested(spec: Spec) -> Spec:
    return replace(spec, digest=digest(_hashed(spec)))


def _hashed(spec: Spec) -> Json:
    return {"plan": spec.plan, "arms": {name: block.hashed() for name, block in spec.arms.items()}}


def _same(specs: Iterable[Spec], tree: Tree) -> list[Problem]:
    """Two points that are one spec: a value stands in a sweep twice, or every arm sets what is swept."""
    seen: dict[str, Spec] = {}
    problems = []
    for spec in specs:
        first = seen.setdefault(spec.digest, spec)
        if first is not spec:
            what = f"sweep: the points {_written(first)} and {_written(spec)} are the same spec"
            problems.append(Problem(tree.mark(("sweep",)), what, "a value twice, or one that every arm sets again"))
    return problems


def _named_apart(specs: list[Spec]) -> list[Spec]:
    """Points that would share a name get their point behind it."""
    names = [spec.name for spec in specs]
    return [s if names.count(s.name) == 1 else replace(s, name=f"{s.name} {_written(s)}") for s in specs]


def _written(spec: Spec) -> str:
    return " ".join(f"{path}={value}" for path, value in spec.point.items())
