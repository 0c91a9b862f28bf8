"""h* in one rollout: a component bank run as code around the student's turns (Harness-Zero, section 3)."""

import json
import shlex
from collections.abc import Awaitable, Callable, Sequence

from hbench.core import bank as banks
from hbench.core.action import EXECUTE, Action, Tool
from hbench.core.digest import Json
from hbench.core.failure import Failure
from hbench.core.harness import Harness
from hbench.core.hook import returned, script, told
from hbench.core.message import Message

PLACE = "$BANK"  # where the workspace shows `files()`, read only: /bank, but where there are no namespaces
_PLACES = (PLACE, "${BANK}", "/bank")  # how a command may name it
_QUOTES = str.maketrans("", "", "\"'")
HOOK_S = 10.0  # for one middleware at one turn: far more than it needs, since a busy machine must not change an outcome
_SPACE = {"memory_mb": 256, "output_chars": 16_384}
_MOST_SAID = 2_000  # characters that one middleware may say at one turn
_IN_WORKSPACE = ("tool", "skill", "memory")

RunPython = Callable[..., Awaitable[Json]]  # Jails.python: (code, timeout_s, memory_mb, output_chars) -> stdout, stderr, ok


class BankRun:
    """One per rollout. Components that the manifest switches off are as if they were not there.

    A turn is: `before(action, history)`; a refusal is the turn's observation, and nothing runs. Else `command(action)` is
    executed in the workspace for a tool of the bank (an execute call runs as ever), and what is observed goes through
    `after`. `before` is also asked about the final answer (tool None); where it refuses, the rollout goes on.
    history: what the student has seen before the proposal. Raises BrokenBank when made of files that are no bank.
    """

    def __init__(self, bank: Harness, run_python: RunPython):
        self._run_python = run_python
        self._components = tuple(each for each in banks.components(bank) if each.enabled)
        self._tools = {each.name: each for each in self._components if each.sort == "tool"}
        self._hooked = {
            hook: [each for each in self._components if each.sort == "middleware" and hook in banks.hooks_of(each)]
            for hook in ("before", "after")
        }
        self._used: set[str] = set()
        self._failure: Failure | None = None

    @property
    def used(self) -> tuple[str, ...]:
        """Paths of the components that had a part in the rollout so far: called, read by their path, heard in a middleware."""
        return tuple(sorted(self._used))

    def tools(self) -> tuple[Tool, ...]:
        """The bank's tools, beside `execute`."""
        return tuple(banks.tool_of(each) for each in self._tools.values())

    def files(self) -> dict[str, bytes]:
        """path below PLACE -> content, what the workspace shows read only. Middlewares are not among them."""
        shown = (each for each in self._components if each.sort in _IN_WORKSPACE)
        return {each.path: each.text.encode() for each in shown}

    def notes(self) -> str:
        """For the system message: which skills and memory there are and where to read them; "" for a bank with neither."""
        skills = [f"- {PLACE}/{each.path}: {banks.description(each)}" for each in self._components if each.sort == "skill"]
        memory = [f"- {PLACE}/{each.path}: what went wrong before" for each in self._components if each.sort == "memory"]
        if not skills and not memory:
            return ""
        return "\n".join(["Notes that you can read with cat when they help:", *skills, *memory])

    def command(self, action: Action) -> str:
        """The shell command that runs a call of one of `tools()`. Raises KeyError for any other."""
        component = self._tools[action.tool]
        self._used.add(component.path)
        arguments = json.dumps(action.arguments)
        return f'printf %s {shlex.quote(arguments)} | python3 "{PLACE}/{component.path}"'

    async def before(self, action: Action, history: Sequence[Message]) -> str | None:
        """Why the call is not run, said to the student; None lets it run."""
        self._note_reading(action)
        for each in self._hooked["before"]:
            refusal = await self._hook(each, "before", told(action), _seen(history))
            if refusal is not None:
                return refusal
        return None

    async def after(self, action: Action, observation: str, history: Sequence[Message]) -> str:
        """`observation` with what middlewares add to it, each on lines of its own."""
        for each in self._hooked["after"]:
            more = await self._hook(each, "after", told(action), observation, _seen(history))
            if more is not None:
                observation = "\n".join(filter(None, [observation.rstrip(), more]))
        return observation

    def take_failure(self) -> Failure | None:
        """The first trouble of a middleware since this was last asked, for the turn's row; the turn went on without it."""
        taken, self._failure = self._failure, None
        return taken

    async def _hook(self, component: banks.Component, hook: str, *arguments: Json) -> str | None:
        ran = await self._run_python(script(component.path, component.text, hook, arguments), timeout_s=HOOK_S, **_SPACE)
        said = returned(ran)
        if said is not None and not isinstance(said, str | Failure):
            said = Failure("harness", "bad_type", f"it returned {type(said).__name__}, not text or None")
        if isinstance(said, Failure):
            message = f"{component.path}, {hook}: {said.message}"
            self._failure = self._failure or Failure("harness", said.kind, message[:2000])
            return None
        if not said:
            return None
        self._used.add(component.path)
        return said[:_MOST_SAID]

    def _note_reading(self, action: Action) -> None:
        if action.tool == EXECUTE:
            said = action.command.translate(_QUOTES)
            self._used.update(each.path for each in self._components for place in _PLACES if f"{place}/{each.path}" in said)


def _seen(history: Sequence[Message]) -> Json:
    return [message.to_json() for message in history]
