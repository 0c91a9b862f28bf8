"""Harnesses that reach for other processes, the network and the kernel. Controls run the same code unconfined."""

import asyncio
import errno
import os
import platform
import socket
import subprocess
import sys

import pytest

from hbench.core.failure import StepError
from hbench.core.limits import Limits
from hbench.engines.jail import HarnessJob, Jails
from tests.engines.jail.lab import CONFINED, GOOD, attack, body, run, said

pytestmark = pytest.mark.attack

CONFINED_ONLY = pytest.mark.parametrize("sandbox", CONFINED)

FORK = body("import os\nif os.fork() == 0:\n    os._exit(0)\nreturn 'forked'")
FORK_FOREVER = body("import os\nwhile True:\n    os.fork()")
SPAWN = body("import subprocess; return subprocess.run(['/bin/echo', 'ran'], capture_output=True, text=True).stdout")
EXEC = body("import os, sys; os.execv(sys.executable, [sys.executable, '-c', 'import time; time.sleep(60)'])")
THREAD = body("import threading; t = threading.Thread(target=print); t.start(); t.join(); return 'ran'")


@CONFINED_ONLY
@pytest.mark.parametrize("source", [FORK, FORK_FOREVER, SPAWN, EXEC, THREAD])
def test_no_second_process_and_no_thread(sandbox, source):
    assert said(attack(sandbox, source)) == ("harness", "error")


@pytest.mark.parametrize(("source", "answer"), [(FORK, "forked"), (SPAWN, "ran\n"), (THREAD, "ran")])
@pytest.mark.control
def test_control_processes_and_threads_could_be_made(source, answer):
    assert attack("none", source).answer == answer


@pytest.fixture
def stand_in():
    process = subprocess.Popen(["sleep", "60"])
    yield process
    process.kill()
    process.wait()


KILL = body("import os, signal; os.kill(int(question), signal.SIGKILL); return 'killed'")


@CONFINED_ONLY
def test_no_process_outside_can_be_killed(sandbox, stand_in):
    assert said(attack(sandbox, KILL, question=str(stand_in.pid))) == ("harness", "error")
    assert stand_in.poll() is None


@pytest.mark.control
def test_control_a_process_outside_could_be_killed(stand_in):
    assert attack("none", KILL, question=str(stand_in.pid)).answer == "killed"
    assert stand_in.wait(5) == -9


@CONFINED_ONLY
@pytest.mark.parametrize("whom", ["os.getppid()", "1", "0", "-1", "os.getpid()"])
def test_neither_parent_nor_all_nor_self_can_be_killed(sandbox, whom):
    """attack() has one zygote: were it killed, the next question would not run in it."""
    assert said(attack(sandbox, body(f"import os; os.kill({whom}, 9)"))) == ("harness", "error")


@pytest.mark.control
def test_control_the_parent_could_be_killed():
    """The job is run again in a new zygote, kills that too, and then it is an error of the step."""
    with pytest.raises(StepError, match="zygote died"):
        run("none", body("import os; os.kill(os.getppid(), 9); return 'killed'"))


SIBLING = {
    "signal": "import os; os.kill(pid, 9); return 'done'",
    "signal by F_SETOWN": (
        "import fcntl, os, signal\nr, w = os.pipe()\n"
        "fcntl.fcntl(r, fcntl.F_SETOWN, pid)\nfcntl.fcntl(r, 10, signal.SIGKILL)\n"
        "fcntl.fcntl(r, fcntl.F_SETFL, fcntl.fcntl(r, fcntl.F_GETFL) | os.O_ASYNC)\nos.write(w, b'x')\nreturn 'done'"
    ),
    "starve by prlimit": "import resource; resource.prlimit(pid, resource.RLIMIT_CPU, (0, 0)); return 'done'",
    "read /proc/pid/mem": "open(f'/proc/{pid}/mem', 'rb'); return 'done'",
    "list its descriptors": "import os; os.listdir(f'/proc/{pid}/fd'); return 'done'",
    "write to its descriptor": "import os; os.open(f'/proc/{pid}/fd/1', os.O_WRONLY); return 'done'",
    "trace": (
        "import ctypes\nif ctypes.CDLL(None, use_errno=True).ptrace(0x4206, pid, 0, 0) != 0:\n"
        "    raise OSError(ctypes.get_errno())\nreturn 'done'"
    ),
    "read by process_vm_readv": (
        "import ctypes, struct\nroom = ctypes.create_string_buffer(8)\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "local = struct.pack('PN', ctypes.addressof(room), 8); remote = struct.pack('PN', int(place), 8)\n"
        "if libc.process_vm_readv(pid, local, 1, remote, 1, 0) != 8:\n"
        "    raise OSError(ctypes.get_errno())\nreturn 'done'"
    ),
    "lower its priority": "import os; os.setpriority(os.PRIO_PROCESS, pid, 19); return 'done'",
    "move it to one core": "import os; os.sched_setaffinity(pid, {0}); return 'done'",
    "read its CPU time": "import time; time.clock_gettime((~pid << 3) | 2); return 'done'",
    "wait for its CPU time": (
        "import ctypes\nclock = ctypes.c_int((~pid << 3) | 2)\n"
        "number = ctypes.CDLL(None).clock_nanosleep(clock, 1, ctypes.create_string_buffer(16), None)\n"
        "if number:\n    raise OSError(number)\nreturn 'done'"
    ),
}
VICTIM = body(
    """
import ctypes, os
room = bytearray(b'a secret')
tools.meet(who=str(os.getpid()), where=ctypes.addressof(ctypes.c_char.from_buffer(room)))
return 'unharmed'"""
)


def duel(sandbox: str, code: str):
    """Outcomes of attacker and victim, alive at once under one zygote; the attacker is told the victim's pid."""

    async def go():
        met, over = asyncio.get_running_loop().create_future(), asyncio.Event()

        async def meet(who, where):
            met.set_result((who, where))
            await over.wait()

        async def whom():
            return list(await met)

        jails = Jails(sandbox, zygotes=1)
        victim = asyncio.ensure_future(jails.run(HarnessJob(VICTIM, "?", {"meet": meet})))
        source = body("pid, place = tools.whom()\npid = int(pid)\n" + code)
        attacker = await jails.run(HarnessJob(source, "?", {"whom": whom}, Limits(wall_s=5)))
        over.set()
        outcome = await victim
        await jails.close()
        return attacker, outcome

    return asyncio.run(go())


@CONFINED_ONLY
@pytest.mark.parametrize("how", SIBLING)
def test_another_question_cannot_be_reached(sandbox, how):
    attacker, victim = duel(sandbox, SIBLING[how])
    assert said(attacker) == ("harness", "error") and victim.answer == "unharmed"


@pytest.mark.parametrize("how", SIBLING)
@pytest.mark.control
def test_control_another_question_could_be_reached(how):
    assert duel("none", SIBLING[how])[0].answer == "done"


CONNECT = body(
    """
import socket
family, address = question.split(' ', 1)
s = socket.socket(getattr(socket, family))
s.settimeout(2)
s.connect(('127.0.0.1', int(address)) if family == 'AF_INET' else address.replace('@', chr(0)))
s.send(b'out')
return 'connected'"""
)


@pytest.fixture(params=["tcp", "unix file", "unix abstract"])
def listener(request, tmp_path):
    family = socket.AF_INET if request.param == "tcp" else socket.AF_UNIX
    places = {"unix file": str(tmp_path / "s"), "unix abstract": f"\0hbench-test-{os.getpid()}"}
    where = places.get(request.param, ("127.0.0.1", 0))
    with socket.socket(family) as server:
        server.bind(where)
        server.listen()
        name = server.getsockname()
        yield f"AF_INET {name[1]}" if family == socket.AF_INET else f"AF_UNIX {where.replace(chr(0), '@')}"


@CONFINED_ONLY
def test_no_socket_is_opened(sandbox, listener):
    assert said(attack(sandbox, CONNECT, question=listener)) == ("harness", "error")


@pytest.mark.control
def test_control_a_socket_could_be_opened(listener):
    assert attack("none", CONNECT, question=listener).answer == "connected"


HELD = body(
    """
import os
held = []
for number in range(1000):
    try:
        os.fstat(number)
        held.append(number)
    except OSError:
        pass
return str(held)"""
)


@CONFINED_ONLY
def test_a_harness_holds_its_own_pipes_and_nothing_else(sandbox):
    assert attack(sandbox, HELD).answer == "[0, 1, 2, 3]"  # nothing to read, output twice, the channel


@pytest.mark.control
def test_control_a_plain_child_process_holds_what_is_left_open_for_it(tmp_path):
    with (tmp_path / "gold").open("w") as gold:
        words = [sys.executable, "-c", f"{HELD}\nprint(run('', None))"]
        held = subprocess.run(words, pass_fds=[gold.fileno()], capture_output=True, text=True).stdout
        assert held == f"[0, 1, 2, {gold.fileno()}]\n"


# name -> number on x86-64, number on aarch64, arguments: each does something, or fails with another error than EPERM
CALLS = {
    "pidfd_open": (434, 434, "os.getpid(), 0"),
    "io_uring_setup": (425, 425, "1, ctypes.create_string_buffer(256)"),
    "bpf": (321, 280, "0, ctypes.create_string_buffer(128), 1"),
    "perf_event_open": (298, 241, "ctypes.create_string_buffer(128), 0, -1, -1, 0"),
    "keyctl": (250, 219, "0, -3, 0"),
    "mount": (165, 40, "0, 0, 0, 0, 0"),
    "unshare": (272, 97, "0x10000000"),
    "setns": (308, 268, "-1, 0"),
    "shmget": (29, 194, "0x68626e63, 0, 0"),
    "msgget": (68, 186, "0x68626e63, 0"),
    "semget": (64, 190, "0x68626e63, 0, 0"),
    "mq_open": (240, 180, "b'hbench-none', 0, 0, 0"),
    "memfd_create": (319, 279, "b'x', 0"),
    "userfaultfd": (323, 282, "1"),
    "name_to_handle_at": (303, 264, "-100, b'/', 0, 0, 0"),
    "execveat": (322, 281, "-1, b'', 0, 0, 0x1000"),
    "socketpair": (53, 199, "1, 1, 0, ctypes.create_string_buffer(8)"),
    "inotify_init1": (294, 26, "0"),
    "fanotify_init": (300, 262, "1 << 31, 0"),
    "kcmp": (312, 272, "os.getpid(), os.getpid(), 99, 0, 0"),
    "seccomp": (317, 277, "99, 0, 0"),
    "prctl": (157, 167, "16, ctypes.create_string_buffer(16), 0, 0, 0"),
    "chroot": (161, 51, "0"),
    "personality": (135, 92, "0xFFFFFFFF"),
    "landlock_create_ruleset": (444, 444, "0, 0, 1"),
    "open_by_handle_at": (304, 265, "-1, 0, 0"),
    "timer_create": (222, 107, "1, 0, ctypes.create_string_buffer(8)"),
    "setuid": (105, 146, "os.getuid()"),
    "ptrace": (101, 117, "16, -1, 0, 0"),
    "process_vm_writev": (311, 271, "-1, 0, 0, 0, 0, 0"),
    "pidfd_getfd": (438, 438, "-1, 0, 0"),
    "pidfd_send_signal": (424, 424, "-1, 0, 0, 0"),
    "io_uring_enter": (426, 426, "-1, 0, 0, 0, 0, 0"),
    "io_uring_register": (427, 427, "-1, 0, 0, 0"),
    "open_tree": (428, 428, "-1, b'', 0"),
    "fsopen": (430, 430, "0, 0"),
    "mount_setattr": (442, 442, "-1, b'', 0, 0, 0"),
    "umount2": (166, 39, "0, 0"),
    "pivot_root": (155, 41, "0, 0"),
    "mincore": (27, 232, "0, 0, 0"),
    "clock_settime": (227, 112, "-1, 0"),
}


def called(name: str) -> str:
    """Code that makes the call; `result` is negative where that fails."""
    number = CALLS[name][0 if platform.machine() == "x86_64" else 1]
    return f"import ctypes, os\nresult = ctypes.CDLL(None, use_errno=True).syscall({number}, {CALLS[name][2]})\n"


def call(name: str) -> str:
    return body(called(name) + "return str(ctypes.get_errno() if result < 0 else 0)")


@CONFINED_ONLY
def test_the_kernel_refuses_every_call_that_is_not_on_the_list(sandbox, tried):
    for name in CALLS:
        tried(name)
    outcomes = run(sandbox, *map(call, CALLS), GOOD)
    assert [o.answer for o in outcomes] == [*[str(errno.EPERM)] * len(CALLS), "fine"]


@pytest.mark.skipif(os.getuid() != 0, reason="an ordinary user is refused some of them anyway")
@pytest.mark.control
def test_control_the_kernel_would_take_those_calls(tried):
    for name in CALLS:
        tried(name)
    outcomes = dict(zip(CALLS, run("none", *map(call, CALLS)), strict=True))
    taken = {name: o.answer for name, o in outcomes.items() if o.answer not in (str(errno.EPERM), str(errno.ENOSYS))}
    assert len(taken) >= len(CALLS) - 6 and outcomes["memfd_create"].answer == "0", outcomes
