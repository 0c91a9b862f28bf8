"""Tests see no one's settings: no keys, no parts folder, a cache that they share."""

import os

os.environ.pop("HBENCH_PARTS", None)
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


def pytest_collection_modifyitems(items: list) -> None:
    """Files that kill runs for minutes first, then others with slow tests: no process ends long after the rest."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path.name != "test_kill.py", item.path not in slow))
