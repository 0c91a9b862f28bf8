"""Calls in a chat template's own tool format, between <tool_call> tags: Hermes, Qwen."""

import json
import re
from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from hbench.core.action import EXECUTE, Action, CallFailure, Tool
from hbench.core.digest import Json
from hbench.core.message import Message
from hbench.parts.calls._read import checked_arguments, object_of, said, the_one
from hbench.parts.part import Part

OPEN, CLOSE = "<tool_call>", "</tool_call>"
_TAGS = re.compile("</?tool_call>")
_FUNCTION = re.compile(r"\s*<function=([^>\n]+)>\n?(.*?)\n?</function>\s*", re.DOTALL)
_PARAMETER = re.compile(r"\s*<parameter=([^>\n]+)>\n?(.*?)\n?</parameter>\s*", re.DOTALL)


class ToolCall(Part):
    """Calls as the model's own chat template writes them, with the tools given to that template."""

    version: ClassVar[int] = 1

    kind: Literal["tool_call"]
    form: Literal["json", "parameters"] = Field(
        "json",
        description="json: a name and arguments (Hermes, Qwen 2.5 and 3); parameters: a tag for each (Qwen 3.5, Qwen3-Coder).",
    )

    def told(self, tools: Sequence[Tool]) -> str:
        return ""

    def template_tools(self, tools: Sequence[Tool]) -> Json:
        """As the templates take them: a JSON schema each. What an argument is, is said in words, so that no type is claimed."""
        return [_told(tool) for tool in tools]

    def parse(self, text: str, tools: Sequence[Tool]) -> Action:
        """What stands beside the tags is its text; without tags it is the answer."""
        whole = said(text)
        parts = whole.split(OPEN)
        if len(parts) == 1:
            return Action(None, {}, whole.strip())
        call, end, after = the_one(parts[1:], "call").rpartition(CLOSE)
        if not end:
            raise CallFailure("unclosed", f"the call has no closing {CLOSE}")
        name, arguments = self._read(call)
        if name not in (known := [tool.name for tool in tools]):
            raise CallFailure("unknown_tool", f"there is no tool {name!r}; the tools are: {', '.join(known)}")
        beside = "\n\n".join(part for part in (parts[0].strip(), after.strip()) if part)
        return Action(name, checked_arguments(arguments, name), beside)

    def write(self, action: Action) -> str:
        """The call below the text. Raises CallFailure for arguments that the form cannot hold: its own tags."""
        if action.tool is None:
            return action.text
        call = f"{OPEN}\n{self._written(action)}\n{CLOSE}"
        return f"{action.text}\n\n{call}" if action.text else call

    def observation(self, text: str) -> Message:
        return Message("tool", text)

    def _written(self, action: Action) -> str:
        if self.form == "json":
            inner = json.dumps({"name": action.tool, "arguments": action.arguments}, ensure_ascii=False)
            return _TAGS.sub(lambda found: "\\u003c" + found[0][1:], inner)
        given = [_parameter(action.tool, name, value) for name, value in action.arguments.items()]
        inner = "\n".join([f"<function={action.tool}>", *given, "</function>"])
        if _TAGS.search(inner) or inner.count("</parameter>") > len(given):
            raise CallFailure("bad_arguments", "the arguments hold a tag of the call's own form")
        return inner

    def _read(self, call: str) -> tuple[str, Json]:
        """Name and arguments of what stands between the tags."""
        if self.form == "parameters":
            return _function(call)
        found = object_of(call, "a call")
        if not isinstance(found.get("name"), str):
            raise CallFailure("bad_arguments", 'a call is {"name": the tool, "arguments": {…}}')
        return found["name"], found.get("arguments", {})


def _told(tool: Tool) -> Json:
    properties = {name: {"description": takes} if isinstance(takes, str) else takes for name, takes in tool.parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": schema}}


def _function(call: str) -> tuple[str, Json]:
    found = _FUNCTION.fullmatch(call)
    if found is None:
        raise CallFailure("bad_arguments", "a call is <function=NAME>, its parameters, </function>")
    name, rest, arguments = found[1].strip(), found[2], {}
    while rest:
        given = _PARAMETER.match(rest)
        if given is None:
            raise CallFailure("bad_arguments", f"no <parameter=NAME>value</parameter> at {rest.strip()[:60]!r}")
        arguments[given[1].strip()] = given[2] if name == EXECUTE else _value(given[2])
        rest = rest[given.end() :]
    return name, arguments


def _parameter(tool: str, name: str, value: Json) -> str:
    plain = isinstance(value, str) and (tool == EXECUTE or _value(value) == value)
    return f"<parameter={name}>\n{value if plain else json.dumps(value, ensure_ascii=False)}\n</parameter>"


def _value(text: str) -> Json:
    """The form has no types: what reads as JSON is that, all else is text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
