"""`hbench verify`: what was changed on the disk is named, and what was not is not."""

import json
import shutil

import pytest

from hbench.core.output import Output
from hbench.store.artifacts import Store
from hbench.store.verify import verify
from tests.store.made import key, put, record, rollouts
from tests.where import REPO

ODD = ["42", None, True, 1.5, 1, 1.0, -0.0, 10**30, 1e308, 5e-324, 2**63 - 1, {"a": "b", "": None}, [], "", "null", [[["é\u2028\0"]]]]


@pytest.fixture(params=["inline", "parquet"])
def store(tmp_path, monkeypatch, request):
    """A finished step with every sort of value, one with files, and one that is not finished."""
    if request.param == "parquet":
        monkeypatch.setattr("hbench.store.part.INLINE_BYTES", 0)
    made = Store(tmp_path / "results")
    asked = [{"question_id": f"{i:02}", "answer": answer, "text": f"{answer}"} for i, answer in enumerate(ODD)]
    put(made, "a", {**rollouts([0.1, 1 / 3, 0.0]), "questions": asked}, {"score": 0.5})
    (tmp_path / "model").mkdir()
    (tmp_path / "model/weights").write_text("1 2 3")
    with made.open(key("b")) as part:
        part.commit(Output(None, files={"checkpoint": tmp_path / "model"}), record())
    left = made.open(key("c"))
    left.append(rollouts([1.0]))
    left.close()
    return made


def faults(store) -> list[str]:
    return [fault for fault in verify(store.folder).faults if fault.startswith(str(store.folder))]


def place(store, name: str):
    return store.folder / "steps" / key(name)[:2] / key(name)


def test_what_was_stored_is_whole_and_what_is_unfinished_is_passed_over(store):
    assert (verify(store.folder).steps, faults(store)) == (2, [])


def test_a_changed_value_and_a_changed_row_are_found(store):
    file = place(store, "a") / "step.json"
    for before, after in (('"score": 0.5', '"score": 0.6'), ("what is 1?", "what is 2?")):
        text = file.read_text()
        file.write_text(text.replace(before, after, 1))
        assert len(faults(store)) == (text.count(before) > 0)
        file.write_text(text)


def test_a_changed_a_new_and_a_lost_file_are_found(store):
    weights = place(store, "b") / "files/checkpoint/weights"
    weights.write_text("1 2 4")
    assert "are not those it was finished with" in faults(store)[0]
    weights.write_text("1 2 3")
    (weights.parent / "more").write_text("")
    assert len(faults(store)) == 1
    shutil.rmtree(weights.parent)
    assert len(faults(store)) == 1


def test_a_lost_and_a_torn_table_are_named(store):
    table = place(store, "a") / "rows/rollouts.parquet"
    if not table.exists():
        pytest.skip("rows are in step.json")
    table.write_bytes(table.read_bytes()[:-20])
    assert "cannot be read" in faults(store)[0] and key("a") in faults(store)[0]
    table.unlink()
    assert "cannot be read" in faults(store)[0]


def test_a_step_under_another_name_is_found(store):
    place(store, "a").rename(place(store, "a").with_name(key("a")[:2] + "f" * 62))
    assert f"it holds the step {key('a')}" in faults(store)[0]


@pytest.mark.parametrize("schema", [0, 999, None, "1"])
def test_a_step_of_another_age_or_none_is_refused_by_name(store, schema):
    file = place(store, "a") / "step.json"
    file.write_text(file.read_text().replace('"schema": 1', f'"schema": {json.dumps(schema)}', 1))
    said = {0: "written by an older hbench", 999: "written by a newer hbench"}.get(schema, "step.json is broken")
    assert said in faults(store)[0] and key("a") in faults(store)[0]


def test_a_bundle_is_checked_file_by_file(tmp_path):
    bundle = tmp_path / "results/published/mini"
    shutil.copytree(REPO / "results/published/mini", bundle)
    store = Store(tmp_path / "results")
    assert faults(store) == []
    (bundle / "rows/runs.parquet").unlink()
    next(bundle.glob("specs/*.yaml")).write_text("plan: other")
    (bundle / "adapters/rl_0/adapter_model.bin").write_text("code")
    assert [fault.partition(" ")[2] for fault in faults(store)] == [
        "is gone",
        "is not the file that bundle.json names",
        "is named nowhere in bundle.json",
    ]
    (bundle / "bundle.json").write_text('{"schema": 999}')
    assert "newer hbench" in faults(store)[0]
