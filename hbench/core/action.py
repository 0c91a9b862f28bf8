"""What a student asks for in one turn: a tool call, or its final answer."""

from dataclasses import dataclass

from hbench.core.digest import Json

EXECUTE = "execute"  # the one tool of the target harness: a shell command, {"command": text}


@dataclass(frozen=True, slots=True)
class Action:
    """tool: None for the final answer. arguments: the call's. text: the answer, or what is said beside the call."""

    tool: str | None
    arguments: Json
    text: str = ""

    @property
    def command(self) -> str:
        """The shell command of an execute call."""
        return self.arguments["command"]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as a student is told of it. parameters: name -> what it takes, for people and models alike."""

    name: str
    description: str
    parameters: Json


EXECUTE_TOOL = Tool(EXECUTE, "Runs a shell command and shows what it prints.", {"command": "the shell command"})


class CallFailure(Exception):
    """Raised by a call format: the message holds a call that cannot be read. The student is told, and goes on.

    kind: several_calls, unclosed, bad_arguments, unknown_tool, empty, truncated.
    """

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind, self.message = kind, message[:2000]
