"""All worlds of a run: one zygote that plays, one that evaluates, a process for each world."""

import asyncio
import base64
import itertools
import weakref
from pathlib import Path

from hbench.core.digest import Json
from hbench.core.failure import StepError
from hbench.engines.appworld.folders import Folders
from hbench.engines.appworld.installation import Installation, installation
from hbench.engines.appworld.world import World
from hbench.engines.appworld.zygotes import EngineZygote, Job, once, start_engine

MOST = 64  # worlds at once; each has some 100 MB of its own, and one more rollout waits here
JUDGE_CPU_S = 300.0  # some seconds do; what is evaluated are statements of a process that may have been the student's
IDLE_S = 60.0  # loading anew takes ten seconds of CPU time
_of_loop: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # asyncio loop -> root -> Worlds


async def opened(root: Path | None, task_id: str, task: Json = None) -> World:
    """The world of a task, as it is before anybody did anything. Close it with `finish`.

    root: the folder that holds the published `data`; None: `task` is home-made, and laid first. Raises HbenchError where
    the engine is not installed or cannot be confined, StepError where the task cannot be played or evaluated.
    """
    mine = _of_loop.setdefault(asyncio.get_running_loop(), {})
    return await mine.setdefault(root, Worlds(root)).open(task_id, task)


class Worlds:
    """Use from one asyncio loop. What it started ends when no world has been open for a while, or with this process."""

    def __init__(self, root: Path | None):
        self._root = root
        self._folders: Folders | None = None
        self._player: EngineZygote | None = None
        self._judge: EngineZygote | None = None
        self._first, self._room = asyncio.Lock(), asyncio.Semaphore(MOST)
        self._sound: set[str] = set()  # tasks that were laid, and whose tests have run on the untouched world
        self._open, self._names = 0, itertools.count()
        self._idle: asyncio.TimerHandle | None = None

    async def open(self, task_id: str, task: Json) -> World:
        """See `opened`."""
        await self._room.acquire()
        self._open += 1
        if self._idle:
            self._idle.cancel()
        try:
            return await self._opened(task_id, task)
        except BaseException:
            self._let_go()
            raise

    async def _opened(self, task_id: str, task: Json) -> World:
        async with self._first:
            await self._start()
            if task_id not in self._sound:
                await self._lay(task_id, task)
        job = Job(self._player, "play", {"task": task_id})
        reply = await job.ask(None)
        if isinstance(reply, str):
            job.close()
            raise StepError(f"AppWorld's task {task_id} cannot be opened: {reply}")
        world = World(self, task_id, job, reply["models"])
        if task_id not in self._sound:
            await self._try_tests(world)
        return world

    async def _start(self) -> None:
        """Both zygotes, or anew the one that has died. Raises HbenchError."""
        installed, fresh = installation(), self._folders is None
        self._folders = self._folders or Folders(self._root)
        self._player = await self._alive(self._player, installed, self._folders.play)
        self._judge = await self._alive(self._judge, installed, self._folders.judge)
        if fresh and self._root is None:
            await self._build(None)

    async def _alive(self, zygote: EngineZygote | None, installed: Installation, root: Path) -> EngineZygote:
        if zygote and zygote.alive:
            return zygote
        if zygote:
            zygote.close()
        return await start_engine(installed, self._folders, root)

    async def _lay(self, task_id: str, task: Json) -> None:
        if self._root is None:
            await self._build(task)
        self._folders.show(task_id)

    async def _build(self, task: Json) -> None:
        reply = await once(self._judge, "build", {"task": task})
        if isinstance(reply, str):
            raise StepError(f"AppWorld's engine cannot lay out a home-made task: {reply}")
        self._folders.lay({path: base64.b64decode(content) for path, content in reply["files"].items()})

    async def _try_tests(self, world: World) -> None:
        """The untouched world must be possible to evaluate: else every rollout would seem to fail."""
        try:
            found = await self.evaluate(world)
            if isinstance(found, str):
                raise StepError(f"the tests of AppWorld's task {world.task_id} do not run on its untouched world: {found}")
        except BaseException:
            world.end("its tests do not run")
            raise
        self._sound.add(world.task_id)

    async def evaluate(self, world: World) -> Json | str:
        """What the tests say of the state that `world` has now; or why they said nothing. Raises StepError."""
        name = f"world{next(self._names)}"
        try:
            self._folders.left(name, world.task_id, world.models, world.changes)
            reply = await once(self._judge, "evaluate", {"task": world.task_id, "experiment": name, "cpu_s": JUDGE_CPU_S})
        finally:
            self._folders.forget(name)
        return reply if isinstance(reply, str) else reply["evaluation"]

    def closed(self) -> None:
        """A world that was open has been closed."""
        self._let_go()

    def _let_go(self) -> None:
        self._open -= 1
        self._room.release()
        if self._open == 0:
            self._idle = asyncio.get_running_loop().call_later(IDLE_S, self.close)

    def close(self) -> None:
        """Ends the engine, and removes its folders."""
        for zygote in filter(None, (self._player, self._judge)):
            zygote.close()
        if self._folders:
            self._folders.close()
        self._player = self._judge = self._folders = None
        self._sound.clear()
