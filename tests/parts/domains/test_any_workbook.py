"""Whatever a student leaves as a workbook: it is graded, or fails by a name, in the same way every time, and tells no gold.

`make fuzz` goes on with new ones for as long as it is told; what it found stands in `test_sheet_cells.py`. The step's own
process is this one here; what takes too much of it is tried in the jail, in `test_hostile_workbook.py`.
"""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("openpyxl", reason="the extra `sheets` is not installed")

from hbench.core.digest import canonical_json
from hbench.core.failure import GradeFailure
from hbench.core.question import Question
from hbench.core.recalculation import FOLDER, UNCACHED
from hbench.parts.domains._sheet_areas import Area
from hbench.parts.domains._sheet_cells import Book, Unreadable
from tests.parts.domains.any_workbook import WORKBOOKS, good
from tests.parts.domains.sheet_tasks import graded
from tests.thorough import often

pytestmark = pytest.mark.attack

GOLD = "canary-91d2"
RIGHT = {"'Sheet1'!A1": 1.0}  # in each workbook while it is good
WRONG = {"'Sheet1'!A1": 1.0, "'Sheet1'!B1": GOLD}  # in none
AREAS = [Area("Sheet1", 1, 1, 1, 1), Area("Sheet1", 1, 1, 2, 1), Area("Sheet1", 1, 1, 8, 20), Area("other", 1, 1, 2, 1_048_576)]
AREAS += [Area(sheet, 1, 1, 8, 20) for sheet in ("Sheet2", "before")]  # of those that Excel has saved
GRADES = ({"score": 1.0, "soft": 1.0}, {"score": 0.0, "soft": 0.0})
PLACES = st.sampled_from(AREAS)
CELLS = st.sampled_from([RIGHT, WRONG])


def outcome(content: bytes, area: Area, cells: dict):
    """Grades, or (kind, message) of the failure; no other exception. A recalculated copy is there, and brings no values."""
    files = {"1_output.xlsx": content, FOLDER + "1_output.xlsx": content}
    try:
        return graded(Question.of("spreadsheet", "?", {"cases": [{"case": 1, "areas": [area.to_json()], "cells": cells}]}, "?"), files)
    except GradeFailure as failed:
        return failed.kind, failed.message


def read(content: bytes):
    try:
        book = Book(content)
        return book.cells([Area(sheet, 1, 1, 8, 20) for sheet in book.sheets])
    except Unreadable as bad:
        return str(bad)


@given(WORKBOOKS, PLACES, CELLS)
@settings(max_examples=often(20, 1500), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_workbook_is_graded_or_a_failure_by_name_and_always_the_same(content, area, cells):
    found, cells_read = outcome(content, area, cells), read(content)
    if isinstance(found, tuple):
        assert found[0] == UNCACHED and GOLD not in found[1]
    else:
        assert found in GRADES and (found != GRADES[0] or cells == RIGHT)
    assert canonical_json(cells_read) and (found, cells_read) == (outcome(content, area, cells), read(content))


@pytest.mark.control
def test_control_while_they_are_good_workbooks_are_read_and_right():
    for content in good():
        assert read(content)["'Sheet1'!A1"] == 1.0 and outcome(content, AREAS[0], RIGHT) == GRADES[0]
        assert outcome(content, AREAS[0], WRONG) == GRADES[1] and outcome(content, AREAS[1], WRONG)[0] == UNCACHED
