"""Results of another age: an older hbench's are read, what a newer one wrote is refused by its name."""

import json

import pytest

from hbench.core.failure import StepError
from hbench.store.artifacts import Store
from hbench.store.database import fold
from hbench.store.packing import parquet_file
from hbench.store.parquet import memory
from hbench.store.query import query
from tests.store.made import RUN, SPEC, key, label, plan, put, put_run, rollouts


@pytest.fixture(params=["inline", "parquet"])
def store(tmp_path, monkeypatch, request):
    """Two finished steps and their run."""
    if request.param == "parquet":
        monkeypatch.setattr("hbench.store.part.INLINE_BYTES", 0)
    made = Store(tmp_path)
    put(made, "old", rollouts([1.0, 0.0]))
    put(made, "new", rollouts([0.5]))
    made.put_plan(SPEC, plan({"old": [label("held_out")]}))
    put_run(made, ["old"])
    return made


def age(store, table: str, column: str) -> None:
    """The step `old` as it would be had its table no such column yet."""
    folder = store.get(key("old")).folder
    record = json.loads((folder / "step.json").read_text())
    for row in record["rows"].get(table, ()):
        row.pop(column, None)
    head, rows = {k: v for k, v in record.items() if k != "rows"}, record["rows"]
    (folder / "step.json").write_text(json.dumps(head)[:-1] + ',\n"rows": ' + json.dumps(rows) + "}\n")
    if (file := parquet_file(folder, table)).exists():
        with memory() as database:
            database.execute(f"create table old as select * exclude ({column}) from read_parquet('{file}')")
            database.execute(f"copy old to '{file}' (format parquet)")


def test_rows_of_an_older_hbench_lack_a_column_and_are_read(store):
    age(store, "rollouts", "boundary")
    assert [row["boundary"] for row in store.get(key("old")).rows("rollouts")] == [None, None]
    done = fold(store.folder)
    assert (done.steps, done.messages) == (2, ())
    assert query(store.folder, "select score, boundary from rollouts order by all").rows == [(0.0, None), (0.5, None), (1.0, None)]


def test_a_step_of_a_newer_hbench_is_refused_by_name_and_the_rest_is_folded(store):
    folder = store.get(key("old")).folder
    file = folder / "step.json"
    file.write_text(file.read_text().replace('"schema": 1', '"schema": 2', 1))
    with pytest.raises(StepError, match=f"{key('old')} was written by a newer hbench"):
        store.get(key("old"))
    done = fold(store.folder)
    assert done.steps == 1 and key("old") in done.messages[0] and "newer hbench" in done.messages[0]


def test_a_plan_says_its_schema_and_one_of_a_newer_hbench_is_passed_over_by_name(store):
    (file,) = (store.folder / "plans").iterdir()
    assert json.loads(file.read_text())["schema"] == 1
    file.write_text(file.read_text().replace('"schema": 1', '"schema": 2', 1))
    done = fold(store.folder)
    assert (done.how, done.steps) == ("folded", 2)
    assert done.messages == (f"{file} cannot be read: a newer hbench wrote it",)


def test_a_plan_that_names_no_schema_is_of_the_first(store):
    (file,) = (store.folder / "plans").iterdir()
    file.write_text(json.dumps({"rows": json.loads(file.read_text())["rows"]}))
    assert fold(store.folder).messages == ()
    assert query(store.folder, "select count(*) from plan_labels").rows == [(1,)]


def test_rows_of_a_newer_hbench_in_a_journal_are_left_out_by_name(store):
    with (store.folder / f"runs/{RUN}.jsonl").open("a") as journal:
        journal.write('{"weather": [{"run_id": "r"}], "run_steps": [{"run_id": "r", "step_id": "s", "status": "ran", "mood": "good"}]}\n')
    done = fold(store.folder)
    assert done.messages == ("a newer hbench wrote rows of weather into runs/; they are left out",)
    assert query(store.folder, "select count(*) from run_steps").rows == [(2,)]
    assert fold(store.folder).messages == ()


def test_a_database_says_which_schema_it_has(store):
    fold(store.folder)
    assert query(store.folder, "select mark from folded where place = 'schema'").rows[0][0].startswith("1 ")
