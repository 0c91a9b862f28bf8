"""The machines of a Ray cluster, with one process of ours on each."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hbench.core.failure import HbenchError, StepError
from hbench.runtime.ray_batches import PATIENCE_S, PREFIX
from hbench.runtime.ray_node import Node, Session

LOOK_S = 5.0  # between looks for machines that have joined
SHUNNED_S = 30.0  # a machine on which ours was lost
HOW_TO = "start one with `ray start --head`, and on every other machine `ray start --address=HOST:6379`"


def connect(address: str | None) -> Callable[[], None]:
    """What ends the connection. A cluster that is already connected to stays so. Raises HbenchError."""
    try:
        import ray
    except ImportError:
        raise HbenchError("machine.executor: ray needs the extra 'cluster': pip install 'hbench[cluster]'") from None
    if ray.is_initialized():
        return lambda: None
    try:
        ray.init(address, logging_level="ERROR", log_to_driver=False)
    except (ConnectionError, ValueError, RuntimeError) as trouble:
        raise HbenchError(f"machine.ray.address: no Ray cluster answers at {address or 'its address'} ({trouble}); {HOW_TO}") from None
    return ray.shutdown


class RayNodes:
    """Every machine that has cores gets an actor of ours, also one that joins later; a lost one is forgotten. Thread-safe."""

    def __init__(self, session: Session):
        self._session = session
        self._actors: dict[str, Any] = {}  # of each machine, by Ray's id of it
        self._busy: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._lost_at: dict[str, float] = {}
        self._looked_at = float("-inf")
        self._started = 0
        self._stopped = False

    @contextmanager
    def one_for(self, kind: str) -> Iterator[tuple[str, Any]]:
        """Ray's id of the least busy machine and its actor; a training gets one that has GPUs for it. Raises StepError."""
        gpus, place = self._gpus(kind), self._least_busy()
        actor = self._actor(None, gpus) if gpus else self._actors[place]
        try:
            yield place, actor
        finally:
            with self._lock:
                self._busy[place] -= 1
            if gpus:
                _end([actor])

    def _least_busy(self) -> str:
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            with self._lock:
                self._look()
                if self._actors:
                    place = min(self._actors, key=lambda name: self._busy[name])
                    self._busy[place] += 1
                    return place
            time.sleep(1.0)
        raise StepError("no machine of the Ray cluster has cores to work with")

    def lost(self, place: str) -> None:
        """It is not asked again for a while: Ray takes its time to see that a machine is gone."""
        with self._lock:
            self._lost_at[place] = time.monotonic()
            self._looked_at = float("-inf")

    def keep_looking(self) -> None:
        """Until `stop`: steps that are under way for long get machines that have joined, or are there again, too."""
        while not self._stopped:
            with self._lock:
                self._look()
            time.sleep(1.0)

    def stop(self) -> None:
        """Ends what is under way, within about two seconds."""
        with self._lock:
            self._stopped = True
        _end([*self._actors.values()])

    def described(self) -> str:
        import ray

        with self._lock:
            self._look()
        has = ray.cluster_resources()
        gpus = f", {has['GPU']:.0f} GPUs" if has.get("GPU") else ""
        return f"Ray: {len(self._actors)} machines, {has.get('CPU', 0):.0f} cores{gpus}"

    def _look(self) -> None:
        import ray

        if self._stopped or time.monotonic() - self._looked_at < LOOK_S:
            return
        self._looked_at = time.monotonic()
        there = {node["NodeID"] for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")}
        there -= {place for place, at in self._lost_at.items() if time.monotonic() - at < SHUNNED_S}
        self._actors = {place: actor for place, actor in self._actors.items() if place in there}
        for place in sorted(there - set(self._actors)):
            self._actors[place] = self._actor(place, 0)

    def _actor(self, place: str | None, gpus: int) -> Any:
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self._started += 1
        where = NodeAffinitySchedulingStrategy(place, soft=False) if place else "DEFAULT"
        name = None if gpus else f"{PREFIX}{self._session.token}-{self._started}"
        options = {"num_cpus": 0, "num_gpus": gpus, "max_concurrency": 1000, "scheduling_strategy": where, "name": name}
        return ray.remote(Node).options(**options).remote(self._session)

    def _gpus(self, kind: str) -> int:
        """What a training takes for itself, on one machine, where the cluster has any."""
        import ray

        if not kind.startswith("train_") or not ray.cluster_resources().get("GPU"):
            return 0
        wanted = self._session.machine.training["processes"]
        most = max(node["Resources"].get("GPU", 0) for node in ray.nodes() if node["Alive"])
        if wanted > most:
            raise StepError(f"machine.training.processes is {wanted}, but no machine of the cluster has more than {most:.0f} GPUs")
        return wanted


def _end(actors: list[Any]) -> None:
    import ray

    if actors:
        ray.wait([actor.stop.remote() for actor in actors], num_returns=len(actors), timeout=2.0)
    for actor in actors:
        ray.kill(actor)
