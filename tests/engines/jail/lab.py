"""How the tests of the jail run things: a list of harnesses, one after another, in one real jail.

Attacks run in `CONFINED` sandboxes; their controls run the same code in the sandbox "none", where nothing is refused.
One zygote of each sort serves all tests of a sandbox, so an attack that hurt it would fail the tests that follow.
"""

import asyncio
import atexit
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from hbench.core.limits import Limits
from hbench.core.trajectory import Ran
from hbench.engines.jail import HarnessJob, Jails, Outcome, Workspace, WorkspaceLimits

CONFINED = ("namespaces", "landlock")
GOOD = "def run(question, tools):\n    return 'fine'\n"
QUICK = Limits(wall_s=5.0, cpu_s=5.0, memory_mb=256)


async def echo(messages, **_) -> str:
    return messages[-1]["content"]


@cache
def loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()


@cache
def jails_of(sandbox: str) -> Jails:
    """The jails that all tests of this sandbox share."""
    jails = Jails(sandbox, zygotes=1)
    atexit.register(lambda: loop().run_until_complete(jails.close()))
    return jails


def run(
    sandbox: str, *sources: str, question: str = "?", tools: Mapping[str, Any] | None = None, limits: Limits = QUICK
) -> list[Outcome]:
    """The outcomes of `sources`, run one after another by one zygote."""

    async def go() -> list[Outcome]:
        jails = jails_of(sandbox)
        return [await jails.run(HarnessJob(s, question, tools or {"lm": echo}, limits, seed=7)) for s in sources]

    return loop().run_until_complete(go())


def python(sandbox: str, *codes: str, **setting: Any) -> list[dict]:
    """What python() gives for each of `codes`, one after another."""

    async def go() -> list[dict]:
        return [await jails_of(sandbox).python(code, **setting) for code in codes]

    return loop().run_until_complete(go())


@asynccontextmanager
async def workspace(
    sandbox: str,
    files: Mapping[str, bytes] = {},
    packages: tuple[str, ...] = (),
    memory_mb: int = 256,
    disk_mb: int = 32,
    **opening: Any,
) -> AsyncIterator[Workspace]:
    """An open workspace, closed at the end."""
    made = await jails_of(sandbox).workspace(packages, WorkspaceLimits(memory_mb, disk_mb))
    await made.open(files, **opening)
    try:
        yield made
    finally:
        await made.close()


def shell(sandbox: str, *commands: str, timeout_s: float = 60.0, output_chars: int = 10_000, **setting: Any) -> list[Ran]:
    """What comes of `commands`, one after another in one workspace."""

    async def go() -> list[Ran]:
        async with workspace(sandbox, **setting) as made:
            return [await made.execute(command, timeout_s, output_chars) for command in commands]

    return loop().run_until_complete(go())


def attack(sandbox: str, source: str, **setting: Any) -> Outcome:
    """The outcome of `source`, after which the next question must still run."""
    outcome, after = run(sandbox, source, GOOD, **setting)
    assert after.answer == "fine", after
    return outcome


def start_anew() -> None:
    """Closes the shared jails; the next test's zygotes are started in the environment of that moment."""
    for sandbox in (*CONFINED, "none", "auto"):
        loop().run_until_complete(jails_of(sandbox).close())


def body(code: str) -> str:
    """A harness whose run() has this body."""
    return "def run(question, tools):\n" + "".join(f"    {line}\n" for line in code.strip().splitlines())


def said(outcome: Outcome) -> tuple[str, str]:
    """(boundary, kind) of a failure."""
    assert outcome.failure is not None, outcome
    return outcome.failure.boundary, outcome.failure.kind


def until(condition, seconds: float = 60.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(condition())
