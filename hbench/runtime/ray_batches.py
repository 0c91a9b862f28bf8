"""The rollouts of a step, spread over a Ray cluster in batches. What a lost machine had not finished is played elsewhere."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from contextlib import contextmanager
from typing import Any

from hbench.core.failure import OutOfBudget, StepError
from hbench.runtime.all_of import Todo
from hbench.runtime.local import in_thread

PREFIX = "hbench-node-"
PATIENCE_S = 60.0  # with no machine at all
MOST_LOST = 5  # machines lost in a row without anything made: then it is the work that ends them
LOOK_S = 1.0  # between looks whether the run is being stopped, and before what was lost is tried again
ANSWER_S = 10.0  # for a process that is asked whether it is there


def spread(services: Any, key: str, player: bytes, todo: Todo, done: Callable[[Any], None]) -> None:
    """`done` is called once a rollout, as each ends, by one thread at a time. services: NodeServices. player: pickled.

    Every machine takes batch after batch, as many at once as it may have rollouts in flight. Raises StepError.
    """
    import ray

    session, shared = services.session, ray.put(player)
    size, batches = session.batch, deque[Batch]()
    lanes = Lanes(batches, done, services.check)
    batches += [Batch(key, shared, todo[at : at + size]) for at in range(0, len(todo), size)]
    while batches:
        services.check()
        there = nodes(session.token, lanes.lost)
        if not there:  # the driver puts one of ours on every machine that is left
            if time.monotonic() - lanes.looked_at > PATIENCE_S:
                raise StepError("no machine of the Ray cluster is left")
            time.sleep(LOOK_S)
            continue
        places = [place for place in there.items() for _ in range(max(1, session.machine.in_flight // size))]
        lanes.run(places[: len(batches)])
        if batches:
            time.sleep(LOOK_S)


class Batch:
    """left: (question id, repeat) -> what is not played yet. lost: machines lost since one was."""

    def __init__(self, key: str, player: Any, todo: Todo):
        self.key, self.player, self.lost = key, player, 0
        self.left = {(question.id, repeat): (question, repeat) for question, repeat in todo}

    def start(self, node: Any) -> Any:
        """The stream of its rollouts."""
        return node.batch.options(num_returns="streaming").remote(self.key, self.player, list(self.left.values()))

    def keep(self, made: Any, done: Callable[[Any], None]) -> None:
        rollout = getattr(made, "rollout", made)
        if self.left.pop((rollout.question_id, rollout.repeat), None):
            self.lost = 0
            done(made)


class Lanes:
    """Threads that take batches until there are none, one machine each. check: raises once the run is being stopped.

    lost: names of the actors that were lost. looked_at: when lanes were under way last.
    """

    def __init__(self, batches: deque[Batch], done: Callable[[Any], None], check: Callable[[], None]):
        self._batches, self._done, self._check = batches, done, check
        self._keeping = threading.Lock()
        self._stopping = False
        self.lost: set[str] = set()
        self.looked_at = time.monotonic()

    def run(self, places: list[tuple[str, Any]]) -> None:
        """Returns when every lane has ended: all is played, or the machines were lost. Raises what stops one of them."""
        lanes = [in_thread(self._take, name, node) for name, node in places]
        try:
            while (left := wait(lanes, LOOK_S, FIRST_EXCEPTION)).not_done and not _stopped(left.done):
                self._check()
            for lane in lanes:
                lane.result()
            self.looked_at = time.monotonic()
        except OutOfBudget:  # rollouts that need no more come to their end
            wait(lanes)
            raise
        except BaseException:
            self._stopping = True
            raise

    def _take(self, name: str, node: Any) -> None:
        while self._batches and not self._stopping:
            batch = self._batches.popleft()
            try:
                with telling_losses():
                    self._play(batch, batch.start(node))
            except lost_errors():
                batch.lost += 1
            else:
                batch.lost += bool(batch.left)
            if batch.lost >= MOST_LOST:
                raise StepError(f"{MOST_LOST} machines were lost at the same {len(batch.left)} rollouts: see Ray's logs")
            if batch.left:
                if not answers(node):
                    self.lost.add(name)
                return self._batches.appendleft(batch)

    def _play(self, batch: Batch, stream: Any) -> None:
        import ray

        for ref in _refs(stream, lambda: self._stopping):
            made = ray.get(ref)
            if isinstance(made, Exception):
                raise made
            if made is not None:
                with self._keeping:
                    batch.keep(made, self._done)


def answers(node: Any) -> bool:
    """Whether this process is there still: Ray may tell of what another took with it."""
    import ray
    from ray.exceptions import GetTimeoutError

    try:
        with telling_losses():
            return ray.get(node.here.remote(), timeout=ANSWER_S)
    except (GetTimeoutError, *lost_errors()):
        return False


def _stopped(lanes: set[Future]) -> bool:
    return any(lane.exception() for lane in lanes)


def _refs(stream: Any, stopping: Callable[[], bool]) -> Iterator[Any]:
    """What comes of the stream, until `stopping`: then it is cancelled."""
    import ray

    while True:
        ready, _ = ray.wait([stream], timeout=LOOK_S, fetch_local=False)
        if ready:
            try:
                yield next(stream)
            except StopIteration:
                return
        elif stopping():
            ray.cancel(stream)
            return


def nodes(token: str, without: set[str]) -> dict[str, Any]:
    """The run's actors on the machines of the cluster, by name: see ray_node.Node."""
    import ray

    names = [name for name in ray.util.list_named_actors() if name.startswith(PREFIX + token)]
    found = {}
    for name in sorted(set(names) - without):
        try:
            found[name] = ray.get_actor(name)
        except ValueError:  # it is just ending
            continue
    return found


def lost_errors() -> tuple[type[Exception], ...]:
    """What Ray raises when a process, or the machine it was on, is gone."""
    from ray import exceptions

    return (
        exceptions.RayActorError,
        exceptions.ActorUnschedulableError,
        exceptions.WorkerCrashedError,
        exceptions.NodeDiedError,
        exceptions.LocalRayletDiedError,
        exceptions.ObjectLostError,
        exceptions.OutOfMemoryError,
        Lost,
    )


class Lost(Exception):
    """A process went before Ray knew whose what it had just made was."""


@contextmanager
def telling_losses() -> Iterator[None]:
    """Raises Lost for that, of which Ray tells by a ValueError."""
    try:
        yield
    except ValueError as trouble:
        if "whose owner is unknown" not in str(trouble):
            raise
        raise Lost from trouble
