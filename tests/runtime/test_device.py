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
