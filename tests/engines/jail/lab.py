"""How the tests of the jail run things: a list of harnesses, one after another or together, in one real jail.

Attacks run in `CONFINED` sandboxes; their controls run the same code in the sandbox "none", where nothing is refused.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from hbench.core.limits import Limits
from hbench.engines.jail import HarnessJob, Jails, Outcome

CONFINED = ("namespaces", "landlock")
GOOD = "def run(question, tools):\n    return 'fine'\n"
QUICK = Limits(wall_s=5.0, cpu_s=5.0, memory_mb=256)


async def echo(messages, **_) -> str:
    return messages[-1]["content"]


def run(sandbox: str, *sources: str, question: str = "?", tools: Mapping[str, Any] | None = None, limits=QUICK) -> list[Outcome]:
    """The outcomes of `sources`, run one after another by one zygote."""

    async def go() -> list[Outcome]:
        jails = Jails(sandbox, zygotes=1)
        try:
            return [await jails.run(HarnessJob(s, question, tools or {"lm": echo}, limits, seed=7)) for s in sources]
        finally:
            await jails.close()

    return asyncio.run(go())


def attack(sandbox: str, source: str, **setting: Any) -> Outcome:
    """The outcome of `source`, after which the next question must still run."""
    outcome, after = run(sandbox, source, GOOD, **setting)
    assert after.answer == "fine", after
    return outcome


def body(code: str) -> str:
    """A harness whose run() has this body."""
    return "def run(question, tools):\n" + "".join(f"    {line}\n" for line in code.strip().splitlines())


def said(outcome: Outcome) -> tuple[str, str]:
    """(boundary, kind) of a failure."""
    assert outcome.failure is not None, outcome
    return outcome.failure.boundary, outcome.failure.kind


def python(sandbox: str, *codes: str, **setting: Any) -> list[dict]:
    async def go() -> list[dict]:
        jails = Jails(sandbox, zygotes=1)
        try:
            return [await jails.python(code, **setting) for code in codes]
        finally:
            await jails.close()

    return asyncio.run(go())
