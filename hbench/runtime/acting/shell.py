"""A student's calls in its workspace: what is run, and what it is told of it."""

import time

from hbench.core.action import EXECUTE, Action
from hbench.core.failure import Failure
from hbench.core.rollout import Event
from hbench.core.trajectory import Ran
from hbench.engines.jail.workspace_run import Called, Workspace
from hbench.runtime.acting.bank_run import BankRun
from hbench.steps.act_setting import Target


class Shell:
    """events: where each command is noted. role: who runs them. bank: whose tools are calls too.

    called: what answers the programs that the driver serves; None: what the workspace was opened with.
    """

    def __init__(
        self,
        workspace: Workspace,
        target: Target,
        events: list[Event],
        role: str,
        bank: BankRun | None = None,
        called: Called | None = None,
    ):
        self._workspace, self._target, self._events, self._role = workspace, target, events, role
        self._bank, self._called = bank, called

    async def run(self, action: Action) -> tuple[str, Failure | None]:
        """What the call printed, as it is told; and a Failure where it ran out of time. Raises StepError.

        A shell of its own for each call: files stay, nothing else does.
        """
        command = action.command if action.tool == EXECUTE else self._bank.command(action)
        started, target = time.perf_counter(), self._target
        ran = await self._workspace.execute(command, target.command_s, target.observation_chars, self._called)
        seconds = time.perf_counter() - started
        self._events.append(Event("execute", command, {"output": ran.output, "code": ran.code}, self._role, seconds=seconds))
        failure = Failure("limits", "timeout", f"stopped after {target.command_s:g} s") if ran.code is None else None
        return told(ran, target.command_s), failure


def told(ran: Ran, command_s: float) -> str:
    """What a command printed, with how it ended where it did not end well."""
    ending = f"(stopped after {command_s:g} s)" if ran.code is None else f"(exit code {ran.code})" if ran.code else ""
    return "\n".join(part for part in (ran.output.rstrip("\n"), ending) if part) or "(no output)"
