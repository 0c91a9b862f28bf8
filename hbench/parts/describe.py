"""The text of `hbench kinds`: every part with its fields, from the parts themselves."""

from pydantic_core import PydanticUndefined

from hbench.parts.part import find, kinds

SORTS = ("families", "domains", "calls", "edits", "rewards", "selections", "filters", "detectors")


def describe_kinds() -> str:
    """One block a kind: its first line of documentation, then each field with its default and meaning."""
    return "\n\n".join(_sort(sort) for sort in SORTS)


def _sort(sort: str) -> str:
    return "\n".join([sort.upper(), *(_kind(sort, kind) for kind in kinds(sort))])


def _kind(sort: str, kind: str) -> str:
    part = find(sort, kind)
    lines = [f"  {kind}  {(part.__doc__ or '').strip().splitlines()[0]}"]
    for name, field in part.model_fields.items():
        if name != "kind":
            default = "required" if field.default is PydanticUndefined else f"default {field.default!r}"
            lines.append(f"      {name} ({default}): {field.description or ''}")
    return "\n".join(lines)
