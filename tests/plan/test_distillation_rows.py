"""How long a trajectory that trains may be: what the spec says of SFT holds for its rows and its trainer alike."""

import pytest

from hbench.plan import compile
from hbench.spec import load
from hbench.spec.problems import SpecError

SPEC = """
plan: distillation
name: taught
domain: {kind: toy, name: toy, ask: copy}
splits: {training: 4, evaluation: 3}
student: {name: tiny, weights: embedded/smollm2-135m-instruct}
"""
REVIEWED = "collect: {review: {reviewer: {kind: rules, name: files_expert}}}"
PAIRS = "dpo: {start: sft}"


@pytest.fixture
def taught(tmp_path, monkeypatch):
    """A function: the spec whose `train` is so."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "specs").mkdir()

    def make(train: str):
        (tmp_path / "specs/taught.yaml").write_text(f"{SPEC}train: {{{train}}}\n")
        return load("specs/taught.yaml")[0]

    return make


def bounds_of(spec) -> dict[str, int]:
    steps = {step.kind: step.params for step in compile(spec).steps}
    found = {"rows": steps["trajectory_rows"]["max_length"], "sft": steps["train_sft"]["recipe"]["max_length"]}
    return found | ({"pairs": steps["pair_rows"]["max_length"]} if "pair_rows" in steps else {})


@pytest.mark.parametrize(
    ("train", "longest"),
    [
        ("sft: {max_length: 1000}", 1000),  # was passed over in silence
        ("max_length: 2000, sft: {max_length: 1000}", 1000),
        ("max_length: 1000, sft: {max_length: 2000}", 1000),
        ("max_length: 1000, sft: {updates: 2}", 1000),
        ("max_length: 1000", 1000),
        ("sft: {updates: 2}", 65536),
        ("", 65536),
    ],
)
def test_sft_trains_on_no_longer_trajectories_than_it_and_the_distillation_say(taught, train, longest):
    assert bounds_of(taught(train)) == {"rows": longest, "sft": longest}


def test_pairs_are_bounded_by_the_distillation_alone(taught):
    spec = taught(f"{REVIEWED}, max_length: 2000, sft: {{max_length: 1000}}, {PAIRS}")
    assert bounds_of(spec) == {"rows": 1000, "sft": 1000, "pairs": 2000}


def test_a_bound_is_a_spec_of_its_own(taught):
    """What is hashed tells the bound that holds, also where nobody wrote it."""
    digests = [taught(train).digest for train in ("sft: {updates: 2}", "sft: {updates: 2, max_length: 4096}")]
    assert len(set(digests)) == 2
    assert taught("max_length: 900, sft: {updates: 2}").digest == taught("max_length: 900, sft: {updates: 2, max_length: 900}").digest


def test_a_bound_that_is_none_is_told_once(taught):
    with pytest.raises(SpecError) as told:
        taught("max_length: long, sft: {updates: 2}")
    assert str(told.value) == "specs/taught.yaml:7:9: train.max_length: expected a whole number, got 'long'"
