"""A workspace as a rollout uses it: files, commands, what they print, served programs, what is handed back."""

import asyncio

import pytest

from hbench.core.failure import HbenchError, LimitReached, StepError, ToolError
from hbench.core.trajectory import Ran
from hbench.engines.jail import command_run
from hbench.engines.jail.command_run import CommandRun
from hbench.engines.jail.pool import start_zygote
from tests.engines.jail.lab import CONFINED, jails_of, loop, shell, workspace

ALL = pytest.mark.parametrize("sandbox", [*CONFINED, "none"])


@ALL
def test_a_command_sees_the_files_and_leaves_others(sandbox):
    async def go():
        async with workspace(sandbox, {"in/names.txt": b"ada\nbob\n"}) as made:
            ran = await made.execute("sort -r in/names.txt | tee out.txt; wc -l < in/names.txt", 60, 1000)
            return ran, await made.collect(["out.*", "in/*"], 1000)

    ran, left = loop().run_until_complete(go())
    assert ran == Ran("bob\nada\n2\n", 0)
    assert left == {"in/names.txt": b"ada\nbob\n", "out.txt": b"bob\nada\n"}


@ALL
def test_each_command_has_a_fresh_shell_in_the_same_folder(sandbox):
    first, second = shell(sandbox, "x=1; cd /; export Y=2; echo $x > ~/kept", 'echo "$x$Y"; cat kept; [ "$PWD" = "$HOME" ]')
    assert (first.code, second) == (0, Ran("\n1\n", 0))


@ALL
@pytest.mark.parametrize(
    ("command", "said", "code"),
    [
        ("exit 3", "", 3),
        ("echo out; echo err >&2; echo out", "out\nerr\nout\n", 0),
        ("nosuchprogram", "nosuchprogram: command not found\n", 127),
        ("echo (", "syntax error near unexpected token", 2),
        ("kill -9 $$", "", 137),
        ("cat; echo $?", "0\n", 0),
        ("printf '\\377\\n'", "\ufffd\n", 0),
        ("", "", 0),
    ],
)
def test_a_command_ends_as_in_any_shell(sandbox, command, said, code):
    (ran,) = shell(sandbox, command)
    assert said in ran.output and ran.code == code


@ALL
@pytest.mark.parametrize("command", ["echo " + "x" * 200_000, "echo \0"])
def test_a_command_that_no_shell_can_be_given_is_told_so(sandbox, command):
    ran, after = shell(sandbox, command, "echo fine")
    assert ran.code == 126 and "cannot be run" in ran.output and after.output == "fine\n"


@ALL
def test_a_command_out_of_time_keeps_what_it_printed(sandbox):
    ran, after = shell(sandbox, "echo first; while true; do :; done", "echo fine", timeout_s=5.0)
    assert ran == Ran("first\n", None) and after == Ran("fine\n", 0)


@ALL
def test_several_commands_run_at_once(sandbox):
    """Each waits for the other's word, so one after the other they would never end."""

    speak = [f"mkfifo p{i}; until [ -p p{1 - i} ]; do :; done; echo {i} > p{i} & cat p{1 - i}; wait" for i in (0, 1)]

    async def go():
        async with workspace(sandbox) as made:
            return await asyncio.gather(*(made.execute(command, 60, 100) for command in speak))

    assert [ran.output for ran in loop().run_until_complete(go())] == ["1\n", "0\n"]


@ALL
def test_a_long_output_in_any_script_comes_whole(sandbox):
    """A character outside of ASCII takes up to twelve in a message; what was longer than the message ended the step."""
    (ran,) = shell(sandbox, "python3 -c 'print(chr(128512) * 300_000, end=str())'", output_chars=1_000_000)
    assert ran.output == chr(128512) * 300_000


@ALL
def test_the_middle_of_a_long_output_is_left_out_and_counted(sandbox):
    (ran,) = shell(sandbox, "seq 100000; echo end", output_chars=40)
    first, told, last = ran.output.partition("\n[... 588859 characters left out ...]\n")
    assert told and first == "1\n2\n3\n4\n5\n6\n7\n8\n9\n10" and last == "\n99998\n99999\n100000\nend\n"[-20:]


@ALL
def test_python_imports_what_the_domain_names_and_nothing_else(sandbox):
    code = "import importlib.util as u; print([n for n in ('attr', 'hbench', 'pydantic', 'pip') if u.find_spec(n)])"
    (ran,) = shell(sandbox, f'python3 -c "{code}"; python -c "print(1)"; command -v python3', packages=("attrs",))
    assert ran.output.startswith("['attr']\n1\n") and ran.output.endswith("/python/bin/python3\n")


@ALL
def test_a_package_brings_what_it_needs(sandbox):
    (ran,) = shell(sandbox, "python3 -c 'import jinja2; print(jinja2.Template(\"{{ 6 * 7 }}\").render())'", packages=("jinja2",))
    assert ran == Ran("42\n", 0)


def test_a_package_that_is_not_installed_is_told_by_name():
    with pytest.raises(HbenchError, match="no-such-package.*pip install"):
        shell("auto", "true", packages=("no-such-package",))


@ALL
def test_the_bank_can_be_read_and_run_and_not_written(sandbox):
    bank = {"tools/count.py": b"import sys; print(len(sys.stdin.read()))\n"}
    ran, wrote, after = shell(
        sandbox if sandbox != "none" else "auto",
        "echo hello | python3 $BANK/tools/count.py",
        "cd $BANK; echo x > y; echo x >> tools/count.py; rm -f tools/count.py; mv tools t; mkdir d; chmod 777 tools; true",
        "cd $BANK; find . | sort",
        read_only=bank,
    )
    assert ran == Ran("6\n", 0) and after.output == ".\n./tools\n./tools/count.py\n" and "annot" in wrote.output


async def spell(name, argv, stdin):
    if argv == ["refuse"]:
        raise ToolError("not today")
    return f"{name}|{'|'.join(argv)}|{stdin}"


@ALL
def test_a_served_program_is_answered_by_the_driver(sandbox):
    (ran,) = shell(
        sandbox,
        "agent 'two words' x < /dev/zero; printf 'from a pipe' | world; agent refuse; echo $?; agent $(seq 3) | tr '|' ' '",
        commands=("agent", "world"),
        called=spell,
    )
    assert ran == Ran("agent|two words|x|\nworld||from a pipe\nnot today\n1\nagent 1 2 3 \n", 0)


@ALL
def test_a_long_answer_comes_whole(sandbox):
    async def long(name, argv, stdin):
        return "é" * 500_000

    (ran,) = shell(sandbox, "agent x | wc -m", commands=("agent",), called=long)
    assert ran == Ran("500001\n", 0)


@ALL
def test_a_served_program_may_use_the_workspace_meanwhile(sandbox):
    """As an inner agent does: its own commands run while the outer one waits, with calls of their own."""

    async def go():
        async def agent(name, argv, stdin):
            async def inner(name, argv, stdin):
                raise ToolError("no further agent")

            ran = await made.execute("echo inner > made; agent again", 60, 1000, inner)
            return f"{ran.code}: {ran.output}"

        async with workspace(sandbox, commands=("agent",), called=agent) as made:
            return await made.execute("agent 'do it'; cat made", 60, 1000)

    assert loop().run_until_complete(go()) == Ran("1: no further agent\ninner\n", 0)


def test_time_in_a_call_is_not_the_commands_own():
    async def go():
        sent = []

        async def slow(name, argv, stdin):
            await asyncio.sleep(0.2)
            return "done"

        ran = CommandRun(1, 0.1, slow, sent.append)
        ran.take({"started": True})
        ran.take({"call": 7, "name": "agent", "argv": [], "stdin": ""})
        while not sent:
            await asyncio.sleep(0)
        while len(sent) < 2:  # its own time goes on, and is up
            await asyncio.sleep(0)
        ran.take({"ended": True, "output": "x", "code": 137})
        return sent, await ran.ended

    sent, ran = loop().run_until_complete(go())
    assert sent == [{"answer": {"number": 7, "command": 1, "text": "done", "code": 0}}, {"stop": 1}]
    assert ran == Ran("x", None)


def test_a_command_that_always_waits_for_an_answer_runs_out_of_time_all_the_same(monkeypatch):
    """One that kept calls under way, each begun before the last was answered, stopped its clock for as long as it liked."""
    monkeypatch.setattr(command_run, "MOST_WAITS", 2)

    async def go():
        stopped = asyncio.Event()

        async def never(name, argv, stdin):
            await asyncio.sleep(600)

        ran = CommandRun(1, 0.05, never, lambda said: stopped.set() if "stop" in said else None)
        ran.take({"started": True})
        for number in range(2):
            ran.take({"call": number, "name": "agent", "argv": [], "stdin": ""})
        await asyncio.sleep(0.2)
        waits = not stopped.is_set()
        ran.take({"call": 2, "name": "agent", "argv": [], "stdin": ""})
        await asyncio.wait_for(stopped.wait(), 60)
        ran.close()
        return waits

    assert loop().run_until_complete(go())


@ALL
def test_a_service_that_is_down_is_an_error_of_the_step(sandbox):
    async def down(name, argv, stdin):
        raise StepError("the model is down")

    with pytest.raises(StepError, match="the model is down"):
        shell(sandbox, "agent x", commands=("agent",), called=down)


@ALL
def test_when_a_program_that_asked_is_gone_its_call_is_given_up(sandbox):
    async def go():
        given_up = asyncio.get_running_loop().create_future()

        async def never(name, argv, stdin):
            asked.set()
            try:
                await asyncio.Event().wait()
            finally:
                given_up.set_result(True)

        asked = asyncio.Event()
        async with workspace(sandbox, commands=("agent",), called=never) as made:
            command = "agent x & until [ -e go ]; do :; done; kill -9 $!; echo killed"
            running = asyncio.ensure_future(made.execute(command, 60, 1000))
            await asked.wait()
            await made.execute(": > go", 60, 100)
            return await given_up, await running

    gone, ran = loop().run_until_complete(go())
    assert gone and ran.output.endswith("killed\n")


@ALL
def test_too_much_to_collect_is_a_limit(sandbox):
    async def go():
        async with workspace(sandbox) as made:
            await made.execute("head -c 600000 /dev/zero > a; head -c 600000 /dev/zero > b; truncate -s 20M c", 60, 100)
            with pytest.raises(LimitReached, match="more than 1000000 bytes"):
                await made.collect(["*"], 1_000_000)
            return await made.collect(["[ab]"], 1_200_000)

    assert {path: len(content) for path, content in loop().run_until_complete(go()).items()} == {"a": 600_000, "b": 600_000}


def test_files_that_do_not_fit_are_an_error_of_the_step():
    with pytest.raises(StepError, match="cannot be laid out.*No space"):
        shell("namespaces", "true", files={"big": bytes(3 << 20)}, disk_mb=2)


@pytest.mark.parametrize("path", ["/etc/x", "../x", "a/../../x", "", "a\0b"])
def test_a_path_that_leaves_the_workspace_is_a_mistake_of_the_caller(path):
    with pytest.raises(ValueError, match="not a path"):
        shell("auto", "true", files={path: b""})


def test_what_is_closed_runs_no_more_and_closes_twice():
    async def go():
        async with workspace("auto") as made:
            await made.close()
            with pytest.raises(StepError, match="closed"):
                await made.execute("true", 60, 100)

    loop().run_until_complete(go())


def test_one_that_was_never_opened_can_be_closed():
    loop().run_until_complete(_close_unopened())


async def _close_unopened():
    await (await jails_of("auto").workspace()).close()


def test_packages_that_the_workspaces_own_tmp_would_cover_are_told():
    """In a clone under /tmp a student was told that no openpyxl is there."""

    async def go():
        with pytest.raises(HbenchError, match="/tmp/venv/openpyxl lies under /tmp"):
            await start_zygote("namespaces", "workspace", ["/tmp/venv/openpyxl"])

    loop().run_until_complete(go())
