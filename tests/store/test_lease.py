"""Who may write, and when a lease may be taken from its holder."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict, replace

import pytest

from hbench.core.failure import StepError
from hbench.core.output import Output
from hbench.store import lease as leases
from hbench.store.artifacts import Store
from hbench.store.lease import Lease, Watch, read_holder
from tests.store.made import key, record, rollout

pytestmark = pytest.mark.fault
KEY = key("a")

HOLDER = """
import sys, time
from hbench.store.artifacts import Store
from tests.store.made import rollout
part = Store(sys.argv[1]).open(sys.argv[2])
part.append(rollout(1))
print("held", flush=True)
time.sleep(100)
"""


@pytest.fixture
def file(tmp_path):
    return tmp_path / "x.lock"


def hold_elsewhere(folder) -> subprocess.Popen:
    """Another process that holds the lease of KEY and has appended a row."""
    other = subprocess.Popen([sys.executable, "-c", HOLDER, str(folder), KEY], stdout=subprocess.PIPE, text=True)
    assert other.stdout.readline() == "held\n"
    return other


def test_a_free_lease_is_had_at_once_and_dropped(file):
    lease = Watch(file).try_take()
    assert isinstance(lease, Lease) and lease.is_ours()
    assert Watch(file).try_take() == lease.holder
    lease.drop()
    assert not file.exists()


def test_a_killed_holders_lease_and_rows_are_taken_over_at_once(tmp_path):
    other = hold_elsewhere(tmp_path)
    os.kill(other.pid, signal.SIGKILL)  # not waited for: a zombie is dead too
    began = time.monotonic()
    with Store(tmp_path).open(KEY) as part:
        assert time.monotonic() - began < 5
        assert [row["question_id"] for row in part.rows("rollouts")] == ["q1"]
    other.wait()


def test_a_stopped_holder_on_this_machine_is_waited_for_however_long(tmp_path, monkeypatch):
    monkeypatch.setattr(leases, "STALE_S", 0.0)
    other = hold_elsewhere(tmp_path)
    os.kill(other.pid, signal.SIGSTOP)
    watch = Watch(tmp_path / "steps" / KEY[:2] / f"{KEY}.lock")
    time.sleep(0.1)
    assert watch.try_take().pid == other.pid
    other.kill()
    other.wait()


def test_a_pid_used_again_is_not_its_holder(file):
    lease = Watch(file).try_take()
    file.write_text(json.dumps(asdict(replace(lease.holder, started="1"))))
    assert isinstance(Watch(file).try_take(), Lease)


def test_a_holder_elsewhere_is_stale_after_a_minute_without_a_heartbeat(file, monkeypatch):
    now = _clock(monkeypatch)
    _held_elsewhere(file)
    watch = Watch(file)
    assert not isinstance(watch.try_take(), Lease)
    now[0] += 59
    assert not isinstance(watch.try_take(), Lease)
    now[0] += 2
    assert isinstance(watch.try_take(), Lease)


def test_a_heartbeat_keeps_the_lease_of_a_holder_elsewhere(file, monkeypatch):
    now = _clock(monkeypatch)
    _held_elsewhere(file)
    watch = Watch(file)
    for beat in range(10):
        os.utime(file, (beat, beat))
        assert not isinstance(watch.try_take(), Lease)
        now[0] += 40


@pytest.mark.parametrize("jump_s", [-1e9, 1e9])
def test_a_jump_of_the_clock_robs_nobody(file, monkeypatch, jump_s):
    """Staleness by comparing the file's time with our own would rob a live holder once one of two clocks is set."""
    _held_elsewhere(file)
    monkeypatch.setattr(time, "time", lambda: 1.7e9 + jump_s)
    os.utime(file, (1.7e9 - jump_s, 1.7e9 - jump_s))
    watch = Watch(file)
    assert not isinstance(watch.try_take(), Lease)
    assert not isinstance(watch.try_take(), Lease)


def test_a_lease_file_that_was_never_filled_is_stale_after_a_minute(file, monkeypatch):
    now = _clock(monkeypatch)
    file.touch()
    watch = Watch(file)
    assert watch.try_take() is None
    now[0] += 61
    assert isinstance(watch.try_take(), Lease)


def test_of_many_that_find_a_stale_lease_one_gets_it(file, monkeypatch):
    now = _clock(monkeypatch)
    _held_elsewhere(file)
    watches, got, start = [Watch(file) for _ in range(16)], [], threading.Barrier(16)
    for watch in watches:
        watch.try_take()
    now[0] += 61

    def take(watch: Watch) -> None:
        start.wait()
        got.append(watch.try_take())

    threads = [threading.Thread(target=take, args=(watch,)) for watch in watches]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [isinstance(lease, Lease) for lease in got].count(True) == 1


def test_one_thread_touches_all_leases(file, tmp_path, monkeypatch):
    monkeypatch.setattr(leases, "HEARTBEAT_S", 0.02)
    monkeypatch.setattr(leases, "_HEART", leases._Heart())
    held = [Watch(tmp_path / f"{i}.lock").try_take() for i in range(5)]
    for lease in held:
        os.utime(lease.file, (1, 1))
    ends = time.monotonic() + 5
    while any(lease.file.stat().st_mtime < 2 for lease in held) and time.monotonic() < ends:
        time.sleep(0.01)
    assert all(lease.file.stat().st_mtime > 2 for lease in held)
    for lease in held:
        lease.drop()


def test_a_holder_that_was_robbed_may_not_commit(tmp_path):
    part = Store(tmp_path).open(KEY)
    part.append(rollout(1))
    _held_elsewhere(tmp_path / "steps" / KEY[:2] / f"{KEY}.lock")
    with pytest.raises(StepError, match="took over"):
        part.commit(Output(None), record())
    part.close()
    assert read_holder(tmp_path / "steps" / KEY[:2] / f"{KEY}.lock").host == "elsewhere"


WRITER = """
import sys
from hbench.core.output import Artifact, Output
from hbench.store.artifacts import Store
from tests.store.made import key, record, rollouts
for i in range(20):
    part = Store(sys.argv[1]).open(key(str(i)))
    if isinstance(part, Artifact):
        continue
    with part:
        part.append(rollouts([i / 20]))
        part.commit(Output({"by": sys.argv[2]}), record())
        print(i, flush=True)
"""


def test_two_writers_at_once_make_every_artifact_once(tmp_path):
    """Case 93: neither loses rows, neither fails."""
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name], stdout=subprocess.PIPE, text=True)
        for name in "ab"
    ]  # fmt: skip
    made = [line for writer in writers for line in writer.communicate(timeout=60)[0].split()]
    assert [writer.returncode for writer in writers] == [0, 0]
    assert sorted(map(int, made)) == list(range(20))
    assert all(len(Store(tmp_path).get(key(str(i))).rows("rollouts")) == 1 for i in range(20))


def _held_elsewhere(file) -> None:
    holder = leases.Holder("elsewhere", "elsewhere", os.getpid(), "7")
    file.write_text(json.dumps(asdict(holder)))


def _clock(monkeypatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr(leases.time, "monotonic", lambda: now[0])
    return now
