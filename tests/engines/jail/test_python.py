"""python(): what it gives, and that nothing it starts outlives or leaves it."""

import asyncio
import socket

import pytest

from hbench.engines.jail import Jails
from tests.engines.jail.lab import CONFINED, python, start_anew

ALL = pytest.mark.parametrize("sandbox", [*CONFINED, "none"])
CONFINED_ONLY = pytest.mark.parametrize("sandbox", CONFINED)


@ALL
def test_what_was_printed_comes_back(sandbox):
    code = "import sys\nprint('out')\nprint('err', file=sys.stderr)\nprint(__name__, len(sys.argv), end='')"
    assert python(sandbox, code) == [{"stdout": "out\n__main__ 1", "stderr": "err\n", "ok": True}]


@ALL
@pytest.mark.parametrize(
    ("code", "ok", "stderr"),
    [
        ("1 / 0", False, '  File "script.py", line 1, in <module>\n    1 / 0\n    ~~^~~\nZeroDivisionError: division'),
        ("def f(:", False, "SyntaxError: invalid syntax"),
        ("import sys; sys.exit(3)", False, ""),
        ("import sys; sys.exit()", True, ""),
        ("exit(0)", True, ""),  # which Python's site module gives, and models like
        ("quit()", True, ""),
        ("raise SystemExit('why')", False, "why\n"),
        ("import os; os._exit(0)", True, ""),
        ("import os; os.abort()", False, ""),
        ("input()", False, "EOFError"),
        ("class E(BaseException):\n  def __str__(s): raise s\nraise E", False, "exception str() failed"),
        ("'\\ud800'.encode()", False, "UnicodeEncodeError"),
    ],
)
def test_how_code_ends(sandbox, code, ok, stderr):
    (result,) = python(sandbox, code)
    assert result["ok"] is ok and stderr in result["stderr"] and result["stdout"] == ""


@ALL
def test_output_before_the_time_limit_is_kept(sandbox):
    (result,) = python(sandbox, "print('so far')\nwhile True: pass", timeout_s=0.5)
    assert result == {"stdout": "so far\n", "stderr": "\nstopped after 0.5 s", "ok": False}


@ALL
def test_much_output_is_cut_and_blocks_nothing(sandbox):
    (result,) = python(sandbox, "for _ in range(3000): print('x' * 1000)", output_chars=500)
    assert result["ok"] and len(result["stdout"]) == 500


@ALL
@pytest.mark.attack
def test_memory_is_limited(sandbox):
    (result,) = python(sandbox, "x = bytearray(400 << 20)", memory_mb=200)
    assert not result["ok"] and "MemoryError" in result["stderr"]


def test_each_call_has_a_folder_of_its_own():
    write = "open('kept', 'w').write('a'); import tempfile; print(len(tempfile.mkdtemp()) > 3, open('kept').read())"
    first, second = python("namespaces", write, "import os; print(os.listdir('.'), os.listdir('/tmp'))")
    assert first["stdout"] == "True a\n" and second["stdout"] == "[] []\n"


@pytest.mark.attack
def test_the_folder_is_small_and_the_rest_is_read_only():
    fill = "f = open('big', 'wb')\nfor _ in range(200): f.write(bytes(1 << 20))"
    many = "for i in range(10000): open(str(i), 'w').close()"
    other = "open('/usr/lib/x', 'w')"
    filled, files, elsewhere = python("namespaces", fill, many, other)
    assert "OSError" in filled["stderr"] and "No space" in files["stderr"] and "Read-only" in elsewhere["stderr"]


@pytest.mark.attack
@pytest.mark.control
def test_control_with_room_it_has_memory_and_files_and_a_place_to_write(tmp_path):
    (held,) = python("auto", "x = bytearray(400 << 20); print(len(x))", memory_mb=1000)
    small = "open('big', 'wb').write(bytes(1 << 20))\nfor i in range(100): open(str(i), 'w').close()\nprint('small')"
    fork = "import os\nif os.fork() == 0: os._exit(0)\nos.wait(); print('forked')"
    (wrote,), elsewhere = python("namespaces", small), python("none", f"open('{tmp_path}/x', 'w'); print('there')", fork)
    told = [each["stdout"] for each in (held, wrote, *elsewhere)]
    assert told == [f"{400 << 20}\n", "small\n", "there\n", "forked\n"]


@pytest.mark.attack
@pytest.mark.control
def test_it_may_start_processes_a_few():
    code = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'print(6 * 7)'], check=True)"
    assert python("namespaces", code)[0]["stdout"] == "42\n"


BOMB = """
import os, time
n = 0
try:
    while True:
        if os.fork() == 0: time.sleep(60)
        n += 1
except OSError:
    print(n)
"""
FOREVER = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"


@pytest.mark.attack
def test_a_fork_bomb_is_bounded_and_the_next_call_works():
    bomb, forever, after = python("namespaces", BOMB, FOREVER, "print('fine')", timeout_s=2)
    assert bomb["ok"] and 0 < int(bomb["stdout"]) < 40
    assert not forever["ok"] and after["stdout"] == "fine\n"


@pytest.mark.attack
def test_under_landlock_it_computes_and_prints_only():
    fork, write, compute = python("landlock", "import os; os.fork()", "open('x', 'w')", "print(6 * 7)")
    assert "PermissionError" in fork["stderr"] and "PermissionError" in write["stderr"] and compute["stdout"] == "42\n"


@CONFINED_ONLY
@pytest.mark.parametrize(
    "code",
    [
        "open('/etc/passwd')",
        "import socket; socket.socket()",
        "import os; os.kill(1, 9); os.kill(os.getppid(), 9); raise SystemExit(1)",
        "import ctypes; c = ctypes.CDLL(None); exit(c.unshare(1 << 28) and c.mount(0, b'/', 0, 0, 0) and 1)",
        "import os; open(f'/proc/{os.getppid()}/environ')",
    ],
)
@pytest.mark.attack
def test_the_outside_is_out_of_reach(sandbox, code):
    attack, after = python(sandbox, code, "print('fine')")
    assert not attack["ok"] and after["stdout"] == "fine\n"


@pytest.mark.attack
@pytest.mark.control
def test_control_the_outside_could_be_reached():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        reach = f"import socket; socket.create_connection({server.getsockname()!r})"
        assert [r["ok"] for r in python("none", "open('/etc/passwd')", reach)] == [True, True]


@CONFINED_ONLY
@pytest.mark.attack
def test_its_environment_is_empty(sandbox, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "canary")
    start_anew()
    (result,) = python(sandbox, "import os; print(dict(os.environ))")
    assert result["stdout"] == "{}\n"


@CONFINED_ONLY
def test_calls_at_once_do_not_see_each_other(sandbox):
    """Twenty at once, each printing its own number many times: none mixes."""
    async def go():
        jails = Jails(sandbox, zygotes=1)
        codes = [f"import time\nfor _ in range(20): print({i}); time.sleep(0.01)" for i in range(20)]
        results = await asyncio.gather(*(jails.python(code, timeout_s=20) for code in codes))
        await jails.close()
        return results

    assert [set(r["stdout"].split()) for r in asyncio.run(go())] == [{str(i)} for i in range(20)]
