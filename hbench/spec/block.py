"""What every block of a spec has in common: frozen, no unknown keys, and JSON of itself."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from hbench.core.digest import Json

INSIDE, NO_KIND = "hbench_inside", "hbench_no_kind"


def wrong(what: str, hint: str = "", incomplete: bool = False, without: str = "") -> PydanticCustomError:
    """An author's mistake found by a validator: raise it. incomplete: a fragment may leave this to others.

    without: the field that is not there for it; where that has a problem of its own, this one says nothing new.
    """
    told = {"what": what, "hint": hint, "incomplete": incomplete, "without": without}
    return PydanticCustomError("hbench", "{what}", told)


def no_kind(kinds: Sequence[str], expected: str) -> PydanticCustomError:
    """What stands here is no mapping with one of these kinds, nor what else may stand here: raise it. expected: in words."""
    return PydanticCustomError(NO_KIND, "no kind", {"kinds": list(kinds), "expected": expected})


def inside(error: ValidationError, made: type[BaseModel]) -> PydanticCustomError:
    """Mistakes inside of a block `made` that a validator builds itself: raise it. Each is said at its own place."""
    first = error.errors(include_url=False)[0]
    what = ": ".join(filter(None, [".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")]))
    return PydanticCustomError(INSIDE, "{what}", {"what": what, "error": error, "made": made})


def _no_truth(value: Any) -> Any:
    # YAML reads `yes` and `on` as true, which pydantic would take for 1.
    if isinstance(value, bool):
        raise wrong(f"expected a number, got {str(value).lower()}")
    return value


Whole = Annotated[int, BeforeValidator(_no_truth)]
Number = Annotated[float, BeforeValidator(_no_truth), Field(allow_inf_nan=False)]


class Block(BaseModel):
    """A mapping of a spec."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, defer_build=True)

    def to_json(self) -> Json:
        """Every field that can change a result."""
        return {name: plain(getattr(self, name)) for name in type(self).model_fields}


def plain(value: Any) -> Json:
    """`value` as JSON; parts and blocks say themselves what they hold."""
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value
