"""What steps may use: models, jails, their unfinished folder. Opened once a run."""

import asyncio
import threading
from collections import ChainMap
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
from hbench.core.question import Question
from hbench.runtime.all_of import Todo, all_of
from hbench.runtime.budget import Budget, Payer
from hbench.runtime.device import HERE, Device
from hbench.runtime.loop import Interrupted, LoopThread
from hbench.runtime.model_servers import ModelServers, device_user, shares
from hbench.runtime.paid import Paid, as_far_as_paid
from hbench.runtime.progress import Progress
from hbench.runtime.step_services import StepServices
from hbench.runtime.versions import versions

Player = Callable[[Question, int], Awaitable[Any]]


@dataclass(frozen=True)
class Machine:
    """How this run reaches things; none of it is hashed. models: identity digest -> (model, settings).

    training: machine.training as JSON. outside_env: names of variables that outside programs are given. trains: whether the
    run makes adapters, which its servers must take. budget: machine.budget as JSON.
    """

    results: Path
    models: Mapping[str, tuple[ModelRef, Json]] = field(default_factory=dict)
    sandbox: str = "auto"
    in_flight: int = 64
    workers: int = 16
    training: Json = field(default_factory=dict)
    outside_env: tuple[str, ...] = ()
    trains: bool = False
    budget: Json = field(default_factory=dict)


class RunServices:
    """The services of a whole run: every model and the jails once, whoever asks."""

    zygotes: int | None = None  # of each sort of jail, at most; None: as many as there are cores
    host = "127.0.0.1"  # where models are served; on a cluster, the address at which its other machines find this one

    def __init__(self, machine: Machine, progress: Progress):
        self.machine, self.progress = machine, progress
        self.budget = Budget.of(machine.budget)
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
        self._served: dict[str, ModelRef] = {}
        self._children: set[Any] = set()
        self.servers = ModelServers(machine, self.check, progress.say)
        self.device = Device(self.check, self.servers.hand_over)
        self._closed = False
        self._versions = versions()

    def of(self, part: Part, label: str, key: str = "no-step") -> "StepServices":
        """The services as one step sees them. A model server that has died is started again by the steps that begin later.

        key: of the step, which pays for its calls; never empty, it stands in addresses.
        """
        self.servers.forgive()
        return StepServices(self, part, label, key)

    def paid(self, key: str) -> Paid:
        """These services for the step `key`, whose purse pays for what is asked of models."""
        return Paid(self, self.budget.purse(key))

    def close(self) -> None:
        """Stops what is under way and ends every process that this run started: in about a second, model servers in ten."""
        if self._closed:
            return
        self._closed = True
        for child in [*self._children]:
            child.end()
        self._loop.stop(self._close_all())
        self.servers.end()

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
        """While open, these models are asked. Where one of them has this machine's device, nobody is there who would not
        fit beside it: see runtime/device.py. A model behind a server that stays where it is is nobody's hindrance.
        """
        users = self.device_users(*models)
        with self.device.shared(*users) if users else nullcontext():
            yield

    def device_users(self, *models: ModelRef) -> list[str]:
        """Who uses the device when these models are asked."""
        return [user for user in map(self._device_user, models) if user]

    def _device_user(self, model: ModelRef) -> str | None:
        from hbench.runtime.training.job import in_process

        known, settings = self.reached(model)
        if known.identity.get("kind") in ("recorded", "rules") or not in_process(known, settings):
            return None
        serve = settings.get("serve")
        return HERE if serve is None else device_user(known, settings) if shares(serve) else None

    def serve(self, key: str) -> str:
        """Where a server has all models of this run for processes that it starts; opened on first use. See ModelServer.

        key: of the step that pays for what is asked there.
        """
        with self._lock:
            if self._served_at is None:
                self._server = self._model_server()
                self._served_at = self._loop.run(self._server.start())
            return f"{self._served_at}/{key}"

    def _model_server(self) -> Any:
        from hbench.runtime.pay_desk import PayDesk
        from hbench.runtime.serve_models import ModelServer

        def known(name: str) -> ModelRef:
            return self._served.get(name) or self.machine.models[name][0]

        def asked(key: str, name: str, role: str) -> LM:
            return self.paid(key).lm(known(name), role)

        def payer(key: str, name: str, role: str) -> Payer:
            return self.paid(key).payer(known(name), role)

        names = ChainMap(self._served, self.machine.models)
        return ModelServer(asked, names, self.host, PayDesk(payer, names, self.progress.asked))

    def paid_at(self, key: str, model: ModelRef, role: str) -> str:
        """Where a process that calls `model` by itself pays for that: see runtime/pay_desk.py. key: of the step."""
        self.also_serve(model)
        return f"{self.serve(key)}/{role}/v1/pay/{model.digest}"

    def also_serve(self, model: ModelRef) -> None:
        """Has the server answer for a model that was trained in this run, too."""
        self._served[model.digest] = model

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
        if settings.get("serve"):
            return self.servers.engine(known, settings)
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

    def play(self, player: Callable[[Any], Player], todo: Todo, done: Callable[[Any], None], key: str) -> None:
        """Plays each (question, repeat); `done` is called once a rollout, as each ends. player(services): what plays one;
        it can be sent to other processes. key: of the step that pays. Raises OutOfBudget when it cannot: rollouts that need
        no more come to their end before.
        """
        paid = self.paid(key)

        def ended(made: Any) -> None:
            if made is not None:
                done(made)

        self.run(self.all_of(todo, as_far_as_paid(paid.purse, player(paid)), ended))
        paid.purse.check()

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
            lm = self.servers.lm(known, settings) if settings.get("serve") else open_lm(known, settings)
            return StoredLM(lm, self._replies, known)
        except HbenchError as bad:
            raise StepError(str(bad)) from bad
