"""JSON Schemas for editors: completion and a first check while typing. `hbench check` is the judge.

Looser than the reader where YAML composes: everything may come from a file that is extended, and any value may be
an interpolation.
"""

import json
from pathlib import Path

from pydantic import BaseModel

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.parts.part import loadable
from hbench.spec.block_schema import PART, block_schema, full_class
from hbench.spec.load import NOT_IN_ARMS
from hbench.spec.plans import PLANS

SORTS = ("experiment", "fragment", "exhibit")
PART_SORTS = ("families", "domains", "calls", "edits", "selections", "races", "filters", "detectors")  # `reward` has its terms as keys
_LATER: Json = {
    "description": "An interpolation, ${dotted.path}, or ???: to be set by whoever extends this.",
    "type": "string",
    "pattern": r"\$\{|^\?\?\?$",
}
_REFERENCE: Json = {"$ref": "#/$defs/later"}
_ANY_ARMS: Json = {"description": "Named changes to this spec, compared on the same questions.", "type": "object"}
_COMPOSING: Json = {
    "extends": {
        "description": "Specs under specs/ that this one is laid on, ancestors first.",
        "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
    },
    "let": {"description": "Names for ${let.name}; dropped once filled in.", "type": "object"},
    "sweep": {
        "description": "Dotted path -> list of values; several make the product; a key `a, b` walks rows together.",
        "type": "object",
        "additionalProperties": {"anyOf": [{"type": "array", "minItems": 1}, _REFERENCE, {"type": "null"}]},
    },
}


def json_schema(sort: str, exhibit: type[BaseModel] | None = None) -> Json:
    """The schema of one sort of file: experiment, fragment or exhibit (whose class the caller hands in)."""
    if sort == "experiment":
        return _experiment()
    if sort == "fragment":
        return _fragment()
    if sort == "exhibit" and exhibit is not None:
        return _headed("hbench exhibit", block_schema(exhibit))
    raise HbenchError(f"there is no schema of sort '{sort}'; there are: {', '.join(SORTS)}")


def json_schema_text(sort: str, exhibit: type[BaseModel] | None = None) -> str:
    """The same as a file holds it."""
    return json.dumps(json_schema(sort, exhibit), indent=1, ensure_ascii=False) + "\n"


def write_all(folder: Path, exhibit: type[BaseModel] | None = None) -> list[Path]:
    """Writes <sort>.json into `folder` for every sort at hand, and returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for sort in SORTS if exhibit else SORTS[:2]:
        written.append(folder / f"{sort}.json")
        written[-1].write_text(json_schema_text(sort, exhibit), encoding="utf-8")
    return written


def _experiment() -> Json:
    blocks, definitions = _blocks()
    cases = []
    for plan, properties in blocks.items():
        arm = {key: value for key, value in properties.items() if key not in NOT_IN_ARMS}
        definitions |= {f"{plan}_arm": _closed(arm), plan: _closed(properties | _COMPOSING | _arms(f"{plan}_arm"))}
        named = {"properties": {"plan": {"const": plan}}, "required": ["plan"]}
        cases.append({"if": named, "then": {"$ref": f"#/$defs/{plan}"}})
    inherited = {"if": {"not": {"required": ["plan"]}}, "then": {"$ref": "#/$defs/any_plan"}}
    definitions["any_plan"] = _closed(_shared(blocks) | _COMPOSING | {"arms": _ANY_ARMS})
    plan = {"enum": list(PLANS), "description": "Which plan the spec compiles to."}
    top = {"type": "object", "properties": {"plan": plan}, "allOf": [*cases, inherited], "$defs": definitions}
    return _headed("hbench experiment", top)


def _fragment() -> Json:
    blocks, definitions = _blocks()
    fields = {key: value for key, value in _shared(blocks).items() if key != "plan"}
    body = _closed(fields | _COMPOSING | {"arms": _ANY_ARMS})
    return _headed("hbench fragment", {**body, "$defs": definitions})


def _blocks() -> tuple[dict[str, Json], dict[str, Json]]:
    """Plan -> its loosened properties, and the definitions they refer to."""
    blocks, definitions = {}, {"later": _LATER}
    for plan in PLANS:
        made = _filled(block_schema(full_class(plan)))
        definitions |= {name: _loose(value) for name, value in made.pop("$defs", {}).items()}
        blocks[plan] = _loose(made)["properties"]
    return blocks, definitions | _parts()


def _parts() -> dict[str, Json]:
    """sort.kind -> that part, for every sort that a field may hold."""
    found: dict[str, Json] = {}
    for sort in PART_SORTS:
        for kind, part in loadable(sort).items():
            made = _filled(block_schema(part))
            found |= {name: _loose(value) for name, value in made.pop("$defs", {}).items()}
            found[f"{sort}.{kind}"] = _loose(made)
    return found


def _filled(schema: Json) -> Json:
    """With references to every kind where a part may stand."""
    if isinstance(schema, list):
        return [_filled(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if PART not in schema:
        return {key: _filled(value) for key, value in schema.items()}
    there = list(loadable(schema[PART]))
    bare = {"kind": [{"enum": there}, _REFERENCE], "name": [{"type": "string"}]}.get(schema.get("bare"), [])
    rest = {key: value for key, value in schema.items() if key not in (PART, "bare")}
    return rest | {"anyOf": [*bare, *({"$ref": f"#/$defs/{schema[PART]}.{kind}"} for kind in there)]}


def _shared(blocks: dict[str, Json]) -> Json:
    """Properties of all plans together; a key that plans read differently may be either."""
    together: dict[str, list[Json]] = {}
    for properties in blocks.values():
        for key, value in properties.items():
            together.setdefault(key, []).extend([] if value in together.get(key, []) else [value])
    return {key: found[0] if len(found) == 1 else _either(found) for key, found in together.items()}


def _either(found: list[Json]) -> Json:
    told = dict.fromkeys(schema["description"] for schema in found)
    return {"description": " Or: ".join(told), "anyOf": found}


def _arms(arm: str) -> Json:
    return {"arms": {**_ANY_ARMS, "additionalProperties": {"anyOf": [{"$ref": f"#/$defs/{arm}"}, {"type": "null"}]}}}


def _closed(properties: Json) -> Json:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _loose(schema: Json) -> Json:
    """Nothing required, any value an interpolation or ???, one of several blocks as soon as any fits."""
    if isinstance(schema, list):
        return [_loose(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    loose = {key: _loose(value) for key, value in schema.items() if key not in ("required", "discriminator")}
    if "oneOf" in loose:
        loose["anyOf"] = loose.pop("oneOf")
    if isinstance(schema.get("properties"), dict):
        loose["properties"] = {name: _or_reference(value) for name, value in loose["properties"].items()}
    return loose


def _or_reference(schema: Json) -> Json:
    told = {key: schema[key] for key in ("description", "default") if key in schema}
    rest = {key: value for key, value in schema.items() if key not in told}
    return {**told, "anyOf": [rest, _REFERENCE]}


def _headed(title: str, schema: Json) -> Json:
    return {"$schema": "http://json-schema.org/draft-07/schema#", "title": title, **schema}
