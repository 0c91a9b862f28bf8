"""A function of a component, as a script for the python jail: middlewares of a bank, checks of a guidance."""

import json
from collections.abc import Sequence

from hbench.core.action import EXECUTE, Action
from hbench.core.digest import Json
from hbench.core.failure import Failure

MARK = "hbench-said:"  # before what the function returned; whatever it prints itself goes to stderr

_SCRIPT = """\
import json, sys, types
said, sys.stdout = sys.stdout, sys.stderr
component = types.ModuleType("component")
exec(compile({source!r}, {path!r}, "exec", dont_inherit=True), component.__dict__)
value = getattr(component, {function!r})(*json.loads({arguments!r}))
print({mark!r} + json.dumps(value), file=said, flush=True)
"""


def told(action: Action) -> Json:
    """An action as such a function gets it: {"text", "tool", "arguments", "command", "answer"}; None for what is not there."""
    command = action.arguments.get("command") if action.tool == EXECUTE else None
    answer, arguments = (action.text, None) if action.tool is None else (None, action.arguments)
    return {"text": action.text, "tool": action.tool, "arguments": arguments, "command": command, "answer": answer}


def script(path: str, source: str, function: str, arguments: Sequence[Json]) -> str:
    """Python that calls `function` of `source` once. path: how tracebacks name it."""
    given = json.dumps(list(arguments))
    return _SCRIPT.format(source=source, path=path, function=function, arguments=given, mark=MARK)


def returned(ran: Json) -> Json | Failure:
    """What the function gave back; a harness Failure (timeout, error, bad_type) where it gave nothing that JSON can hold.

    ran: {"stdout", "stderr", "ok"} of the script, as the python jail tells it.
    """
    found = ran["stdout"].rpartition(MARK)
    if ran["ok"] and found[1]:
        try:
            return json.loads(found[2])
        except ValueError:
            return Failure("harness", "bad_type", "what it returned is too long, or was cut")
    last = (ran["stderr"].strip().splitlines() or ["it ended without a word"])[-1][:500]
    return Failure("harness", "timeout" if last.startswith("stopped after ") else "error", last)
