"""A machine on which no process can be made any more: said, and nobody is ended for it."""

import asyncio
import subprocess
import sys

import pytest

from hbench.core.failure import StepError
from hbench.core.limits import Limits
from hbench.engines.jail import HarnessJob, Jails, start
from hbench.engines.jail.inside.wire import FORK_FAILED
from hbench.engines.jail.recipe import Recipe
from hbench.engines.jail.zygote import Zygote
from tests.engines.jail.lab import GOOD

pytestmark = pytest.mark.attack
USER = 1_912_000_000 - 1  # nobody else's, so that it has no process but the zygote
# A zygote without a sandbox, so that nothing but its user's limit is in its way; the user's other process is a bystander.
ZYGOTE = f"""
import os, resource, sys
sys.path.insert(0, {str(start.INSIDE.parent)!r})
from inside import children, confine, kernel, zygote
child = children.child_of(sys.argv[1])
child.preload()
if os.getuid() == 0:
    kernel.become({USER})
bystander = os.fork()
if bystander == 0:
    import signal
    os.closerange(0, 100)
    signal.pause()
if sys.argv[2] != "any":
    resource.setrlimit(resource.RLIMIT_NPROC, (int(sys.argv[2]), int(sys.argv[2])))
jail = confine.Jail("none")
jail.groups = False
promises = jail.promises
jail.promises = lambda: {{**promises(), "bystander": bystander}}
zygote.Zygote(child, jail).serve()
"""


def zygote_where(processes: str, purpose: str, monkeypatch) -> Zygote:
    """One whose user may have so many processes, or "any" number."""
    monkeypatch.setattr(start, "command", lambda *_: [sys.executable, "-c", ZYGOTE, purpose, processes])
    return Zygote(Recipe("none"), purpose)


def is_there(pid: int) -> bool:
    return subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout[:1] not in ("", "Z")


def forked(processes: str, purpose: str, monkeypatch) -> tuple[int, bool]:
    """(how a child that is given nothing to do ended when it was ordered to, whether the zygote's bystander lives on)."""

    async def go():
        zygote = zygote_where(processes, purpose, monkeypatch)
        await zygote.start()
        bystander = zygote.promises["bystander"]
        try:
            with open("/dev/null") as nothing:
                child = zygote.fork({"memory_mb": 256, "cpu_s": 5, "output_chars": 0}, [nothing.fileno()])
            await asyncio.wait_for(child.started, 60)
            zygote.order(b"K", child.job)
            ended = await asyncio.wait_for(child.ended, 60)
            last = zygote.fork({"memory_mb": 256, "cpu_s": 5, "output_chars": 0}, [])
            zygote.order(b"K", last.job)
            await asyncio.wait_for(last.started, 60)  # the zygote has obeyed all that was before
            return ended.status, is_there(bystander)
        finally:
            subprocess.run(["kill", "-9", str(bystander)])
            zygote.close()

    return asyncio.run(go())


@pytest.mark.parametrize("purpose", ["harness", "python"])
def test_it_is_said_and_whoever_else_is_there_lives_on(purpose, monkeypatch):
    """Of a fork that had failed, the harness jail ended child -1: that is every process of its user."""
    assert forked("0", purpose, monkeypatch) == (FORK_FAILED, True)


@pytest.mark.control
@pytest.mark.parametrize("purpose", ["harness", "python"])
def test_control_with_room_a_process_is_made_and_ended(purpose, monkeypatch):
    status, bystander_lives = forked("any", purpose, monkeypatch)
    assert status != FORK_FAILED and bystander_lives


def test_a_harness_that_finds_no_process_is_an_error_of_the_step(monkeypatch):
    async def go():
        jails = Jails("none", zygotes=1)
        zygote = zygote_where("0", "harness", monkeypatch)
        await zygote.start()
        jails._harness._zygotes.append(zygote)
        try:
            await asyncio.wait_for(jails.run(HarnessJob(GOOD, "?", {}, Limits(wall_s=5))), 60)
        finally:
            subprocess.run(["kill", "-9", str(zygote.promises["bystander"])])
            await jails.close()

    with pytest.raises(StepError, match="the harness jail cannot fork: this machine is out of processes or memory"):
        asyncio.run(go())


def test_the_zygote_of_the_grader_outlives_whatever_it_is_told_to_load():
    """What it could not make sense of, or what nobody waited for, was its end, and that of every grading under way."""

    async def go(jails, said):
        from hbench.engines.jail.channel import Channel

        zygote = await jails._grader.zygote()
        channel = Channel(10_000)
        zygote.order(b"P", descriptors=[channel.theirs.fileno()])
        channel.theirs.close()
        if said is not None:
            channel.send(said)
        reply = await channel.receive() if said is not None else None
        channel.close()
        return reply, zygote

    async def all_of_them():
        jails = Jails("auto", zygotes=1)
        try:
            found = [await go(jails, said) for said in (None, {"what": "an older hbench says"}, None, {"grader": "x"})]
            return [reply for reply, _ in found if reply], {zygote for _, zygote in found}
        finally:
            await jails.close()

    replies, zygotes = asyncio.run(all_of_them())
    assert replies == [{"error": "KeyError: 'grader'"}, {"error": "KeyError: 'sort'"}] and len(zygotes) == 1
