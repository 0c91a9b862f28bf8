"""When a session, its zygote or the driver is killed: an error of the step, and nothing stays behind."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
import pytest

from hbench.core.failure import StepError
from hbench.engines.jail import Jails
from tests.engines.jail.lab import CONFINED, until
from tests.where import REPO

pytestmark = pytest.mark.fault

ALL = pytest.mark.parametrize("sandbox", [*CONFINED, "none"])
CONFINED_ONLY = pytest.mark.parametrize("sandbox", CONFINED)
STAY = "sleep {0}1 & (sleep {0}2 &) ; mkfifo there; echo > there & sleep {0}3"


def sleepers(mark: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            found += [process] if process.name() == "sleep" and "".join(process.cmdline()[-1:]).startswith(mark) else []
        except psutil.Error:
            continue
    return found


def folders(where: Path) -> list[str]:
    return [path.name for path in where.glob("hbench-workspaces-*")]


@pytest.fixture
def mark() -> str:
    return f"7{os.getpid()}"


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Where a jail on disk has its folders."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    os.chmod(tmp_path, 0o777)
    return tmp_path


async def kill_amid_a_command(sandbox: str, mark: str, kill) -> tuple[object, str, bool]:
    """`kill` is done while a command runs: (what came of it, what a command in another workspace says, whether the first
    one's processes have gone)."""
    jails = Jails(sandbox, zygotes=1)
    first, second = await jails.workspace(), await jails.workspace()
    try:
        await first.open({})
        await second.open({})
        running = asyncio.ensure_future(first.execute(STAY.format(mark), 600, 100))
        await asyncio.to_thread(until, lambda: len(sleepers(mark)) == 3)
        kill(first)
        (raised,) = await asyncio.gather(running, return_exceptions=True)
        if not second._child.zygote.alive:
            await second.close()
            second = await jails.workspace()
            await second.open({})
        said = (await second.execute("echo fine", 60, 100)).output
        gone = await asyncio.to_thread(until, lambda: not sleepers(mark))
        await first.close()
        return raised, said, gone
    finally:
        await second.close()
        await jails.close()


def sessions(workspace) -> list[psutil.Process]:
    """The processes of its zygote's first job: its session, last."""
    zygote = psutil.Process(workspace._child.zygote._process.pid)
    family = [zygote, *zygote.children(recursive=True)]
    shells = [process for process in family if process.name() == "bash"]
    above = shells[0].parents()
    return [process for process in above if process.name().startswith("python") and process in family]


@CONFINED_ONLY
@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_killed_session_ends_all_that_it_started(sandbox, which, mark, temporary):
    """Whichever of a command's and its session's own processes it is that dies."""

    def kill(workspace):
        above = sessions(workspace)
        above[min(which, len(above) - 2)].kill()  # the last one is the zygote

    raised, said, gone = asyncio.run(kill_amid_a_command(sandbox, mark, kill))
    assert said == "fine\n" and gone
    assert isinstance(raised, StepError) or raised.code == 137
    assert until(lambda: folders(temporary) == [])


@ALL
def test_a_killed_zygote_is_an_error_of_the_step(sandbox, mark, temporary):
    raised, said, gone = asyncio.run(kill_amid_a_command(sandbox, mark, lambda w: w._child.zygote._process.kill()))
    assert isinstance(raised, StepError) and "zygote died" in str(raised) and said == "fine\n" and gone
    assert until(lambda: folders(temporary) == [])


DRIVER = """
import asyncio, sys
from hbench.engines.jail import Jails
async def go():
    jails = Jails(sys.argv[1], zygotes=1)
    made = await jails.workspace()
    await made.open({"x": b"y"})
    await made.execute(sys.argv[2], 600, 100)
asyncio.run(go())
"""


@ALL
def test_when_the_driver_is_killed_nothing_stays(sandbox, mark, tmp_path):
    os.chmod(tmp_path, 0o777)
    words = [sys.executable, "-c", DRIVER, sandbox, STAY.format(mark)]
    driver = subprocess.Popen(words, cwd=REPO, env={**os.environ, "PYTHONPATH": str(REPO), "TMPDIR": str(tmp_path)})
    assert until(lambda: len(sleepers(mark)) == 3)
    family = psutil.Process(driver.pid).children(recursive=True)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    assert psutil.wait_procs(family, timeout=60)[1] == [] and until(lambda: not sleepers(mark))
    assert until(lambda: folders(tmp_path) == [])


@ALL
def test_closing_leaves_no_process_no_folder_and_no_descriptor(sandbox, temporary):
    async def go():
        jails = Jails(sandbox, zygotes=1)
        made = [await jails.workspace() for _ in range(3)]
        for each in made:
            await each.open({"x": b"y"})
            await each.execute("mkdir -p a/b; chmod 000 a 2>/dev/null; sleep 600 & true", 60, 100)
        for each in made:
            await each.close()
        await jails.close()

    asyncio.run(go())  # once, so that what Python opens for itself is open
    me = psutil.Process()
    before = me.num_fds(), me.children(recursive=True)
    asyncio.run(go())
    assert (me.num_fds(), me.children(recursive=True)) == before
    assert until(lambda: folders(temporary) == [])
