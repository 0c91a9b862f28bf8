"""Questions from tasks: the right cells of each case, and whether doing nothing would be right."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hbench.core.digest import Json
from hbench.parts.domains import _sheet_cells
from hbench.parts.domains._sheet_areas import Area, areas_of
from hbench.parts.domains._sheet_cells import Book, Cells, Unreadable
from hbench.parts.domains._sheet_tasks import Case, Task

UNSETTLED = "a formula without a value decides"
UNTOUCHED = "the untouched input passes"
_TEXT = """{instruction}

{told} Only {areas} of an output workbook {verb} read: {allowed}. The workspace has Python with openpyxl and pandas."""


@dataclass(frozen=True)
class Known:
    """One case, looked at. untouched: how its input compares with the right cells."""

    number: int
    areas: tuple[Area, ...]
    cells: Cells
    untouched: str

    @property
    def settled(self) -> bool:
        return self.untouched != "unknown" and not _sheet_cells.formulas(self.cells)

    def to_json(self) -> Json:
        return {"case": self.number, "areas": [area.to_json() for area in self.areas], "cells": self.cells}


def known(task: Task, case: Case, read: Any, recalculated: Mapping[str, bytes] = {}) -> Known:
    """What is right in `case`, from the data set's own workbooks. read: path -> content.

    recalculated: path -> a copy with values for formulas. Raises Unreadable, and ValueError for a position that cannot be
    read.
    """
    answer = Book(read(case.answer))
    areas = areas_of(task.position, answer.sheets, task.sheet or None)
    right = _filled(answer.cells(areas) or {}, areas, recalculated.get(case.answer))
    before = Book(read(case.input)).cells(areas)
    if before is None:
        return Known(case.number, areas, right, "differs")
    before = _filled(before, areas, recalculated.get(case.input))
    return Known(case.number, areas, right, _sheet_cells.compare(right, before))


def _filled(cells: Cells, areas: Sequence[Area], copy: bytes | None) -> Cells:
    return cells if copy is None else _sheet_cells.filled(cells, Book(copy).cells(areas) or {})


def look_at(task: Task, read: Any, recalculated: Mapping[str, bytes] = {}) -> tuple[Json, Json, Json]:
    """(answer, meta, inputs) of a task's question. meta: untouched (cases whose input passes as it is), unsettled (cases in
    which a formula without a value decides), left_out (why the task cannot be asked; absent where it can). inputs: case,
    path and digest of each."""
    inputs = [[case.number, case.input, content_digest(read(case.input))] for case in task.cases]
    try:
        cases = [known(task, case, read, recalculated) for case in task.cases]
    except (Unreadable, ValueError) as bad:
        why = f"its workbooks cannot be graded: {bad}"[:300]
        return {"cases": []}, {"untouched": [], "unsettled": [], "left_out": why}, inputs
    untouched = [case.number for case in cases if case.untouched == "same" and case.settled]
    unsettled = [case.number for case in cases if not case.settled]
    reason = UNSETTLED if unsettled else UNTOUCHED if len(untouched) == len(cases) else None
    meta = {"untouched": untouched, "unsettled": unsettled, **({"left_out": reason} if reason else {})}
    return {"cases": [case.to_json() for case in cases]}, meta, inputs


def text_of(task: Task, answer: Json, formulas: bool) -> str:
    """The instruction with what to leave where. formulas: they are recalculated, so that a cell may hold one."""
    places = dict.fromkeys(str(Area(*area)) for case in answer["cases"] for area in case["areas"])
    named = _listed(list(places) or [task.position])
    allowed = "a cell may hold a value or a formula" if formulas else "cells must hold values, not formulas"
    verb = "is" if len(places) == 1 and ":" not in named else "are"
    return _TEXT.format(instruction=task.instruction, told=_told(task.cases), areas=named, verb=verb, allowed=allowed)


def _told(cases: Sequence[Case]) -> str:
    inputs, outputs = _listed([input_name(c.number) for c in cases]), _listed([output_name(c.number) for c in cases])
    if len(cases) == 1:
        return f"The workbook is {inputs}. Save the finished one as {outputs}."
    return f"Do this with each of the workbooks {inputs}, which hold different data. Save the finished ones as {outputs}."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def input_name(number: int) -> str:
    return f"{number}_input.xlsx"


def output_name(number: int) -> str:
    return f"{number}_output.xlsx"


def content_digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]
