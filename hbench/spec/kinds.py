"""What `hbench kinds` tells: every kind that a spec may name, and any block of a spec, each field with type, default, meaning."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from textwrap import fill

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.parts.part import SORTS, find, kinds, loadable
from hbench.spec.block_schema import PART, block_schema, full_class
from hbench.spec.field_words import field_words
from hbench.spec.named_parts import first_line
from hbench.spec.plans import PLANS
from hbench.spec.problems import did_you_mean
from hbench.spec.schema import DEFAULT_PARTS

# Sort -> where in a spec its kinds stand.
WHERE = {
    "families": "family: {kind: …}",
    "domains": "domain: {kind: …}",
    "calls": "target: {call: {kind: …}}",
    "edits": "edit: {kind: …}",
    "rewards": "reward: {KIND: {weight: …}}",
    "selections": "selection: {kind: …}",
    "races": "race: {kind: …}",
    "filters": "train: {keep: [KIND, …]} of a distillation spec",
    "detectors": "behaviours: {NAME: {kind: …}}",
}
MORE = "`hbench kinds WORD` tells more: of a plan, a sort, a kind, a step, or a block such as train.grpo or solver."


@dataclass(frozen=True)
class Told:
    """One block: where it stands, its schema and the definitions that it refers to."""

    head: str
    schema: Json
    definitions: Mapping[str, Json]
    given: tuple[str, ...] = ()

    def text(self) -> str:
        """Its name, what it is, and a line a field."""
        words = field_words(self.schema, self.definitions, self.given)
        head = f"  {self.head}  {_first(self.schema.get('description', ''))}".rstrip()
        return "\n".join([*([head] if head else []), *(f"      {word.line()}" for word in words)])


def describe_kinds(steps: Mapping[str, str]) -> str:
    """Plans and steps in a line each, and every part with its fields. steps: kind -> what it says of itself."""
    plans = [f"  {plan}  {first_line(block)}" for plan, block in PLANS.items()]
    made = [f"  {kind}  {_first(text)}" for kind, text in steps.items()]
    listed = [["PLANS  plan: …", *plans], *([describe_sort(sort)] for sort in SORTS), ["STEPS  what `hbench plan` lists", *made]]
    return "\n\n".join([*("\n".join(lines) for lines in listed), MORE])


def describe_sort(sort: str) -> str:
    """Every kind of a sort with its fields; of one's own that is broken, why."""
    there = loadable(sort)
    told = [_part(there[kind], kind).text() if kind in there else _broken(sort, kind) for kind in kinds(sort)]
    return "\n".join([f"{sort.upper()}  {WHERE[sort]}", *told])


def describe(word: str, steps: Mapping[str, str]) -> str:
    """All that `word` may mean: a plan, a sort, a kind, a step, the block of a spec at a dotted place. Raises HbenchError."""
    if word in SORTS:
        return describe_sort(word)
    found = [f"PLAN\n{_plan(word).text()}"] if word in PLANS else []
    found += [_alone(sort, word) for sort in SORTS if word in kinds(sort)]
    found += [*([f"STEP\n  {word}  {steps[word]}"] if word in steps else []), *_blocks(word)]
    if not found:
        hint = did_you_mean(word, [*known_words(), *steps, *_beside(word)]) or "`hbench kinds` lists what there is"
        raise HbenchError(f"there is no kind, plan, sort or block '{word}' ({hint})")
    return "\n\n".join(dict.fromkeys(found))


def known_words() -> list[str]:
    """Plans, sorts, kinds, and the top-level blocks of specs."""
    fields = [name for plan in PLANS.values() for name in plan.model_fields]
    return sorted({*PLANS, *SORTS, *(kind for sort in SORTS for kind in kinds(sort)), *fields})


def _first(text: str) -> str:
    return text.strip().partition("\n")[0]


def _beside(place: str) -> list[str]:
    """The places that stand beside a dotted one."""
    above, _, _ = place.rpartition(".")
    names = above.split(".")[1:] if above.split(".")[0] in PLANS else above.split(".")
    blocks = [told for plan in PLANS for told in _inside(_plan(plan), names)] if above else []
    return [f"{above}.{name}" for told in blocks for name in told.schema.get("properties", {})]


@cache
def _plan(plan: str) -> Told:
    schema = block_schema(full_class(plan))
    return Told(plan, schema, schema.get("$defs", {}), (*DEFAULT_PARTS, "reward"))


def _part(part: type, kind: str) -> Told:
    schema = block_schema(part)
    return Told(kind, schema, schema.get("$defs", {}))


def _broken(sort: str, kind: str) -> str:
    try:
        find(sort, kind)
    except Exception as error:  # whatever a part's own code raises
        return f"  {kind}  cannot be loaded: {type(error).__name__}: {error} ({kinds(sort)[kind]})"
    return f"  {kind}"


def _alone(sort: str, kind: str) -> str:
    """One kind, with the names that it takes where they are a list."""
    part = loadable(sort).get(kind)
    lines = [f"{sort.upper()}  {WHERE[sort]}", _part(part, kind).text() if part else _broken(sort, kind)]
    if hasattr(part, "names"):
        lines.append(fill(f"names: {', '.join(part.names())}", 118, initial_indent=" " * 6, subsequent_indent=" " * 13))
    return "\n".join(lines)


def _blocks(place: str) -> Iterator[str]:
    """The blocks at a dotted place of a spec, which may begin with the plan's name; once for all plans that agree."""
    first, *rest = place.split(".")
    plans, names = ([first], rest) if first in PLANS else (list(PLANS), [first, *rest])
    texts: dict[str, list[str]] = {}
    for plan in plans if names else ():
        for told in _inside(_plan(plan), names):
            texts.setdefault(told.text(), []).append(plan)
    of: dict[str, list[str]] = {}
    for text, having in texts.items():
        of.setdefault(", ".join(having), []).append(text)
    for having, told in of.items():
        yield "\n".join([f"{place}  in specs of plan {having}", *told])


def _inside(told: Told, names: list[str]) -> Iterator[Told]:
    """The blocks that may stand at `names` below one block; of a field that holds no block, a block of that field alone."""
    if not names:
        yield told
        return
    field = told.schema.get("properties", {}).get(names[0])
    if field is None:
        return
    inside = list(_options(field, told.definitions))
    for schema in inside:
        kind = schema.get("properties", {}).get("kind", {}).get("const")
        head = f"{names[0]}, kind {kind}" if kind else names[0]
        yield from _inside(Told(head, schema, {**told.definitions, **schema.get("$defs", {})}), names[1:])
    if not inside and len(names) == 1:
        alone = {"properties": {names[0]: field}, "required": [n for n in told.schema.get("required", ()) if n not in told.given]}
        yield Told("", alone, told.definitions)


def _options(field: Json, definitions: Mapping[str, Json]) -> Iterator[Json]:
    """The blocks that a field may hold, inside lists and mappings too."""
    if "$ref" in field:
        yield definitions[field["$ref"].split("/")[-1]]
    for several in ("anyOf", "oneOf"):
        for each in field.get(several, ()):
            yield from _options(each, definitions)
    for inside in (field.get("items"), field.get("additionalProperties")):
        if isinstance(inside, dict):
            yield from _options(inside, definitions)
    if PART in field:
        for part in loadable(field[PART]).values():
            yield block_schema(part)
