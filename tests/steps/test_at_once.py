"""Work at once: in order, trouble in its place, nobody waits for what is late."""

import threading
import time

import pytest

from hbench.core.failure import StepError
from hbench.steps._at_once import at_once


def fails(message):
    raise StepError(message)


def test_results_stand_in_order_with_trouble_in_its_place():
    found = at_once([lambda: time.sleep(0.1) or 1, lambda: fails("down"), lambda: 3])
    assert found[0] == 1 and str(found[1]) == "down" and found[2] == 3


def test_everything_runs_at_the_same_time():
    meet = threading.Barrier(8, timeout=5)
    assert len(at_once([meet.wait] * 8)) == 8


def test_more_works_than_threads_all_come_to_their_end():
    assert at_once([lambda i=i: i for i in range(50)], most=3) == list(range(50))


def test_what_is_late_is_given_up_also_when_it_never_began():
    began = time.monotonic()
    found = at_once([lambda: time.sleep(3)] * 3 + [lambda: 1], limit_s=0.2, most=2)
    assert time.monotonic() - began < 1 and all("no end within 0.2 s" in str(one) for one in found)


def test_a_bug_or_a_stop_is_raised_at_once():
    class Stop(BaseException):
        pass

    def stop():
        raise Stop

    began = time.monotonic()
    with pytest.raises(Stop):
        at_once([lambda: time.sleep(3), stop])
    assert time.monotonic() - began < 1


def test_nothing_to_do_gives_nothing():
    assert at_once([]) == []
