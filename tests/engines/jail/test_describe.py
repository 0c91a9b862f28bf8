"""What `hbench doctor` is told."""

import asyncio

import pytest

from hbench.core.failure import HbenchError, StepError
from hbench.engines.jail import HarnessJob, Jails, describe, start, visible
from hbench.engines.jail.inside import confine, landlock
from tests.engines.jail.lab import CONFINED, GOOD


@pytest.mark.parametrize("sandbox", [*CONFINED, "none"])
def test_the_report_names_the_kind_its_promises_and_its_gaps(sandbox):
    report = describe(sandbox)
    assert report.ready and report.kind == sandbox and report.why and report.promises and report.not_protected
    assert report.text().startswith(sandbox) and "does not protect from" in report.text()
    assert ("no network: sockets cannot be made" in report.promises) is (sandbox != "none")


def test_it_says_what_holds_for_workspaces():
    kinds = {sandbox: describe(sandbox).text() for sandbox in [*CONFINED, "none"]}
    assert "+ workspace: all that a command started ends with it; 64 processes" in kinds["namespaces"]
    assert "- does not protect from: workspace: its folders are on disk" in kinds["landlock"]
    assert "- does not protect from: workspace: a process that leaves its group goes on" in kinds["none"]
    assert all("+ workspace: no network" in kinds[sandbox] for sandbox in CONFINED)


@pytest.mark.parametrize(
    ("version", "told"),
    [
        (1, "holds: reading and writing of files; refused system calls hold: cutting files short, TCP, orders"),
        (3, "writing of files, cutting files short; refused system calls hold: TCP, orders to devices, signals and"),
        (6, "cutting files short, TCP, orders to devices, signals and abstract sockets"),
    ],
)
def test_it_says_what_holds_at_this_version_of_landlock(version, told, monkeypatch):
    """A report made for a kernel of another age: what Landlock does not hold there, a command may not ask for."""
    monkeypatch.setattr(landlock, "version", lambda: version)
    assert f"+ Landlock version {version} holds: " in (text := describe("landlock").text()) and told in text
    refused = confine._refused(1)
    assert ("truncate" in refused, "kill" in refused) == (version < 3, version < 6) and "setsid" in refused


def test_without_bash_there_is_no_workspace_and_the_rest_stands(monkeypatch):
    monkeypatch.setattr(visible, "bash", lambda: (_ for _ in ()).throw(StepError("a workspace needs bash")))
    report = describe("landlock")
    assert report.ready and "workspace: none can be had, so no domain can be run" in report.text()


def test_the_environment_can_ask_for_landlock(monkeypatch):
    monkeypatch.setenv("HBENCH_JAIL", "landlock")
    assert describe().kind == "landlock" and Jails().sandbox == "landlock"
    assert Jails("namespaces").sandbox == "namespaces"
    monkeypatch.setenv("HBENCH_JAIL", "none")  # only a spec can say that
    assert Jails().sandbox == "auto"


def test_without_a_jail_nothing_is_run_and_the_user_is_told_what_to_do(monkeypatch):
    monkeypatch.setattr(start, "recipes", lambda *_: [])
    report = describe()
    assert not report.ready and "Install bubblewrap" in report.why
    with pytest.raises(HbenchError, match="sandbox: none"):
        asyncio.run(Jails().run(HarnessJob(GOOD, "?")))


def test_a_sandbox_that_fails_is_passed_over_for_the_next(monkeypatch):
    broken = start.Recipe("namespaces", True, "/bin/false")
    monkeypatch.setattr(start, "recipes", lambda *_: [broken, start.Recipe("landlock")])
    assert describe().kind == "landlock"


def test_it_works_inside_a_running_loop_too():
    async def inside():
        return describe("landlock").kind

    assert asyncio.run(inside()) == "landlock"
