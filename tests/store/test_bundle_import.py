"""Somebody else's bundle is taken in whole and reads as it did there; one that is broken or means harm is not."""

import json
import os
import shutil
from pathlib import Path

import duckdb
import pytest

from hbench.core.failure import HbenchError
from hbench.core.folder_digest import file_digest, folder_digest
from hbench.exhibits.publish import publish, publish_file
from hbench.spec.adapter import read_adapter
from hbench.store.bundle_import import MOST_JSON, take_in
from hbench.store.query import query
from hbench.store.tables import TABLES
from tests.exhibits.trained_study import put_study, write_specs


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """The folder of somebody else, with the bundle `study` and the same as study.duckdb."""
    theirs = tmp_path_factory.mktemp("theirs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(theirs)
        write_specs(theirs)
        put_study(theirs / "results")
        os.rename(publish(theirs / "results", ["trained"], "study").folder, theirs / "study")
        publish_file(theirs / "results", ["trained"], theirs / "study.duckdb")
    return theirs


@pytest.fixture
def theirs(made, tmp_path, monkeypatch) -> Path:
    """A copy of it, to be spoilt. Ours is the working folder."""
    (tmp_path / "ours").mkdir()
    monkeypatch.chdir(tmp_path / "ours")
    shutil.copytree(made / "study", tmp_path / "theirs" / "study")
    shutil.copy(made / "study.duckdb", tmp_path / "theirs")
    return tmp_path / "theirs"


def told(bundle: Path) -> dict:
    return json.loads((bundle / "bundle.json").read_text())


def tell(bundle: Path, **changes: object) -> None:
    (bundle / "bundle.json").write_text(json.dumps(told(bundle) | changes))


def sign(bundle: Path) -> None:
    """bundle.json, made to fit what lies there now: its author is who means harm."""
    files = [f for f in bundle.rglob("*") if f.is_file() and f.name != "bundle.json"]
    tell(bundle, files={f.relative_to(bundle).as_posix(): {"sha256": file_digest(f), "bytes": f.stat().st_size} for f in files})


def refused(source: Path, said: str, **more: object) -> None:
    """It is not taken in, says why, and leaves nothing."""
    with pytest.raises(HbenchError, match=said):
        take_in(source, Path("results"), **more)
    assert list(Path("results/published").iterdir()) == []


@pytest.mark.attack
@pytest.mark.control
def test_a_bundle_is_taken_in_byte_for_byte(theirs):
    made = take_in(theirs / "study", Path("results"))
    assert made.folder == Path("results/published/study") and made.left == ()
    assert folder_digest(made.folder, without=()) == folder_digest(theirs / "study", without=())
    assert read_adapter("published/study/rl").digest == told(made.folder)["adapters"]["rl"]["sha256"]


@pytest.mark.parametrize("source", ["study", "study.duckdb"])
@pytest.mark.slow
def test_it_reads_as_it_did_there(theirs, source):
    folder = take_in(theirs / source, Path("results"), "taken").folder
    for name in ("held_out", "event_texts", "candidates", "specs", "steps", "texts", "plan_labels"):
        sql = f"select * from {name} order by all"
        assert query(folder, sql) == query(theirs / "study", sql), name
    assert told(folder)["specs"] == told(theirs / "study")["specs"]


def test_a_file_brings_no_adapters(theirs):
    folder = take_in(theirs / "study.duckdb", Path("results")).folder
    assert (told(folder)["arms"], told(folder)["adapters"], told(folder)["without"]) == ({}, {}, ["adapters"])


def test_what_bundle_json_does_not_name_stays_behind(theirs):
    (theirs / "study/run_me.py").write_text("print('hello')")
    (theirs / "study/adapters/rl/notes.txt").write_text("of mine")
    made = take_in(theirs / "study", Path("results"))
    assert made.left == ("adapters/rl/notes.txt", "run_me.py") and not (made.folder / "run_me.py").exists()


def test_a_name_that_is_taken_is_not_given_twice(theirs):
    take_in(theirs / "study", Path("results"))
    with pytest.raises(HbenchError, match="there is a bundle study already, .*give another --name"):
        take_in(theirs / "study", Path("results"))
    with pytest.raises(HbenchError, match="there is a bundle mini already"):
        take_in(theirs / "study", Path("results"), "mini")  # it ships: exhibits would read a stranger's rows
    assert take_in(theirs / "study", Path("results"), "other").folder.name == "other"


@pytest.mark.parametrize("name", ["../study", "/tmp/x", "", "a/b", ".hidden"])
def test_a_name_leads_nowhere_else(theirs, name):
    tell(theirs / "study", name=name)
    refused(theirs / "study", "bundle.json cannot be read: name: String should match")
    tell(theirs / "study", name="study")
    if name:
        refused(theirs / "study", "is no name for a bundle", name=name)


def test_a_newer_bundle_is_for_a_newer_hbench(theirs):
    tell(theirs / "study", schema=999)
    refused(theirs / "study", "was written by a newer hbench; use that one")


@pytest.mark.parametrize(
    "place", ["../../outside.yaml", "specs/../../outside.yaml", "/etc/passwd", "rows/../rows/x.parquet", "adapters/../../x.json", "rows\\x.parquet"]
)
def test_a_place_that_climbs_out_is_refused(theirs, place):
    tell(theirs / "study", files=told(theirs / "study")["files"] | {place: {"sha256": "0" * 64, "bytes": 1}})
    refused(theirs / "study", "is no place in a bundle")
    with pytest.raises(HbenchError, match="is no place in a bundle"):
        query(theirs / "study", "select 1")  # nor is it read where it lies


@pytest.mark.parametrize("linked", ["rows/rollouts.parquet", "adapters/rl", "bundle.json"])
@pytest.mark.attack
def test_a_link_is_not_followed(theirs, linked):
    place = theirs / "study" / linked
    os.rename(place, theirs / "elsewhere")
    place.symlink_to(theirs / "elsewhere")
    refused(theirs / "study", "is a link or no file")


def test_a_pipe_is_not_waited_for(theirs):
    file = theirs / "study/rows/rollouts.parquet"
    file.unlink()
    os.mkfifo(file)
    refused(theirs / "study", "is a link or no file")


@pytest.mark.parametrize("change", ["gone", "changed"])
def test_a_file_that_is_not_the_one_named_is_told(theirs, change):
    file = theirs / "study/rows/rollouts.parquet"
    file.unlink() if change == "gone" else file.write_bytes(b"version https://git-lfs.github.com/spec/v1")
    refused(theirs / "study", "cannot be read: No such file" if change == "gone" else "is not the file that bundle.json names")


def test_weights_that_would_run_are_refused(theirs):
    (theirs / "study/adapters/rl/adapter_model.bin").write_bytes(b"\x80\x04.")
    sign(theirs / "study")
    refused(theirs / "study", "adapter_model.bin' may hold code: weights come as .safetensors")


def test_settings_that_name_code_are_refused(theirs):
    file = theirs / "study/adapters/rl/adapter_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"auto_mapping": {"parent_library": "evil"}}))
    sign(theirs / "study")
    refused(theirs / "study", r"adapter_config.json names code to run \(auto_mapping\)")


def test_settings_too_big_to_be_read_hide_no_code(theirs):
    """They were passed over as a tokenizer's vocabulary: blanks behind them were enough."""
    file = theirs / "study/adapters/rl/adapter_config.json"
    file.write_text(json.dumps({"auto_mapping": {"parent_library": "evil"}}) + " " * MOST_JSON)
    sign(theirs / "study")
    refused(theirs / "study", "adapter_config.json is too big to be a model's settings")
    file.rename(file.with_name("tokenizer.json"))
    sign(theirs / "study")
    take_in(theirs / "study", theirs / "mine")


def test_too_big_a_bundle_is_refused(theirs):
    refused(theirs / "study", "more than --max-mb 0.001", max_mb=0.001)
    refused(theirs / "study.duckdb", "more than --max-mb 0.001", max_mb=0.001)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("select * exclude (score), score as scor from {}", "table rollouts has no column 'scor' .did you mean 'score'"),
        ("select * exclude (question_id) from {}", "column question_id is missing, by which rows"),
        ("select * replace ('high' as score) from {}", "column score does not hold DOUBLE|rollouts: .*to DOUBLE .*column score"),
        ("from {} union all from {}", "keys occur more than once"),
        ("select * replace (null as step_key) from {}", "rows have no key"),
    ],
)
@pytest.mark.parametrize("source", ["study", "study.duckdb"])
def test_rows_of_another_make_are_refused(theirs, rows, said, source):
    if source == "study":
        file = theirs / "study/rows/rollouts.parquet"
        os.rename(file, theirs / "old.parquet")
        duckdb.execute(f"copy ({rows.replace('{}', repr(str(theirs / 'old.parquet')))}) to '{file}' (format parquet)")
        sign(theirs / "study")
    else:
        spoil(theirs, f"create table new as ({rows.replace('{}', 'rollouts')}); drop table rollouts; alter table new rename to rollouts")
    refused(theirs / source, said)


def test_a_table_that_hbench_has_not_is_refused(theirs):
    shutil.copy(theirs / "study/rows/rollouts.parquet", theirs / "study/rows/rolouts.parquet")
    sign(theirs / "study")
    refused(theirs / "study", "hbench has no table 'rolouts'; a newer one may have written it .did you mean 'rollouts'")


def test_rows_that_are_no_parquet_are_refused(theirs):
    (theirs / "study/rows/rollouts.parquet").write_bytes(b"PAR1" + b"\0" * 100 + b"PAR1")
    sign(theirs / "study")
    refused(theirs / "study", "rows/rollouts.parquet: ")


def spoil(theirs: Path, sql: str) -> None:
    with duckdb.connect(str(theirs / "study.duckdb")) as connection:
        connection.execute(sql)


def test_a_view_in_a_table_s_place_is_refused(theirs):
    spoil(theirs, "drop table rollouts; create view rollouts as select * from read_csv('/etc/passwd')")
    refused(theirs / "study.duckdb", "rollouts is a view in it, not a table")


def test_views_and_macros_of_a_file_are_passed_over(theirs):
    """A view of a known name that reads files, and macros in place of what is called: none of it comes along."""
    spoil(
        theirs,
        "create or replace view held_out as select content as score from read_text('/etc/passwd');"
        "create macro hash(x) as error('called'); create macro max(x) as error('called'); create table more (a int)",
    )
    folder = take_in(theirs / "study.duckdb", Path("results")).folder
    assert query(folder, "select arm, score from held_out order by all") == query(theirs / "study", "select arm, score from held_out order by all")


def test_a_computed_column_can_read_nothing(theirs):
    """Its expression is somebody else's; it is computed where no file can be opened and no variable read."""
    spoil(
        theirs,
        "create table new as select * exclude (answer) from rollouts; alter table new add column answer varchar; drop table rollouts;"
        "create table rollouts (step_key varchar, candidate bigint, question_id varchar, repeat bigint, answer varchar as (upper(step_key)));"
        "insert into rollouts select step_key, candidate, question_id, repeat from new; drop table new",
    )
    folder = take_in(theirs / "study.duckdb", Path("results")).folder
    assert query(folder, "select bool_and(answer = upper(step_key)) from rollouts").rows == [(True,)]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("drop table bundle", "holds no table `bundle`"),
        ("delete from bundle", "its table `bundle` cannot be read"),
        ("update bundle set manifest = '[1]'", "its table `bundle` cannot be read"),
        ("update bundle set manifest = '{\"schema\": 999}'", "newer hbench"),
        ("update bundle set manifest = json_merge_patch(manifest, '{\"name\": \"../up\"}')", "name: String should match"),
    ],
)
def test_a_file_must_say_which_bundle_it_is(theirs, sql, said):
    spoil(theirs, sql)
    refused(theirs / "study.duckdb", said)


def test_what_is_no_bundle_says_so(theirs):
    (theirs / "study.zip").write_bytes(b"PK\x03\x04")
    (theirs / "empty").mkdir()
    refused(theirs / "study.zip", "is no DuckDB file that can be read here.*unpack an archive first")
    refused(theirs / "empty", "holds no bundle.json")
    refused(theirs / "nothere", "there is no .*nothere")


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": 1}', "[" * 100_000])
def test_a_bundle_json_of_another_make_is_refused(theirs, text):
    (theirs / "study/bundle.json").write_text(text)
    refused(theirs / "study", "bundle.json cannot be read")


def test_every_table_of_a_step_may_come_in():
    from hbench.store.bundle_check import check_columns

    for table in TABLES.values():
        check_columns(table, [column.name for column in table.columns])
