"""A model block may name a LoRA adapter: one of a published bundle, or a folder of the user's own."""

import json
from pathlib import Path

import pytest

from hbench.core.folder_digest import folder_digest
from hbench.spec import load

BASE = "extends: whole\n"


def put_adapter(folder: Path, weights: str = "embedded/tiny", seed: int = 0, **base: str) -> Path:
    """An adapter as `hbench export` leaves it, with its card."""
    folder.mkdir(parents=True)
    (folder / "adapter_config.json").write_text('{"peft_type": "LORA", "r": 8}')
    (folder / "adapter_model.safetensors").write_bytes(bytes([seed]) * 8)
    card = {"kind": "adapter", "sha256": folder_digest(folder), "base": {"weights": weights, **base}}
    (folder / "checkpoint.json").write_text(json.dumps(card))
    return folder


@pytest.fixture
def bundle(project) -> Path:
    """The bundle `mini` with the adapters sft and rl."""
    folder = project.folder / "results/published/mini"
    for seed, name in enumerate(("sft", "rl")):
        put_adapter(folder / "adapters" / name, seed=seed)
    (folder / "bundle.json").write_text("{}")
    return folder


def proposer(specs):
    return specs[0].arms["main"].proposer.ref("proposer")


def test_an_adapter_of_a_bundle_is_known_by_the_digest_of_its_files(project, bundle):
    ref = proposer(project.load(BASE + "proposer: {adapter: published/mini/rl}\n"))
    assert ref.identity["adapter"] == folder_digest(bundle / "adapters/rl")
    assert ref.files == bundle / "adapters/rl"
    assert ref.base == {"kind": "weights", "weights": "embedded/tiny"}


def test_a_folder_of_ones_own_is_the_same_adapter_wherever_it_lies(project, bundle, tmp_path):
    by_name = project.load(BASE + "proposer: {adapter: published/mini/rl}\n")[0]
    copy = put_adapter(project.folder / "copies/mine", seed=1)
    assert project.load(BASE + "proposer: {adapter: copies/mine}\n")[0].digest == by_name.digest
    assert project.load(BASE + f"proposer: {{adapter: {copy}}}\n")[0].digest == by_name.digest
    assert str(tmp_path) not in by_name.text


def test_other_weights_in_the_folder_are_another_spec(project):
    folder = put_adapter(project.folder / "mine")
    (folder / "checkpoint.json").unlink()
    before = project.load(BASE + "proposer: {adapter: mine}\n")[0].digest
    (folder / "adapter_model.safetensors").write_bytes(b"other")
    assert load("mine")[0].digest != before


@pytest.mark.parametrize(
    ("adapter", "said"),
    [
        ("published/mini/rll", "bundle 'mini' holds no adapter 'rll' (did you mean 'rl'?)"),
        ("published/mini/best", "bundle 'mini' holds no adapter 'best' (it holds: rl, sft)"),
        ("published/mino/rl", "no bundle 'mino' (did you mean 'mini'?)"),
        ("published/", "no bundle ''"),
        ("nowhere", "no folder 'nowhere' (name published/BUNDLE/ADAPTER, or a folder; `hbench model export` writes such a folder)"),
        ("specs", "specs holds no adapter_config.json (`hbench model export` writes such a folder)"),
        ("whole", "whole holds whole weights, no adapter (name the folder under weights, its digest as revision)"),
        ("changed", "changed is not the adapter that its checkpoint.json names (a file was changed, or not fetched whole)"),
        ("torn", "torn/checkpoint.json cannot be read"),
        ("pickled", "pickled holds adapter_model.bin, which may run code when it is loaded (weights come as adapter_model.safetensors alone)"),
        ("7", "expected text, got 7"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_at_its_line(project, bundle, adapter, said):
    put_adapter(project.folder / "changed", seed=1)
    (project.folder / "changed/adapter_model.safetensors").write_text("version https://git-lfs.github.com/spec/v1")
    (put_adapter(project.folder / "torn") / "checkpoint.json").write_text("{")
    (put_adapter(project.folder / "pickled") / "adapter_model.bin").write_bytes(b"")
    project.write("whole/config.json", "{}")
    told = project.problems(BASE + f"proposer:\n  adapter: {adapter}\n")
    assert told.startswith(f"specs/mine.yaml:3:3: proposer.adapter: {said}"), told


def test_an_adapter_of_other_weights_is_refused(project):
    put_adapter(project.folder / "mine", "somebody/else", revision="abc")
    assert project.problems(BASE + "proposer: {adapter: mine}\n") == (
        "specs/mine.yaml:2:1: proposer: adapter: mine was trained on somebody/else at abc, not on these weights"
    )
    at_home = "proposer: {adapter: mine, weights: /models/else, revision: abc}\n"
    assert project.load(BASE + at_home), "the same commit under another name is the same"
    assert "not on these weights" in project.problems(BASE + at_home.replace("abc", "def"))


def test_each_arm_may_have_an_adapter_of_its_own(project, bundle):
    arms = "arms: {base: {}, sft: {proposer: {adapter: published/mini/sft}}, rl: {proposer: {adapter: published/mini/rl}}}\n"
    spec = project.load(BASE + arms)[0]
    digests = [block.proposer.ref("proposer").digest for block in spec.arms.values()]
    assert len(set(digests)) == 3
    assert {block.proposer.reached_as() for block in spec.arms.values()} == {"embedded/tiny"}
