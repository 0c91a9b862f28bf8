"""Spec classes whose `family`, `edit`, `selection` and `reward` have the fields of the kinds that a spec names.

Only the parts that are named are imported, so a part that is broken disturbs no spec but its own.
"""

from functools import cache
from typing import Any

from pydantic import Field, create_model

from hbench.parts.part import Part, find
from hbench.spec.kind_problems import kind_problem
from hbench.spec.part_fields import has_kind, kinds_of, trouble_with
from hbench.spec.plans import PLANS
from hbench.spec.problems import Problem, did_you_mean
from hbench.spec.schema import DEFAULT_PARTS, DEFAULT_TERMS, SORT_OF, RewardBlock
from hbench.spec.tree import Place, Tree


def spec_class(plan: str, types: dict[str, type]) -> type:
    """The class of `plan` with `types` in place of its open fields (field -> class)."""
    return _spec_class(plan, tuple(sorted(types.items(), key=lambda item: item[0])))


@cache
def _spec_class(plan: str, types: tuple[tuple[str, type], ...]) -> type:
    base = PLANS[plan]
    known = {name: (made, base.model_fields[name].description) for name, made in types if name in base.model_fields}
    fields: dict[str, Any] = {name: (made, Field(description=text)) for name, (made, text) in known.items()}
    return create_model(base.__name__, __base__=base, __doc__=base.__doc__, **fields)


def reward_class(terms: tuple[tuple[str, type[Part]], ...]) -> type[RewardBlock]:
    """A reward block with these terms as fields, each of which may be left out."""
    fields: dict[str, Any] = {name: (made | None, Field(None, description=first_line(made))) for name, made in terms}
    return create_model("RewardBlock", __base__=RewardBlock, __doc__=RewardBlock.__doc__, **fields)


_reward_class = cache(reward_class)


def with_parts(tree: Tree, plan: str) -> tuple[type, Tree, list[Problem]]:
    """The class for `tree`, the tree with defaults and kinds written out, and kinds that are not there."""
    values, types, unread, problems = dict(tree.values), {}, set(tree.unread), []
    for field in [f for f in SORT_OF if f in PLANS[plan].model_fields]:
        if field in DEFAULT_PARTS:
            values.setdefault(field, DEFAULT_PARTS[field])
        made = _part(tree, (field,), values[field]) if field in values else None
        if isinstance(made, Problem):
            problems.append(made)
            unread.add((field,))
            values.pop(field)
        elif made:
            types[field] = made
    if "reward" in PLANS[plan].model_fields:
        values["reward"], types["reward"], wrong = _reward(tree, values.get("reward", {t: {} for t in DEFAULT_TERMS}))
        problems += wrong
        unread |= {("reward", p.what.split("'")[1]) for p in wrong if "'" in p.what}
    return spec_class(plan, types), Tree(values, tree.marks, frozenset(unread)), problems


def _part(tree: Tree, place: Place, block: Any) -> "type[Part] | Problem":
    """The class that a block names."""
    field, sort = place[0], SORT_OF.get(str(place[0]), "rewards")
    kind = block.get("kind") if isinstance(block, dict) else None
    if not isinstance(kind, str) or not has_kind(sort, kind):
        return kind_problem(tree, place, block, list(kinds_of(sort)))
    trouble = trouble_with(sort, kind)
    return Problem(tree.mark((*place, "kind")), f"{field}: {trouble}") if trouble else find(sort, kind)


def _reward(tree: Tree, block: Any) -> tuple[Any, type, list[Problem]]:
    """The block with each term's kind written in, its class, and terms that are not there."""
    if not isinstance(block, dict):
        return block, RewardBlock, []
    there, problems, found, values = kinds_of("rewards"), [], [], dict(block)
    for name, term in block.items():
        if name == "no_change":
            continue
        if name not in there:
            hint = did_you_mean(name, [*there, "no_change"]) or f"terms: {', '.join(there)}"
            problems.append(Problem(tree.mark(("reward", name)), f"reward: no term '{name}'", hint))
            del values[name]
        elif term is None:
            what = f"reward: there is no '{name}' to drop"
            hint = "nothing that this spec extends sets it"
            problems.append(Problem(tree.mark(("reward", name)), what, hint, incomplete=True))
            del values[name]
        else:
            made = _part(tree, ("reward", name), {"kind": name})
            problems += [made] if isinstance(made, Problem) else []
            found += [] if isinstance(made, Problem) else [(name, made)]
            values[name] = {"kind": name, **term} if isinstance(term, dict) else term
    return values, _reward_class(tuple(sorted(found))), problems


def first_line(made: type) -> str:
    """What a block or part says of itself first."""
    return (made.__doc__ or "").strip().split("\n")[0]
