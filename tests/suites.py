"""The suites `fault`, `attack` and `truth`: what was tried is counted, and told in one line each at the end of a run.

A test of a suite has its marker, and says by the fixture `tried` what it tries; one that says nothing counts once, under its
own name. A control, which shows that what an attack tries would work without what holds it, has the marker `control` too.
"""

from collections import Counter
from collections.abc import Callable, Iterator

import pytest

SUITES = {"fault": ("faults", "survived"), "attack": ("attacks", "contained"), "truth": ("claims", "checked")}
_TOLD = "tried in the suites"  # a property of a test's report: [[suite, how many], …]


@pytest.fixture
def tried(request: pytest.FixtureRequest) -> Iterator[Callable[[str], None]]:
    """Call it with the name of each fault, attack or claim, just before it is tried; a name counts once in a test."""
    names: dict[str, None] = {}
    yield lambda name: names.setdefault(name)
    request.node.stash[_NAMES] = list(names)


_NAMES = pytest.StashKey[list[str]]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    report = yield
    if call.when == "teardown":
        count = len(item.stash.get(_NAMES, [])) or 1
        suites = ["control"] if item.get_closest_marker("control") else [name for name in SUITES if item.get_closest_marker(name)]
        report.user_properties.append((_TOLD, [[name, count] for name in suites]))
    return report


def pytest_terminal_summary(terminalreporter) -> None:
    """One line a suite; a test that failed or was skipped is none of what came out well."""
    tried, well = Counter(), Counter()
    bad = {report.nodeid for sort in ("failed", "error", "skipped") for report in terminalreporter.getreports(sort)}
    for report in _ends(terminalreporter):
        for suite, count in dict(report.user_properties).get(_TOLD, []):
            tried[suite] += count
            well[suite] += count if report.nodeid not in bad else 0
    for suite, (things, how) in SUITES.items():
        if tried[suite]:
            controls = f" (controls: {well['control']} of {tried['control']})" if suite == "attack" and tried["control"] else ""
            terminalreporter.write_line(f"{things}: {tried[suite]} tried, {well[suite]} {how}{controls}")


def _ends(terminalreporter) -> list:
    """The last report of each test, however it came out."""
    return [report for reports in terminalreporter.stats.values() for report in reports if getattr(report, "when", "") == "teardown"]
