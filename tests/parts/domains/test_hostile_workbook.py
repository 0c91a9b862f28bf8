"""Workbooks that take more of whoever reads them than they may: in the grader jail, where they cost their own grading alone."""

from io import BytesIO

import pytest

pytest.importorskip("openpyxl", reason="the extra `sheets` is not installed")

from openpyxl import load_workbook

from hbench.core.failure import Failure
from hbench.core.question import Question
from hbench.core.trajectory import Work
from hbench.engines.jail.grade_run import GradeLimits
from tests.engines.jail.lab import jails_of, loop
from tests.parts.domains.sheet_tasks import AFTER, spreadsheet
from tests.parts.domains.workbooks import made, with_part, written
from tests.thorough import often

pytestmark = pytest.mark.attack

GOLD = "canary-91d2"
SMALL, PATIENT = GradeLimits(often(0.7, 5.0), 300), GradeLimits(60.0)
SHEET = "xl/worksheets/sheet1.xml"


def behind_the_cells(xml: str) -> bytes:
    return with_part(made({"A1": 2}), SHEET, lambda text: text.replace("</sheetData>", f"</sheetData>{xml}"))


def laughs(text: str) -> str:
    """Ten of ten of ten …: a thousand million characters in one cell."""
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    return f'<!DOCTYPE x [<!ENTITY e0 "ha">{entities}]>' + text.replace("<sheetData />", "<sheetData></sheetData>").replace(
        "<sheetData>", '<sheetData><row r="1"><c r="B1" t="inlineStr"><is><t>&e9;</t></is></c></row>'
    )


HOSTILE = {
    "one merged cell over everything": behind_the_cells('<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>'),
    "a link on every cell": behind_the_cells('<hyperlinks><hyperlink ref="A1:XFD1048576"/></hyperlinks>'),
    "a thousand million characters": with_part(made(), SHEET, laughs),
    "a hundred thousand elements deep": written(f'<row r="1">{"<c>" * 100_000}{"</c>" * 100_000}</row>'),
    "formulas that are copied without end": written(
        f'<row r="1"><c r="A1"><f t="shared" si="1" ref="A1:A9999">{"B1+" * 20_000}C1</f></c></row>'
        + "".join(f'<row r="{n}"><c r="A{n}"><f t="shared" si="1"/></c></row>' for n in range(2, 9999))
    ),
}


def graded(limits: GradeLimits, *workbooks: bytes) -> list:
    case = {"case": 1, "areas": [["Sheet1", 2, 1, 2, 1]], "cells": {"'Sheet1'!B1": 4.0}}
    other = {"case": 2, "areas": [["Sheet1", 9, 9, 9, 9]], "cells": {"'Sheet1'!I9": GOLD}}
    asked, domain = Question.of("spreadsheet", "?", {"cases": [case, other]}, "?"), spreadsheet(source="authored").to_json()
    works = [Work("Done.", {"1_output.xlsx": content}) for content in workbooks]
    return [loop().run_until_complete(jails_of("auto").grade_work(domain, work, asked, limits)) for work in works]


def test_a_workbook_that_takes_too_much_costs_its_own_grading_alone(tried):
    for what in HOSTILE:
        tried(what)
    found = graded(SMALL, *HOSTILE.values())
    for what, verdict in zip(HOSTILE, found, strict=True):
        if isinstance(verdict, Failure):
            assert verdict.kind in ("memory", "timeout") and GOLD not in verdict.message, (what, verdict)
        else:
            assert verdict == {"score": 0.0, "soft": 0.0}, what
    assert graded(PATIENT, AFTER) == [{"score": 0.0, "soft": 0.5}]


@pytest.mark.control
def test_control_each_place_of_a_merged_cell_takes_room():
    """So of the one over everything, which has 17 thousand million."""
    book = load_workbook(BytesIO(behind_the_cells('<mergeCells><mergeCell ref="A1:Z40"/></mergeCells>')))
    assert len(book.active._cells) == 26 * 40
