"""Tests see no one's settings: no keys, no parts folder, a cache that they share."""

import gc
import os

pytest_plugins = ("tests.suites", "tests.shared_cases")

os.environ.pop("HBENCH_PARTS", None)
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


def pytest_collection_modifyitems(items: list) -> None:
    """Files that kill runs for minutes first, then others with slow tests: no process ends long after the rest.

    Before those that load torch come the jail's: what their attacks read is this process, and should be small.
    """
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path.name != "test_kill.py", "jail" not in item.path.parts, item.path not in slow))


def pytest_collection_finish() -> None:
    """What is loaded by now stays: trainers collect garbage at every turn, and would look through all of torch each time."""
    gc.collect()
    gc.freeze()
