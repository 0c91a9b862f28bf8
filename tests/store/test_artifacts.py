"""Artifacts: appended, committed, read back, continued after a kill."""

import json
import os
import subprocess
import sys
import threading

import pytest

from hbench.core.failure import StepError
from hbench.core.output import Artifact, Output
from hbench.store.artifacts import Store
from hbench.store.database import fold
from hbench.store.parquet import _one, passing
from hbench.store.part import UnfinishedPart
from hbench.store.query import query
from tests.store.made import key, put, record, rollout, rollouts

KEY = key("a")


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


def test_nothing_is_there_at_first_and_looking_makes_no_folder(store):
    assert store.get(KEY) is None
    assert not store.folder.exists()


def test_what_was_committed_is_read_back(store):
    value = {"score": 0.5, "text": "lone \ud800 and NUL \0 stay in a value"}
    made = put(store, "a", {"reports": [{"harness_id": "h", "text_digest": "t"}]}, value)
    found = store.get(KEY)
    assert (found, found.value) == (made, value)
    assert found.rows("reports") == [{"harness_id": "h", "text_digest": "t"}]
    assert found.rows("rollouts") == []
    assert sorted(os.listdir(found.folder)) == ["step.json"]


@pytest.mark.parametrize("spool_bytes", [1_000, 2_000_000])
def test_many_rows_are_kept_as_parquet_and_read_back_as_they_were(store, monkeypatch, spool_bytes):
    monkeypatch.setattr("hbench.store.packing.SPOOL_BYTES", spool_bytes)
    few, many = rollouts([0.5] * 3), rollouts([0.5] * 300)
    asked = [{"question_id": f"q{i}", "answer": {"a": [i, None, "é"]}, "text": "x" * 500} for i in range(99)]
    many["questions"] = asked
    with store.open(KEY) as part:
        part.append(many)
        assert part.rows("questions")[7]["answer"] == {"a": [7, None, "é"]}
        appended = {table: part.rows(table) for table in many}
        found = part.commit(Output(None), record())
    assert "texts.parquet" in os.listdir(found.folder) and "rows" in os.listdir(found.folder)
    assert {table: found.rows(table) for table in many} == appended
    assert len(put(store, "few", few).rows("rollouts")) == 3


@pytest.mark.parametrize("inline_bytes", [0, 64_000])
@pytest.mark.parametrize("name", ["plain", "a[1] b'c*{x,y} é"])
def test_any_json_comes_back_from_any_folder_as_it_was(tmp_path, monkeypatch, inline_bytes, name):
    monkeypatch.setattr("hbench.store.part.INLINE_BYTES", inline_bytes)
    answers = ["42", None, True, 1.5, 10**30, {"a": "b", "": None}, [], "", "null", 1e308, [[[["deep"]]]]]
    rows = [{"question_id": f"{i:02}", "answer": answer} for i, answer in enumerate(answers)]
    store = Store(tmp_path / name)
    assert [row["answer"] for row in put(store, "a", {"questions": rows}).rows("questions")] == answers
    assert fold(store.folder).messages == ()
    found = query(store.folder, "select answer from questions order by question_id").rows
    assert [None if text is None else json.loads(text) for (text,) in found] == answers


def test_equal_contents_under_another_key_have_the_equal_digest(store):
    one = put(store, "a", rollouts([1.0, 0.0]), {"score": 0.5})
    with store.open(key("b")) as part:
        part.append(rollout(1, score=0.0, seconds=99.0))
        part.append(rollout(0, score=1.0, reused=True))
        other = part.commit(Output({"score": 0.5}), record(seconds=77.0))
    assert one.digest == other.digest
    assert put(store, "c", rollouts([1.0, 0.1]), {"score": 0.5}).digest != one.digest
    assert put(store, "d", rollouts([1.0, 0.0]), {"score": 0.6}).digest != one.digest


def test_rows_are_packed_also_after_an_error_has_ended_the_instance_that_they_pass_through():
    """A process has one instance for all its steps: an error of DuckDB's own in one would have failed every later one."""
    with passing() as before:
        assert before.execute("select 1").fetchone() == (1,)
    _one().close()
    with passing() as after:
        assert after.execute("select 1").fetchone() == (1,)


def test_the_digest_is_the_same_inline_and_in_parquet(store, monkeypatch):
    one = put(store, "a", rollouts([1.0, 0.0]))
    monkeypatch.setattr("hbench.store.part.INLINE_BYTES", 0)
    assert put(store, "b", rollouts([1.0, 0.0])).digest == one.digest


@pytest.mark.parametrize("inline_bytes", [0, 64_000])
def test_of_two_rows_with_one_key_the_later_stays(store, monkeypatch, inline_bytes):
    monkeypatch.setattr("hbench.store.part.INLINE_BYTES", inline_bytes)
    with store.open(KEY) as part:
        part.append({"updates": [{"update": 1, "name": "loss", "value": 2.0}]})
        part.append({"updates": [{"update": 2, "name": "loss", "value": 1.5}]})
        part.append({"updates": [{"update": 2, "name": "loss", "value": 1.0}]})
        found = part.commit(Output(None), record())
    assert [(row["update"], row["value"]) for row in found.rows("updates")] == [(1, 2.0), (2, 1.0)]


def test_files_move_in_and_count_as_content(store, tmp_path):
    digests = []
    for name, text in (("a", "weights"), ("b", "weights"), ("c", "other")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.bin").write_text(text)
        with store.open(key(name)) as part:
            found = part.commit(Output(None, files={"adapter": tmp_path / name}), record())
        assert (found.folder / "files" / "adapter" / "model.bin").read_text() == text
        digests.append(found.digest)
    assert digests[0] == digests[1] != digests[2]


def test_a_file_name_may_not_lead_outside(store, tmp_path):
    (tmp_path / "x").write_text("x")
    with store.open(KEY) as part, pytest.raises(StepError, match="leads outside"):
        part.commit(Output(None, files={"../../x": tmp_path / "x"}), record())


def test_an_unfinished_step_goes_on_where_it_was_and_a_torn_line_is_cut(store):
    with store.open(KEY) as part:
        part.append(rollout(1))
        (part.folder / "checkpoint").write_text("kept for the next try")
        (part.folder / "step.json").write_text("{")  # a commit cut short
        rows = part.folder / "rows.jsonl"
    with rows.open("a") as file:
        file.write('{"rollouts": [{"quest')
    assert store.get(KEY) is None
    with store.open(KEY) as part:
        assert [row["question_id"] for row in part.rows("rollouts")] == ["q1"]
        assert (part.folder / "checkpoint").exists()
        part.append(rollout(2))
        found = part.commit(Output(None), record())
    assert [row["question_id"] for row in found.rows("rollouts")] == ["q1", "q2"]
    assert sorted(os.listdir(found.folder)) == ["step.json"]


def test_a_step_that_left_nothing_leaves_no_folder(store):
    with store.open(KEY):
        pass
    assert [name for name in os.listdir(store.folder / "steps" / KEY[:2]) if not name.startswith(".")] == []


def test_a_row_that_does_not_fit_is_refused_at_once_and_the_rest_is_kept(store):
    with store.open(KEY) as part:
        part.append(rollout(1))
        with pytest.raises(StepError):
            part.append({"rollouts": [{"question_id": 7}]})
        assert len(part.rows("rollouts")) == 1


def test_rows_that_come_too_late_are_refused(store):
    with store.open(KEY) as part:
        part.commit(Output(None), record())
        with pytest.raises(StepError, match="had ended"):
            part.append(rollout(1))


def test_a_second_thread_waits_and_gets_the_finished_artifact(store):
    waited, got = threading.Event(), []
    with store.open(KEY) as part:
        second = threading.Thread(target=lambda: got.append(store.open(KEY, lambda holder: waited.set())))
        second.start()
        assert waited.wait(10)
        made = part.commit(Output(1), record())
    second.join(10)
    assert got == [made] and isinstance(got[0], Artifact)


def test_a_wait_can_be_ended(store):
    def give_up(holder):
        raise InterruptedError(str(holder))

    with store.open(KEY), pytest.raises(InterruptedError, match=f"process {os.getpid()} on "):
        store.open(KEY, give_up)


def test_a_failed_step_leaves_its_lease_and_its_rows_to_the_next(store):
    with pytest.raises(ZeroDivisionError), store.open(KEY) as part:
        part.append(rollout(1))
        1 / 0  # noqa: B018
    part = store.open(KEY)
    assert isinstance(part, UnfinishedPart) and len(part.rows("rollouts")) == 1
    part.close()


def test_a_broken_record_is_named(store):
    folder = put(store, "a").folder
    (folder / "step.json").write_text("{")
    with pytest.raises(StepError, match="remove the folder"):
        store.get(KEY)


def test_an_artifact_of_a_newer_hbench_is_refused(store):
    file = put(store, "a").folder / "step.json"
    file.write_text(file.read_text().replace('"schema": 1', '"schema": 999'))
    with pytest.raises(StepError, match="newer hbench"):
        store.get(KEY)


def test_finding_out_takes_one_opened_file_a_step(tmp_path):
    code = f"""
import sys
from hbench.store.artifacts import Store
touched = []
store = Store({str(tmp_path)!r})
store.get("b" * 64)
sys.addaudithook(lambda event, arguments: touched.append(event) if event.startswith(("open", "os.")) else None)
assert store.get("a" * 64) is None
assert touched == ["open"], touched
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_small_steps_load_no_heavy_library(tmp_path):
    code = f"""
import sys
from hbench.store.artifacts import Store, StepRecord
from hbench.core.output import Output
store = Store({str(tmp_path)!r})
with store.open("a" * 64) as part:
    part.append({{"reports": [{{"harness_id": "h"}}]}})
    part.commit(Output(1), StepRecord("report", 1, {{}}, 0.1))
assert store.get("a" * 64).rows("reports")[0]["harness_id"] == "h"
assert not {{"duckdb", "pyarrow", "numpy", "pandas"}} & set(sys.modules), sorted(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
