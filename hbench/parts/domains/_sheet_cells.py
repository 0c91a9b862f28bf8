"""What stands in a workbook's cells, as SpreadsheetBench compares it; read with openpyxl."""

import datetime
import math
import re
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any, Literal
from zipfile import BadZipFile, ZipFile, ZipInfo

from hbench.core.digest import Json
from hbench.parts.domains._sheet_areas import Area, find_sheet

# A cell: a number, a text, or {"formula": text} for a formula without a stored value. An empty cell is not there.
Cells = dict[str, Json]  # 'Sheet1'!A1 -> cell
Place = tuple[int, int]  # column, row

MOST_UNPACKED = 256 << 20  # bytes of all parts of a workbook together
MOST_PARTS = 5_000
MOST_CELLS = 2_000_000  # of one area, as far as the sheet reaches
_DAY_ZERO = datetime.datetime(1899, 12, 30)
_FORMULA = re.compile(rb"<(?:[\w.-]+:)?f[\s/>]")
_NOISE, _MOST_NOISE = 1e-13, 0.005  # of a number, and at most: what two programs may differ by in its last digits


class Unreadable(Exception):
    """No workbook, or a larger one than is looked at."""


class Book:
    """A workbook: the stored values, and which formulas have none. Links to other files are not followed. Raises Unreadable."""

    def __init__(self, content: bytes):
        computes = _check(content)
        self._values = _load(content, data_only=True)
        self._formulas = _load(content, data_only=False) if computes else None
        self.sheets: tuple[str, ...] = tuple(sheet.title for sheet in self._values.worksheets)

    def cells(self, areas: Sequence[Area]) -> Cells | None:
        """Every cell in `areas` that is not empty; None where one of their sheets is not there. Raises Unreadable."""
        found: Cells = {}
        for area in areas:
            sheet = find_sheet(area.sheet, self.sheets)
            if sheet is None:
                return None
            found |= {str(Area(area.sheet, *at, *at)): cell for at, cell in self._in(sheet, area)}
        return found

    def _in(self, sheet: str, area: Area) -> Iterator[tuple[Place, Json]]:
        """What is not empty."""
        values = self._values[sheet]
        formulas = self._formulas[sheet] if self._formulas else None
        spread = _spread(formulas) if formulas else {}
        right = min(area.right, max([values.max_column, *(column for column, _ in spread)]))
        bottom = min(area.bottom, max([values.max_row, *(row for _, row in spread)]))
        if (right - area.left + 1) * (bottom - area.top + 1) > MOST_CELLS:
            raise Unreadable(f"more than {MOST_CELLS:,} cells in {area}")
        for row in values.iter_rows(area.top, max(area.top, bottom), area.left, max(area.left, right)):
            for cell in row:
                at = (cell.column, cell.row)
                known = plain(cell.value)
                formula = _formula(cell, formulas, spread) if formulas and known is None else None
                if known is not None or formula is not None:
                    yield at, known if formula is None else {"formula": formula}


def plain(value: Any) -> float | str | None:
    """A cell's value as it is compared: number, text, or None for empty.

    Texts that read as numbers are numbers, true and false are 1 and 0. A date is its day's number, rounded to whole days;
    a time of day and a length of time are `HH:MM`.
    """
    if value is None or value == "":
        return None
    if isinstance(value, (bool, int, float)):
        return _number(value)
    if isinstance(value, datetime.datetime):
        return float(round((value - _DAY_ZERO) / datetime.timedelta(days=1)))
    if isinstance(value, datetime.date):
        return float((value - _DAY_ZERO.date()).days)
    if isinstance(value, datetime.time):
        return f"{value:%H:%M}"
    if isinstance(value, datetime.timedelta):
        return "{:02}:{:02}".format(*divmod(int(value.total_seconds()) // 60, 60))
    return _number(str(value))


def _number(value: str | float) -> float | str:
    """A float where it is one; else its text, also of what is too large for any."""
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return str(value)
    return number if math.isfinite(number) else str(value)


def compare(wanted: Mapping[str, Json], found: Mapping[str, Json]) -> Literal["same", "differs", "unknown"]:
    """Whether the two hold the same cells; `unknown` where that hangs on a formula without a value."""
    verdict: Literal["same", "unknown"] = "same"
    for place in wanted.keys() | found.keys():
        one, other = wanted.get(place), found.get(place)
        if isinstance(one, dict) or isinstance(other, dict):
            verdict = "unknown"
        elif not _equal(one, other):
            return "differs"
    return verdict


def _equal(one: Json, other: Json) -> bool:
    """Numbers to two places. Halves may round either way where two programs differ in the last digits."""
    if isinstance(one, float) and isinstance(other, float):
        noise = min(_MOST_NOISE, max(1e-9, _NOISE * abs(one)))  # long whole numbers are numbers of something, and exact
        return round(one, 2) == round(other, 2) or abs(one - other) <= noise
    return one == other


def formulas(cells: Mapping[str, Json]) -> list[str]:
    """Places whose formula has no value, in order."""
    return sorted(place for place, cell in cells.items() if isinstance(cell, dict))


def filled(cells: Mapping[str, Json], recalculated: Mapping[str, Json]) -> Cells:
    """`cells` with the values that the recalculated copy has for formulas without one; all other cells as they are."""
    taken = {place: recalculated.get(place) if isinstance(cell, dict) else cell for place, cell in cells.items()}
    return {place: cell for place, cell in taken.items() if cell is not None}


def _formula(cell: Any, formulas: Any, spread: Mapping[Place, str]) -> str | None:
    """The formula that gives this empty cell its value, where none is stored.

    A stored empty text is a value: openpyxl reads it as None too, and tells by the cell's type.
    """
    if cell.data_type == "str":
        return None
    own = formulas.cell(cell.row, cell.column)
    return _text(own.value) if own.data_type == "f" else spread.get((cell.column, cell.row))


def _text(formula: Any) -> str:
    """Of a data table, which has none: what it varies."""
    if hasattr(formula, "r1"):
        return f"=TABLE({formula.r1 or ''},{formula.r2 or ''})"
    return str(getattr(formula, "text", None) or formula)


def _spread(formulas: Any) -> dict[Place, str]:
    """Cells that a formula over several cells fills -> that formula; it stands in the first of them alone."""
    from openpyxl.utils import range_boundaries

    found: dict[Place, str] = {}
    for first, ref in formulas.array_formulae.items():
        try:
            left, top, right, bottom = map(int, range_boundaries(ref))
        except (TypeError, ValueError) as bad:
            raise Unreadable(f"a formula fills {ref!r}: {bad}"[:500]) from bad
        if len(found) + (right - left + 1) * (bottom - top + 1) > MOST_CELLS:
            raise Unreadable(f"formulas over more than {MOST_CELLS:,} cells")
        places = ((column, row) for row in range(top, bottom + 1) for column in range(left, right + 1))
        found |= dict.fromkeys(places, _text(formulas[first].value))
    return found


def _check(content: bytes) -> bool:
    """Whether there may be a formula. Of each part so much is unpacked as the archive says that it has.

    What says less than it has is found out later, by the process's own limits. Raises Unreadable.
    """
    try:
        with ZipFile(BytesIO(content)) as archive:
            parts = archive.infolist()
            unpacked = sum(part.file_size for part in parts)
            if len(parts) > MOST_PARTS or unpacked > MOST_UNPACKED:
                most = f"{MOST_PARTS} and {MOST_UNPACKED >> 20} at most"
                raise Unreadable(f"{len(parts)} parts, {unpacked >> 20} MiB unpacked: {most}")
            return any(_may_compute(_unpacked(archive, part)) for part in parts)
    except (BadZipFile, ValueError, OSError, NotImplementedError, RuntimeError, zlib.error) as bad:
        raise Unreadable(f"no workbook: {bad}"[:500]) from bad


def _unpacked(archive: ZipFile, part: ZipInfo) -> bytes:
    with archive.open(part) as stream:
        return stream.read(part.file_size)


def _may_compute(part: bytes) -> bool:
    """Whether there is a formula's tag in it, or it is written in a way that would hide one from this look."""
    return b"\0" in part[:64] or _FORMULA.search(part) is not None


def _load(content: bytes, data_only: bool) -> Any:
    from openpyxl import load_workbook

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of extensions that it does not keep
            return load_workbook(BytesIO(content), data_only=data_only, keep_links=False)
    except MemoryError:
        raise
    except Exception as bad:  # openpyxl raises whatever it runs into
        raise Unreadable(f"{type(bad).__name__}: {bad}"[:500]) from bad
