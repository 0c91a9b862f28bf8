"""Detectors inside a detector."""

from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationError, WithJsonSchema

from hbench.parts.part import Part, build, kinds


def _detector(value: Any) -> Any:
    if isinstance(value, Part):
        return value
    kind, there = value.get("kind") if isinstance(value, dict) else None, kinds("detectors")
    if not isinstance(kind, str) or kind not in there:
        raise ValueError(f"there is no detector {kind!r}; there are: {', '.join(there)}")
    try:
        return build("detectors", value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"{kind} {place}: {first['msg'].removeprefix('Value error, ')}") from None


Detector = Annotated[Part, BeforeValidator(_detector), WithJsonSchema({"part_of": "detectors"})]


class Several(Part):
    """A detector made of others, which it hashes with their versions."""

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "detectors": [each.to_json() for each in self.detectors], "version": self.version}
