"""Wall time, CPU and memory of a command's whole process tree, from start to exit."""

import os
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

ACCOUNTS = Path("/sys/fs/cgroup/cpuacct")


@dataclass(frozen=True)
class Cost:
    """wall_s and cpu_s; peak_mb: sum of the processes' proportional set sizes, the most seen (looked at about 20 times a second)."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    code: int


def measure(command, cwd=None, watch_memory=True) -> Cost:
    """Runs `command` to its end, with Python's byte code kept, as it is where nobody forbids that.

    CPU comes from a control group where there is one (it counts every process, also those that nobody waited for), else
    from the kernel's sums over waited-for children.
    """
    account = _account()
    started = time.perf_counter()
    join = (lambda: (account / "cgroup.procs").write_text(str(os.getpid()))) if account else None
    log = tempfile.TemporaryFile()
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(command, cwd=cwd, env=kept, preexec_fn=join, stdout=log, stderr=log)
    peak = _Peak(process.pid) if watch_memory else None
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    cpu = usage.ru_utime + usage.ru_stime
    if account:
        cpu = int((account / "cpuacct.usage").read_text()) / 1e9
        _remove(account)
    if process.returncode:
        log.seek(0)
        print(log.read().decode(errors="replace")[-3000:])
    return Cost(wall, cpu, peak.end() if peak else 0.0, process.returncode)


def _account() -> Path | None:
    group = ACCOUNTS / f"hbench-bench-{os.getpid()}-{time.monotonic_ns()}"
    try:
        group.mkdir()
    except OSError:
        return None
    return group if (group / "cpuacct.usage").exists() else None


def _remove(group: Path) -> None:
    for _ in range(50):
        try:
            return group.rmdir()
        except OSError:
            time.sleep(0.1)


class _Peak(threading.Thread):
    def __init__(self, pid):
        super().__init__(daemon=True)
        self.most, self.over, self.root = 0, threading.Event(), psutil.Process(pid)
        self.start()

    def run(self):
        while not self.over.wait(0.04):
            self.most = max(self.most, self._now())

    def _now(self):
        total = 0
        try:
            for process in [self.root, *self.root.children(recursive=True)]:
                total += _pss(process.pid)
        except psutil.NoSuchProcess:
            pass
        return total

    def end(self):
        self.over.set()
        self.join()
        return self.most / 2**20


def _pss(pid) -> int:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0
