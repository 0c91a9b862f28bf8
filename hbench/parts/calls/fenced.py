"""Calls as fenced blocks: what a small model without a tool format of its own can learn to write."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from hbench.core.action import EXECUTE, Action, CallFailure, Tool
from hbench.core.digest import Json
from hbench.core.message import Message
from hbench.parts.calls._read import object_of, said, the_one
from hbench.parts.part import Part

SHELLS = ("bash", "sh", "shell")  # all mean `execute`; the first is what is taught and written
_FENCE = re.compile(r" {0,3}(`{3,})[ \t]*([\w.+-]*)[ \t\r]*")


class Fenced(Part):
    """A ```bash block runs a command, a ```NAME block calls another tool with its JSON; without a block it is the answer."""

    version: ClassVar[int] = 1

    kind: Literal["fenced"]

    def told(self, tools: Sequence[Tool]) -> str:
        """How to write a command, and each further tool with what it takes."""
        lines = ["To run a command, write it in one block:", "", "```bash", "COMMAND", "```"]
        for tool in tools:
            if tool.name != EXECUTE:
                takes = json.dumps(tool.parameters, ensure_ascii=False)
                lines += ["", f"{tool.name}: {tool.description}", "", f"```{tool.name}", takes, "```"]
        return "\n".join(lines)

    def template_tools(self, tools: Sequence[Tool]) -> Json:
        return None

    def parse(self, text: str, tools: Sequence[Tool]) -> Action:
        """What stands beside the block is its text. A block of another language is no call: see `_stranger`."""
        whole = said(text)
        names = {**{shell: EXECUTE for shell in SHELLS}, **{tool.name: tool.name for tool in tools if tool.name != EXECUTE}}
        blocks = list(_blocks(whole, names))
        calls = [block for block in blocks if block.tag in names]
        if not calls:
            _stranger(blocks, names)
            _half_a_block(whole, blocks, names)
            return Action(None, {}, whole.strip())
        call = the_one(calls, "block")
        if not call.closed:
            raise CallFailure("unclosed", f"the {call.tag} block has no closing {call.fence}")
        beside = "\n\n".join(part for part in (whole[: call.start].strip(), whole[call.end :].strip()) if part)
        return Action(names[call.tag], _arguments(names[call.tag], call), beside)

    def write(self, action: Action) -> str:
        """The block below the text. Its fence is longer than any inside it."""
        if action.tool is None:
            return action.text
        shell = action.tool == EXECUTE
        tag = SHELLS[0] if shell else action.tool
        content = action.command if shell else json.dumps(action.arguments, ensure_ascii=False)
        inside = [len(found[1]) for line in content.split("\n") if (found := re.match(r" {0,3}(`{3,})", line))]
        fence = "`" * max(3, 1 + max(inside, default=2))
        block = f"{fence}{tag}\n{content}\n{fence}"
        return f"{action.text}\n\n{block}" if action.text else block

    def observation(self, text: str) -> Message:
        return Message("user", text)


@dataclass(frozen=True, slots=True)
class _Block:
    """A fenced block. start, end: of the whole block in its text. content: between the fences."""

    tag: str
    fence: str
    content: str
    start: int
    end: int
    closed: bool


def _blocks(text: str, calls: dict[str, str]) -> Iterator[_Block]:
    """The blocks of `text` in order. The block of a call also begins inside another that is no call and no wider."""
    opened, inner, at, start = None, [], 0, 0
    for line in text.split("\n"):
        found = _FENCE.fullmatch(line)
        begins = found and (opened is None or (found[2] in calls and opened[2] not in calls and len(found[1]) >= len(opened[1])))
        if begins:
            opened, inner, start = found, [], at
        elif found and not found[2] and len(found[1]) >= len(opened[1]):
            yield _Block(opened[2], opened[1], "\n".join(inner), start, at + len(line), True)
            opened = None
        elif opened is not None:
            inner.append(line)
        at += len(line) + 1
    if opened is not None:
        yield _Block(opened[2], opened[1], "\n".join(inner), start, len(text), False)


def _arguments(tool: str, call: _Block) -> Json:
    if tool != EXECUTE:
        return object_of(call.content, f"what {tool} is given")
    if not call.content.strip():
        raise CallFailure("bad_arguments", "the block holds no command")
    return {"command": call.content}


def _stranger(blocks: Sequence[_Block], known: dict[str, str]) -> None:
    """Raises CallFailure where a block names what is no tool: a call that was meant, or an answer that looks like one."""
    tags = [block.tag for block in blocks if block.tag]
    if tags:
        offered = ", ".join(dict.fromkeys([SHELLS[0], *(name for name in known if name not in SHELLS)]))
        raise CallFailure("unknown_tool", f"there is no tool {tags[0]!r}; a block is one of: {offered}")


def _half_a_block(text: str, blocks: Sequence[_Block], known: dict[str, str]) -> None:
    """Raises CallFailure where a call's fence stands in the middle of a line: it was no answer that was meant."""
    edges = [0, *(edge for block in blocks for edge in (block.start, block.end)), len(text)]
    outside = "".join(text[start:end] for start, end in zip(edges[::2], edges[1::2]))
    if found := re.search("```(" + "|".join(map(re.escape, known)) + r")\b", outside):
        raise CallFailure("unclosed", f"a block has lines of its own for ```{found[1]}, for what it holds, and for the last ```")
