"""Parts named in a list: each a name, or a block that changes more, laid over the part of the same sort in the spec."""

from typing import Any

from pydantic import ValidationError

from hbench.parts.part import Part, find, kinds
from hbench.spec.block import wrong
from hbench.spec.problems import did_you_mean


def laid_over(entry: Any, base: Any, field: str, sort: str) -> Any:
    """The part that `entry` stands for. base: the spec's own `field`; another kind inherits nothing of it.

    sort: the folder of its parts. Raises an author's mistake.
    """
    if isinstance(entry, Part):
        return entry
    if base is None:
        raise wrong(f"a {field}'s name needs `{field}` to be laid on", incomplete=True)
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
