"""Fields that hold parts outside of a spec's own: by kind, or named in a list and laid over the spec's part of that sort."""

from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationError, WithJsonSchema

from hbench.parts.part import Part, find, kinds
from hbench.spec.block import wrong
from hbench.spec.problems import did_you_mean


def part_of(sort: str, default: str | None = None) -> Any:
    """A field that holds a part of that sort: a block with its kind, or the kind alone."""

    def made(value: Any) -> Any:
        if isinstance(value, Part):
            return value
        block = {"kind": value} if isinstance(value, str) else value
        kind = block.get("kind", default) if isinstance(block, dict) else None
        if kind not in kinds(sort):
            hint = did_you_mean(str(kind), kinds(sort)) or f"there are: {', '.join(kinds(sort))}"
            raise wrong(f"there is no kind '{kind}' in parts/{sort}", hint)
        try:
            return find(sort, kind).model_validate({**block, "kind": kind})
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            raise wrong(f"{place}: {first['msg'].removeprefix('Value error, ')}" if place else first["msg"]) from None

    return Annotated[Part, BeforeValidator(made), WithJsonSchema({"part_of": sort, "bare": "kind"})]


def laid_over(entry: Any, base: Any, field: str, sort: str) -> Any:
    """The part that `entry` stands for. base: the spec's own `field`; another kind inherits nothing of it.

    sort: the folder of its parts. Raises an author's mistake.
    """
    if isinstance(entry, Part):
        return entry
    if base is None:
        raise wrong(f"a {field}'s name needs `{field}` to be laid on", incomplete=True, without=field)
    block = {"name": entry} if isinstance(entry, str) else entry
    if not isinstance(block, dict):
        raise wrong(f"expected a {field}'s name or block, got {entry!r}")
    kind = block.get("kind", base.kind)
    if kind != base.kind and kind not in kinds(sort):
        raise wrong(f"there is no kind of {field} '{kind}'", did_you_mean(str(kind), kinds(sort)))
    inherited = base.model_dump(mode="json") if kind == base.kind else {"kind": kind}
    made = type(base) if kind == base.kind else find(sort, kind)
    try:
        return made.model_validate({**inherited, **block})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise wrong(first["msg"].removeprefix("Value error, ")) from None
