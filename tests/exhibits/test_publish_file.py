"""One DuckDB file holds what a bundle does, and plain DuckDB reads it."""

import json
import re
from pathlib import Path

import duckdb
import pytest

from hbench.core.failure import HbenchError
from hbench.exhibits.publish import Terms, publish, publish_file
from hbench.store.query import query
from hbench.store.tables import TABLES
from hbench.store.views import FILES, views
from tests.exhibits.trained_study import put_study, write_specs


@pytest.fixture(scope="module")
def studied(tmp_path_factory) -> Path:
    """A working folder with results of specs/trained.yaml, exported to study.duckdb."""
    folder = tmp_path_factory.mktemp("studied")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_specs(folder)
        put_study(folder / "results")
        publish_file(folder / "results", ["trained"], folder / "study.duckdb")
    return folder


@pytest.fixture
def file(studied, monkeypatch) -> Path:
    monkeypatch.chdir(studied)
    return studied / "study.duckdb"


def ask(file: Path, sql: str) -> list[tuple]:
    """What DuckDB answers, allowed to open nothing but the file."""
    with duckdb.connect(str(file), read_only=True, config={"enable_external_access": "false"}) as plain:
        return plain.execute(sql).fetchall()


def test_it_holds_every_table_and_view_with_its_comment(file):
    tables = dict(ask(file, "select table_name, comment from duckdb_tables()"))
    assert set(tables) == {*TABLES, "bundle"} - {"folded"} and all(tables.values())
    made = ask(file, "select view_name, comment from duckdb_views() where not internal")
    assert {name: comment for name, comment in made} == {view.name: view.comment for view in views()}


def test_its_views_answer_as_those_of_the_bundle_do(file, studied):
    bundle = publish(studied / "results", ["trained"], "same").folder
    for sql in ("select arm, purpose, score from held_out order by all", "select sent, received from event_texts order by all"):
        assert ask(file, sql) == query(bundle, sql).rows != []
    for view in views():
        assert isinstance(ask(file, f"select * from {view.name}"), list)


def test_texts_are_inside(file):
    assert ask(file, "select count(*) > 0 from texts where text like 'an edit%'") == [(True,)]


def test_it_says_which_bundle_it_is(file):
    name, manifest = ask(file, "select name, manifest from bundle")[0]
    told = json.loads(manifest)
    assert (name, told["name"], list(told["specs"])) == ("study", "study", ["trained"]) and "adapters" in told["without"]


def test_a_bundle_becomes_a_file_as_it_is(file, studied):
    publish(studied / "results", ["trained"], "mine", Terms(frozenset({"updates"})))
    publish_file(studied / "results", ["published/mine"], studied / "mine.duckdb")
    assert ask(studied / "mine.duckdb", "select count(*) from updates") == [(0,)]
    assert ask(studied / "mine.duckdb", "select arm, score from held_out order by all") == ask(file, "select arm, score from held_out order by all")


def test_written_again_it_takes_the_old_ones_place(file, studied):
    with duckdb.connect(str(file), read_only=True) as reader:
        publish_file(studied / "results", ["trained"], file)
        assert reader.execute("select count(*) > 0 from rollouts").fetchall() == [(True,)], "who has it open reads on"
    assert [f.name for f in studied.iterdir() if f.name.startswith(".study")] == []


def test_nothing_else_is_written_over(file, studied):
    (studied / "thesis.duckdb").write_text("three years of work")
    with duckdb.connect(str(studied / "other.duckdb")) as other:
        other.execute("create table rollouts (a int)")
    for name in ("thesis.duckdb", "other.duckdb"):
        with pytest.raises(HbenchError, match="was not written by `hbench export`"):
            publish_file(studied / "results", ["trained"], studied / name)
    assert (studied / "thesis.duckdb").read_text() == "three years of work"


@pytest.mark.parametrize(
    ("specs", "name", "said"),
    [
        (["published/nothere"], "a.duckdb", "no bundle 'nothere'"),
        (["published/same", "trained"], "a.duckdb", "rows come from one bundle"),
        (["trained"], "a b.duckdb", "'a b' is no name for a bundle"),
        (["trained"], "gone/a.duckdb", "there is no folder"),
    ],
)
def test_what_cannot_be_is_told(file, studied, specs, name, said):
    publish(studied / "results", ["trained"], "same")
    with pytest.raises(HbenchError, match=said):
        publish_file(studied / "results", specs, studied / name)


def test_a_bundle_is_not_published_twice(studied, file):
    with pytest.raises(HbenchError, match="is a bundle already; `--duckdb FILE`"):
        publish(studied / "results", ["published/same"], "again")


def test_views_are_written_so_that_older_duckdbs_know_them():
    """`if(a, b, c)` came with DuckDB 2; the rest was read with 1.1.3 and 1.4.4."""
    import hbench.store.views as module

    for name in FILES:
        assert not re.search(r"\bif\(", (Path(module.__file__).parent / name).read_text())
