"""The tests of the shared cases, as tests/cases.yaml names them: they are claims, and a case's number finds its tests.

`pytest -k case-065` runs those of case 65. One that a suite of faults or attacks tries anyway is not tried again as a claim.
"""

from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
import yaml

TABLE = Path(__file__).with_name("cases.yaml")
COLLECTED: set[str] = set()  # the ids of the tests that this session has found


@cache
def table() -> dict[int, list[str]]:
    """The number of a case -> names of tests."""
    return yaml.safe_load(TABLE.read_text())


@cache
def entries() -> dict[str, list[tuple[str, int]]]:
    """The name of a test function -> (entry, case) of those entries of the table that name it."""
    found = defaultdict(list)
    for number, listed in table().items():
        for entry in listed:
            found[entry.partition("[")[0]].append((entry, number))
    return found


def names(entry: str, test: str) -> bool:
    """Whether the entry of the table stands for the test with this id."""
    return test == entry or test.startswith(entry if "[" in entry else entry + "[")


def pytest_itemcollected(item: pytest.Item) -> None:
    COLLECTED.add(item.nodeid)
    near = entries().get(item.nodeid.partition("[")[0], [])
    for number in {number for entry, number in near if names(entry, item.nodeid)}:
        item.extra_keyword_matches.add(f"case-{number:03}")
        if not any(item.get_closest_marker(suite) for suite in ("fault", "attack")):
            item.add_marker("truth")
