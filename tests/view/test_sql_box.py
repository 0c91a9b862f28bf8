"""The SQL box reads tables and views, and nothing else: no file, no writing, no query that never ends."""

import csv
import io
import time
from pathlib import Path

import duckdb
import pytest

from hbench.core.failure import HbenchError
from hbench.view.sql_asked import Most
from hbench.view.sql_process import ask
from tests.store.test_bundle import bundle, made  # noqa: F401  (fixtures)

MOST = Most(rows=100, characters=10_000)


def asked(folder: Path, query: str, most: Most = MOST) -> list[tuple]:
    return list(ask(folder, query, most).rows)


def trouble(folder: Path, query: str, most: Most = MOST) -> str:
    with pytest.raises(HbenchError) as refused:
        asked(folder, query, most)
    return str(refused.value)


@pytest.mark.parametrize(
    "query",
    [
        "select count(*) from rollouts",
        "with n as (select 1 as a) select * from n",
        "from runs select run_id",
        "values (1), (2)",
        "table runs",
        "(select 1) union all (select 2)",
        "-- what is there\nshow tables",
        "/* one */ describe runs;",
        "summarize runs",
        "pivot run_steps on status using count(*) group by run_id",
        "explain select * from runs",
        "explain analyze select count(*) from rollouts",
        "select 1; select text from texts limit 1",
    ],
)
@pytest.mark.attack
@pytest.mark.control
def test_what_only_reads_is_answered(toy, query):
    assert asked(toy, query)


@pytest.mark.parametrize(
    "query",
    [
        "insert into runs select * from runs",
        "update runs set outcome = 'finished'",
        "delete from runs",
        "drop table runs",
        "create table mine as select 1",
        "create temp table mine as select 1",
        "select 1; truncate runs",
        "copy runs to '{file}'",
        "copy (pivot run_steps on status using count(*)) to '{file}'",
        "explain analyze copy (select 1) to '{file}'",
        "explain analyze copy (pivot run_steps on status using count(*)) to '{file}'",
        "explain (analyze) delete from runs",
        "export database '{file}'",
        "import database '{file}'",
        "attach '{file}' as other",
        "detach texts",
        "install httpfs",
        "load httpfs",
        "set memory_limit = '64GB'",
        "pragma memory_limit = '64GB'",
        "reset memory_limit",
        "call checkpoint()",
        "checkpoint",
        "vacuum",
        "begin",
        "use texts",
        "prepare p as select 1",
        "/* select */ delete from runs",
        "-- select\ndelete from runs",
    ],
)
@pytest.mark.attack
def test_what_writes_or_changes_settings_is_refused(toy, tmp_path, query):
    file = tmp_path / "mine"
    assert "is refused: this box only reads" in trouble(toy, query.format(file=file))
    assert not file.exists()


@pytest.mark.parametrize(
    "query",
    [
        "select * from read_csv('/etc/passwd')",
        "select * from read_text('/etc/passwd')",
        "select * from read_blob('/etc/passwd')",
        "select * from '/etc/passwd'",
        "select * from '{file}'",
        "select * from read_json('{file}')",
        "select * from read_parquet('{file}')",
        "select * from glob('/etc/*')",
        "select * from sniff_csv('{file}')",
        "select * from duckdb_secrets()",
        "select * from read_csv('https://example.org/x.csv')",
        "with x as (insert into runs select * from runs returning 1) select * from x",
    ],
)
@pytest.mark.attack
def test_no_file_is_reached_and_no_row_is_slipped_in(toy, tmp_path, query):
    file = tmp_path / "secret.csv"
    file.write_text("told\nsecret\n")
    assert "secret\n" not in trouble(toy, query.format(file=file))


@pytest.mark.attack
@pytest.mark.control
def test_control_a_plain_connection_does_all_that(tmp_path):
    (tmp_path / "secret.csv").write_text("told\nsecret\n")
    plain = duckdb.connect()
    assert plain.sql(f"select * from read_csv('{tmp_path}/secret.csv')").fetchall() == [("secret",)]
    assert plain.sql("select count(*) from glob('/etc/*')").fetchall()[0][0] > 0
    for query in ("create table mine as select 1", "copy mine to '{}/mine'", "set memory_limit = '1GB'", "delete from mine", "checkpoint"):
        plain.execute(query.format(tmp_path))
    assert (tmp_path / "mine").exists() and plain.sql("from mine").fetchall() == []


def test_a_bundle_is_read_in_the_same_way_and_its_files_stay_as_they_are(bundle):  # noqa: F811
    files = {file: file.read_bytes() for file in bundle.rglob("*.parquet")}
    assert asked(bundle, "select count(*) from rollouts")[0][0] > 0
    assert "is refused" in trouble(bundle, f"explain analyze copy (select 1) to '{next(iter(files))}'")
    assert "disabled" in trouble(bundle, "select * from read_csv('/etc/passwd')")
    assert {file: file.read_bytes() for file in files} == files


@pytest.mark.slow
@pytest.mark.attack
def test_a_cross_join_that_would_run_for_ever_is_stopped(toy):
    began = time.monotonic()
    forever = "select count(*) from range(1000000) a, range(1000000) b, range(1000000) c"
    assert "was stopped" in trouble(toy, forever, Most(100, 10_000, seconds=2))
    assert time.monotonic() - began < 70
    assert asked(toy, "select 1") == [(1,)]


@pytest.mark.slow
@pytest.mark.parametrize("query", ["select len(range(2000000000))", "select list(a.range) from range(1000000000) a"])
@pytest.mark.attack
def test_a_query_that_wants_all_the_memory_gets_none_of_it(toy, query):
    assert "emory" in (told := trouble(toy, query)) or "was stopped" in told


@pytest.mark.attack
def test_of_a_huge_result_the_first_rows_are_read_and_no_more(toy):
    answer = ask(toy, "select range, repeat('x', 1000) from range(100000000)", Most(50, 1_000_000))
    assert len(answer.rows) == 50 and answer.more
    answer = ask(toy, "select repeat('x', 1000000) from range(100)", Most(50, 40_000))
    assert sum(len(row[0]) for row in answer.rows) < 100_000 and answer.rows[0][0].endswith("(1000000 characters)")


def test_values_come_as_they_can_be_shown(toy):
    query = "select null, true, 7, 0.5, 'nan'::double, 'infinity'::double, date '2026-01-02', [1, 2], {'a': 1}, 'x'::blob"
    assert asked(toy, query) == [(None, True, 7, 0.5, "nan", "inf", "2026-01-02", "[1, 2]", "{'a': 1}", "b'x'")]


def test_faulty_sql_is_told_with_its_place(toy_page):
    answer = toy_page.sql("select nonsense from rollouts")
    assert answer.status == 200 and "Referenced column" in answer.text and "LINE 1" in answer.text


@pytest.mark.attack
def test_the_page_shows_markup_and_control_characters_of_a_result_as_text(toy_page):
    answer = toy_page.sql("select '<script>alert(1)</script>' || chr(27) || '[31mred' || chr(8238) as \"<b>\"")
    assert "<script>alert" not in answer.text and "&lt;script&gt;alert(1)&lt;/script&gt;⟨ESC⟩[31mred⟨U+202E⟩" in answer.text
    assert "<th>&lt;b&gt;</th>" in answer.text


def test_keys_in_a_result_are_links(toy_page):
    assert 'href="/runs/2' in toy_page.sql("select run_id from runs").text


def test_a_result_comes_as_a_csv_file_too(toy_page):
    answer = toy_page.get("/sql.csv?q=select+run_id,+null+as+nothing,+'a,b'+as+text+from+runs")
    rows = list(csv.reader(io.StringIO(answer.text)))
    assert rows[0] == ["run_id", "nothing", "text"] and rows[1][1:] == ["", "a,b"]
    assert answer.headers["content-type"].startswith("text/csv")


def test_every_query_that_comes_with_hbench_runs(toy_page, toy):
    from hbench.view.sql_saved import SHIPPED

    for file in SHIPPED.glob("*.sql"):
        ask(toy, file.read_text(), MOST)
        assert file.stem in toy_page.get("/sql").text


def test_a_query_is_saved_shown_and_forgotten(toy_page, toy):
    saved = toy_page.post("/sql/saved", name="my scores", q="select avg(score) from rollouts")
    assert saved.status == 303 and saved.headers["location"] == "/sql?q=select+avg%28score%29+from+rollouts&named=my+scores"
    assert (toy / "queries/my scores.sql").read_text() == "select avg(score) from rollouts\n"
    assert "my scores" in toy_page.get("/sql").text
    assert toy_page.post("/sql/saved", name="my scores", forget="1").status == 303
    assert not (toy / "queries/my scores.sql").exists()


@pytest.mark.parametrize("name", ["../mine", "/tmp/mine", "", ".", "a/b", "a\\b", "x" * 61, "a\nb", "a\0b"])
@pytest.mark.attack
def test_a_name_that_is_none_is_refused(toy_page, toy, name):
    assert toy_page.post("/sql/saved", name=name, q="select 1").status == 400
    assert not list((toy / "queries").glob("*")) if (toy / "queries").exists() else True
