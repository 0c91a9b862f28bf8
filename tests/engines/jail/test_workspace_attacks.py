"""Commands that reach out of their workspace, or stay behind; each with its control.

Controls run the same command in the sandbox "none", where nothing is refused.
"""

import os
import socket
import subprocess
import sys

import psutil
import pytest

from tests.engines.jail.lab import CONFINED, loop, shell, start_anew, until, workspace

pytestmark = pytest.mark.attack

CONFINED_ONLY = pytest.mark.parametrize("sandbox", CONFINED)
CANARY = "canary-91d2"


@pytest.fixture
def secret(tmp_path):
    """A results folder with gold in it."""
    folder = tmp_path / "results" / "steps"
    folder.mkdir(parents=True)
    (folder / "rows.jsonl").write_text(CANARY)
    return folder / "rows.jsonl"


READ = ["cat {}", "grep -r . $(dirname {})", "ln -s {} link; cat link", "ln {} hard && cat hard", "cp {} copy; cat copy", ". {}"]


@CONFINED_ONLY
def test_gold_cannot_be_read(sandbox, secret, tried):
    for command in READ:
        tried(command)
    ran = shell(sandbox, *(command.format(secret) for command in READ))
    assert not any(CANARY in each.output for each in ran)


@pytest.mark.control
def test_control_gold_could_be_read(secret, tried):
    for command in READ:
        tried(command)
    ran = shell("none", *(command.format(secret) for command in READ))
    assert all(CANARY in each.output for each in ran)


SYSTEM = "/etc/passwd /etc/shadow /root /home /sys /var /proc/sys /proc/kcore /proc/meminfo /proc/{}/environ /proc/{}/mem".split()


@CONFINED_ONLY
@pytest.mark.parametrize("path", SYSTEM)
def test_the_system_cannot_be_read(sandbox, path):
    (ran,) = shell(sandbox, f"cd / ; (cat {path} || ls {path}/* || exit 9) 2>/dev/null".format(os.getpid(), os.getpid()))
    shown = [f"{path}/{line}" for line in ran.output.split()]  # of a home, the folders on the way to Python at most
    assert ran.code == 9 or all(f"{sys.base_prefix}/".startswith(f"{place.rstrip('/')}/") for place in shown), ran


@pytest.mark.control
def test_control_the_system_could_be_read():
    assert "root" in shell("none", "cat /etc/passwd; cat /proc/meminfo")[0].output


@CONFINED_ONLY
def test_no_key_of_the_environment_is_seen(sandbox, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    start_anew()
    code = "import os; print(os.environ, open('/proc/self/environ').read())"
    ran = shell(sandbox, "env; set", f'python3 -c "{code}"', "cat /proc/*/environ | tr '\\0' '\\n'")
    assert not any(CANARY in each.output for each in ran)


@pytest.mark.control
def test_control_a_plain_shell_would_see_the_key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    assert CANARY in subprocess.run(["bash", "-c", "env"], capture_output=True, text=True).stdout


@CONFINED_ONLY
def test_what_else_is_installed_cannot_be_imported(sandbox):
    """Neither hbench nor what lies beside it, wherever Python is told to look."""
    places = [path for path in sys.path if path]
    code = f"import sys; sys.path += {places!r}; import pydantic"
    ran = shell(sandbox, f'python3 -c "{code}"', f"PYTHONPATH={':'.join(places)} python3 -c 'import hbench'")
    assert all("ModuleNotFoundError" in each.output or "PermissionError" in each.output for each in ran), ran


@pytest.mark.control
def test_control_it_could_be_imported():
    code = f"import sys; sys.path += {sys.path!r}; import pydantic, hbench; print(1)"
    assert shell("none", f'python3 -c "{code}"')[0].output == "1\n"


CONNECT = """
import socket, sys
where = sys.argv[1]
s = socket.socket(socket.AF_INET if where.isdigit() else socket.AF_UNIX)
s.connect(("127.0.0.1", int(where)) if where.isdigit() else where.replace("@", chr(0)))
print("connected")
"""


@pytest.fixture(params=["tcp", "unix file", "unix abstract"])
def listener(request, tmp_path):
    family = socket.AF_INET if request.param == "tcp" else socket.AF_UNIX
    places = {"unix file": str(tmp_path / "s"), "unix abstract": f"\0hbench-test-{os.getpid()}"}
    with socket.socket(family) as server:
        server.bind(places.get(request.param, ("127.0.0.1", 0)))
        server.listen()
        name = server.getsockname()
        yield str(name[1]) if family == socket.AF_INET else places[request.param].replace("\0", "@")


@CONFINED_ONLY
def test_nothing_can_be_connected_to(sandbox, listener):
    python, bash = shell(
        sandbox, f"python3 c.py '{listener}'", f"echo x > /dev/tcp/127.0.0.1/{listener}", files={"c.py": CONNECT.encode()}
    )
    assert "PermissionError" in python.output and bash.code == 1


@pytest.mark.control
def test_control_it_could_be_connected_to(listener):
    (ran,) = shell("none", f"python3 c.py '{listener}'", files={"c.py": CONNECT.encode()})
    assert ran.output == "connected\n"


def look_at_a_sibling(sandbox: str) -> tuple[str, bytes]:
    """What a second workspace's commands find of a first one's file, and what the first one then has."""

    async def go():
        async with workspace(sandbox, {"own.txt": CANARY.encode()}) as first, workspace(sandbox) as second:
            around = "cat $HOME/../*/own.txt $HOME/../../*/*/own.txt /proc/*/cwd/own.txt"
            looks = [f"cat {first.folder}/own.txt", around, f"echo x > {first.folder}/own.txt"]
            found = [await second.execute(f"({look}) 2>/dev/null", 60, 10_000) for look in looks]
            return "".join(ran.output for ran in found), (await first.collect(["own.txt"], 100))["own.txt"]

    return loop().run_until_complete(go())


@CONFINED_ONLY
def test_another_workspace_can_be_neither_read_nor_written(sandbox):
    assert look_at_a_sibling(sandbox) == ("", CANARY.encode())


@pytest.mark.control
def test_control_another_workspace_could_be_read_and_written():
    seen, left = look_at_a_sibling("none")
    assert CANARY in seen and left == b"x\n"


@pytest.fixture
def stand_in():
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


KILL = ["kill -9 {}", "kill -9 $PPID", "kill -9 1", "kill -9 -1", "python3 -c 'import os; os.kill({}, 9)'", "kill -9 0"]


@CONFINED_ONLY
@pytest.mark.parametrize("how", KILL)
def test_nobody_outside_can_be_killed(sandbox, how, stand_in):
    _, after = shell(sandbox, how.format(stand_in.pid), "echo fine")
    assert after.output == "fine\n" and stand_in.poll() is None


@pytest.mark.control
def test_control_somebody_outside_could_be_killed(stand_in):
    shell("none", f"kill -9 {stand_in.pid}")
    assert stand_in.wait(5) == -9


STAY = ["sleep 4{}1 &", "nohup sleep 4{}2 >/dev/null 2>&1 &", "(trap '' TERM HUP INT; sleep 4{}3 & sleep 4{}3) & disown"]
DAEMON = "import os; os.fork() or os.setsid() or os.fork() or os.execlp(\"sleep\", \"sleep\", \"4{}5\")"
LEAVE = ["setsid sleep 4{}4 &", f"python3 -c '{DAEMON}'"]


def staying(mark: str) -> list[psutil.Process]:
    """Processes that sleep for so long that nobody else does."""
    found = []
    for process in psutil.process_iter():
        try:
            found += [process] if process.name() == "sleep" and mark in "".join(process.cmdline()[-1:]) else []
        except psutil.Error:
            continue
    return found


@CONFINED_ONLY
def test_nothing_outlives_its_command(sandbox):
    mark = str(os.getpid())
    ran = shell(sandbox, *(f"{how.format(*[mark] * 2)}\necho started" for how in [*STAY, *LEAVE]))
    assert all("started\n" in each.output for each in ran) and staying(mark) == []


@pytest.mark.control
def test_control_a_plain_shells_processes_stay():
    mark = str(os.getpid())
    subprocess.run(["bash", "-c", STAY[0].format(mark) + "\n" + STAY[1].format(mark)])
    both = until(lambda: len(staying(mark)) == 2)  # the shell may end before what it started has become a `sleep`
    for process in staying(mark):
        process.kill()
    assert both


def test_processes_are_counted_for_each_command():
    bomb = "import os, time\nfor n in range(400):\n    try:\n        if os.fork() == 0: time.sleep(600)\n"
    bomb += "    except OSError: break\nprint(n)"
    first, second = shell("namespaces", *[f"python3 -c '{bomb}'"] * 2)
    assert 10 < int(first.output) < 64 and second == first


FORK_FOREVER = ":(){ :|:& };:"


def test_a_fork_bomb_ends_with_its_command():
    ran, after = shell("namespaces", f"{FORK_FOREVER}\nwait", "echo fine", timeout_s=2.0)
    assert after.output == "fine\n"
