"""A bundle's folder is read like a results folder, and is refused when it is not what it says."""

import json
import shutil
from pathlib import Path

import pytest

from hbench.core.failure import HbenchError
from hbench.core.folder_digest import file_digest
from hbench.store.artifacts import Store
from hbench.store.bundle_rows import choose, write_rows
from hbench.store.database import fold
from hbench.store.query import open_read_only, query, query_frame
from tests.store.made import RUN, label, plan, put, put_run, rollouts


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A bundle of one spec with one held-out step; its results hold another step, which no plan names."""
    results = tmp_path_factory.mktemp("results")
    store = Store(results)
    put(store, "a", rollouts([1.0, 0.5]), {"n": 2})
    put(store, "b", rollouts([0.0], harness="g"))
    rows = plan({"a": [label("held_out")]})
    store.put_plan(rows["specs"][0]["spec_digest"], rows)
    put_run(store, ["a", "b"])
    fold(results)
    folder = tmp_path_factory.mktemp("bundles") / "mini"
    with open_read_only(results, 1.0) as connection:
        choose(connection, [RUN])
        write_rows(connection, folder / "rows")
    files = {f"rows/{f.name}": {"sha256": file_digest(f)} for f in (folder / "rows").iterdir()}
    (folder / "bundle.json").write_text(json.dumps({"name": "mini", "schema": 1, "files": files}))
    return folder


@pytest.fixture
def bundle(made, tmp_path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "mini"))


def test_its_views_answer_as_those_of_a_database_do(bundle):
    assert query(bundle, "select arm, score from held_out").rows == [("a", 0.75)]
    assert query(bundle, "select sent, received from event_texts order by position, question_id").rows[0] == ("what is 0?", "it is 0")
    assert query(bundle, "select text from texts where text = 'it is 1'").rows == [("it is 1",)]
    assert query_frame(bundle, "select value ->> '$.n' as n from steps").to_dict("list") == {"n": ["2"]}


def test_steps_that_no_plan_names_are_not_in_it(bundle):
    assert query(bundle, "select distinct harness_id from rollouts").rows == [("h",)]


def test_tables_that_nobody_wrote_are_empty_and_columns_null(bundle):
    assert query(bundle, "select * from updates").rows == []
    file = bundle / "rows/rollouts.parquet"
    query(bundle, "select 1")
    _without_column(file, "output_digest")
    _sign(bundle)
    assert query(bundle, "select distinct output_digest, typeof(output_digest) from rollouts").rows == [(None, "VARCHAR")]


def test_it_is_only_read(bundle):
    for sql in ("delete from rollouts", "create table x (a int)", "insert into runs default values"):
        with pytest.raises(HbenchError, match="refused"):
            query(bundle, sql)


@pytest.mark.parametrize("change", ["gone", "changed"])
def test_a_file_that_is_not_the_one_named_is_told(bundle, change):
    file = bundle / "rows/rollouts.parquet"
    file.unlink() if change == "gone" else file.write_bytes(b"version https://git-lfs.github.com/spec/v1")
    with pytest.raises(HbenchError, match="rollouts.parquet is not the file that bundle.json names"):
        query(bundle, "select 1")


def test_rows_that_bundle_json_does_not_name_are_not_read(bundle):
    """Taken off the list, a file could be exchanged unnoticed."""
    told = json.loads((bundle / "bundle.json").read_text())
    del told["files"]["rows/rollouts.parquet"]
    (bundle / "bundle.json").write_text(json.dumps(told))
    _without_column(bundle / "rows/rollouts.parquet", "output_digest")
    with pytest.raises(HbenchError, match="rollouts.parquet is named nowhere in bundle.json"):
        query(bundle, "select 1")
    (bundle / "rows/rollouts.parquet").unlink()
    assert query(bundle, "select * from rollouts").rows == []


@pytest.mark.parametrize(("text", "said"), [("{", "cannot be read"), ("[]", "cannot be read"), ('{"schema": 999}', "newer hbench")])
def test_a_bundle_that_cannot_be_read_says_why(bundle, text, said):
    (bundle / "bundle.json").write_text(text)
    with pytest.raises(HbenchError, match=said):
        query(bundle, "select 1")


def _without_column(file: Path, name: str) -> None:
    """The file as an older hbench, which had no such column, would have written it."""
    from hbench.store.parquet import memory

    old = file.with_suffix(".old")
    file.rename(old)
    with memory() as database:
        database.execute(f"copy (select * exclude ({name}) from read_parquet('{old}')) to '{file}' (format parquet)")
    old.unlink()


def _sign(bundle: Path) -> None:
    told = json.loads((bundle / "bundle.json").read_text())
    told["files"] = {name: {"sha256": file_digest(bundle / name)} for name in told["files"]}
    (bundle / "bundle.json").write_text(json.dumps(told))
