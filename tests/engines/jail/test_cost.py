"""What one jailed question costs. The bounds are wide: they catch a fork that grew tenfold, not a busy machine."""

import asyncio
import resource

import psutil
import pytest

from hbench.engines.jail import HarnessJob, Jails
from tests.engines.jail.lab import body

pytestmark = pytest.mark.slow
IN_FLIGHT = 64


async def cost(questions: int) -> tuple[float, int]:
    """(CPU seconds a question, of the whole process tree; peak memory of the driver in kB). One tool call of 20 ms each."""

    async def lm(messages):
        await asyncio.sleep(0.02)
        return messages[0]["content"]

    jails = Jails("auto")
    await jails.run(HarnessJob(body("return tools.lm(question)"), "?", {"lm": lm}))
    before, left = cpu_seconds(), iter(range(questions))

    async def worker():
        for number in left:
            outcome = await jails.run(HarnessJob(body("return tools.lm(question)"), f"q{number}", {"lm": lm}))
            assert outcome.answer == f"q{number}"

    await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))
    used = cpu_seconds() - before
    await jails.close()
    return used / questions, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def cpu_seconds() -> float:
    """Of this process, its living descendants, and the children that those have waited for."""
    me = psutil.Process()
    return sum(sum(process.cpu_times()[:4]) for process in (me, *me.children(recursive=True)))


def test_a_question_costs_a_few_milliseconds_and_no_memory():
    each, memory = asyncio.run(cost(400))
    more_each, more_memory = asyncio.run(cost(1600))
    assert max(each, more_each) < 0.012  # seconds; measured on two busy cores: 0.003
    assert more_memory < memory * 1.1 + 30_000
