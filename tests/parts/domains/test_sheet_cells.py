"""What a cell's value is when outputs are compared, which formulas have none, and how much is read of what is hostile."""

import datetime as dt
import json
import struct
import tracemalloc
import zlib
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

pytest.importorskip("openpyxl", reason="the extra `sheets` is not installed")

from openpyxl import Workbook, load_workbook
from openpyxl.worksheet.formula import ArrayFormula

from hbench.parts.domains import _sheet_cells
from hbench.parts.domains._sheet_areas import areas_of
from hbench.parts.domains._sheet_cells import Book, Unreadable, compare, filled, formulas, plain
from tests.parts.domains.workbooks import cells, made, saved, with_part, written
from tests.where import cases


@pytest.mark.parametrize(
    ("value", "compared"),
    [
        (3, 3.0), (10**400, f"1{'0' * 400}"), (2.675, 2.675), (True, 1.0), ("12.5", 12.5), (" 7 ", 7.0), ("1e3", 1000.0),
        ("", None), (None, None), ("nan", "nan"), ("inf", "inf"), ("abc ", "abc "), ("#N/A", "#N/A"), ("1,5", "1,5"),
        (dt.datetime(2024, 1, 2), 45293.0), (dt.datetime(2024, 1, 2, 11), 45293.0), (dt.datetime(2024, 1, 2, 13), 45294.0),
        (dt.date(2024, 1, 2), 45293.0), (dt.time(9, 5, 59), "09:05"), (dt.timedelta(hours=25, minutes=30), "25:30"),
    ],
)  # fmt: skip
def test_a_value_is_compared_as_the_benchmark_does(value, compared):
    assert plain(value) == compared and type(plain(value)) is type(compared)


@pytest.mark.parametrize(
    ("wanted", "found", "verdict"),
    [
        ({"A": 1e12}, {"A": 1e12 + 1e-3}, "same"),
        ({"A": 1.004}, {"A": 1.001}, "same"),
        ({"A": 1.004}, {"A": 1.008}, "differs"),
        ({"A": 1.005}, {"A": 1.005 + 1e-15}, "same"),
        ({"A": 1e12}, {"A": 1e12 + 1}, "differs"),
        ({"A": 123456789012345.0}, {"A": 123456789012346.0}, "differs"),  # as long as Excel's numbers are
        ({"A": "x"}, {"A": "X"}, "differs"),
        ({"A": 0.0}, {}, "differs"),
        ({}, {"A": "x"}, "differs"),
        ({}, {}, "same"),
        ({"A": "09:05"}, {"A": 0.38}, "differs"),
        ({"A": 3.0}, {"A": {"formula": "=1+2"}}, "unknown"),
        ({}, {"A": {"formula": "=1+2"}}, "unknown"),
        ({"A": {"formula": "=1+2"}}, {"A": {"formula": "=1+2"}}, "unknown"),
        ({"A": 3.0, "B": 1.0}, {"A": {"formula": "=1+2"}, "B": 2.0}, "differs"),
    ],
)
def test_two_sets_of_cells(wanted, found, verdict):
    assert compare(wanted, found) == verdict == compare(found, wanted)


def test_formulas_written_by_openpyxl_have_no_value_and_are_not_empty_cells():
    book = made({"A1": 1, "A2": "=A1+1", "A3": ""})
    assert cells(book) == {"A1": 1.0, "A2": {"formula": "=A1+1"}}
    assert formulas(cells(book)) == ["A2"]


def test_formulas_with_stored_values_are_those_values_and_a_stored_empty_text_is_empty():
    """Excel stores an empty text as a cell of type str with an empty value, which openpyxl reads as it reads no value."""
    rows = (
        '<row r="1"><c r="A1"><f>1+2</f><v>3</v></c><c r="B1" t="str"><f>""</f><v/></c><c r="C1" t="str"><f>"a"</f><v>a</v></c>'
        '<c r="D1" t="e"><f>1/0</f><v>#DIV/0!</v></c><c r="E1" t="b"><f>1=1</f><v>1</v></c><c r="F1"><f>1+2</f><v/></c></row>'
    )
    found = cells(written(rows))
    assert found == {"A1": 3.0, "C1": "a", "D1": "#DIV/0!", "E1": 1.0, "F1": {"formula": "=1+2"}}


@pytest.mark.attack
@pytest.mark.control
def test_all_cells_that_an_array_formula_fills_are_without_value():
    book = Workbook()
    book.active["B2"] = ArrayFormula("B2:B4", "=A1:A3*2")
    assert cells(saved(book)) == dict.fromkeys(("B2", "B3", "B4"), {"formula": "=A1:A3*2"})
    assert cells(saved(book), "B3:B9") == dict.fromkeys(("B3", "B4"), {"formula": "=A1:A3*2"})


def test_a_formula_is_seen_in_parts_that_hide_their_tags():
    def utf_16(xml):
        return xml.replace('encoding="UTF-8"', 'encoding="UTF-16"').encode("utf-16")

    content = made({"A1": "=1+2"})
    for change in (utf_16, lambda xml: xml.replace("<f>", "<f >"), lambda xml: xml.replace("<f>", "<f\n>")):
        assert cells(with_part(content, "xl/worksheets/sheet1.xml", change)) == {"A1": {"formula": "=1+2"}}


def test_what_merging_hides_is_not_there():
    book = Workbook()
    book.active["A1"], book.active["B1"] = "shown", "kept under it"
    book.active.merge_cells("A1:B1")
    hidden = with_part(saved(book), "xl/worksheets/sheet1.xml", lambda xml: xml.replace('<c r="B1"', '<c r="B1" t="str"'))
    assert cells(hidden) == {"A1": "shown"}


def test_sheets_are_apart_and_one_that_is_missing_is_told_from_an_empty_one():
    book = made({"A1": 1}, Other={"A1": "x"}, Empty={})
    assert cells(book, "Other!A1") == {"A1": "x"} and cells(book, "Empty!A1") == {}
    assert Book(book).cells(areas_of("Gone!A1", ["Gone"])) is None


def test_a_recalculated_copy_fills_only_what_had_no_value():
    have = {"A": 1.0, "B": {"formula": "=A"}, "C": {"formula": '=""'}, "D": {"formula": "=X()"}}
    assert filled(have, {"A": 9.0, "B": 2.0, "D": {"formula": "=X()"}}) == {"A": 1.0, "B": 2.0, "D": {"formula": "=X()"}}


def test_shared_case_of_formulas_without_values():
    folder = cases() / "121-formula-without-cached-value"
    expected = json.loads((folder / "expected.json").read_text())
    read = {name: cells((folder / name).read_bytes(), expected["range"]) for name in ("gold.xlsx", "out_empty.xlsx", "out_value.xlsx")}
    assert read["gold.xlsx"] == {"C1": {"formula": "=A1+B1"}}
    assert compare(read["gold.xlsx"], read["out_empty.xlsx"]) == "unknown"  # never a match
    settled = filled(read["gold.xlsx"], {"C1": 3.0})
    assert compare(settled, read["out_value.xlsx"]) == "same" and compare(settled, read["out_empty.xlsx"]) == "differs"


def packed(*parts: tuple[str, bytes]) -> bytes:
    content = BytesIO()
    with ZipFile(content, "w", ZIP_DEFLATED) as archive:
        for name, data in parts:
            archive.writestr(name, data)
    return content.getvalue()


@pytest.mark.parametrize("content", [b"", b"no workbook", packed(("a.txt", b"x")), made({"A1": 1})[:-200]])
@pytest.mark.attack
def test_what_is_no_workbook_is_unreadable(content):
    with pytest.raises(Unreadable):
        Book(content)


@pytest.mark.attack
def test_an_archive_that_grows_is_not_unpacked(monkeypatch):
    bomb = packed(*((f"xl/media/{number}", bytes(64 << 20)) for number in range(5)))
    assert len(bomb) < 1 << 20
    with pytest.raises(Unreadable, match="5 parts, 320 MiB unpacked"):
        Book(bomb)
    monkeypatch.setattr(_sheet_cells, "MOST_PARTS", 3)
    with pytest.raises(Unreadable, match="parts"):
        Book(made({"A1": 1}))


@pytest.mark.attack
def test_a_sheet_that_claims_to_be_huge_is_not_walked():
    far = made({"A1": 1, "XFD1048576": 2})
    with pytest.raises(Unreadable, match="more than 2,000,000 cells"):
        cells(far, "A1:XFD1048576")
    assert cells(far, "A1:B5") == {"A1": 1.0}


@pytest.mark.attack
def test_an_array_formula_over_everything_is_refused():
    book = Workbook()
    book.active["A1"] = ArrayFormula("A1:XFD1048576", "=1")
    with pytest.raises(Unreadable, match="formulas over more than"):
        cells(saved(book))


@pytest.mark.parametrize("ref", ["nonsense", "A:A", "1:2"])
@pytest.mark.attack
def test_an_array_formula_over_nothing_that_can_be_read_is_refused(ref):
    """It was a crash of the grader, and the other cases of its task were lost with it."""
    with pytest.raises(Unreadable, match="a formula fills"):
        cells(written(f'<row r="2"><c r="D2"><f t="array" ref="{ref}">A1</f></c></row>'))


@pytest.mark.attack
def test_a_number_beyond_all_floats_is_a_text():
    """It was a crash of the grader; eight such workbooks in a row were an error of the step."""
    assert cells(written(f'<row r="1"><c r="A1"><v>{"9" * 400}</v></c><c r="B1"><v>2</v></c></row>')) == {"A1": "9" * 400, "B1": 2.0}


def test_a_formula_of_a_data_table_reads_the_same_every_time():
    """It was told by its place in memory: with one among the right cells, each reading cut another question."""
    book = written('<row r="1"><c r="A1"><f t="dataTable" ref="A1:A2" r1="C1"/></c><c r="B1"><v>2</v></c></row>')
    assert cells(book) == {"A1": {"formula": "=TABLE(C1,)"}, "B1": 2.0}


def lying(size: int) -> bytes:
    """A workbook with one more part of `size` zeros, of which its list of parts says that it has 100."""
    content = BytesIO(made({"A1": 1}))
    with ZipFile(content, "a", ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/x", bytes(size))
    raw = bytearray(content.getvalue())
    listed = raw.rfind(b"PK\x01\x02")
    struct.pack_into("<I", raw, listed + 16, zlib.crc32(bytes(100)))
    struct.pack_into("<I", raw, listed + 24, 100)
    return bytes(raw)


@pytest.mark.attack
def test_a_part_that_says_less_than_it_has_is_not_unpacked_beyond_what_it_says():
    content = lying(64 << 20)
    tracemalloc.start()
    try:
        assert cells(content) == {"A1": 1.0}
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.attack
def test_a_link_to_another_file_is_left_alone():
    """Neither opened nor followed: only what is stored of it counts."""
    rows = '<row r="1"><c r="A1"><f>[1]Other!A1</f><v>5</v></c></row>'
    assert cells(written(rows)) == {"A1": 5.0}


@pytest.mark.attack
@pytest.mark.control
def test_control_they_are_what_they_say(tmp_path):
    """An archive unpacks to more than it is, also past what it says; a sheet does reach that far; a link is kept by who keeps links."""
    with ZipFile(BytesIO(packed(("a", bytes(4 << 20))))) as archive:
        assert len(archive.read("a")) == 4 << 20 > 100 * archive.getinfo("a").compress_size
    content = lying(1 << 20)
    with ZipFile(BytesIO(content)) as archive:
        part = archive.getinfo("xl/media/x")
        start = part.header_offset + 30 + len(part.filename)
        assert part.file_size == 100 and len(zlib.decompress(content[start : start + part.compress_size], -15)) == 1 << 20
    assert load_workbook(BytesIO(made({"A1": 1, "XFD1048576": 2}))).active.dimensions == "A1:XFD1048576"


ENTITY = """<!DOCTYPE x [<!ENTITY a SYSTEM "file://{}">]>"""
CELL = '<row r="1"><c r="A1" t="inlineStr"><is><t>&a;</t></is></c><c r="B1"><v>2</v></c></row>'


@pytest.mark.attack
def test_an_entity_that_is_a_file_is_not_read(tmp_path):
    (tmp_path / "secret").write_text("canary-c0de")
    content = with_part(written(CELL), "xl/worksheets/sheet1.xml", lambda xml: ENTITY.format(tmp_path / "secret") + xml)
    try:
        assert "canary-c0de" not in str(cells(content))
    except Unreadable as bad:
        assert "canary-c0de" not in str(bad)


@pytest.mark.attack
@pytest.mark.control
def test_control_a_reader_that_follows_entities_reads_it(tmp_path):
    etree = pytest.importorskip("lxml.etree")
    (tmp_path / "secret").write_text("canary-c0de")
    xml = ENTITY.format(tmp_path / "secret") + f"<sheetData>{CELL}</sheetData>"
    assert "canary-c0de" in etree.tostring(etree.fromstring(xml, etree.XMLParser(resolve_entities=True))).decode()
