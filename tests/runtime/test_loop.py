"""The loop that model servers and jails share."""

import subprocess
import sys

SLOW = """
import asyncio, time
from hbench.runtime.loop import LoopThread

async def slow():
    time.sleep(1.5)
    await asyncio.sleep(10)

LoopThread().stop(slow(), 0.1)
time.sleep(1.5)
print("stopped")
"""


def test_a_service_that_does_not_close_in_time_is_left_without_a_word():
    """Python said "Task was destroyed but it is pending" at the end of a run whose jails took a second to end."""
    done = subprocess.run([sys.executable, "-c", SLOW], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("stopped\n", "")
