"""What a request shows: an instruction, the commands that were run with what they printed, and perhaps a proposal."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from hbench.core.digest import Json
from hbench.core.message import Message, Request

OVERVIEW = "folder"  # a tool of specs/banks/files: shows every file with its first lines
_BLOCK = re.compile(r"^```(?:bash|sh|shell)[ \t]*\n(.*?)\n?```[ \t]*$", re.MULTILINE | re.DOTALL)
_CALL = re.compile(r"<tool_call>\s*(\{.*\})\s*</tool_call>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Shown:
    """ran: (command, what it printed) in order. proposal: of a student, as the JSON of prompts/reviewer/turn_json; None
    where no proposal is shown, and the reader is to act itself."""

    instruction: str
    ran: tuple[tuple[str, str], ...]
    proposal: Json = None


def read(messages: Sequence[Message]) -> Shown:
    """What `messages` show to a reviewer, where they hold a proposal; else to a student."""
    deltas = [_delta(message) for message in messages]
    if not any(deltas):
        return _of_student(messages)
    talk: list[Message] = []
    proposal: Json = None
    for message, delta in zip(messages, deltas, strict=True):
        if delta:
            talk += [Message(each["role"], each["content"]) for each in delta["since"]]
            proposal = delta["proposal"] or proposal
        elif message.role == "assistant" and proposal:
            talk.append(Message("assistant", _accepted(proposal, message.content)))
    return _of_student(talk, proposal)


def call(command: str, as_tool: bool) -> str:
    """A student's message that runs `command`. as_tool: in the form of chat templates, not as a block."""
    return _tool_call("execute", {"command": command}) if as_tool else f"```bash\n{command}\n```"


def overview(request: Request) -> str | None:
    """The call of the tool OVERVIEW, where a student is offered it and has said nothing yet."""
    if any(message.role == "assistant" for message in request.messages):
        return None
    if request.tools is not None:
        offered = any(tool["function"]["name"] == OVERVIEW for tool in request.tools)
        return _tool_call(OVERVIEW, {}) if offered else None
    offered = any(f"```{OVERVIEW}\n" in message.content for message in request.messages if message.role == "system")
    return f"```{OVERVIEW}\n{{}}\n```" if offered else None


def _tool_call(name: str, arguments: Json) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def _of_student(talk: Sequence[Message], proposal: Json = None) -> Shown:
    instruction = next((message.content for message in talk if message.role == "user"), "")
    ran = []
    for message, after in zip(talk, talk[1:], strict=False):
        command = _command(message.content) if message.role == "assistant" else None
        if command is not None and after.role != "assistant":
            ran.append((command, after.content))
    return Shown(instruction, tuple(ran), proposal)


def _delta(message: Message) -> Json:
    """The JSON of prompts/reviewer/turn_json; None for any other message."""
    if message.role != "user" or not message.content.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(message.content)
    except ValueError:
        return None
    return found if isinstance(found, dict) and {"since", "proposal", "problem"} <= set(found) else None


def _accepted(proposal: Json, verdict: str) -> str:
    """What the student was made to say; of calls only their command is kept."""
    try:
        decided = json.loads(verdict)
    except ValueError:
        decided = {}
    replaced = isinstance(decided, dict) and decided.get("decision") == "replace"
    command = decided.get("command") if replaced else proposal["command"]
    return call(command, False) if command else (decided.get("answer", "") if replaced else proposal["text"])


def _command(text: str) -> str | None:
    """The command that a student's message runs; None for an answer, or for what cannot be read."""
    if blocks := _BLOCK.findall(text):
        return blocks[0] if len(blocks) == 1 else None
    found = _CALL.search(text)
    try:
        return json.loads(found[1])["arguments"]["command"] if found else None
    except (ValueError, KeyError, TypeError):
        return None
