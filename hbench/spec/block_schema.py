"""The JSON Schema of a block as it stands in YAML, every field with its description: for editors and `hbench kinds`."""

from typing import Annotated, Any

from pydantic import BaseModel, WithJsonSchema
from pydantic.json_schema import GenerateJsonSchema

from hbench.core.digest import Json
from hbench.parts.part import Part, loadable
from hbench.spec.named_parts import first_line, reward_class, spec_class
from hbench.spec.schema import SORT_OF

# {"part_of": sort} stands for a block of any kind of that sort, so that each is described once. "bare" says what a bare text
# may be in its place: its kind, or a name that is laid over the spec's own part of that sort.
PART = "part_of"


class _Described(GenerateJsonSchema):
    """pydantic's own way loses the text of a field now and then; a `kind` is told by what its block is."""

    def model_schema(self, schema: Any) -> Json:
        made, block = super().model_schema(schema), schema["cls"]
        fields = {field.alias or name: field for name, field in block.model_fields.items()}
        for name, told in made.get("properties", {}).items():
            told.setdefault("description", fields[name].description or first_line(block))
            if fields[name].default_factory is dict:
                told["default"] = {}
        return made


def block_schema(block: type[BaseModel]) -> Json:
    """pydantic's schema of `block`, without the titles that repeat its keys. Parts stand in it as {"part_of": sort}."""
    return _untitled(block.model_json_schema(schema_generator=_Described))


def full_class(plan: str) -> type[BaseModel]:
    """The spec class of `plan` in which every part that there is may stand."""
    types: dict[str, Any] = {field: Annotated[Part, WithJsonSchema({PART: sort})] for field, sort in SORT_OF.items()}
    return spec_class(plan, types | {"reward": reward_class(tuple(loadable("rewards").items()))})


def _untitled(schema: Json) -> Json:
    """A property that is called title stays."""
    if isinstance(schema, list):
        return [_untitled(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _untitled(value) for key, value in schema.items() if key != "title" or isinstance(value, dict)}
