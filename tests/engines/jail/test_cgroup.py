"""All jails of a driver together are held by a control group, where one can be made."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hbench.core.failure import StepError
from hbench.engines.jail import HarnessJob, Jails, WorkspaceLimits, cgroup, describe
from tests.engines.jail.lab import CONFINED, GOOD, QUICK

EAT = "import time; x = bytearray(b'x') * (120 << 20); time.sleep(2); print(len(x))"
MANY = f'for i in 1 2 3 4 5 6; do python3 -c "{EAT}" & done; wait'
HOLD = f"def run(question, tools):\n    {EAT.replace('print(len(x))', 'return str(len(x))')}\n"


@pytest.fixture
def group(monkeypatch):
    """A group with room for three of the six that eat."""
    monkeypatch.setattr(cgroup, "_memory", lambda *_: int((420 << 20) / cgroup.MEMORY_SHARE))
    group = cgroup.made(f"hbench-{os.getpid()}-tight")  # no name that others take for a dead driver's
    if group is None:
        pytest.skip("no control group can be made here")
    monkeypatch.setattr(cgroup, "own", lambda: group)
    yield group
    group.remove()
    assert not any(folder.exists() for folder in group.folders)


async def commands(sandbox: str, *written: str) -> list[str]:
    jails = Jails(sandbox, zygotes=1)
    try:
        workspace = await jails.workspace((), WorkspaceLimits(256, 32))
        await workspace.open({})
        outputs = [(await workspace.execute(command, 60.0, 10_000)).output for command in written]
        await workspace.close()
        return outputs
    finally:
        await jails.close()


@pytest.mark.attack
@pytest.mark.parametrize("sandbox", CONFINED)
def test_processes_that_together_take_too_much_are_ended_and_their_session_goes_on(group, sandbox):
    eaten, after = asyncio.run(commands(sandbox, MANY, "echo fine"))
    assert 0 < eaten.count(str(120 << 20)) < 6 and after == "fine\n"


@pytest.mark.control
def test_control_without_a_group_all_of_them_get_it(monkeypatch):
    monkeypatch.setattr(cgroup, "own", lambda: None)
    assert asyncio.run(commands("none", MANY))[0].count(str(120 << 20)) == 6


@pytest.mark.fault
@pytest.mark.parametrize("sandbox", CONFINED)
def test_a_harness_that_the_kernel_ends_for_all_is_no_score(group, sandbox):
    """Each keeps its own limit, and together they have too much: that is the machine's trouble and not theirs."""

    async def six() -> list:
        jails = Jails(sandbox, zygotes=1)
        try:
            return await asyncio.gather(*(jails.run(HarnessJob(HOLD, "?", {}, QUICK)) for _ in range(6)), return_exceptions=True)
        finally:
            await jails.close()

    outcomes = asyncio.run(six())
    starved = [outcome for outcome in outcomes if isinstance(outcome, StepError)]
    assert starved and all("machine.in_flight" in str(trouble) or "zygote died" in str(trouble) for trouble in starved)
    assert all(outcome.answer == str(120 << 20) for outcome in outcomes if outcome not in starved)


def test_a_harness_that_ends_itself_is_not_taken_for_one_that_found_no_memory():
    from tests.engines.jail.lab import run

    suicide, good = run("none", "import os\ndef run(question, tools):\n    os.kill(os.getpid(), 9)\n", GOOD)
    assert suicide.failure is not None and good.answer == "fine"


def test_a_driver_has_one_group_and_takes_it_away_at_its_end():
    say = "from hbench.engines.jail import cgroup; g = cgroup.own(); print(g and g.folders[0]); assert g is cgroup.own()"
    told = subprocess.run([sys.executable, "-c", say], capture_output=True, text=True, check=True).stdout.strip()
    if told == "None":
        pytest.skip("no control group can be made here")
    assert "hbench-" in told and not Path(told).exists()


def test_a_group_that_somebody_removed_is_made_again():
    group = cgroup.own()
    if group is None:
        pytest.skip("no control group can be made here")
    group.remove()
    assert cgroup.entered(["true"]) == group.entered(["true"]) and group.folders[0].exists()


def test_the_group_of_a_killed_driver_is_taken_away_by_the_next():
    say = "import os; from hbench.engines.jail import cgroup; place = cgroup.own().folders[0]; assert place.exists()"
    say += "; print(place, flush=True); os.kill(os.getpid(), 9)"
    told = subprocess.run([sys.executable, "-c", say], capture_output=True, text=True).stdout.strip()
    if not told:
        pytest.skip("no control group can be made here")
    cgroup.made(f"hbench-{os.getpid()}0001").remove()
    assert not Path(told).exists()


def test_the_report_says_what_all_have_together(monkeypatch):
    monkeypatch.setattr(cgroup, "own", lambda: None)
    assert "- does not protect from: memory of all jails together" in describe("landlock").text()
    group = cgroup.Cgroup(2, (), 3000)  # a group of no folder is entered by doing nothing
    monkeypatch.setattr(cgroup, "own", lambda: group)
    assert "+ all jails together: at most 3000 MB and 8192 processes (control group, version 2)" in describe("landlock").text()


# What version 2 asks for is told by its files; ordinary files stand for it where this machine has version 1.


def unified(mount: Path, *groups: str) -> Path:
    for group in groups:
        (mount / group).mkdir(parents=True)
    (mount / "cgroup.controllers").write_text("cpu memory pids\n")
    (mount / "own").write_text(f"0::/{groups[-1]}\n")
    return mount / "own"


def test_with_version_2_it_lies_beside_the_drivers_own_and_has_a_share_of_the_least_above_it(tmp_path):
    own = unified(tmp_path, "user.slice", "user.slice/app.scope")
    (tmp_path / "user.slice/memory.max").write_text(f"{800 << 20}\n")
    group = cgroup.made("hbench-1", tmp_path, str(own))
    assert group == cgroup.Cgroup(2, (tmp_path / "user.slice/hbench-1",), 600)
    written = {file.name: file.read_text() for file in group.folders[0].iterdir()}
    assert written.pop("cgroup.procs").strip().isdigit()
    assert written == {"memory.max": str(600 << 20), "pids.max": str(cgroup.MOST_PROCESSES)}


@pytest.mark.parametrize("told", ["", "0::/gone/app.scope\n", "not a line"])
def test_where_none_can_be_made_there_is_none(tmp_path, told):
    (tmp_path / "own").write_text(told)
    assert cgroup.made("hbench-1", tmp_path, str(tmp_path / "own")) is None
    assert cgroup.made("hbench-1", tmp_path, str(tmp_path / "absent")) is None
