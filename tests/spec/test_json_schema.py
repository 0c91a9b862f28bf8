"""The schemas that editors read: current, and in agreement with the specs that the reader accepts."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hbench.core.failure import HbenchError
from hbench.exhibits.block import ExhibitBlock
from hbench.spec.json_schema import SORTS, json_schema, json_schema_text, write_all
from hbench.spec.source import read
from tests.where import REPO

SPECS = REPO / "specs"
FILES = sorted(SPECS.rglob("*.yaml"))
TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
}


def accepts(schema: Any, value: Any, top: Any) -> bool:
    """Whether `value` fits, for the words of JSON Schema that hbench writes."""
    if isinstance(schema, bool):
        return schema
    if "$ref" in schema:
        return accepts(top["$defs"][schema["$ref"].removeprefix("#/$defs/")], value, top)
    if "if" in schema:
        return not accepts(schema["if"], value, top) or accepts(schema["then"], value, top)
    checks = [
        "type" not in schema or TYPES[schema["type"]](value),
        "const" not in schema or value == schema["const"],
        "enum" not in schema or value in schema["enum"],
        "not" not in schema or not accepts(schema["not"], value, top),
        "pattern" not in schema or not isinstance(value, str) or bool(re.search(schema["pattern"], value)),
        "anyOf" not in schema or any(accepts(s, value, top) for s in schema["anyOf"]),
        all(accepts(s, value, top) for s in schema.get("allOf", ())),
        not isinstance(value, dict) or _object(schema, value, top),
        not isinstance(value, list) or all(accepts(schema.get("items", True), item, top) for item in value),
    ]
    return all(checks)


def _object(schema: Any, value: dict, top: Any) -> bool:
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    return set(schema.get("required", ())) <= set(value) and all(
        accepts(known.get(key, others), item, top) for key, item in value.items()
    )


def sort_of(file: Path) -> str:
    """The schema that the first line of a spec names."""
    first = file.read_text(encoding="utf-8").splitlines()[0]
    named = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
    assert named, f"{file}: the first line names no schema"
    target = (file.parent / named[1]).resolve()
    assert target.parent == SPECS / "schema", f"{file}: {named[1]} is not in specs/schema"
    return target.stem


@pytest.mark.parametrize("sort", SORTS)
def test_the_schemas_in_the_tree_are_current(sort, monkeypatch):
    """After a part or a field has changed: hbench schema --write specs/schema"""
    monkeypatch.chdir(REPO)
    assert (SPECS / f"schema/{sort}.json").read_text(encoding="utf-8") == json_schema_text(sort, ExhibitBlock)


@pytest.mark.parametrize("file", FILES, ids=[f.relative_to(SPECS).as_posix() for f in FILES])
def test_every_spec_names_a_schema_that_accepts_it(file):
    schema = json.loads((SPECS / f"schema/{sort_of(file)}.json").read_text(encoding="utf-8"))
    assert accepts(schema, read(file).tree.values, schema)


@pytest.mark.parametrize(
    ("fits", "values"),
    [
        (True, {"plan": "adaptation", "rounds": "${let.n}", "splits": {"scoring": "same_as_feedback"}}),
        (True, {"extends": ["base"], "arms": {"seed": {"rounds": 0}}, "sweep": {"family.name": ["a"]}}),
        (True, {"plan": "evaluation", "family": {"kind": "toy", "ask": "sum"}}),
        (False, {"plan": "adaptation", "ruonds": 3}),
        (False, {"plan": "adaptation", "rounds": "many"}),
        (False, {"plan": "adaptation", "arms": {"seed": {"ruonds": 0}}}),
        (False, {"plan": "adaptation", "arms": {"seed": {"machine": {}}}}),
        (False, {"plan": "adaptation", "selection": {"kind": "best_candidat"}}),
        (False, {"plan": "adaptation", "solver": {"temperature": 1}}),
        (False, {"plan": "something"}),
    ],
)
def test_the_experiment_schema_tells_right_from_wrong(fits, values):
    schema = json_schema("experiment")
    assert accepts(schema, values, schema) is fits


def undescribed(schema: Any, where: str) -> list[str]:
    """Every property below `schema` that says nothing of itself."""
    if isinstance(schema, list):
        return [name for place, item in enumerate(schema) for name in undescribed(item, f"{where}/{place}")]
    if not isinstance(schema, dict):
        return []
    fields = schema.get("properties", {}) if isinstance(schema.get("properties"), dict) else {}
    found = [f"{where}.{key}" for key, value in fields.items() if isinstance(value, dict) and not value.get("description")]
    return found + [name for key, value in schema.items() if key != "if" for name in undescribed(value, f"{where}/{key}")]


@pytest.mark.parametrize("sort", SORTS)
def test_every_field_is_described(sort):
    assert undescribed(json_schema(sort, ExhibitBlock), sort) == []


def test_a_part_in_a_list_is_completed_like_one_of_its_own():
    schema = json_schema("experiment")
    keeps = [["succeeded"], [{"kind": "no_leak"}], ["succeded"], [{"kind": "no_leek"}]]
    specs = [{"plan": "distillation", "train": {"keep": keep}} for keep in keeps]
    assert [accepts(schema, spec, schema) for spec in specs] == [True, True, False, False]
    seen = [["gcd", {"kind": "toy", "ask": "sum"}], [{"kind": "toy", "aks": "sum"}]]
    assert [accepts(schema, {"plan": "training", "seen": each}, schema) for each in seen] == [True, False]


def test_an_unknown_sort_is_refused(tmp_path):
    with pytest.raises(HbenchError, match="there is no schema of sort 'table'"):
        json_schema("table")
    assert [file.stem for file in write_all(tmp_path, ExhibitBlock)] == ["experiment", "fragment", "exhibit"]
