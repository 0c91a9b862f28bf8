"""The jail as an ordinary user, when the tests run as root. (Run by an ordinary user, all other tests say it.)"""

import json
import os
import subprocess
import sys

import pytest

from hbench.engines.jail.bubblewrap import parents_of
from hbench.engines.jail.recipe import bwraps
from tests.where import REPO

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="not root: every other test already runs as an ordinary user")
NOBODY = 65534

LOOK = """
import asyncio, json, os, sys
os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
sys.path[:0] = [REPO]
from hbench.engines.jail import HarnessJob, Jails, describe
BOMB = "import os, time\\nfor n in range(200):\\n    try:\\n        if os.fork() == 0: time.sleep(9)\\n"
BOMB += "    except OSError: break\\nprint(n)"
BASH = "for i in $(seq 200); do sleep 60 & done; jobs | wc -l"
async def go():
    jails = Jails(sys.argv[1], zygotes=1)
    async def answered(name, argv, stdin):
        return "answered " + argv[0]
    async def shell(*commands):
        made = await jails.workspace()
        await made.open({"names": b"b\\na\\n"}, {"x": b"bank"}, ("agent",), answered)
        ran = [await made.execute(command, 60, 2000) for command in commands]
        left = await made.collect(["out"], 100)
        await made.close()
        return [*([each.code, each.output] for each in ran), {path: text.decode() for path, text in left.items()}]
    async def run(source):
        outcome = await jails.run(HarnessJob(source, "?"))
        return outcome.answer or outcome.failure.kind
    found = {
        "good": await run("def run(q, t): return 'fine'"),
        "fork": await run("def run(q, t):\\n    import os\\n    return str(os.fork())"),
        "socket": await run("def run(q, t):\\n    import socket\\n    return str(socket.socket())"),
        "file": await run("def run(q, t): return open('/etc/passwd').read()"),
        "python": await jails.python("print(6 * 7)"),
        "folder": await jails.python("open('x', 'w').write('y'); print(open('x').read())"),
        "processes": await jails.python("import os; print(os.fork() >= 0)"),
        "bomb": await jails.python(BOMB),
        "shell": await shell("sort names > out; agent x; cat $BANK/x; echo y > $BANK/x", "cat /dev/fd/0 <(echo 1) && chmod +x out", BASH),
        "uid": os.getuid(),
        "kind": describe(sys.argv[1]).kind,
    }
    await jails.close()
    return found
print(json.dumps(asyncio.run(go())))
""".replace("REPO", repr(str(REPO)))


def look(sandbox: str) -> dict:
    """What an ordinary user finds. Python may lie where only root can go: it is laid down once more."""
    bwrap = bwraps()[0]
    words = [bwrap, "--dev-bind", "/", "/"]
    for place in dict.fromkeys([sys.base_prefix, sys.prefix, str(REPO)]):
        if closed := _closed_parent(place):
            words += ["--perms", "0755", "--tmpfs", closed]
            for folder in parents_of([place]):
                words += ["--perms", "0755", "--dir", folder] if folder.startswith(closed + "/") else []
            words += ["--ro-bind", place, place]
    words += [sys.executable, "-c", LOOK, sandbox]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, cwd="/")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _closed_parent(place: str) -> str:
    parents = parents_of([place])
    return next((p for p in parents if not os.stat(p).st_mode & 0o001), "")


def test_with_namespaces():
    found = look("namespaces")
    assert (found["uid"], found["kind"], found["good"]) == (NOBODY, "namespaces", "fine")
    assert found["fork"] == found["socket"] == found["file"] == "error"
    assert found["python"]["stdout"] == "42\n" and found["folder"]["stdout"] == "y\n"
    assert "True" in found["processes"]["stdout"]
    assert 0 < int(found["bomb"]["stdout"]) < 40
    work, processes, many, left = found["shell"]
    assert work[1].startswith("answered x\nbankbash:") and left == {"out": "a\nb\n"}
    assert processes == [0, "1\n"] and "Resource temporarily unavailable" in many[1]


def test_with_landlock():
    found = look("landlock")
    assert (found["uid"], found["kind"], found["good"]) == (NOBODY, "landlock", "fine")
    assert found["fork"] == found["socket"] == found["file"] == "error"
    assert found["python"]["stdout"] == "42\n" and not found["folder"]["ok"] and not found["processes"]["ok"]
    work, _, _, left = found["shell"]
    assert work[1].startswith("answered x\nbankbash:") and left == {"out": "a\nb\n"}
