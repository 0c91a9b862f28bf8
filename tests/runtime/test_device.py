"""Who has the machine's device, and who waits."""

import threading
import time
from contextlib import ExitStack

import pytest

from hbench.runtime.device import Device


def going(use) -> tuple[threading.Thread, threading.Event]:
    """Uses the device in a thread of its own; the event is set once it has it."""
    has = threading.Event()

    def body():
        with use():
            has.set()

    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    return thread, has


def test_models_work_side_by_side():
    device = Device(lambda: None)
    with device.shared(), device.shared():
        pass


def test_a_training_waits_for_the_models_that_are_at_work():
    """It used to start beside them: twenty updates took ten minutes, and so did the rollouts."""
    device = Device(lambda: None)
    with device.shared():
        thread, has = going(device.alone)
        assert not has.wait(0.2)
    thread.join(5)
    assert has.is_set()


def test_a_training_that_waits_goes_before_those_who_come_later():
    device = Device(lambda: None)
    with ExitStack() as stack:
        stack.enter_context(device.shared())
        training, _ = going(device.alone)
        time.sleep(0.1)
        model, asked = going(device.shared)
        assert not asked.wait(0.2)
    training.join(5)
    model.join(5)
    assert asked.is_set()


def test_one_training_at_a_time():
    device = Device(lambda: None)
    with device.alone():
        thread, has = going(device.alone)
        assert not has.wait(0.2)
    thread.join(5)


def test_whoever_waits_hears_that_the_run_is_stopped_and_holds_up_nobody():
    def stopped():
        raise KeyboardInterrupt

    device = Device(stopped)
    with device.shared():
        with pytest.raises(KeyboardInterrupt), device.alone():
            pass
        with device.shared():
            pass


def handed_to() -> tuple[Device, list[set[str]]]:
    """A device, and who it was given to, one after another."""
    given: list[set[str]] = []
    return Device(lambda: None, lambda users: given.append(set(users))), given


def test_the_device_stays_where_it_is_until_somebody_else_asks():
    device, given = handed_to()
    for user in ("solver", "solver", "proposer", "solver"):
        with device.shared(user):
            pass
    assert given == [{"solver"}, {"proposer"}, {"solver"}]


def test_those_who_have_it_go_side_by_side_and_others_wait():
    device, given = handed_to()
    with device.shared("student", "reviewer"):
        with device.shared("student"), device.shared("reviewer"):
            pass
        thread, has = going(lambda: device.shared("evolver"))
        assert not has.wait(0.2)
        with device.shared("student"):
            pass
    thread.join(5)
    assert has.is_set() and given == [{"student", "reviewer"}, {"evolver"}]


def test_a_training_gets_the_device_beside_the_models_that_it_asks():
    device, given = handed_to()
    with device.shared("proposer"):
        pass
    with device.alone("solver"):
        pass
    with device.shared("solver"):  # still there
        pass
    assert given == [{"proposer"}, {"solver"}]


def test_nobody_begins_while_the_device_is_handed_over():
    leaving, left = threading.Event(), threading.Event()

    def hand_over(_):
        leaving.set()
        assert left.wait(5)

    device = Device(lambda: None, hand_over)
    first, has = going(lambda: device.shared("solver"))
    leaving.wait(5)
    second, other = going(lambda: device.shared("solver"))
    assert not has.is_set() and not other.wait(0.2)
    left.set()
    first.join(5)
    second.join(5)
    assert has.is_set() and other.is_set()


def test_a_server_that_does_not_leave_is_the_trouble_of_who_asked_and_of_nobody_else():
    troubles = [RuntimeError("it does not take /sleep")]

    def hand_over(_):
        if troubles:
            raise troubles.pop()

    device = Device(lambda: None, hand_over)
    with pytest.raises(RuntimeError), device.shared("solver"):
        pass
    with device.shared("solver"):
        pass
    with device.alone():
        pass
