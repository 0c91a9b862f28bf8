"""When a zygote or the driver itself is killed: jobs are run again where that is honest, and no process stays."""

import asyncio
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from hbench.core.failure import StepError
from hbench.engines.jail import HarnessJob, Jails
from tests.engines.jail.lab import CONFINED, body
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
