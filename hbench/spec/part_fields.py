"""Fields that hold parts outside of a spec's own: by kind, or named in a list and laid over the spec's part of that sort."""

from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationError, WithJsonSchema

from hbench.core import protocols
from hbench.parts.part import Part, find, has, kinds
from hbench.spec.block import inside, no_kind, wrong
from hbench.spec.files import remembered

# Folder -> what its parts have. versions: none; own_process_per_answer: true.
PROTOCOLS = {
    "families": protocols.Family,
    "domains": protocols.Domain,
    "calls": protocols.CallFormat,
    "edits": protocols.EditFormat,
    "rewards": protocols.RewardTerm,
    "selections": protocols.SelectionRule,
    "races": protocols.RaceRule,
    "filters": protocols.Filter,
    "detectors": protocols.Detector,
}
DEFAULTED = frozenset({"versions", "own_process_per_answer"})

kinds_of = remembered(kinds)  # sort -> its kinds; the folders are looked through once a load
has_kind = remembered(has)


def part_of(sort: str, default: str | None = None) -> Any:
    """A field that holds a part of that sort: a block with its kind, or the kind alone."""

    def made(value: Any) -> Any:
        if isinstance(value, Part):
            return value
        block = {"kind": value} if isinstance(value, str) else value
        kind = block.get("kind", default) if isinstance(block, dict) else None
        if not isinstance(kind, str) or not has_kind(sort, kind):
            raise no_kind(list(kinds_of(sort)), "a kind or a mapping")
        return _made(_loaded(sort, kind), {**block, "kind": kind})

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
    kind = block.get("kind", base.kind) if isinstance(block, dict) else None
    if not isinstance(kind, str) or kind not in (base.kind, *kinds_of(sort)):
        raise no_kind(list(kinds_of(sort)), f"a {field}'s name or a mapping")
    inherited = base.model_dump(mode="json") if kind == base.kind else {"kind": kind}
    made = type(base) if kind == base.kind else _loaded(sort, kind)
    return _made(made, {**inherited, **block})


def _loaded(sort: str, kind: str) -> type[Part]:
    """The class of a kind that is there. Raises an author's mistake."""
    if trouble := trouble_with(sort, kind):
        raise wrong(trouble)
    return find(sort, kind)


@remembered
def trouble_with(sort: str, kind: str) -> str:
    """What keeps a kind that is there from being used: its file cannot be imported, or lacks something. "" for nothing."""
    try:
        made = find(sort, kind)
    except Exception as error:  # whatever a part's own code raises when imported
        return f"kind '{kind}' cannot be loaded: {type(error).__name__}: {error}"
    wanted = PROTOCOLS[sort]
    lacks = [name for name in _members(wanted) if not hasattr(made, name) and name not in made.model_fields]
    return f"kind '{kind}' lacks {', '.join(lacks)}: see {wanted.__name__} in hbench/core/protocols.py" if lacks else ""


def _members(protocol: type) -> list[str]:
    """What a protocol asks for, but for what has a value where a part does not say it."""
    named = [*protocol.__annotations__, *(name for name, of in vars(protocol).items() if callable(of))]
    return [name for name in named if not name.startswith("_") and name not in DEFAULTED]


def _made(part: type[Part], block: Any) -> Part:
    try:
        return part.model_validate(block)
    except ValidationError as error:
        raise inside(error, part) from None
