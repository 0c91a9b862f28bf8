"""Which cells hold the answer: SpreadsheetBench's `answer_position`, with its odd quotes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hbench.core.digest import Json

LAST_ROW, LAST_COLUMN = 1_048_576, 16_384
_CORNER = r"\$?([A-Za-z]{0,3})\$?(\d*)"
_CELLS = rf"['\s]*{_CORNER}(?:['\s]*:['\s]*{_CORNER})?['\s]*"
_PIECE = re.compile(rf"{_CELLS}(?:,|$)|([^!]+)!{_CELLS}(?:,|$)")


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of one sheet. Columns and rows count from 1, both ends belong to it."""

    sheet: str
    left: int
    top: int
    right: int
    bottom: int

    def __str__(self) -> str:
        first, last = f"{letters(self.left)}{self.top}", f"{letters(self.right)}{self.bottom}"
        sheet = self.sheet.replace("'", "''")
        return f"'{sheet}'!{first}" if first == last else f"'{sheet}'!{first}:{last}"

    def to_json(self) -> Json:
        return [self.sheet, self.left, self.top, self.right, self.bottom]


def areas_of(position: str, sheets: Sequence[str], usual: str | None = None) -> tuple[Area, ...]:
    """The areas that `position` names, e.g. `'Sheet1'!A1:B3,Sheet2!'C4'` or `A2:D9`.

    Quotes may stand anywhere around names and cells; `A:C` are whole columns, `B2:9` is B2:B9. sheets: of the answer's
    workbook. usual: the sheet that is meant where none is named and the workbook has one of that name; else it is the
    first. Raises ValueError for what cannot be read, and for a sheet that is not there.
    """
    found, place, text = [], 0, position.strip().rstrip(",")
    while place < len(text) or not found:
        match = _PIECE.match(text, place)
        if match is None or match.end() == place:
            raise ValueError(f"{text[place:]!r} is no range of cells")
        plain, named = match.groups()[:4], match.groups()[5:]
        sheet = _sheet(match.group(5), sheets) if match.group(5) else _usual(usual, sheets)
        found.append(_area(sheet, named if match.group(5) else plain, match.group().rstrip(", ")))
        place = match.end()
    return tuple(found)


def find_sheet(name: str, sheets: Sequence[str]) -> str | None:
    """The sheet of that name: as it stands there, else without regard to case and blanks around it, as Excel sees names."""
    alike = [sheet for sheet in sheets if sheet.strip().casefold() == name.strip().casefold()]
    return name if name in sheets else next(iter(alike), None)


def letters(column: int) -> str:
    """27 -> AA."""
    text = ""
    while column:
        column, digit = divmod(column - 1, 26)
        text = chr(65 + digit) + text
    return text


def _sheet(named: str, sheets: Sequence[str]) -> str:
    name = named.strip().strip("'").replace("''", "'")
    sheet = find_sheet(name, sheets)
    if sheet is None:
        raise ValueError(f"no sheet {name!r} in the answer's workbook")
    return sheet


def _usual(usual: str | None, sheets: Sequence[str]) -> str:
    if not sheets:
        raise ValueError("the answer's workbook has no sheet of cells")
    return (find_sheet(usual, sheets) if usual else None) or sheets[0]


def _area(sheet: str, corners: Sequence[str | None], text: str) -> Area:
    column, row, other_column, other_row = corners
    alone, whole = other_column is None, not row and not other_row
    if not column or not (row if alone else other_column if whole else row and other_row):
        raise ValueError(f"{text!r} is no range of cells")
    columns = sorted((_number(column), _number(other_column or column)))
    rows = [1, LAST_ROW] if whole else sorted((int(row), int(other_row or row)))
    if rows[0] < 1 or rows[1] > LAST_ROW or columns[1] > LAST_COLUMN:
        raise ValueError(f"{text!r} lies outside of a sheet")
    return Area(sheet, columns[0], rows[0], columns[1], rows[1])


def _number(column: str) -> int:
    number = 0
    for letter in column.upper():
        number = 26 * number + ord(letter) - 64
    return number
