"""Harnesses that look for what they must not see: files, gold, keys, environment, processes, earlier questions.

Every attack has its control: the same code in the sandbox "none" finds what it looks for.
"""

import os
import subprocess
import sys

import pytest

from tests.engines.jail.lab import CONFINED, attack, body, run, said, start_anew

CONFINED_ONLY = pytest.mark.parametrize("sandbox", CONFINED)
pytestmark = pytest.mark.attack
CANARY = "canary-5f1c"


def found(outcome) -> bool:
    return CANARY in repr(outcome)


READ_FILE = body("return open(question).read()")
WALK = body(
    """
import os
for folder, _, files in os.walk(question):
    for name in files:
        try:
            text = open(os.path.join(folder, name)).read()
        except (OSError, ValueError):
            continue
        if 'canary-5f1' + 'c' in text:
            return text
return 'nothing'
"""
)


@pytest.fixture
def secret(tmp_path):
    """A results folder with gold in it."""
    folder = tmp_path / "results" / "steps"
    folder.mkdir(parents=True)
    (folder / "rows.jsonl").write_text(CANARY)
    return folder


@CONFINED_ONLY
def test_the_results_folder_cannot_be_read(sandbox, secret):
    assert not found(attack(sandbox, READ_FILE, question=str(secret / "rows.jsonl")))
    assert not found(attack(sandbox, WALK, question=str(secret)))


@pytest.mark.control
def test_control_the_results_folder_could_be_read(secret):
    assert found(attack("none", READ_FILE, question=str(secret / "rows.jsonl")))
    assert found(attack("none", WALK, question=str(secret)))


SYSTEM = "/etc/passwd /etc/shadow /proc/self/environ /proc/1/cmdline /proc/self/mem /root /home /sys".split()


@CONFINED_ONLY
@pytest.mark.parametrize("path", SYSTEM)
def test_system_files_cannot_be_read(sandbox, path):
    code = "import os\nif os.path.isdir(question): return str(os.listdir(question))\nreturn str(open(question).read(9))"
    outcome = attack(sandbox, body(code), question=path)
    empty_parent = path == "/root" and outcome.answer is not None and CANARY not in outcome.answer
    assert outcome.failure is not None or empty_parent


@pytest.mark.control
def test_control_system_files_could_be_read():
    assert attack("none", body("return open('/etc/passwd').read(4)")).answer == "root"
    assert attack("none", body("return open('/proc/self/environ').read(4)")).completed


ENVIRONMENT = body("import os; return repr(dict(os.environ))")


@CONFINED_ONLY
def test_no_key_of_the_environment_is_seen(sandbox, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    start_anew()
    assert attack(sandbox, ENVIRONMENT).answer == "{}"


@pytest.mark.control
def test_control_a_plain_child_process_would_see_the_key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    code = f"{ENVIRONMENT}\nprint(run('', None))"
    assert CANARY in subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout


DRIVERS_MEMORY = body(
    """
import re
pid, needle = question.split()
for line in open(f'/proc/{pid}/maps'):
    found = re.match(r'(\\w+)-(\\w+) rw', line)
    if found:
        start, end = (int(x, 16) for x in found.groups())
        with open(f'/proc/{pid}/mem', 'rb', buffering=0) as memory:
            try:
                memory.seek(start)
                if needle[::-1].encode() in memory.read(min(end - start, 1 << 28)):
                    return 'gold: ' + needle[::-1]
            except (OSError, ValueError, OverflowError):
                pass
return 'nothing'
"""
)


@CONFINED_ONLY
def test_the_gold_in_the_drivers_memory_cannot_be_read(sandbox):
    gold = "".join(["gold-", "7a", "31"]) * 3
    assert attack(sandbox, DRIVERS_MEMORY, question=f"{os.getpid()} {gold[::-1]}").answer is None


@pytest.mark.control
def test_control_the_gold_in_the_drivers_memory_could_be_read():
    gold = "".join(["gold-", "7a", "31"]) * 3
    assert attack("none", DRIVERS_MEMORY, question=f"{os.getpid()} {gold[::-1]}").answer == "gold: " + gold


LEAVE_BEHIND = {
    "a module's attribute": (
        "import math; math.seen = 'canary-5f1c'; return 'x'",
        "import math; return getattr(math, 'seen', '')",
    ),
    "a builtin": (
        "import builtins; builtins.seen = 'canary-5f1c'; return 'x'",
        "import builtins; return getattr(builtins, 'seen', '')",
    ),
    "a loaded module": (
        "import sys; sys.modules['seen'] = sys; return 'x'",
        "import sys; return 'canary-5f1c' if 'seen' in sys.modules else ''",
    ),
    "the environment": (
        "import os; os.environ['SEEN'] = 'canary-5f1c'; os.putenv('SEEN', 'x'); return 'x'",
        "import os; return os.environ.get('SEEN', '')",
    ),
    "the working folder": (
        "import os; os.chdir('/usr'); return 'x'",
        "import os; return 'canary-5f1c' if os.getcwd() == '/usr' else ''",
    ),
    "the mask of new files": (
        "import os; os.umask(0o123); return 'x'",
        "import os; return 'canary-5f1c' if os.umask(0) == 0o123 else ''",
    ),
    "a handled signal": (
        "import signal; signal.signal(signal.SIGUSR1, signal.SIG_IGN); return 'x'",
        "import signal; return 'canary-5f1c' if signal.getsignal(signal.SIGUSR1) == signal.SIG_IGN else ''",
    ),
    "a limit": (
        "import resource; resource.setrlimit(resource.RLIMIT_STACK, (77777, 77777)); return 'x'",
        "import resource; return 'canary-5f1c' if resource.getrlimit(resource.RLIMIT_STACK)[0] == 77777 else ''",
    ),
    "where random numbers stand": (
        "import random; random.seed('left'); return 'x'",
        "import random; return 'canary-5f1c' if random.random() == random.Random('left').random() else ''",
    ),
    "an open descriptor": (
        "import os; os.dup2(os.pipe()[0], 50); return 'x'",
        "import os\ntry:\n    os.fstat(50)\n    return 'canary-5f1c'\nexcept OSError:\n    return ''",
    ),
}


@pytest.mark.parametrize("sandbox", [*CONFINED, "none"])
@pytest.mark.parametrize("where", LEAVE_BEHIND)
def test_nothing_stays_in_memory_for_the_next_question(sandbox, where):
    """A fork a question: this holds without confinement too. The control, below: the same code in one process."""
    leave, look = LEAVE_BEHIND[where]
    first, second = run(sandbox, body(leave), body(look))
    assert first.completed and not found(second)


@pytest.mark.parametrize("where", LEAVE_BEHIND)
@pytest.mark.control
def test_control_in_one_process_the_next_question_would_see_it(where):
    leave, look = (body(code).replace("run", name, 1) for name, code in zip("ab", LEAVE_BEHIND[where], strict=True))
    code = f"{leave}\n{look}\na(0, 0); print(b(0, 0))"
    assert CANARY in subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout


PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/", "/jail", "/home", "/root", "/run", ".")
WRITE = """
import os
done = []
for place in question.split(','):
    try:
        with open(os.path.join(place, 'hbench-left-behind'), 'w') as file:
            file.write('canary-5f1c')
        done.append(place)
    except OSError:
        pass
return ' '.join(done)"""


@CONFINED_ONLY
def test_no_file_can_be_left_anywhere(sandbox, tmp_path):
    outcome = attack(sandbox, body(WRITE), question=",".join([*PLACES, str(tmp_path), os.getcwd()]))
    assert outcome.answer == "" and not os.path.exists("/tmp/hbench-left-behind")


@pytest.mark.control
def test_control_a_file_could_be_left(tmp_path):
    look = body("return open(question + '/hbench-left-behind').read()")
    first, second = run("none", body(WRITE), look, question=str(tmp_path))
    assert first.answer == str(tmp_path) and found(second)


CHANGES = [
    "os.chmod(question, 0o777)",
    "os.utime(question, (1, 1))",
    "os.truncate(question, 0)",
    "os.mkfifo(question + 'x')",
    "os.mkdir(question + 'x')",
    "os.symlink('/', question + 'x')",
    "os.rename(question, question + 'x')",
    "os.unlink(question)",
]


@CONFINED_ONLY
@pytest.mark.parametrize("how", CHANGES)
def test_no_file_can_be_changed(sandbox, how, secret):
    file = secret / "rows.jsonl"
    before = file.stat()
    assert said(attack(sandbox, body(f"import os; {how}; return 'done'"), question=str(file))) == ("harness", "error")
    after = file.stat()
    assert (before.st_mode, before.st_mtime_ns, before.st_size) == (after.st_mode, after.st_mtime_ns, after.st_size)
    assert os.listdir(secret) == ["rows.jsonl"]


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.control
def test_control_files_could_be_changed(how, secret):
    outcome = attack("none", body(f"import os; {how}; return 'done'"), question=str(secret / "rows.jsonl"))
    assert outcome.answer == "done"
