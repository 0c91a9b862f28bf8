"""What steps may use: models, jails, their unfinished folder. Opened once a run."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hbench.core.corpus import Corpus
from hbench.core.digest import Json, digest
from hbench.core.failure import HbenchError, StepError
from hbench.core.model import ModelRef
from hbench.core.protocols import LM, Part
from hbench.runtime.all_of import Todo, all_of
from hbench.runtime.device import Device
from hbench.runtime.loop import Interrupted, LoopThread
from hbench.runtime.progress import Progress
from hbench.runtime.step_services import StepServices
from hbench.runtime.versions import versions


@dataclass(frozen=True)
class Machine:
    """How this run reaches things; none of it is hashed. models: identity digest -> (model, settings).

    training: machine.training as JSON. outside_env: names of variables that outside programs are given.
    """

    results: Path
    models: Mapping[str, tuple[ModelRef, Json]] = field(default_factory=dict)
    sandbox: str = "auto"
    in_flight: int = 64
    workers: int = 16
    training: Json = field(default_factory=dict)
    outside_env: tuple[str, ...] = ()


class RunServices:
    """The services of a whole run: every model and the jails once, whoever asks."""

    zygotes: int | None = None  # of each sort of jail, at most; None: as many as there are cores

    def __init__(self, machine: Machine, progress: Progress):
        self.machine, self.progress = machine, progress
        self._loop = LoopThread()
        self._lock = threading.Lock()
        self._lms: dict[str, LM] = {}
        self._corpora: dict[str, Corpus] = {}
        self._corpus_lock = threading.Lock()
        self._jails: Any = None
        self._slots: asyncio.Semaphore | None = None
        self._recalculator: Any = None
        self._replies: Any = None
        self._told: set[Any] = set()
        self._server: Any = None
        self._served_at: str | None = None
        self._children: set[Any] = set()
        self.device = Device(self.check)
        self._closed = False
        self._versions = versions()

    def of(self, part: Part, label: str) -> "StepServices":
        """The services as one step sees them."""
        return StepServices(self, part, label)

    def close(self) -> None:
        """Stops what is under way and ends every process that this run started; about a second at most."""
        if self._closed:
            return
        self._closed = True
        for child in [*self._children]:
            child.end()
        self._loop.stop(self._close_all())

    async def _close_all(self) -> None:
        others = [each for each in (self._jails, self._server) if each is not None]
        closing = [each.close() for each in (*self._lms.values(), *self._corpora.values(), *others)]
        await asyncio.gather(*closing, return_exceptions=True)

    def check(self) -> None:
        """Raises Interrupted once the run is being stopped: for whoever waits for something other than the loop."""
        if self._closed:
            raise Interrupted
        self._loop.check()

    @contextmanager
    def ending(self, child: Any) -> Iterator[None]:
        """While open, stopping the run also calls `child.end()`."""
        self._children.add(child)
        try:
            yield
        finally:
            self._children.discard(child)

    @contextmanager
    def beside(self, *models: ModelRef) -> Iterator[None]:
        """While open, these models are asked. Where one of them runs in this process, no training is under way.

        A model behind a server is nobody's hindrance.
        """
        with self.device.shared() if any(map(self._here, models)) else nullcontext():
            yield

    def _here(self, model: ModelRef) -> bool:
        from hbench.runtime.training.job import in_process

        known, settings = self.reached(model)
        return known.identity.get("kind") not in ("recorded", "rules") and in_process(known, settings)

    def serve(self) -> str:
        """Address of a server of all models of this run, for processes that it starts; opened on first use."""
        from hbench.runtime.serve_models import ModelServer

        with self._lock:
            if self._served_at is None:
                self._server = ModelServer(lambda name: self.lm(self.machine.models[name][0]), self.machine.models)
                self._served_at = self._loop.run(self._server.start())
            return self._served_at

    def run(self, work: Any) -> Any:
        return self._loop.run(work)

    def wait_politely(self, holder: Any) -> None:
        """Called while another process makes what we want: says so once, and ends the wait when the run stops."""
        self._loop.check()
        if holder is not None and holder not in self._told:
            self._told.add(holder)
            self.progress.say(f"waiting for another run that makes the same step ({holder})")

    def made_with(self) -> Json:
        """Facts of this run that are noted with each step and never hashed."""
        sandbox = self._jails.kind if self._jails is not None else None
        documents = {digest[:16]: len(corpus.index) for digest, corpus in self._corpora.items()}
        return {"sandbox": sandbox, "documents": documents, **self._versions}

    def engine(self, model: ModelRef) -> str:
        """What serves the model in this run, for the record: an address, a file, or a library with its version."""
        known, settings = self.reached(model)
        if known.identity.get("kind") in ("recorded", "rules"):
            return str(known.identity["kind"])
        if settings.get("base_url") or settings.get("port"):
            return f"openai {settings.get('base_url') or settings['port']}"
        from hbench.engines.local_model import compute_dtype

        dtype = str(compute_dtype(known.identity)).removeprefix("torch.")
        return f"transformers {self._versions.get('transformers', '?')} in {dtype}"

    def reached(self, model: ModelRef) -> tuple[ModelRef, Json]:
        """The model as this machine knows it, with its files, and how it is reached: as its base is, once it was trained."""
        if model.digest in self.machine.models:
            known, settings = self.machine.models[model.digest]
            return (known if model.files is None else model), settings
        base, settings = self.machine.models.get(digest(model.base), (model, {}))
        return replace(model, name=base.name), settings

    def jails(self) -> Any:
        with self._lock:
            if self._jails is None:
                from hbench.engines.jail import Jails

                self._jails = Jails(self.machine.sandbox, self.zygotes)
            return self._jails

    def recalculator(self) -> Any:
        with self._lock:
            if self._recalculator is None:
                from hbench.runtime.recalculating import Recalculator

                self._recalculator = Recalculator(self.machine.sandbox, self.check)
            return self._recalculator

    async def all_of(self, todo: Todo, roll: Callable[..., Awaitable[Any]], done: Callable[[Any], None]) -> None:
        """See runtime/all_of.py. The slots are those of all steps together."""
        if self._slots is None:
            self._slots = asyncio.Semaphore(self.machine.in_flight)
        await all_of(todo, roll, done, self._slots, self.machine.in_flight)

    def lm(self, model: ModelRef) -> LM:
        """The model behind the reply store, opened on first use. Raises StepError when it cannot be reached."""
        with self._lock:
            if model.digest not in self._lms:
                self._lms[model.digest] = self._open(model)
            return self._lms[model.digest]

    def corpus(self, family: Any) -> Corpus | None:
        """The family's documents behind an index, which is built on first use; None for a family without documents."""
        source = family.corpus() if hasattr(family, "corpus") else None
        if source is None:
            return None
        with self._corpus_lock:  # other steps wait: they would only build the same index
            if source.digest not in self._corpora:
                from hbench.engines.bm25 import open_corpus

                self._corpora[source.digest] = open_corpus(source, self.progress.say)
            return self._corpora[source.digest]

    def _open(self, model: ModelRef) -> LM:
        from hbench.engines.open_lm import open_lm
        from hbench.engines.reply_store import ReplyStore, StoredLM

        if self._replies is None:
            self._replies = ReplyStore(self.machine.results / "replies")
        known, settings = self.reached(model)
        try:
            return StoredLM(open_lm(known, settings), self._replies, known)
        except HbenchError as bad:
            raise StepError(str(bad)) from bad
