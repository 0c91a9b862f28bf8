"""Authored spreadsheet tasks and their workbooks, made by openpyxl when they are asked for: equal bytes every time."""

import re
from collections.abc import Mapping
from functools import lru_cache
from io import BytesIO
from random import Random
from zipfile import ZipFile, ZipInfo

from hbench.core.digest import derive_seed
from hbench.parts.domains._sheet_jobs import JOBS, Changes, Drawn, Rows
from hbench.parts.domains._sheet_tasks import Case, Task

CASES = 3
_SAVED_AT = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_ONCE = (1980, 1, 1, 0, 0, 0)


class AuthoredTasks:
    """Jobs in turn, without end. A path names job, seed and number, so that a workbook can be made from it alone."""

    where = digest = "authored"

    def task(self, index: int, seed: int) -> Task:
        number, turn = divmod(index, len(JOBS))
        job = list(JOBS)[turn]
        drawn, folder = _drawn(job, seed, number), f"{job}/{seed}/{number}"
        cases = tuple(Case(case, f"{folder}/{case}_input.xlsx", f"{folder}/{case}_answer.xlsx") for case in range(1, CASES + 1))
        return Task(f"{job}-{seed}-{number}", drawn.instruction, "", drawn.position, "", cases)

    def read(self, path: str) -> bytes:
        job, seed, number, name = path.split("/")
        case, _, kind = name.removesuffix(".xlsx").partition("_")
        before, changes = _drawn(job, int(seed), int(number)).case(_dice(job, seed, number, case))
        return workbook(before, changes if kind == "answer" else {})


@lru_cache(maxsize=64)
def _drawn(job: str, seed: int, number: int) -> Drawn:
    return JOBS[job](_dice(job, str(seed), str(number), ""))


def _dice(*parts: str) -> Random:
    return Random(derive_seed("authored sheets", *parts))


def workbook(sheets: Mapping[str, Rows], changes: Changes) -> bytes:
    """The sheets with the changes made, as a file."""
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    for (name, cell), value in changes.items():
        book[name][cell] = value
    saved = BytesIO()
    book.save(saved)
    return _timeless(saved.getvalue())


def _timeless(content: bytes) -> bytes:
    """The archive without the hour at which it was written, nor what differs between libraries that pack."""
    packed = BytesIO()
    with ZipFile(BytesIO(content)) as before, ZipFile(packed, "w") as after:
        for part in before.namelist():
            data = before.read(part)
            fixed = _SAVED_AT.sub(b"2024-01-01T00:00:00Z", data) if part == "docProps/core.xml" else data
            after.writestr(ZipInfo(part, _ONCE), fixed)
    return packed.getvalue()
