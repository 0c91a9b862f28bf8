"""What runs on each machine of a Ray cluster: one process that makes ready steps and plays batches of rollouts, side by side."""

import asyncio
import os
import pickle
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hbench import __version__
from hbench.core.budget import Price
from hbench.core.failure import HbenchError, StepError
from hbench.core.model import ModelRef
from hbench.core.protocols import LM
from hbench.runtime.all_of import Todo
from hbench.runtime.local import ReadyStep, in_thread, run_step, told_trouble
from hbench.runtime.paid import Paid
from hbench.runtime.progress import TellingProgress
from hbench.runtime.ray_batches import spread
from hbench.runtime.serve_models import ServedLM
from hbench.runtime.services import Machine, RunServices
from hbench.store.artifacts import Store

TOLD_EVERY_S = 0.5
SERVED_BY = "served_by"  # in a model's settings: what serves it, as the driver tells it


@dataclass(frozen=True)
class Session:
    """What every machine is told of a run. served: the driver's server, where all models are asked.

    folder: where the driver works. proof: a file in its results folder. batch: most rollouts of a step that stay together.
    """

    token: str
    folder: Path
    proof: Path
    machine: Machine
    served: str
    batch: int
    environment: Mapping[str, str]
    version: str = __version__


class Node:
    """A Ray actor. Its methods give streams, of what is made as it is made; what stopped them comes last, as an HbenchError."""

    def __init__(self, session: Session):
        self._session = session
        self._services: NodeServices | None = None

    async def step(self, ready: ReadyStep) -> AsyncIterator[Any]:
        """Told now and then; at last what `run_step` gives."""
        try:
            services = self._opened()
        except HbenchError as trouble:
            yield trouble
            return
        with services.paying(ready.key):
            ended = in_thread(run_step, ready, Store(self._session.machine.results), services)
            while not ended.done():
                await asyncio.wait([asyncio.wrap_future(ended)], timeout=TOLD_EVERY_S)
                if told := services.progress.take():
                    yield told
            yield _trouble(ended) or ended.result()

    async def batch(self, key: str, player: bytes, todo: Todo) -> AsyncIterator[Any]:
        """Each rollout as it ends; at last None."""
        try:
            services = self._opened()
        except HbenchError as trouble:
            yield trouble
            return
        made, left = asyncio.Queue(), Left(asyncio.get_running_loop())
        with services.paying(key):
            ended = in_thread(services.play_here, pickle.loads(player), todo, left.telling(made), key)
            ended.add_done_callback(lambda _: left.telling(made)(None))
            try:
                while (rollout := await made.get()) is not None:
                    yield rollout
            finally:
                left.gone = True
            yield _trouble(ended)

    async def here(self) -> bool:
        """True, from a process that is there."""
        return True

    async def stop(self) -> None:
        """Ends what is under way, and gives its leases back."""
        if self._services is not None:
            await asyncio.to_thread(self._services.close)

    def _opened(self) -> "NodeServices":
        if self._services is None:
            _enter(self._session)
            self._services = NodeServices(self._session)
        return self._services


class Left:
    """Whether somebody still takes what is made; `gone`: then nothing more is begun."""

    def __init__(self, loop: asyncio.AbstractEventLoop):
        self._loop, self.gone = loop, False

    def telling(self, made: asyncio.Queue) -> Callable[[Any], None]:
        def tell(one: Any) -> None:
            if self.gone:
                raise StepError("nobody waits for this any more")
            self._loop.call_soon_threadsafe(made.put_nowait, one)

        return tell


class NodeServices(RunServices):
    """A run's services on one machine: jails and indexes are its own, models are asked of the driver, which pays.

    Many rollouts of one step are spread over the cluster.
    """

    def __init__(self, session: Session):
        super().__init__(replace(session.machine, budget={}), TellingProgress())
        self.session = session
        self._paying: Counter[str] = Counter()
        self._served_lms: dict[tuple[str, str, str], LM] = {}

    @contextmanager
    def paying(self, key: str) -> Iterator[None]:
        """While open, the step `key` asks models."""
        self._paying[key] += 1
        try:
            yield
        finally:
            self._paying[key] -= 1
            if not self._paying[key]:
                over = [at for at in self._served_lms if at[0] == key]
                self._loop.start(_close_all([self._served_lms.pop(at) for at in over]))

    def paid(self, key: str) -> Paid:
        return PaidByDriver(self, key)

    def paid_at(self, key: str, model: ModelRef, role: str) -> str:
        """At the driver, which knows the model: see OnRay.start."""
        return f"{self.session.served}/{key}/{role}/v1/pay/{model.digest}"

    def served_lm(self, key: str, model: ModelRef) -> LM:
        with self._lock:
            at = (key, model.role, model.digest)
            if at not in self._served_lms:
                self._served_lms[at] = ServedLM(f"{self.session.served}/{key}", model)
            return self._served_lms[at]

    def play(self, player: Callable[[Any], Any], todo: Todo, done: Callable[[Any], None], key: str) -> None:
        if len(todo) <= self.session.batch:
            return self.play_here(player, todo, done, key)
        spread(self, key, pickle.dumps(player), todo, done)

    def play_here(self, player: Callable[[Any], Any], todo: Todo, done: Callable[[Any], None], key: str) -> None:
        super().play(player, todo, done, key)

    def engine(self, model: ModelRef) -> str:
        return self.reached(model)[1][SERVED_BY]


class PaidByDriver(Paid):
    """Models are the driver's, which pays for the step `key`."""

    def __init__(self, run: NodeServices, key: str):
        super().__init__(run, run.budget.purse(key))
        self._key = key

    def lm(self, model: ModelRef, role: str = "") -> LM:
        asked = replace(model, role=role or model.role)
        return self._run.served_lm(self._key, asked).paid_by(self.purse.payer(asked, Price(), asked.role))


async def _close_all(lms: list[Any]) -> None:
    for lm in lms:
        await lm.close()


def _trouble(ended: Future) -> HbenchError | None:
    """What stopped it, in a form that any process can read: a bug with its traceback as text."""
    trouble = ended.exception()
    return trouble if trouble is None or isinstance(trouble, HbenchError) else StepError(told_trouble(trouble))


def _enter(session: Session) -> None:
    """Goes where the driver works. What is looked up there, parts, prompts and files, is then found as the driver finds it.

    Raises StepError where this machine is not set up as the driver's.
    """
    host = socket.gethostname()
    if session.version != __version__:
        raise StepError(f"{host} has hbench {__version__}, the driver {session.version}: install the same everywhere")
    if not session.proof.exists():
        raise StepError(f"{host} does not see {session.proof.parent} as the driver does: all machines need one results folder")
    if not session.folder.is_dir():
        raise StepError(f"{host} does not have the folder {session.folder}, where the driver works")
    os.chdir(session.folder)
    os.environ.update(session.environment)
