"""Workbooks for tests: made by openpyxl, or with cells written by hand, as programs that compute write them."""

import re
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from openpyxl import Workbook

from hbench.parts.domains._sheet_areas import areas_of
from hbench.parts.domains._sheet_cells import Book


def made(cells: dict[str, Any] | None = None, sheet: str = "Sheet1", **others: dict[str, Any]) -> bytes:
    """One sheet with these cells, and further ones by name."""
    book = Workbook()
    book.active.title = sheet
    for name, content in {sheet: cells or {}, **others}.items():
        page = book[name] if name in book.sheetnames else book.create_sheet(name)
        for place, value in content.items():
            page[place] = value
    return saved(book)


def saved(book: Workbook) -> bytes:
    packed = BytesIO()
    book.save(packed)
    return packed.getvalue()


def written(rows: str, sheet: str = "Sheet1") -> bytes:
    """One sheet whose rows are this XML."""
    empty, full = re.compile(r"<sheetData ?/>|<sheetData></sheetData>"), f"<sheetData>{rows}</sheetData>"
    return with_part(made(sheet=sheet), "xl/worksheets/sheet1.xml", lambda xml: empty.sub(lambda _: full, xml))


def with_part(content: bytes, name: str, change: Any) -> bytes:
    """The workbook with one of its parts changed: text -> text or bytes."""
    packed = BytesIO()
    with ZipFile(BytesIO(content)) as before, ZipFile(packed, "w", ZIP_DEFLATED) as after:
        for part in before.namelist():
            data = before.read(part)
            after.writestr(part, change(data.decode()) if part == name else data)
    return packed.getvalue()


def cells(content: bytes, position: str = "A1:H20") -> Any:
    """What stands in those cells, by place without the sheet."""
    book = Book(content)
    found = book.cells(areas_of(position, book.sheets))
    return found if found is None else {place.split("!")[-1]: cell for place, cell in found.items()}
