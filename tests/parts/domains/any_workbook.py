"""Workbooks that were good once: real archives with members dropped, doubled, swapped and cut, and XML with other words in it."""

import re
import struct
import warnings
from datetime import datetime
from functools import cache
from io import BytesIO
from itertools import islice
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import pytest
from hypothesis import strategies as st
from openpyxl import Workbook
from openpyxl.comments import Comment
from openpyxl.formatting.rule import FormulaRule
from openpyxl.worksheet.formula import ArrayFormula, DataTableFormula

from tests.parts.domains.workbooks import made, saved
from tests.where import data

Members = list[tuple[str, bytes]]

_SAVED_AT = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_ATTRIBUTE = re.compile(rb'[\w:]+="([^"]*)"')
_WITHIN = re.compile(rb">([^<>]+)<")
# What a cell, a row, an area, a sheet or a style is called, counted and sorted by, right here and there and mostly not.
WORDS = st.sampled_from([
    b"", b"0", b"-1", b"1", b"2", b"7", b"99999999999", b"1.5", b"1e999", b"-1e308", b"nan", b"inf", b"true", b"1_0", b"\xd9\xa3", b"9" * 400,
    b"A1", b"B2", b"a1", b"$A$1", b"A0", b"XFD1048576", b"ZZZZ1", b"A1:B2", b"B2:A1", b"A1:A", b"A:A", b"1:1", b"A1 B2", b"Sheet1", b"Sheet1!A1",
    b"s", b"str", b"n", b"b", b"e", b"d", b"inlineStr", b"array", b"shared", b"dataTable", b"normal",
    b"2024-01-02", b"2024-01-02T03:04:05Z", b"0000-00-00", b"12:00", b"#N/A", b"#REF!", b"[1]Other!A1", b"yyyy-mm-dd", b"[h]:mm", b"14", b"164",
    b"rId1", b"rId9", b"/xl/workbook.xml", b"../../../etc/passwd", b"file:///etc/passwd", b"http://127.0.0.1:9/x", b"External",
    b"&#0;", b"&#xD800;", b"&a;", b"&lt;", b"\xff", b"\x00", b"]]>", b"<v>",
])  # fmt: skip
ELEMENTS = st.sampled_from([
    b'<c r="A1" t="s"><v>9</v></c>', b'<c r="B1"><f>1+2</f></c>', b'<c r="A2"><f t="array" ref="A2:B3">1</f></c>', b"<c><v>1</v></c>",
    b'<c r="B2"><f t="shared" si="0" ref="B2:B4">A1</f></c>', b'<c r="B3"><f t="shared" si="0"/></c>', b'<f t="dataTable" ref="A1:B2" r1="A1"/>',
    b'<c r="B1" t="inlineStr"><is><r><t>x</t></r></is></c>', b'<row r="3"/>', b"<row/>", b"<v>3</v>", b"<f/>", b"<is/>", b"</row>", b"<!--", b"<![CDATA[",
    b'<mergeCells><mergeCell ref="A1:B2"/></mergeCells>', b'<cols><col min="1" max="9"/></cols>', b"<sheetData/>", b'<sheet name="Sheet1" sheetId="1"/>',
    b'<externalReferences><externalReference r:id="rId9"/></externalReferences>', b"<definedNames><definedName name='x'>A1</definedName></definedNames>",
    b'<!DOCTYPE a [<!ENTITY a "b">]>', b'<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]>', b"<?xml version='1.0' encoding='UTF-16'?>",
])  # fmt: skip
NAMES = st.sampled_from([
    "xl/workbook.xml", "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml", "[Content_Types].xml", "_rels/.rels",
    "xl/_rels/workbook.xml.rels", "XL/WORKBOOK.XML", "../../x", "/etc/passwd", "a\nb", "é", "xl/", "xl/externalLinks/externalLink1.xml",
])  # fmt: skip


@cache
def good() -> tuple[bytes, ...]:
    """Workbooks as students leave them; each has 1 in Sheet1!A1, and a formula without a value in B1."""
    cells = {"A1": 1, "B1": "=A1+1", "A2": "12.5", "B2": True, "C1": 0.1}
    return made(cells), made(cells, Other={"A1": "x"}), saved(_rich(cells))


@cache
def real() -> tuple[bytes, ...]:
    """Some that people saved with Excel; none where the benchmark's are not at hand."""
    try:
        files = sorted((data() / "spreadsheet" / "files").rglob("*.xlsx"), key=lambda file: (file.stat().st_size, file))
    except pytest.skip.Exception:
        return ()
    saved_by_excel = (file for file in files if ZipFile(file).namelist()[0] == "[Content_Types].xml")
    return tuple(file.read_bytes() for file in islice(saved_by_excel, 2))


def _rich(cells: dict) -> Workbook:
    """With what else a sheet can have."""
    book = Workbook()
    sheet = book.active
    sheet.title = "Sheet1"
    for place, value in cells.items():
        sheet[place] = value
    sheet["B1"], sheet["C2"], sheet["D1"] = ArrayFormula("B1:B2", "=A1:A2*2"), DataTableFormula("C2:C3", r1="A1"), datetime(2024, 1, 2, 3)
    sheet.merge_cells("A4:B5")
    sheet["A6"].comment, sheet["A7"].hyperlink = Comment("seen", "me"), "file:///etc/passwd"
    sheet.conditional_formatting.add("A1:C3", FormulaRule(["A1>0"]))
    return book


def members(content: bytes) -> Members:
    """Without the time at which it was saved: an example must be the same when it is tried again."""
    with ZipFile(BytesIO(content)) as archive:
        return [(part, _SAVED_AT.sub(b"2024-01-02T03:04:05Z", archive.read(part))) for part in archive.namelist()]


def packed(parts: Members, deflated: bool = True) -> bytes:
    content = BytesIO()
    with warnings.catch_warnings(), ZipFile(content, "w", ZIP_DEFLATED if deflated else ZIP_STORED) as archive:
        warnings.simplefilter("ignore")  # of a name that is there twice
        for name, data in parts:
            part = ZipInfo(name)
            part.compress_type = archive.compression
            archive.writestr(part, data)
    return content.getvalue()


@st.composite
def spoilt_parts(draw, parts: Members) -> Members:
    """One of the parts is another one, or has another name."""
    place, other = (draw(st.integers(0, len(parts) - 1)) for _ in range(2))
    (name, data), (other_name, other_data) = parts[place], parts[other]
    change = draw(st.sampled_from(["word", "text", "element", "cut", "drop", "double", "swap", "name"]))
    changed = {
        "word": lambda: [(name, put(data, _ATTRIBUTE, draw(st.integers(0, 400)), draw(WORDS)))],
        "text": lambda: [(name, put(data, _WITHIN, draw(st.integers(0, 400)), draw(WORDS)))],
        "element": lambda: [(name, put(data, re.compile(rb">()"), draw(st.integers(0, 400)), draw(ELEMENTS)))],
        "cut": lambda: [(name, data[: draw(st.integers(0, len(data)))])],
        "drop": list,
        "double": lambda: [(name, data), (name, other_data)],
        "swap": lambda: [(name, other_data)],
        "name": lambda: [(draw(NAMES), data)],
    }[change]()
    rest = [(n, other_data if n == name else d) for n, d in parts] if change == "swap" else parts
    return [*rest[:place], *changed, *rest[place + 1 :]] or [(other_name, other_data)]


def put(data: bytes, pattern: re.Pattern, number: int, word: bytes) -> bytes:
    """`data` with `word` in place of what the pattern's group has found, at one of the places where it has."""
    found = list(pattern.finditer(data))
    if not found:
        return data + word
    start, end = found[number % len(found)].span(1)
    return data[:start] + word + data[end:]


@st.composite
def spoilt_archive(draw, content: bytes) -> bytes:
    """The archive's own words about its members are other ones."""
    change = draw(st.sampled_from(["cut", "before", "after", "bytes", "list"]))
    place = draw(st.integers(0, len(content) - 1))
    if change == "cut":
        return content[:place]
    if change in ("before", "after"):
        more = draw(st.binary(max_size=20)) if change == "before" else draw(st.sampled_from([b"PK\x05\x06", content, b"\0"]))
        return more + content if change == "before" else content + more
    raw = bytearray(content)
    if change == "bytes":
        raw[place : place + 4] = draw(st.binary(min_size=4, max_size=4))
        return bytes(raw)
    listed = [found.start() for found in re.finditer(b"PK\x01\x02", content)]
    at, (field, form) = draw(st.sampled_from(listed)), draw(st.sampled_from(_LISTED))
    most = 0xFFFF if form == "<H" else 0xFFFFFFFF
    struct.pack_into(form, raw, at + field, draw(st.sampled_from([0, 1, 8, 12, 100, 1 << 15, most])))
    return bytes(raw)


# Of a member, in the archive's list: flags, method, checksum, packed and unpacked size, lengths of name and the rest, place.
_LISTED = [(8, "<H"), (10, "<H"), (16, "<I"), (20, "<I"), (24, "<I"), (28, "<H"), (30, "<H"), (32, "<H"), (42, "<I")]


@st.composite
def spoilt(draw) -> bytes:
    """A workbook spoilt once or several times; now and then it is good, or any bytes."""
    parts = members(draw(st.sampled_from([*good(), *real()])))
    for _ in range(draw(st.integers(0, 3))):
        parts = draw(spoilt_parts(parts))
    content = packed(parts, draw(st.booleans()))
    return draw(spoilt_archive(content)) if draw(st.integers(0, 3)) == 0 else content


WORKBOOKS = spoilt() | st.binary(max_size=200)
