"""A tree of values → a validated block, or problems at the lines that cause them."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from hbench.spec.block import INSIDE, NO_KIND
from hbench.spec.kind_problems import kind_problem
from hbench.spec.named_parts import with_parts
from hbench.spec.problems import Problem, did_you_mean, got
from hbench.spec.source import read
from hbench.spec.tree import Place, Tree, dotted, get, leaves

Block = TypeVar("Block", bound=BaseModel)
_SORTS = {
    "string": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "dict": "a mapping",
    "model": "a mapping",
    "list": "a list",
    "tuple": "a list",
}
NO_MAPPING = ("model_type", "model_attributes_type", "dict_type")
_BOUNDS = {
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
}


def validated(tree: Tree, plan: str) -> "tuple[Any | None, list[Problem]]":
    """The block of `tree`, or None and every problem with it. No interpolation is left in `tree`."""
    tree, problems = _without_unset(tree)
    made, tree, unknown = with_parts(tree, plan)
    problems += unknown
    try:
        block = made.model_validate(tree.values)
    except ValidationError as error:
        problems += problems_of(error, made, tree)
        return None, problems
    return (None if problems else block), problems


def read_block(file: Path, made: type[Block]) -> tuple[Block | None, list[Problem]]:
    """A YAML file as a block of the class `made`, or None and every problem with it."""
    source = read(file)
    block, problems = None, list(source.problems)
    try:
        block = made.model_validate(source.tree.values) if source.readable else None
    except ValidationError as error:
        problems += problems_of(error, made, source.tree)
    return (None if problems else block), problems


def _without_unset(tree: Tree) -> tuple[Tree, list[Problem]]:
    """`???` stands for a value that someone must still give: all of them are listed, and taken out."""
    unset = [place for place, value in leaves(tree.values) if value == "???"]
    problems = [Problem(tree.mark(p), f"{dotted(p)} is missing", "??? must be set", incomplete=True) for p in unset]
    return tree.taken_out(unset), problems


def problems_of(error: ValidationError, made: type[BaseModel], tree: Tree, at: Place = ()) -> list[Problem]:
    """pydantic's errors in the author's words, at the author's lines; none about what was already reported.

    at: where in the tree the block `made` stands.
    """
    problems, raws = [], error.errors(include_url=False)
    broken = {str(raw["loc"][0]) for raw in raws if raw["loc"]} | {str(known[0]) for known in tree.unread if known}
    for raw in raws:
        place = (*at, *_place(raw["loc"], _at(tree.values, at)))
        follows = raw.get("ctx", {}).get("without") in broken
        if not follows and not any(place[: len(known)] == known for known in tree.unread):
            problems += _problems(raw, place, made, tree, at)
    return problems


def _problems(raw: Mapping[str, Any], place: Place, made: type[BaseModel], tree: Tree, at: Place) -> list[Problem]:
    if raw["type"] == INSIDE:
        return problems_of(raw["ctx"]["error"], raw["ctx"]["made"], tree, place)
    if raw["type"] == "extra_forbidden":
        hint = _key_hint(str(place[-1]), made, place[len(at) : -1], _at(tree.values, at))
        return [Problem(tree.mark(place), f"unknown key '{place[-1]}'", hint)]
    if found := _of_kind(raw, place, made, tree, at):
        return [found]
    return [_problem(raw, place, tree)]


def _of_kind(raw: Mapping[str, Any], place: Place, made: type[BaseModel], tree: Tree, at: Place) -> Problem | None:
    """The problem, where a mapping with a kind is wanted and there is none, or one of another kind."""
    sort, context = raw["type"], raw.get("ctx", {})
    if sort == NO_KIND:
        return kind_problem(tree, place, raw["input"], context["kinds"], context["expected"])
    if sort == "literal_error" and place[-1:] == ("kind",) and len(place) > len(at) + 1:
        place, value = place[:-1], {"kind": raw["input"]}
    elif sort.startswith("union_tag_") or sort in NO_MAPPING:
        value = raw["input"]
    else:
        return None
    kinds = list(dict.fromkeys(_kinds_at(made, place[len(at) :])))
    return kind_problem(tree, place, value, kinds) if kinds else None


def _kinds_at(made: type[BaseModel], place: Place) -> Iterator[str]:
    """The kinds that the blocks at a place may have; none where one of them has no kind."""
    blocks = list(_blocks_at(made, place))
    if all("kind" in block.model_fields for block in blocks):
        for block in blocks:
            yield from map(str, get_args(block.model_fields["kind"].annotation))


def _at(values: Any, place: Place) -> Any:
    try:
        return get(values, place)
    except KeyError:
        return None


def _place(loc: Sequence[str | int], values: Any) -> Place:
    """Where pydantic's `loc` is in the file. It names the kind that it chose, too, which is no key there."""
    place: list[str | int] = []
    for part in loc:
        chosen = isinstance(values, dict) and part not in values and part == values.get("kind")
        if chosen or str(part).startswith("kind="):
            continue
        place.append(part)
        inside = isinstance(values, dict) and part in values or isinstance(values, list) and part in range(len(values))
        values = values[part] if inside else None
    return tuple(place)


def _problem(raw: Mapping[str, Any], place: Place, tree: Tree) -> Problem:
    sort, context, name = raw["type"], raw.get("ctx", {}), dotted(place)
    mark = tree.mark(place)
    if sort == "missing":
        spec = tree.mark(())  # what a file that it extends leaves open is missing in the spec
        mark, hint = (mark, "") if mark.file == spec.file else (spec, f"left open at {mark}")
        return Problem(mark, f"{name} is missing", hint, incomplete=True)
    if sort == "hbench":
        what = f"{name}: {context['what']}" if name else context["what"]
        return Problem(mark, what, context["hint"], context["incomplete"])
    expected = _expected(sort, context)
    if expected is None:
        text = raw["msg"].removeprefix("Value error, ")
        return Problem(mark, f"{name}: {text}" if name else text)
    if mark.hidden:
        hint = "the value is not shown: it may be secret"
        return Problem(mark, f"{name}: expected {expected}, got something else", hint)
    hint = _hint(sort, raw["input"], mark.written, context)
    return Problem(mark, f"{name}: expected {expected}, got {got(raw['input'], mark.written)}", hint)


def _expected(sort: str, context: Mapping[str, Any]) -> str | None:
    """What a field wants, in words; None where pydantic's own message serves best."""
    if sort in _BOUNDS:
        return _BOUNDS[sort].format(**context)
    if sort == "literal_error":
        return str(context["expected"]).replace("'", "")
    if sort == "string_too_short":
        return "text that is not empty"
    if sort == "finite_number":
        return "a finite number"
    return _SORTS.get(sort.split("_")[0]) if sort.endswith(("_type", "_parsing", "_from_float", "_size")) else None


def _hint(sort: str, value: Any, written: str, context: Mapping[str, Any]) -> str:
    if sort == "string_type" and isinstance(value, bool | int | float):
        return f'quote it: "{written}"' if written and "${" not in written else "quote it where it is set"
    if sort == "literal_error" and isinstance(value, str):
        return did_you_mean(value, str(context["expected"]).replace("'", "").replace(" or ", ", ").split(", "))
    return ""


def _key_hint(key: str, made: Any, place: Place, values: Any) -> str:
    known = list(_names_at(made, place, values))
    if "." in key and key.split(".")[0] in known:
        return "dotted keys stand in `sweep` and on the command line only; write nested mappings here"
    return did_you_mean(key, known) or (f"known: {', '.join(known)}" if known else "")


def _names_at(made: type[BaseModel], place: Place, values: Any) -> Iterator[str]:
    """Field names of the block at `place`."""
    blocks = list(_blocks_at(made, place))
    for part in place:
        values = values.get(part) if isinstance(values, dict) else None
    kind = values.get("kind") if isinstance(values, dict) else None
    fitting = [b for b in blocks if "kind" in b.model_fields and kind in get_args(b.model_fields["kind"].annotation)]
    for block in fitting or blocks:
        yield from block.model_fields


def _blocks_at(made: type[BaseModel], place: Place) -> Iterator[type[BaseModel]]:
    """The classes of which a block at `place` may be."""
    annotations: list[Any] = [made]
    for part in place:
        annotations = [below for annotation in annotations for below in _below(annotation, str(part))]
    for annotation in annotations:
        yield from _blocks(annotation)


def _below(annotation: Any, part: str) -> Iterator[Any]:
    """What may stand under one key of `annotation`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if part in annotation.model_fields:
            yield annotation.model_fields[part].annotation
    elif get_origin(annotation) is dict:
        yield get_args(annotation)[1]
    else:
        for argument in get_args(annotation):
            yield from _below(argument, part)


def _blocks(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    else:
        for argument in get_args(annotation):
            yield from _blocks(argument)
