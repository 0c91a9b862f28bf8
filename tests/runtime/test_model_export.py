"""A training step is found by the beginning of its key; what it made comes out with a card that tells where it is from."""

import json
from pathlib import Path

import pytest

from hbench.core.digest import digest
from hbench.core.failure import HbenchError
from hbench.core.folder_digest import folder_digest
from hbench.core.output import Output
from hbench.runtime.model_export import export_model
from hbench.spec import load
from hbench.store.artifacts import Store
from hbench.store.part import StepRecord
from hbench.store.query import query
from tests.exhibits.trained_study import put_study, write_specs


@pytest.fixture(scope="module")
def studied(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("studied")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_specs(folder)
        put_study(folder / "results")
        export_model(folder / "results", keys(folder / "results", "train_sft")[0], folder / "warm")  # folds
    return folder


@pytest.fixture
def results(studied, monkeypatch) -> Path:
    monkeypatch.chdir(studied)
    return studied / "results"


def keys(results: Path, kind: str) -> list[str]:
    return sorted(f.parent.name for f in results.glob("steps/*/*/step.json") if json.loads(f.read_text())["kind"] == kind)


def test_an_adapter_comes_out_as_it_was_trained(results, tmp_path):
    key = keys(results, "train_sft")[0]
    card = export_model(results, key[:12], tmp_path / "out")
    kept = results / "steps" / key[:2] / key / "files/checkpoint"
    assert folder_digest(tmp_path / "out") == folder_digest(kept) == card["sha256"]
    assert sorted(f.name for f in (tmp_path / "out").iterdir()) == sorted(
        [f.name for f in kept.iterdir()] + ["README.md", "checkpoint.json"]
    )
    assert list(tmp_path.iterdir()) == [tmp_path / "out"], "nothing is left beside it"


def test_its_card_names_base_recipe_and_lineage(results, tmp_path):
    last = query(results, "select step_key from labelled_steps where purpose = 'train_grpo' and round = 1")
    card = export_model(results, last.rows[0][0], tmp_path / "out")
    assert card["base"] == {"kind": "weights", "weights": "embedded/tiny"}
    assert card["params"]["recipe"]["updates"] == 4 and card["updates"] == 3
    assert card["step"]["kind"] == "train_grpo" and "host" not in card["made_with"]
    listed = [step["kind"] for step in card["lineage"] if "kind" in step]
    assert listed[0] == "contexts" and listed.index("train_sft") < listed.index("train_grpo")
    assert listed[-3:] == ["carry", "contexts", "train_grpo"]
    assert card["lineage"][0]["measured"]["split"] > 0
    assert card["lineage"][1]["families"] == ["one", "two"]
    assert card["lineage"][-1] == {"kind": "train_grpo", "key": last.rows[0][0], "sha256": card["sha256"]}
    assert json.loads((tmp_path / "out/checkpoint.json").read_text()) == card


def test_its_readme_says_how_to_load_it(results, tmp_path):
    export_model(results, keys(results, "train_sft")[0], tmp_path / "out")
    text = (tmp_path / "out/README.md").read_text()
    assert text.startswith('---\nbase_model: "embedded/tiny"\nlibrary_name: peft\n')
    for part in ("## Recipe", '"rank": 8', "## Lineage", "families one, two", "--max-lora-rank 8", "--merged"):
        assert part in text
    assert str(tmp_path) not in text and "my-host" not in text


def test_a_spec_takes_the_folder_as_an_adapter(results, tmp_path):
    card = export_model(results, keys(results, "train_sft")[0], tmp_path / "out")
    (results.parent / "specs/mine.yaml").write_text(
        f"extends: trained\narms: {{own: {{proposer: {{adapter: {tmp_path}/out}}}}}}\n"
    )
    ref = load("mine")[0].arms["own"].proposer.ref("proposer")
    assert (ref.identity["adapter"], ref.files) == (card["sha256"], tmp_path / "out")


def test_a_key_of_another_sort_of_step_or_of_none_is_told(results, tmp_path):
    measured = keys(results, "evaluate")[0]
    with pytest.raises(HbenchError, match=rf"{measured} is no training step \(evaluate\)"):
        export_model(results, measured, tmp_path / "out")
    for odd in (digest("nobody's"), "", "../..", "z"):
        with pytest.raises(HbenchError, match="no step in .* has a key that begins with"):
            export_model(results, odd, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_beginning_of_a_key_must_tell_training_steps_apart(tmp_path):
    store, alike = Store(tmp_path / "results"), "ab" * 20
    for end, kind in (("0", "train_sft"), ("1", "train_grpo"), ("2", "evaluate")):
        put_made(store, alike + end * 24, kind)
    with pytest.raises(HbenchError, match=r"2 training steps begin with ab: ab\w{8}… \(train_sft\), .* give more of the key"):
        export_model(tmp_path / "results", "ab", tmp_path / "out")
    card = export_model(tmp_path / "results", alike + "1", tmp_path / "out")
    assert card["step"]["kind"] == "train_grpo" and card["lineage"] == [], "no run has ended with it"


def put_made(store: Store, key: str, kind: str) -> None:
    with store.open(key) as part:
        (part.folder / "made").mkdir()
        (part.folder / "made/adapter_config.json").write_text("{}")
        value = {"checkpoint": {"kind": "adapter", "base": {"weights": "w"}, "sha256": "0"}}
        trained = kind.startswith("train")
        output = Output(value if trained else {}, {}, {"checkpoint": part.folder / "made"} if trained else {})
        part.commit(output, StepRecord(kind, 1, {}, 1.0))


def test_a_folder_with_something_in_it_is_left_alone(results, tmp_path):
    (tmp_path / "out").mkdir()
    export_model(results, keys(results, "train_sft")[0], tmp_path / "out")
    with pytest.raises(HbenchError, match="is not empty"):
        export_model(results, keys(results, "train_sft")[0], tmp_path / "out")
    assert (tmp_path / "out/adapter_config.json").is_file()
