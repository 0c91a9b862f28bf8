"""What a session takes from a command: collected files and calls, all of which the command can forge."""

import asyncio
import os

import pytest

from hbench.engines.jail.inside.calls import MOST_OPEN, Calls
from tests.engines.jail.lab import CONFINED, loop, shell, workspace

pytestmark = pytest.mark.attack

CONFINED_ONLY = pytest.mark.parametrize("sandbox", CONFINED)
CANARY = "canary-91d2"


@pytest.fixture
def secret(tmp_path):
    """A file outside of the workspace."""
    (tmp_path / "rows.jsonl").write_text(CANARY)
    return tmp_path / "rows.jsonl"


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
def test_only_regular_files_are_collected(sandbox, secret, tried):
    async def go(command):
        async with workspace(sandbox) as made:
            await made.execute(command, 60, 1000)
            return await made.collect(["*"], 10_000)

    for what, command in COLLECT.items():
        tried(what)
        found = loop().run_until_complete(go(command.format(secret)))
        assert set(found) <= {"a"} and not any(found.values()), what


@pytest.mark.control
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
            async with asyncio.timeout(30):
                while len(heard) < 16:  # a call that is taken is heard a little later; a seventeenth shows in what is told below
                    await asyncio.sleep(0.01)
            over.set()
            await flooding
            return await made.execute("cat [0-9]* | sort | uniq -c; agent after", 60, 1000)

    after = loop().run_until_complete(go())
    told = [line.split(maxsplit=1) for line in after.output.splitlines()]
    assert told == [["8", "agent: more than 16 calls at once"], ["16", "answered"], ["answered"]]


TOGETHER = """
import json, os
os.umask(0)
os.chdir(os.environ['CALLS'])
names = [f'{n:016x}' for n in range(24)]
for name in names:
    open(name, 'w').write('{"name": "agent", "argv": [], "stdin": ""}')
    os.mkfifo(name + '.answer')
answers = [os.open(name + '.answer', os.O_RDWR) for name in names]
os.write(os.open('bell', os.O_WRONLY), ''.join(name + '\\n' for name in names).encode())
said = [json.loads(os.read(answer, 1000))['text'] for answer in answers]
print(said.count('heard'), sum('at once' in text for text in said))
"""


@CONFINED_ONLY
def test_of_calls_that_ring_together_as_many_are_heard_as_of_others(sandbox):
    """They were counted together before the first was let in: all of them were told of too many."""

    async def called(name, argv, stdin):
        return "heard"

    (ran,) = shell(sandbox, "python3 together.py", files={"together.py": TOGETHER.encode()}, commands=("agent",), called=called)
    assert ran.output == "16 8\n"


def test_answers_that_nobody_reads_take_no_descriptor_without_end(tmp_path):
    """A session without descriptors could start no command, and that was an error of the step."""
    calls, readers = Calls(str(tmp_path / "calls")), []
    for number in range(MOST_OPEN + 20):
        name = tmp_path / "calls" / f"{number:016x}"
        name.write_text('{"name": "agent", "argv": [], "stdin": ""}')
        os.mkfifo(f"{name}.answer")
        readers.append(os.open(f"{name}.answer", os.O_RDWR))
        os.write(calls.bell, f"{name.name}\n".encode())
    assert len(calls.take()) == MOST_OPEN
    calls.answered(next(iter(calls.waiting)))
    os.write(calls.bell, f"{MOST_OPEN + 1:016x}\n".encode())
    assert len(calls.take()) == 1
    calls.close()
    for reader in readers:
        os.close(reader)


SPOIL = {
    "the next folders are taken": "mkdir $(seq -f $CALLS/../%g 50)",
    "links lie in their places": "for n in $(seq 50); do ln -s /etc $CALLS/../$n; done",
    "no file has room": "cd $CALLS; seq 5000 | xargs touch 2>&1 | tail -n 1",
}


@CONFINED_ONLY
@pytest.mark.parametrize("how", SPOIL)
def test_who_spoils_the_place_of_calls_loses_calls_and_nothing_else(sandbox, how):
    """It was an error of the step: one student could end a run, and every next try of it."""

    async def called(name, argv, stdin):
        return "heard"

    _, after = shell(sandbox, SPOIL[how], "echo fine; agent x", commands=("agent",), called=called)
    assert after.output.startswith("fine\n")  # where calls lie on disk, more files than may be are an end of its own
