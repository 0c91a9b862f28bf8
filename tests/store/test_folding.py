"""Folding: everything finished, once, whatever lies in the way."""

import json
import os
import shutil
import time

import pytest

from hbench.core.digest import text_digest
from hbench.store import database
from hbench.store.artifacts import Store
from hbench.store.database import fold, rebuild
from hbench.store.query import query
from tests.store.made import RUN, SPEC, contents, key, label, plan, put, put_run, rollouts


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def count(store, table: str) -> int:
    return query(store.folder, f"select count(*) from {table}").rows[0][0]


def test_an_empty_folder_has_nothing_to_fold(tmp_path):
    assert fold(tmp_path / "none").how == "nothing"
    assert not (tmp_path / "none").exists()


def test_every_table_of_a_finished_step_is_there_with_its_key(store):
    put(store, "a", rollouts([1.0, 0.5]), {"score": 0.75})
    result = fold(store.folder)
    assert (result.how, result.steps, result.messages) == ("folded", 1, ())
    assert query(store.folder, "select step_key, value, digest from steps").rows == [
        (key("a"), '{"score":0.75}', store.get(key("a")).digest)
    ]
    assert query(store.folder, "select distinct step_key from rollouts").rows == [(key("a"),)]
    assert [count(store, table) for table in ("rollouts", "grades", "events", "texts")] == [2, 4, 2, 4]


def test_only_what_is_new_is_folded_and_nothing_twice(store):
    put(store, "a", rollouts([1.0]))
    assert fold(store.folder).steps == 1
    assert fold(store.folder).how == "nothing"
    put(store, "b", rollouts([0.0]))
    assert fold(store.folder).steps == 1
    assert (count(store, "steps"), count(store, "rollouts"), count(store, "texts")) == (2, 2, 2)


def test_folders_that_did_not_change_are_not_looked_into(store, monkeypatch):
    put(store, "a")
    _age(store)
    assert fold(store.folder).steps == 1
    looked = []
    real = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: looked.append(str(path)) or real(path))
    fold(store.folder)
    assert not [path for path in looked if path.endswith(f"steps/{key('a')[:2]}")]


def test_a_folder_that_changed_within_one_tick_of_its_clock_is_looked_into_again(store):
    put(store, "a")
    folder = store.folder / "steps" / key("a")[:2]
    fold(store.folder)
    same_tick = folder.stat().st_mtime_ns
    shutil.copytree(folder / key("a"), folder / (key("a")[:2] + "0" * 62))
    os.utime(folder, ns=(same_tick, same_tick))
    assert fold(store.folder).steps == 1


def test_big_and_small_steps_fold_alike(store, tmp_path, monkeypatch):
    other = Store(tmp_path / "other")
    put(store, "a", rollouts([0.25] * 5))
    monkeypatch.setattr("hbench.store.part.INLINE_BYTES", 0)
    put(other, "a", rollouts([0.25] * 5))
    fold(store.folder), fold(other.folder)
    assert contents(store.folder) == contents(other.folder)


def test_the_first_harness_and_question_and_text_stay(store):
    put(store, "a", {"harnesses": [{"harness_id": "h", "path": "harness.py", "text": "1"}]})
    fold(store.folder)
    put(store, "b", {"harnesses": [{"harness_id": "h", "path": "harness.py", "text": "2"}]})
    put(store, "c", {"harnesses": [{"harness_id": "h", "path": "harness.py", "text": "2"}]})
    fold(store.folder)
    assert query(store.folder, "select text from harnesses").rows == [("1",)]


def test_a_plan_takes_the_place_of_its_earlier_version(store):
    store.put_plan(SPEC, plan({"a": [label("propose", round=0)], "b": [label("select", round=0)]}))
    fold(store.folder)
    assert (count(store, "plan_labels"), count(store, "plan_edges")) == (2, 2)
    store.put_plan(SPEC, plan({"a": [label("propose", round=0)]}, name="renamed"))
    fold(store.folder)
    assert query(store.folder, "select name from specs").rows == [("renamed",)]
    assert (count(store, "plan_labels"), count(store, "plan_edges")) == (1, 1)


def test_putting_the_same_plan_again_changes_no_file(store):
    rows = plan({"a": [label("propose", round=0)]})
    store.put_plan(SPEC, rows)
    before = (store.folder / "plans" / f"{SPEC}.json").stat()
    store.put_plan(SPEC, rows)
    assert (store.folder / "plans" / f"{SPEC}.json").stat() == before


def test_exhibit_cells_take_the_place_of_those_printed_before(store):
    cell = {"exhibit": "rounds", "row": "a", "column": "score", "value": 0.5}
    store.put_exhibit("rounds", {"exhibit_cells": [cell, cell | {"row": "b"}]})
    store.put_exhibit("other", {"exhibit_cells": [cell | {"exhibit": "other"}]})
    fold(store.folder)
    store.put_exhibit("rounds", {"exhibit_cells": [cell | {"value": 0.75}]})
    fold(store.folder)
    assert query(store.folder, "select exhibit, row, value from exhibit_cells order by 1").rows == [
        ("other", "a", 0.5),
        ("rounds", "a", 0.75),
    ]


def test_a_run_can_be_followed_and_its_last_rows_count(store):
    with store.open_run(RUN) as journal:
        journal.append({"runs": [{"run_id": RUN, "spec_digest": SPEC, "started_at": "2026-01-01T00:00:00"}]})
        fold(store.folder)
        assert query(store.folder, "select outcome from runs").rows == [(None,)]
        journal.append({"run_steps": [{"run_id": RUN, "step_id": "s", "status": "failed", "error": "x"}]})
        journal.append({"run_steps": [{"run_id": RUN, "step_id": "s", "status": "ran", "step_key": "k"}]})
        fold(store.folder)
        journal.append({"run_steps": [{"run_id": RUN, "step_id": "t", "status": "ran", "step_key": "k"}]})
        fold(store.folder)
    assert query(store.folder, "select step_id, status, error from run_steps order by 1").rows == [
        ("s", "ran", None),
        ("t", "ran", None),
    ]


def test_a_torn_journal_line_waits_until_it_is_whole(store):
    put_run(store, ["a"], outcome=None)
    file = store.folder / "runs" / f"{RUN}.jsonl"
    line = json.dumps({"run_steps": [{"run_id": RUN, "step_id": "b", "status": "ran"}]}) + "\n"
    with file.open("a") as journal:
        journal.write(line[:20])
        journal.flush()
        fold(store.folder)
        assert count(store, "run_steps") == 1
        journal.write(line[20:])
    fold(store.folder)
    assert count(store, "run_steps") == 2


def test_times_are_times_and_a_garbled_one_is_null(store):
    put_run(store, [])
    with store.open_run("other") as journal:
        row = {"run_id": "other", "started_at": "yesterday", "ended_at": "2026-01-02T03:04:05+00:00"}
        journal.append({"runs": [row]})
    fold(store.folder)
    found = query(store.folder, "select run_id, started_at::varchar, ended_at::varchar from runs order by 1").rows
    assert found == [("other", None, "2026-01-02 03:04:05"), (RUN, "2026-01-01 00:00:00", "2026-01-02 00:00:00")]


@pytest.mark.parametrize("inline_bytes", [0, 64_000])
def test_no_text_breaks_a_fold(store, monkeypatch, inline_bytes):
    monkeypatch.setattr("hbench.store.part.INLINE_BYTES", inline_bytes)
    odd = "NUL \0, half a pair \ud83d, \u2028, \x1b[2J, '\"\\ and \\u0000 as text, 😀, " + "x" * 20_000
    put(
        store,
        "a",
        {
            "texts": [{"digest": text_digest(odd), "text": odd}],
            "rollouts": [{"question_id": "q", "answer": odd, "error": odd}],
            "questions": [{"question_id": "q", "answer": {odd: [odd, 10**40, None, {"a": 1e-300}]}, "meta": None}],
            "reports": [{"harness_id": odd}],
        },
        {"said": odd},
    )
    assert fold(store.folder).messages == ()
    clean = odd.replace("\0", "\ufffd").replace("\ud83d", "\ufffd")
    assert query(store.folder, "select text from texts").rows == [(clean,)]
    assert query(store.folder, "select answer from rollouts").rows == [(clean,)]
    assert json.loads(query(store.folder, "select answer from questions").rows[0][0])[clean][0] == clean
    assert json.loads(query(store.folder, "select value from steps").rows[0][0]) == {"said": clean}
    assert store.get(key("a")).value == {"said": odd}


@pytest.mark.fault
def test_a_step_that_spoils_the_fold_is_named_and_passed_over(store, monkeypatch):
    monkeypatch.setattr("hbench.store.part.INLINE_BYTES", 0)
    for i in range(9):
        put(store, str(i), rollouts([1.0]))
    broken = store.get(key("4")).folder
    (broken / "rows" / "rollouts.parquet").write_bytes(b"PAR1 but not really" * 10)
    (store.get(key("5")).folder / "texts.parquet").unlink()
    result = fold(store.folder)
    assert result.steps == 7
    assert sorted(message.split()[1] for message in result.messages) == sorted([key("4"), key("5")])
    assert (count(store, "steps"), count(store, "rollouts")) == (7, 7)
    assert fold(store.folder).messages == ()


@pytest.mark.fault
@pytest.mark.slow
@pytest.mark.parametrize("file", ["hbench.duckdb", "texts.duckdb"])
@pytest.mark.parametrize("damage", ["garbage", "cut", "empty"])
def test_a_broken_database_is_put_aside_and_made_anew(store, file, damage):
    for i in range(3):
        put(store, str(i), rollouts([1.0, 0.5]))
    fold(store.folder)
    wanted = contents(store.folder)
    path = store.folder / file
    whole = path.read_bytes()
    path.write_bytes({"garbage": b"garbage" * 5000, "cut": whole[: len(whole) // 3], "empty": b""}[damage])
    put(store, "3")
    result = fold(store.folder)
    assert result.how == "folded" and f"{file} could not be read" in result.messages[0]
    assert [name for name in os.listdir(store.folder) if name.startswith(f"{file}.broken-")]
    assert {t: rows for t, rows in contents(store.folder).items() if t != "steps"} == {
        t: rows for t, rows in wanted.items() if t != "steps"
    }


@pytest.mark.fault
def test_a_database_without_its_partner_is_made_anew(store):
    put(store, "a", rollouts([1.0]))
    fold(store.folder)
    (store.folder / "texts.duckdb").unlink()
    fold(store.folder)
    assert count(store, "texts") == 2


@pytest.mark.fault
def test_a_database_with_other_tables_is_made_anew(store, monkeypatch):
    put(store, "a", rollouts([1.0]))
    fold(store.folder)
    monkeypatch.setattr(database, "stamp", lambda: "2 other")
    monkeypatch.setattr("hbench.store.schema.stamp", lambda: "2 other")
    assert fold(store.folder).steps == 1
    assert fold(store.folder).how == "nothing"
    assert count(store, "rollouts") == 1


def test_a_rebuilt_database_holds_the_same_rows(store):
    for i in range(4):
        put(store, str(i), rollouts([0.5, 1.0]), {"i": i})
        fold(store.folder)
    store.put_plan(SPEC, plan({"0": [label("held_out")]}))
    put_run(store, ["0", "1"])
    fold(store.folder)
    before = contents(store.folder)
    assert rebuild(store.folder).steps == 4
    assert contents(store.folder) == before
    for name in ("hbench.duckdb", "texts.duckdb"):
        (store.folder / name).unlink()
    fold(store.folder)
    assert contents(store.folder) == before


@pytest.mark.fault
def test_a_fold_that_cannot_write_says_so_and_raises_nothing(store, monkeypatch):
    put(store, "a")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hbench.store.staging.Stage.insert", full)
    result = fold(store.folder)
    assert result.how == "failed" and "No space left" in result.messages[0]
    monkeypatch.undo()
    assert fold(store.folder).steps == 1


def test_a_second_fold_at_once_does_not_wait(store):
    put(store, "a")
    with database._fold_lock(store.folder / "fold.lock", 0.0):
        began = time.monotonic()
        assert fold(store.folder).how == "busy"
        assert time.monotonic() - began < 1
    assert sorted(set(os.listdir(store.folder)) - {"steps"}) == ["fold.lock"]


def _age(store) -> None:
    for folder in (store.folder / "steps").iterdir():
        os.utime(folder, (1e9, 1e9))
