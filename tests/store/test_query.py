"""Asking the database, and how answers look."""

import csv
import io
import json

import pytest

from hbench.core.failure import HbenchError
from hbench.store.artifacts import Store
from hbench.store.database import fold
from hbench.store.query import Result, query, query_frame
from hbench.store.render import render
from tests.store.made import put, rollouts

ROWS = Result(("name", "score", "n"), [("a|b", 0.123456, 1), ("two\nlines \x1b[2J", None, 20), ("", 1.0, 3)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    put(Store(folder), "a", rollouts([1.0, 0.0]))
    fold(folder)
    return folder


def test_an_answer_has_columns_and_rows(folder):
    assert query(folder, "select question_id, score from rollouts order by 1") == Result(
        ("question_id", "score"), [("q0", 1.0), ("q1", 0.0)]
    )


def test_a_data_frame_is_the_same_answer(folder):
    frame = query_frame(folder, "select question_id, score from rollouts order by 1")
    assert frame.to_dict("list") == {"question_id": ["q0", "q1"], "score": [1.0, 0.0]}


def test_values_are_passed_apart_from_the_sql(folder):
    assert query(folder, "select count(*) from rollouts where question_id = ?", ["q1"]).rows == [(1,)]


@pytest.mark.parametrize(
    "sql", ["from rollouts", "show tables", "describe rollouts", "explain select 1", "values (1)", "select 1; select 2"]
)
def test_everything_that_reads_is_answered(folder, sql):
    assert query(folder, sql).rows


@pytest.mark.parametrize(
    "sql",
    [
        "insert into rollouts default values",
        "create table x (a int)",
        "create temp table x as select 1",
        "drop table rollouts",
        "copy rollouts to 'x.csv'",
        "attach 'x.duckdb'",
        "set threads = 1",
        "select 1; delete from rollouts",
        "install httpfs",
    ],
)
def test_everything_that_writes_is_refused(folder, sql):
    with pytest.raises(HbenchError, match="is refused: the database is made from steps/"):
        query(folder, sql)


def test_faulty_sql_is_told_with_its_place(folder):
    with pytest.raises(HbenchError, match="(?s)rolouts does not exist.*rollouts"):
        query(folder, "select * from rolouts")


def test_no_sql_at_all_is_told(folder):
    with pytest.raises(HbenchError, match="select \\* from held_out"):
        query(folder, " ;")


def test_a_missing_database_says_what_to_do(tmp_path):
    with pytest.raises(HbenchError, match="hbench run SPEC"):
        query(tmp_path, "select 1")


def test_a_broken_database_says_what_to_do(folder, tmp_path):
    for name in ("hbench.duckdb", "texts.duckdb"):
        (tmp_path / name).write_bytes(b"garbage" * 5000)
    with pytest.raises(HbenchError, match="hbench db rebuild"):
        query(tmp_path, "select 1")


def test_a_table_aligns_numbers_and_tells_null_from_an_empty_text():
    assert render(ROWS, "table").splitlines() == [
        "name             score   n",
        "---------------  ------  --".replace("---------------", "-" * 14),
        "a|b             0.1235   1",
        "two lines  [2J    NULL  20",
        "                1.0000   3",
        "3 rows",
    ]


def test_csv_is_read_back_by_a_csv_reader():
    rows = list(csv.reader(io.StringIO(render(ROWS, "csv"))))
    assert rows[0] == ["name", "score", "n"]
    assert rows[1:] == [["a|b", "0.123456", "1"], ["two\nlines \x1b[2J", "", "20"], ["", "1.0", "3"]]


def test_json_is_a_list_of_objects_without_nan():
    odd = Result(("a", "b"), [(float("nan"), [1, {"x": "é"}])])
    assert json.loads(render(odd, "json")) == [{"a": None, "b": [1, {"x": "é"}]}]
    assert json.loads(render(ROWS, "json"))[1] == {"name": "two\nlines \x1b[2J", "score": None, "n": 20}


def test_markdown_keeps_each_row_on_one_line():
    assert render(ROWS, "markdown").splitlines() == [
        "| name | score | n |",
        "| --- | --- | --- |",
        "| a\\|b | 0.123456 | 1 |",
        "| two lines  [2J |  | 20 |",
        "|  | 1.0 | 3 |",
    ]


def test_an_empty_answer_still_has_its_header():
    assert render(Result(("a",), []), "table").splitlines() == ["a", "-", "0 rows"]


def test_an_unknown_form_names_the_known_ones():
    with pytest.raises(HbenchError, match="table, csv, json, markdown"):
        render(ROWS, "xml")
