"""The engine's processes from the driver's side: a zygote that has it loaded, and one request to one child."""

import asyncio
import json
import subprocess
from pathlib import Path

from hbench.core.digest import Json
from hbench.core.failure import HbenchError, StepError
from hbench.engines.appworld.folders import Folders
from hbench.engines.appworld.installation import Installation
from hbench.engines.jail import start
from hbench.engines.jail.bubblewrap import INSIDE
from hbench.engines.jail.channel import BadMessage, Channel
from hbench.engines.jail.jails import chosen
from hbench.engines.jail.zygote import Child, Zygote, ZygoteDied

HERE = Path(__file__).parent
PATIENCE_S = 1800.0  # loading takes five seconds of CPU time, and machines are busy
MEMORY_MB = 3072  # of address space
CPU_S = 3600.0
_MESSAGE_CHARS = 64_000_000


class EngineZygote(Zygote):
    """root: the folder whose `data` its children see, and nothing else of that kind."""

    def __init__(self, recipe: start.Recipe, installed: Installation, folders: Folders, root: Path):
        super().__init__(recipe, "appworld")
        self._installed, self._folders, self._root = installed, folders, root

    def _exec(self, control) -> subprocess.Popen:
        environment = {
            "PYTHONHASHSEED": "0",
            "APPWORLD_ROOT": str(self._root),
            "APPWORLD_CACHE": str(self._root),
            "IPYTHONDIR": str(self._folders.home),
            "HOME": str(self._folders.home),
        }
        return subprocess.Popen(
            self._words(sorted(set(environment) - {"PYTHONHASHSEED"})),
            env=environment,
            stdin=control,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            cwd="/",
        )

    def _words(self, environment: list[str]) -> list[str]:
        places = [start.home_of(self.recipe), str(HERE)]
        code = [str(HERE / "engine"), *([str(INSIDE)] if self.recipe.sandbox == "landlock" else [])]
        readable = [*start.readable_paths("appworld"), *self._installed.readable, *code]  # code: tracebacks quote it
        readable = sorted({*readable, *self._folders.readable(self._root)})
        setting = {"purpose": "appworld", "sandbox": self.recipe.sandbox, "readable": readable, "listed": []}
        setting |= {"path": [*self._installed.path, *places], "environment": environment}
        boot = f"import sys; sys.path[:0] = {places!r}; from engine.main import main; main()"
        python = [self._installed.interpreter, "-s", "-S", "-P", "-B", "-X", "utf8", "-c", boot, json.dumps(setting)]
        return start.wrapped(self.recipe, "appworld", readable, python)


async def start_engine(installed: Installation, folders: Folders, root: Path) -> EngineZygote:
    """A confined zygote. Raises HbenchError where this machine has nothing to confine it with."""
    reasons = []
    for recipe in start.recipes(chosen("auto"), "appworld"):
        zygote = EngineZygote(recipe, installed, folders, root)
        try:
            await zygote.start()
            return zygote
        except (StepError, OSError) as trouble:
            reasons.append(f"{recipe.sandbox}: {trouble}")
    raise HbenchError("AppWorld's engine runs a student's code, and this machine cannot confine it\n  " + "\n  ".join(reasons))


class Job:
    """One child and its channel."""

    def __init__(self, zygote: EngineZygote, purpose: str, order: Json):
        self._channel = Channel(_MESSAGE_CHARS)
        limits = {"memory_mb": MEMORY_MB, "cpu_s": CPU_S}
        self.child: Child = zygote.fork({"purpose": purpose, **limits, **order}, [self._channel.theirs.fileno()])
        self._channel.theirs.close()

    async def ask(self, request: Json, patience_s: float = PATIENCE_S) -> Json | str:
        """The reply to `request` (None: to what its order asks), or why there is none. Raises StepError: its zygote died.

        After a text the child is of no use any more.
        """
        if request is not None:
            self._channel.send(request)
        try:
            reply = await asyncio.wait_for(self._channel.receive(), patience_s)
        except TimeoutError:
            return f"no reply within {patience_s:g} s"
        except BadMessage as bad:
            return bad.failure.message
        if reply is None:
            ended = await self.child.ended
            return f"its process ended by itself ({f'signal {ended.signal}' if ended.signal else f'exit code {ended.code}'})"
        return str(reply["trouble"]) if "trouble" in reply else reply

    def close(self) -> None:
        try:
            self.child.kill()
        except ZygoteDied:
            pass
        self._channel.close()


async def once(zygote: EngineZygote, purpose: str, order: Json) -> Json | str:
    """The one reply of a child that does one thing; or why there is none. Raises StepError: the zygote died."""
    job = Job(zygote, purpose, order)
    try:
        return await job.ask(None)
    finally:
        job.close()
