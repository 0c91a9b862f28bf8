"""The fields of a block in words, from its JSON Schema: name, type, default, meaning."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hbench.core.digest import Json
from hbench.spec.block_schema import PART

_OF_KIND = "block of kind "
LONGEST = 60  # characters of a default or a list of choices; the rest is cut
_PLAIN = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "null": "null",
    "array": "list",
    "object": "mapping",
}
_BOUNDS = {"minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most", "exclusiveMaximum": "less than"}


@dataclass(frozen=True)
class Word:
    """One field. default: as YAML writes it; "" where it must be given."""

    name: str
    type: str
    default: str
    meaning: str

    def line(self) -> str:
        return f"{self.name} ({self.type}; {self.default or 'required'}): {self.meaning}"


def field_words(schema: Json, definitions: Mapping[str, Json], given: tuple[str, ...] = ()) -> Iterator[Word]:
    """Every field of a block but its `kind`. given: fields that have a default elsewhere."""
    required = set(schema.get("required", ())) - set(given)
    for name, field in schema.get("properties", {}).items():
        if name != "kind":
            yield Word(name, type_words(field, definitions), _default(field, name in required), field["description"])


def type_words(schema: Json, definitions: Mapping[str, Json]) -> str:
    """What may stand in a field: `whole number, at least 1`, `list of text`, `block` …"""
    if PART in schema:
        bare = {"kind": "kind or ", "name": "name or "}.get(schema.get("bare"), "")
        return f"{bare}block of {schema[PART]}"
    if "$ref" in schema:
        return _block(definitions[schema["$ref"].split("/")[-1]])
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return _either(schema[several], definitions)
    if "enum" in schema or "const" in schema:
        return _cut(" | ".join(str(value) for value in schema.get("enum", [schema.get("const")])), 120)
    if "prefixItems" in schema:
        return "list of " + " and ".join(type_words(each, definitions) for each in schema["prefixItems"])
    inside = schema.get("items") or schema.get("additionalProperties")
    if isinstance(inside, dict):
        joined = "list of" if schema["type"] == "array" else "mapping of name to"
        return f"{joined} {type_words(inside, definitions)}"
    bounds = [f"{told} {schema[key]}" for key, told in _BOUNDS.items() if key in schema]
    return ", ".join([_PLAIN.get(schema.get("type", ""), "anything"), *bounds])


def _either(schemas: Sequence[Json], definitions: Mapping[str, Json]) -> str:
    """Blocks that are told apart by their kind are told together."""
    words = [type_words(each, definitions) for each in schemas]
    kinds = [word.removeprefix(_OF_KIND) for word in words if word.startswith(_OF_KIND)]
    others = [word for word in words if not word.startswith(_OF_KIND)]
    return " or ".join(dict.fromkeys([*([_OF_KIND + " | ".join(kinds)] if kinds else []), *others]))


def _block(definition: Json) -> str:
    kind = definition.get("properties", {}).get("kind", {}).get("const")
    return f"{_OF_KIND}{kind}" if kind else "block"


def _default(field: Json, required: bool) -> str:
    if required:
        return ""
    if "default" not in field:
        return "has a default"
    return "default " + _cut(json.dumps(field["default"], ensure_ascii=False), LONGEST)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
