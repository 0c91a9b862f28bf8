"""answer_position as the benchmark's tasks have it: quotes on either side, missing sheets, several ranges."""

import pytest

from hbench.parts.domains._sheet_areas import areas_of, find_sheet, letters

SHEETS = ["Sheet1", "Sheet2", "Updated Data", "OUT CAS", "It's, so", "2023"]


@pytest.mark.parametrize(
    ("position", "read"),
    [
        ("'Sheet1'!A1:A4", "'Sheet1'!A1:A4"),
        ("A1:N53", "'Sheet1'!A1:N53"),
        ("E1", "'Sheet1'!E1"),
        ("Updated Data'!B5:B9", "'Updated Data'!B5:B9"),
        ("'Sheet1!'A2:B19,'Sheet2!'A2:B19'", "'Sheet1'!A2:B19 'Sheet2'!A2:B19"),
        ("OUT CAS'!A2:C9,'OUT CAS'!E2:G5, 'OUT CAS'!L2", "'OUT CAS'!A2:C9 'OUT CAS'!E2:G5 'OUT CAS'!L2"),
        ("B2:E6,'Sheet2'!A1", "'Sheet1'!B2:E6 'Sheet2'!A1"),
        ("'2023'!A6:I140", "'2023'!A6:I140"),
        ("'It''s, so'!A1", "'It''s, so'!A1"),
        ("sheet1 !a1:j24", "'Sheet1'!A1:J24"),
        ("'Sheet1'!BD2:308", "'Sheet1'!BD2:BD308"),
        ("$C$4:$A$2", "'Sheet1'!A2:C4"),
        ("A:C", "'Sheet1'!A1:C1048576"),
        ("C4,", "'Sheet1'!C4"),
    ],
)
def test_a_position_is_read_whatever_its_quotes(position, read):
    assert " ".join(map(str, areas_of(position, SHEETS))) == read


@pytest.mark.parametrize("position", ["", "A", "5", "A1:", "A1:B", "A:B2", "A0", "XFE1", "A1048577", "Sheet1!", "A1 B2", "A1,,B2"])
def test_what_is_no_range_is_refused(position):
    with pytest.raises(ValueError, match="is no range of cells|lies outside of a sheet"):
        areas_of(position, SHEETS)


def test_a_sheet_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="no sheet 'Totals'"):
        areas_of("Totals!A1", SHEETS)


def test_without_a_named_sheet_it_is_the_usual_one_if_that_is_there_else_the_first():
    assert [areas_of("A1", SHEETS, usual)[0].sheet for usual in ("Sheet2", "Gone", "Sheet1,Sheet2", None)] == [
        "Sheet2", "Sheet1", "Sheet1", "Sheet1",
    ]  # fmt: skip


def test_sheets_are_found_by_name_first_and_then_as_excel_finds_them():
    assert find_sheet("data", ["Data", "data"]) == "data"
    assert find_sheet("DATA ", ["x", "Data"]) == "Data"
    assert find_sheet("Dat", ["Data"]) is None


def test_columns_are_lettered_as_in_a_sheet():
    assert [letters(column) for column in (1, 26, 27, 702, 703, 16384)] == ["A", "Z", "AA", "ZZ", "AAA", "XFD"]
