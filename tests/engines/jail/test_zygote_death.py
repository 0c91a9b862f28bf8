"""When a zygote or the driver itself is killed: jobs are run again where that is honest, and no process stays."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time

import psutil
import pytest

from hbench.core.failure import StepError
from hbench.engines.jail import HarnessJob, Jails
from tests.engines.jail.lab import CONFINED, body
from tests.thorough import often
from tests.where import REPO

pytestmark = pytest.mark.fault

ALL = pytest.mark.parametrize("sandbox", [*CONFINED, "none"])


def run_and_kill_the_zygote(sandbox: str, code: str):
    async def lm(messages):
        return "x"

    async def go():
        jails = Jails(sandbox, zygotes=1)
        zygote = await jails._harness.zygote()
        job = asyncio.ensure_future(jails.run(HarnessJob(body(code), "?", {"lm": lm})))
        await asyncio.sleep(0.3)
        zygote._process.kill()
        try:
            return await job
        finally:
            await jails.close()

    return asyncio.run(go())


@ALL
def test_a_job_that_has_asked_nothing_is_run_again(sandbox):
    assert run_and_kill_the_zygote(sandbox, "import time; time.sleep(0.6); return 'fine'").answer == "fine"


@ALL
def test_a_job_that_has_asked_is_an_error_of_the_step(sandbox):
    with pytest.raises(StepError, match="zygote died"):
        run_and_kill_the_zygote(sandbox, "tools.lm('x')\nimport time; time.sleep(0.6); return 'fine'")


@ALL
def test_whatever_the_moment_of_a_kill_no_answer_is_another_s(sandbox, tried):
    """Jobs under way come to their own answer, or are an error of the step; those that follow are answered."""
    chance, kills = random.Random(seed := random.randrange(10**9)), often(2, 10)
    print(f"\nkill seed {seed}")

    async def lm(messages):
        return messages[-1]["content"]

    async def go():
        jails = Jails(sandbox, zygotes=1)

        async def answer(question: str):
            code = body("import time; time.sleep(0.02); return tools.lm(question)")
            try:
                return question, (await jails.run(HarnessJob(code, question, {"lm": lm}))).answer
            except StepError:
                return question, None

        made = []
        for kill in range(kills):
            tried(f"a zygote killed at a random moment ({kill})")
            zygote = await jails._harness.zygote()
            jobs = [asyncio.ensure_future(answer(f"{kill}-{i}")) for i in range(6)]
            await asyncio.sleep(chance.uniform(0.0, 0.3))
            zygote._process.kill()
            made += await asyncio.gather(*jobs)
        made.append(await answer("last"))
        await jails.close()
        return made

    made = asyncio.run(go())
    assert all(answer in (question, None) for question, answer in made) and made[-1] == ("last", "last")


DRIVER = """
import asyncio
from hbench.engines.jail import HarnessJob, Jails
async def go():
    jails = Jails(%r, zygotes=1)
    endless = HarnessJob("def run(q, t):\\n    while True: pass", "?")
    await asyncio.gather(jails.run(endless), jails.run(endless), jails.python("while True: pass", 60))
asyncio.run(go())
"""


@ALL
def test_when_the_driver_is_killed_nothing_stays(sandbox):
    code = DRIVER % sandbox
    driver = subprocess.Popen([sys.executable, "-c", code], cwd=REPO, env={**os.environ, "PYTHONPATH": str(REPO)})
    deadline = time.monotonic() + 20
    while len(family := psutil.Process(driver.pid).children(recursive=True)) < 5 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    assert len(family) >= 5 and psutil.wait_procs(family, timeout=5)[1] == []


def test_closing_leaves_no_process_and_no_descriptor():
    async def go():
        jails = Jails("auto", zygotes=2)
        job = HarnessJob(body("return 'x'"), "?")
        await asyncio.gather(*(jails.run(job) for _ in range(20)), jails.python("print(1)"))
        await jails.close()

    asyncio.run(go())  # once, so that what Python opens for itself is open
    me = psutil.Process()
    before = me.num_fds(), me.children(recursive=True)
    asyncio.run(go())
    assert (me.num_fds(), me.children(recursive=True)) == before
