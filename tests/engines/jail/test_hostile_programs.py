"""Solver-written code under python() and a student's commands, which may do more than a harness: they get no nearer to the
kernel, to other processes or to namespaces of their own, and use up what is theirs alone. Each with its control."""

import subprocess

import pytest

from tests.engines.jail.lab import CONFINED, python, shell
from tests.engines.jail.test_hostile_processes import CALLS, called

pytestmark = pytest.mark.attack
CONFINED_ONLY = pytest.mark.parametrize("sandbox", CONFINED)
WITH_THEM = ("socketpair", "timer_create")  # what their own processes may have
REFUSED = [name for name in CALLS if name not in WITH_THEM]
CLONE = "result = ctypes.CDLL(None, use_errno=True).syscall({}, {} | 17, 0, 0, 0, 0)\n"
NAMESPACES = {"user": 0x10000000, "pid": 0x20000000, "mount": 0x00020000, "network": 0x40000000}
FORKED = "if result == 0: import os; os._exit(0)\n"  # the new process ends


def each(names: list[str]) -> str:
    """Code that makes all of these calls, and prints the name and the error of each."""
    tell = "print({!r}, ctypes.get_errno() if result < 0 else 0)\n"
    clone = "(56 if platform.machine() == 'x86_64' else 220)"
    calls = "".join(f"{called(name)}{tell.format(name)}" for name in names)
    clones = (CLONE.format(clone, flag) + FORKED + tell.format(f"clone_{name}") for name, flag in NAMESPACES.items())
    return "import ctypes, platform\n" + "".join(clones) + calls


def errors(printed: str) -> dict[str, int]:
    return {name: int(number) for name, number in (line.split() for line in printed.splitlines())}


WANTED = [*(f"clone_{name}" for name in NAMESPACES), *REFUSED]


@CONFINED_ONLY
@pytest.mark.parametrize("how", ["python", "command"])
def test_the_kernel_refuses_what_is_not_on_the_list(sandbox, how, tried):
    for name in WANTED:
        tried(name)
    code = each(REFUSED)
    if how == "python":
        found = errors(python(sandbox, code, timeout_s=30)[0]["stdout"])
    else:
        found = errors(shell(sandbox, "python3 code.py", files={"code.py": code.encode()})[0].output)
    assert found == dict.fromkeys(WANTED, 1)  # EPERM


@pytest.mark.control
def test_control_a_namespace_of_ones_own_could_be_had(tried):
    for name in WANTED:
        tried(name)
    found = errors(python("none", each(REFUSED), timeout_s=30)[0]["stdout"])
    taken = [name for name, number in found.items() if number not in (1, 38)]
    assert len(taken) >= len(WANTED) - 12 and "clone_user" in taken, found


DESCRIPTORS = """
import os
held = []
try:
    while len(held) < 5000: held += os.pipe()
except OSError as full:
    print(full.strerror)
print(len(held) < 1100)
"""


@CONFINED_ONLY
def test_descriptors_are_limited(sandbox):
    full, after = python(sandbox, DESCRIPTORS, "print('fine')", timeout_s=30)
    assert full["stdout"] == "Too many open files\nTrue\n" and after["stdout"] == "fine\n"
    full, after = shell(sandbox, "python3 code.py", "echo fine", files={"code.py": DESCRIPTORS.encode()})
    assert full.output == "Too many open files\nTrue\n" and after.output == "fine\n"


@pytest.mark.control
def test_control_more_descriptors_could_be_had():
    code = DESCRIPTORS.replace("5000", "40")
    assert python("auto", code, timeout_s=30)[0]["stdout"] == "True\n"


MOUNTS = ["mount -t tmpfs x {}", "mount --bind / {}", "umount {}", "unshare -rm true", "chroot / true", "mknod {}/disk b 8 0"]


@CONFINED_ONLY
def test_nothing_is_mounted_over_or_laid_bare(sandbox, tried):
    for command in MOUNTS:
        tried(command)
    ran = shell(sandbox, *(command.format("$HOME") for command in MOUNTS), "ls -A $HOME; echo fine")
    assert all(each.code != 0 for each in ran[:-1]) and ran[-1].output == "fine\n", ran


@pytest.mark.control
def test_control_where_one_is_root_of_ones_own_they_work(tmp_path):
    """All but a block device, and what a container has locked."""
    words = ["unshare", "-rm", "sh", "-c"]
    if subprocess.run([*words, "true"], capture_output=True).returncode:
        pytest.skip("no user namespace can be made here")
    script = " && ".join(command.format(tmp_path) for command in MOUNTS if "bind" not in command and "mknod" not in command)
    ran = subprocess.run([*words, f"{script} && echo all"], capture_output=True, text=True)
    assert ran.stdout == "all\n", ran.stderr
