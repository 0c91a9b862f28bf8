"""The rollouts of a step, spread over a Ray cluster in batches. What a lost machine had not finished is played elsewhere."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from hbench.core.failure import OutOfBudget, StepError
from hbench.runtime.all_of import Todo

PREFIX = "hbench-node-"
MOST_LOST = 5  # machines lost in a row without anything made: then it is the work that ends them


async def spread(session: Any, key: str, player: bytes, todo: Todo, done: Callable[[Any], None]) -> None:
    """`done` is called once a rollout, as each ends. player: pickled. Raises StepError.

    Every machine takes batch after batch, as many at once as it may have rollouts in flight.
    """
    import ray

    size, shared = session.batch, ray.put(player)
    batches = deque(Batch(key, shared, todo[at : at + size]) for at in range(0, len(todo), size))
    while batches:
        lanes = [lane for node in nodes(session.token) for lane in [node] * max(1, session.machine.in_flight // size)]
        if not lanes:
            raise StepError("no machine of the Ray cluster is left")
        takers = [asyncio.ensure_future(_take(node, batches, done)) for node in lanes[: len(batches)]]
        try:
            await asyncio.gather(*takers)
        except OutOfBudget:  # rollouts that need no more come to their end
            await asyncio.gather(*takers, return_exceptions=True)
            raise
        finally:
            for taker in takers:
                taker.cancel()
            await asyncio.gather(*takers, return_exceptions=True)


class Batch:
    """left: (question id, repeat) -> what is not played yet. lost: machines lost since one was."""

    def __init__(self, key: str, player: Any, todo: Todo):
        self.key, self.player, self.lost = key, player, 0
        self.left = {(question.id, repeat): (question, repeat) for question, repeat in todo}

    async def play(self, node: Any, done: Callable[[Any], None]) -> None:
        """Raises what stops it, an error of Ray's among others."""
        import ray

        stream = node.batch.options(num_returns="streaming").remote(self.key, self.player, list(self.left.values()))
        try:
            async for item in stream:
                made = await item
                if isinstance(made, Exception):
                    raise made
                if not isinstance(made, dict):
                    self._keep(made, done)
        except asyncio.CancelledError:
            ray.cancel(stream)
            raise

    def _keep(self, made: Any, done: Callable[[Any], None]) -> None:
        rollout = getattr(made, "rollout", made)
        del self.left[rollout.question_id, rollout.repeat]
        self.lost = 0
        done(made)


async def _take(node: Any, batches: deque[Batch], done: Callable[[Any], None]) -> None:
    """Plays batches on one machine until there are none, or the machine is lost: then its batch goes back."""
    while batches:
        batch = batches.popleft()
        try:
            await batch.play(node, done)
        except lost_errors():
            batch.lost += 1
            if batch.lost >= MOST_LOST:
                raise StepError(f"{MOST_LOST} machines were lost at the same {len(batch.left)} rollouts: see Ray's logs") from None
            if batch.left:
                batches.appendleft(batch)
            return


def nodes(token: str) -> list[Any]:
    """The run's actors on the machines of the cluster: see ray_node.Node."""
    import ray

    names = [name for name in ray.util.list_named_actors() if name.startswith(PREFIX + token)]
    found = []
    for name in sorted(names):
        try:
            found.append(ray.get_actor(name))
        except ValueError:  # it is just ending
            continue
    return found


def lost_errors() -> tuple[type[Exception], ...]:
    """What Ray raises when a process, or the machine it was on, is gone."""
    from ray import exceptions

    return (
        exceptions.RayActorError,
        exceptions.WorkerCrashedError,
        exceptions.NodeDiedError,
        exceptions.LocalRayletDiedError,
        exceptions.ObjectLostError,
        exceptions.OutOfMemoryError,
    )
