"""Many rollouts at once, and no more alive than this machine may hold."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from hbench.core.question import Question

Made = TypeVar("Made")
Todo = Sequence[tuple[Question, int]]  # question, repeat


async def all_of(
    todo: Todo,
    roll: Callable[[Question, int], Awaitable[Made]],
    done: Callable[[Made], None],
    slots: asyncio.Semaphore,
    most: int,
) -> None:
    """`done` is called once a rollout, as each ends. slots: shared with other steps. most: workers, all taking from one
    queue, so that memory does not grow with `todo`. Raises what `roll` raises; the others are then cancelled.
    """
    rest = iter(todo)

    async def work() -> None:
        for question, repeat in rest:
            async with slots:
                made = await roll(question, repeat)
            done(made)

    workers = [asyncio.create_task(work()) for _ in range(min(len(todo), most))]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
