"""Harnesses that eat memory, disk, output and time, or forge and bloat what they send; each with its control."""

import subprocess
import sys

import pytest

from hbench.core.limits import Limits
from tests.engines.jail.lab import CONFINED, GOOD, QUICK, attack, body, run, said

pytestmark = pytest.mark.attack

CONFINED_ONLY = pytest.mark.parametrize("sandbox", CONFINED)

EAT = {
    "one block": "x = bytearray(400 << 20); return str(len(x))",
    "many objects": "x = [bytes(1 << 20) for _ in range(400)]; return str(sum(map(len, x)))",
    "shared pages": "import mmap; x = mmap.mmap(-1, 400 << 20); x[::4096] = b'x' * 102400; return str(len(x))",
}


@CONFINED_ONLY
@pytest.mark.parametrize("how", EAT)
def test_memory_is_limited(sandbox, how):
    outcome = attack(sandbox, body(EAT[how]), limits=Limits(memory_mb=200))
    assert said(outcome) == ("limits", "memory") or (how == "shared pages" and "memory" in outcome.failure.message)


@pytest.mark.parametrize("how", EAT)
@pytest.mark.control
def test_control_with_room_the_memory_could_be_had(how):
    assert attack("none", body(EAT[how]), limits=Limits(memory_mb=1000)).answer == str(400 << 20)


def test_memory_caught_and_held_is_still_limited():
    code = """
held = []
while True:
    try:
        held.append(bytearray(1 << 20))
    except BaseException:
        return str(len(held))"""
    assert 100 < int(attack("auto", body(code), limits=Limits(memory_mb=200)).answer) <= 200


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "import time\nwhile True: time.sleep(1)",
        "import signal, time\nfor n in {*signal.valid_signals()} - {9, 19, 32, 33}: signal.signal(n, signal.SIG_IGN)\n"
        "while True: time.sleep(1)",
        "while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass",
        "import re; return str(re.match('(a+)+$', 'a' * 60 + 'b'))",
        "return str(9 ** 9 ** 9)",
        "import os; os.close(3)\nwhile True: pass",
    ],
)
@CONFINED_ONLY
def test_a_harness_that_never_returns_is_ended(sandbox, code):
    assert said(attack(sandbox, body(code), limits=Limits(wall_s=0.7, cpu_s=5))) == ("limits", "timeout")


@pytest.mark.control
def test_control_one_that_takes_its_time_is_not_ended():
    code = "import time\nfor _ in range(4): time.sleep(0.2)\nreturn 'late'"
    assert attack("auto", body(code), limits=Limits(wall_s=60, cpu_s=5)).answer == "late"


@CONFINED_ONLY
def test_calls_are_counted_outside_whatever_is_caught(sandbox):
    code = "while True:\n    try:\n        tools.lm('x')\n    except BaseException:\n        pass"
    assert said(attack(sandbox, body(code), limits=Limits(calls=5))) == ("limits", "calls")


@pytest.mark.control
def test_control_the_same_loop_within_its_limit_ends_well():
    code = "for _ in range(5):\n    tools.lm('x')\nreturn 'done'"
    assert attack("auto", body(code), limits=Limits(calls=5)).answer == "done"


FLOOD = body("import sys\nfor _ in range(2000):\n    print('x' * 50_000)\nsys.stderr.write('y' * 10**7)\nreturn 'done'")


@CONFINED_ONLY
def test_output_is_bounded_and_never_blocks(sandbox):
    outcome = attack(sandbox, FLOOD)
    assert outcome.answer == "done" and len(outcome.output) <= QUICK.output_chars


@CONFINED_ONLY
def test_output_written_past_python_is_bounded_too(sandbox):
    code = "import os\ntry:\n    while True: os.write(1, b'z' * 4096)\nexcept BlockingIOError:\n    return 'full'"
    outcome = attack(sandbox, body(code))
    assert outcome.answer == "full" and len(outcome.output) <= QUICK.output_chars


@pytest.mark.control
def test_control_a_plain_child_process_gives_all_of_it():
    code = f"{FLOOD.replace('2000', '20')}\nrun('', None)"
    assert len(subprocess.run([sys.executable, "-c", code], capture_output=True).stdout) == 20 * 50_001


DISK = body(
    """
with open(question + '/big', 'wb') as file:
    for _ in range(50): file.write(bytes(1 << 20))
return 'written'"""
)


@CONFINED_ONLY
def test_no_disk_is_eaten(sandbox, tmp_path):
    assert said(attack(sandbox, DISK, question=str(tmp_path))) == ("harness", "error")


@pytest.mark.control
def test_control_disk_could_be_eaten(tmp_path):
    assert attack("none", DISK, question=str(tmp_path)).answer == "written"
    (tmp_path / "big").unlink()


DESCRIPTORS = body("import os\nheld = []\nwhile len(held) < 1000: held += os.pipe()\nreturn 'held'")


@CONFINED_ONLY
def test_descriptors_are_limited(sandbox):
    assert said(attack(sandbox, DESCRIPTORS)) == ("harness", "error")


@pytest.mark.control
def test_control_a_few_descriptors_can_be_held():
    assert attack("auto", DESCRIPTORS.replace("1000", "40")).answer == "held"


EQUAL_TO_ALL = """
class Yes(str):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __float__(self): return 1.0
    def strip(self, *_): return self
def run(question, tools):
    answer = Yes("whatever")
    assert answer == "42"
    return answer
"""


@CONFINED_ONLY
def test_an_answer_equal_to_everything_is_no_answer(sandbox):
    """The control is its own assert: inside, it does equal everything."""
    assert said(attack(sandbox, EQUAL_TO_ALL)) == ("harness", "bad_type")


FORGE = """
import json, os, struct
def run(question, tools):
    def send(value):
        text = json.dumps(value).encode()
        os.write(3, struct.pack('>I', len(text)) + text)
    for line in ({'grades': {'score': 1.0}}, {'score': 1.0}):
        print(json.dumps(line))
    send({'answer': 'forged'})
    send({'answer': 'forged again', 'completed': True})
    while True: pass
"""


@CONFINED_ONLY
def test_forged_results_are_at_most_ones_own_answer(sandbox):
    """A harness can send its answer by hand: that is what returning it does. It gives no grade."""
    outcome, after = run(sandbox, FORGE, GOOD)
    assert outcome.answer == "forged" and outcome.output.startswith('{"grades"') and after.answer == "fine"


SEND = """
import os, struct
def send(data):
    while data: data = data[os.write(3, data):]
def message(b):
    send(struct.pack('>I', len(b)) + b)
CALL = b'{"call":"lm","arguments":{"messages":[{"content":"hi"}]}}'
"""
MESSAGES = {
    "a gigabyte promised": ("send(struct.pack('>I', 1 << 30) + b'x' * 100)", ("limits", "message")),
    "seven megabytes": ("send(struct.pack('>I', 7 << 20) + b'x' * (7 << 20))", ("limits", "message")),
    "a long answer": ("return 'x' * 2_000_000", ("limits", "message")),
    "a long prompt": ("tools.lm('x' * 2_000_000)", ("limits", "message")),
    "ten thousand deep": ("message(b'{\"answer\":' + b'[' * 10000 + b']' * 10000 + b'}')", ("limits", "message")),
    "a hundred deep": ("message(b'{\"answer\":' + b'[' * 100 + b']' * 100 + b'}')", ("limits", "message")),
    "not UTF-8": ("send(struct.pack('>I', 4) + b'\\xff\\xfe\\x80\\x81')", ("harness", "protocol")),
    "not JSON": ("send(struct.pack('>I', 4) + b'nope')", ("harness", "protocol")),
    "NaN": ("b = b'{\"call\":\"lm\",\"arguments\":{\"t\":NaN}}'; message(b)", ("harness", "protocol")),
    "1e999": ("b = b'{\"call\":\"lm\",\"arguments\":{\"t\":1e999}}'; message(b)", ("harness", "protocol")),
    "a huge number": ("message(b'{\"call\":\"lm\",\"arguments\":{\"t\":%b}}' % (b'9' * 4000))", ("harness", "protocol")),
    "not an object": ("send(struct.pack('>I', 2) + b'[]')", ("harness", "protocol")),
    "an answer that is no text": ("b = b'{\"answer\":1}'; message(b); os._exit(0)", ("harness", "protocol")),
    "an unknown trouble": ("b = b'{\"trouble\":\"stepped on\"}'; message(b); os._exit(0)", ("harness", "protocol")),
    "a call with no arguments": ("b = b'{\"call\":\"lm\"}'; message(b)", ("harness", "protocol")),
    "an empty message, then ever more": ("while True: send(bytes(4) + b'x' * 10000)", ("harness", "protocol")),
    "a half message": ("send(struct.pack('>I', 100) + b'{'); os._exit(0)", ("harness", "exited")),
}  # fmt: skip


@CONFINED_ONLY
@pytest.mark.parametrize("what", MESSAGES)
def test_a_message_that_must_not_be_is_the_end(sandbox, what):
    code, failure = MESSAGES[what]
    assert said(attack(sandbox, SEND + body(code + "\nwhile True: pass"))) == failure


@pytest.mark.control
def test_control_a_message_written_by_hand_is_taken():
    assert "hi" in attack("auto", SEND + body("message(CALL)\nreturn str(os.read(3, 100)[4:])")).answer


@CONFINED_ONLY
def test_a_flood_of_calls_is_counted_not_stored(sandbox):
    code = "m = struct.pack('>I', len(CALL)) + CALL\nwhile True: send(m * 100)"
    assert said(attack(sandbox, SEND + body(code), limits=Limits(calls=20))) == ("limits", "calls")
