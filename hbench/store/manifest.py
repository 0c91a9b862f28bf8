"""What bundle.json must be, whoever wrote it: its fields, and the only places that its files may have."""

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.published import ADAPTERS, NAME, ROWS, SPECS
from hbench.store.tables import SCHEMA

_PLAIN = r"[\w-][\w.-]*"  # no name of a file begins with a dot, so none climbs out
PLACES = (
    re.compile(rf"{ROWS}/[a-z_]+\.parquet"),
    re.compile(rf"{SPECS}/{_PLAIN}\.yaml"),
    re.compile(rf"{ADAPTERS}/{NAME}/(?:{_PLAIN}/)*{_PLAIN}"),
)
# Of a trained model. Weights as pickles (.bin, .pt) and Python files would run when they are loaded.
ENDINGS = (".safetensors", ".json", ".jsonl", ".md", ".txt", ".jinja", ".model")


def _place(name: str) -> str:
    if not any(place.fullmatch(name) for place in PLACES):
        raise ValueError(f"{name!r} is no place in a bundle: {ROWS}/TABLE.parquet, {SPECS}/NAME.yaml, {ADAPTERS}/NAME/…")
    if name.startswith(f"{ADAPTERS}/") and not name.endswith(ENDINGS):
        raise ValueError(f"{name!r} may hold code: weights come as .safetensors, beside {', '.join(ENDINGS[1:])}")
    return name


Place = Annotated[str, AfterValidator(_place)]
Name = Annotated[str, Field(pattern=f"^{NAME}$")]


class _Known(BaseModel):
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    bytes: int = Field(0, ge=0)


class _Held(BaseModel):
    points: dict[str, str]
    arms: list[str]


class Manifest(BaseModel):
    """The fields that are read. A newer hbench may write more."""

    model_config = ConfigDict(frozen=True, strict=True)

    name: Name
    schema_: int = Field(alias="schema")
    files: dict[Place, _Known]
    date: str = ""
    specs: dict[str, _Held] = {}
    arms: dict[str, Name] = {}
    adapters: dict[Name, dict] = {}
    without: list[str] = []

    @property
    def bytes(self) -> int:
        """Of all files, as far as it says."""
        return sum(known.bytes for known in self.files.values())


def check_manifest(told: Json, where: object) -> Manifest:
    """`told` (JSON already read), checked. Raises HbenchError that says what is wrong with it; `where` is what it stands in."""
    version = told.get("schema") if isinstance(told, dict) else None
    if isinstance(version, int) and version > SCHEMA:
        raise HbenchError(f"{where} was written by a newer hbench; use that one")
    try:
        return Manifest.model_validate(told)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"] if part != "[key]")
        said = first["msg"].removeprefix("Value error, ")
        raise HbenchError(f"{where} cannot be read: {place}: {said}" if place else f"{where} cannot be read: {said}") from None
