"""Commands that reach out of their workspace, stay behind, or fill the machine; each with its control.

Controls run the same command in the sandbox "none", where nothing is refused.
"""

import asyncio
import os
import socket
import subprocess
import sys

import psutil
import pytest

from tests.engines.jail.lab import CONFINED, loop, shell, start_anew, workspace

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
def test_gold_cannot_be_read(sandbox, secret):
    ran = shell(sandbox, *(command.format(secret) for command in READ))
    assert not any(CANARY in each.output for each in ran)


def test_control_gold_could_be_read(secret):
    ran = shell("none", *(command.format(secret) for command in READ))
    assert all(CANARY in each.output for each in ran)


SYSTEM = "/etc/passwd /etc/shadow /root /home /sys /var /proc/sys /proc/kcore /proc/meminfo /proc/{}/environ /proc/{}/mem".split()


@CONFINED_ONLY
@pytest.mark.parametrize("path", SYSTEM)
def test_the_system_cannot_be_read(sandbox, path):
    (ran,) = shell(sandbox, f"cd / ; (cat {path} || ls {path}/* || exit 9) 2>/dev/null".format(os.getpid(), os.getpid()))
    only_python = path == "/root" and not ran.output.replace("/root/.pyenv", "").strip("/\n")
    assert ran.code == 9 or only_python, ran


def test_control_the_system_could_be_read():
    assert "root" in shell("none", "cat /etc/passwd; cat /proc/meminfo")[0].output


@CONFINED_ONLY
def test_no_key_of_the_environment_is_seen(sandbox, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    start_anew()
    code = "import os; print(os.environ, open('/proc/self/environ').read())"
    ran = shell(sandbox, "env; set", f'python3 -c "{code}"', "cat /proc/*/environ | tr '\\0' '\\n'")
    assert not any(CANARY in each.output for each in ran)


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


def test_control_it_could_be_connected_to(listener):
    (ran,) = shell("none", f"python3 c.py '{listener}'", files={"c.py": CONNECT.encode()})
    assert ran.output == "connected\n"


def look_at_a_sibling(sandbox: str) -> tuple[str, bytes]:
    """What a second workspace's commands find of a first one's file, and what the first one then has."""

    async def go():
        async with workspace(sandbox, {"own.txt": CANARY.encode()}) as first, workspace(sandbox) as second:
            looks = [f"cat {first.folder}/own.txt", "grep -rs canary $HOME/../.. /tmp /proc/*/root", f"echo x > {first.folder}/own.txt"]
            found = [await second.execute(f"({look}) 2>/dev/null", 60, 10_000) for look in looks]
            return "".join(ran.output for ran in found), (await first.collect(["own.txt"], 100))["own.txt"]

    return loop().run_until_complete(go())


@CONFINED_ONLY
def test_another_workspace_can_be_neither_read_nor_written(sandbox):
    assert look_at_a_sibling(sandbox) == ("", CANARY.encode())


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


def test_control_somebody_outside_could_be_killed(stand_in):
    shell("none", f"kill -9 {stand_in.pid}")
    assert stand_in.wait(5) == -9


STAY = ["sleep 4{}1 &", "nohup sleep 4{}2 >/dev/null 2>&1 &", "(trap '' TERM HUP INT; sleep 4{}3 & sleep 4{}3) & disown"]
LEAVE = ["setsid sleep 4{}4 &", "python3 -c 'import os; os.fork() or os.setsid() or os.fork() or os.execlp(\"sleep\", \"sleep\", \"4{}5\")'"]


def staying(mark: str) -> list[psutil.Process]:
    """Processes that sleep for so long that nobody else does."""
    found = []
    for process in psutil.process_iter():
        try:
            found += [process] if process.name() == "sleep" and mark in process.cmdline()[-1] else []
        except psutil.Error:
            continue
    return found


@CONFINED_ONLY
def test_nothing_outlives_its_command(sandbox):
    mark = str(os.getpid())
    ran = shell(sandbox, *(f"{how.format(*[mark] * 2)}\necho started" for how in [*STAY, *LEAVE]))
    assert all(each.output.endswith("started\n") for each in ran) and staying(mark) == []


def test_control_a_plain_shells_processes_stay():
    mark = str(os.getpid())
    subprocess.run(["bash", "-c", STAY[0].format(mark) + "\n" + STAY[1].format(mark)])
    stayed = staying(mark)
    for process in stayed:
        process.kill()
    assert len(stayed) == 2


def test_processes_are_counted_for_each_command():
    bomb = "for i in $(seq 400); do sleep 600 & done; jobs | wc -l"
    ran, after = shell("namespaces", bomb, "echo fine", timeout_s=120)
    assert ran.code is None or ran.code != 0 or int(ran.output.split()[-1]) < 100, ran
    assert after.output == "fine\n"


FORK_FOREVER = ":(){ :|:& };:"


def test_a_fork_bomb_ends_with_its_command():
    ran, after = shell("namespaces", f"{FORK_FOREVER}\nwait", "echo fine", timeout_s=2.0)
    assert after.output == "fine\n"


EAT = "x = bytearray(400 << 20); print(len(x))"


@CONFINED_ONLY
def test_memory_is_limited(sandbox):
    (ran,) = shell(sandbox, f"python3 -c '{EAT}'")
    assert "MemoryError" in ran.output and ran.code == 1


@pytest.mark.parametrize("folder", ["$HOME", "/tmp", "/dev/shm"])
def test_the_disk_can_be_filled_for_oneself_alone(folder):
    commands = [f"head -c 40M /dev/zero > {folder}/big; ls -s {folder}", f"rm {folder}/big; echo fine > {folder}/x; cat {folder}/x"]
    ran, after = shell("namespaces", *commands)
    assert "No space left" in ran.output or "File size limit" in ran.output or ran.code != 0
    assert after.output == "fine\n"


def test_many_files_fill_it_too():
    ran, after = shell("namespaces", "seq 10000 | xargs touch", "rm -f 1*; echo fine > x; cat x", disk_mb=64)
    assert "No space left" in ran.output and after.output == "fine\n"


def test_on_disk_a_command_that_fills_it_is_ended():
    fill = "i=0; while true; do head -c 1M /dev/zero > f$i; i=$((i+1)); done"
    ran, after = shell("landlock", fill, "rm -f f*; echo fine > x; cat x", disk_mb=8)
    assert ran.code not in (0, None) and "no space left" in ran.output and after.output == "fine\n"


@CONFINED_ONLY
@pytest.mark.parametrize("flood", ["yes", "yes >&2", "cat /dev/zero", "while true; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done"])
def test_huge_output_is_held_to_its_size(sandbox, flood):
    before = psutil.Process().memory_info().rss
    ran, after = shell(sandbox, flood, "echo fine", output_chars=1000, timeout_s=5.0)
    assert 1000 < len(ran.output) < 1100 and "characters left out" in ran.output
    assert after.output == "fine\n" and psutil.Process().memory_info().rss - before < 50 << 20


COLLECT = {
    "a link": "ln -s {} out.txt",
    "a link to a folder": "ln -s $(dirname {}) out.txt",
    "a chain of links": "ln -s {} a; ln -s a out.txt",
    "a hard link": "ln {} out.txt",
    "a pipe": "mkfifo out.txt",
    "a folder": "mkdir out.txt",
    "a name that is no text": "touch \"$(printf 'out.txt\\377')\"",
    "a device": "mknod out.txt c 1 5",
}


@CONFINED_ONLY
def test_only_regular_files_are_collected(sandbox, secret):
    async def go(command):
        async with workspace(sandbox) as made:
            await made.execute(command, 60, 1000)
            return await made.collect(["*"], 10_000)

    for what, command in COLLECT.items():
        found = loop().run_until_complete(go(command.format(secret)))
        assert set(found) <= {"a"} and not any(found.values()), what


def test_control_a_regular_file_is_collected(secret):
    async def go():
        async with workspace("none") as made:
            await made.execute(f"cat {secret} > out.txt", 60, 100)
            return await made.collect(["*"], 10_000)

    assert loop().run_until_complete(go()) == {"out.txt": CANARY.encode()}


@CONFINED_ONLY
def test_deep_folders_and_closed_ones_are_no_trouble(sandbox):
    async def go():
        async with workspace(sandbox) as made:
            deep = "import os\nfor _ in range(1500):\n    os.mkdir('d'); os.chdir('d')\nopen('x', 'w')"
            await made.execute(f'python3 -c "{deep}"; mkdir -m 000 closed; touch kept; chmod 000 kept', 60, 1000)
            return await made.collect(["*"], 10_000)

    assert set(loop().run_until_complete(go())) <= {"kept", "d/" * 1500 + "x"}


FORGE = """
import json, os
os.umask(0)
os.chdir(os.environ['CALLS'])
bell = os.open('bell', os.O_WRONLY)
def ring(name, body=None, answer=True):
    if body is not None:
        open(name, 'wb').write(body)
    if answer:
        os.mkfifo(name + '.answer')
        os.open(name + '.answer', os.O_RDWR)
    os.write(bell, name.encode() + b'\\n')
os.write(bell, b'x' * 60000 + b'\\n' + b'\\n' * 1000 + b'../../etc/passwd\\n')
ring('0' * 16)
os.symlink('/etc/passwd', '1' * 16); ring('1' * 16)
ring('2' * 16, b'x' * (1 << 20))
ring('3' * 16, b'[' * 100000)
ring('4' * 16, b'{"name": "agent", "argv": [1], "stdin": ""}')
ring('5' * 16, b'{"name": "agent", "argv": [], "stdin": ""}', answer=False)
os.mkfifo('6' * 16); ring('6' * 16)
ring('7' * 16, b'{"name": "agent", "argv": ["\\\\ud800"], "stdin": ""}')
ring('8' * 16, b'{"name": "unserved", "argv": [], "stdin": ""}')
print(os.popen('agent last').read())
"""


@CONFINED_ONLY
def test_forged_calls_are_dropped(sandbox):
    heard = []

    async def called(name, argv, stdin):
        heard.append((name, argv, stdin))
        return "heard"

    forging, after = shell(
        sandbox, "python3 forge.py", "agent after", files={"forge.py": FORGE.encode()}, commands=("agent",), called=called
    )
    assert heard == [("agent", ["?"], ""), ("agent", ["last"], ""), ("agent", ["after"], "")], forging
    assert forging.output.strip() == "heard" and after.output == "heard\n"


@CONFINED_ONLY
def test_a_flood_of_calls_is_refused_beyond_a_few(sandbox):
    async def go():
        over, heard = asyncio.Event(), []

        async def called(name, argv, stdin):
            heard.append(argv[0])
            await over.wait()
            return "answered"

        async with workspace(sandbox, commands=("agent",), called=called) as made:
            flood = made.execute("for i in $(seq 24); do agent $i > $i 2>&1 & done; wait", 120, 1000)
            flooding = asyncio.ensure_future(flood)
            await made.execute("until [ \"$(cat [0-9]* 2>/dev/null | grep -c 'at once')\" = 8 ]; do :; done", 120, 1000)
            at_once = len(heard)
            over.set()
            await flooding
            return at_once, await made.execute("cat [0-9]* | sort | uniq -c; agent after", 60, 1000)

    at_once, after = loop().run_until_complete(go())
    told = [line.split(maxsplit=1) for line in after.output.splitlines()]
    assert at_once == 16 and told == [["8", "agent: more than 16 calls at once"], ["16", "answered"], ["answered"]]
