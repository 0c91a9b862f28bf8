"""`hbench kinds`: everything that a spec may say is told, field by field."""

import pytest

from hbench.core.failure import HbenchError
from hbench.parts.part import SORTS, kinds
from hbench.spec.kinds import WHERE, describe, describe_kinds, known_words
from hbench.spec.plans import PLANS

STEPS = {"split": "Cut the questions of one role.\n\nparams: …"}


def test_every_plan_kind_and_step_is_listed():
    text = describe_kinds(STEPS)
    listed = {line.split()[0] for line in text.splitlines() if line.startswith("  ") and line[2] != " "}
    assert {*PLANS, *STEPS, *(kind for sort in SORTS for kind in kinds(sort))} <= listed and set(WHERE) == set(SORTS)


def test_a_kind_tells_type_default_and_meaning_of_each_field():
    text = describe("toy", STEPS)
    assert 'ask (copy | sum; default "copy"): copy: repeat a number; sum: add two numbers' in text
    assert text.index("FAMILIES") < text.index("DOMAINS"), "a family and a domain are called so"


def test_a_family_of_many_lists_their_names():
    assert "names: ab, acre," in describe("reasoning_gym", STEPS)


def test_any_block_of_a_spec_is_told_by_its_place():
    assert "updates (whole number, at least 1; default 100): Optimizer steps of each segment." in describe("train.grpo", STEPS)
    assert "rounds (whole number, at least 0; default 1)" in describe("adaptation.rounds", STEPS)
    assert "kind weights" in describe("solver", STEPS) and "weights (text; required)" in describe("solver", STEPS)
    assert "in specs of plan training\n" in (both := describe("train", STEPS)) and "in specs of plan distillation\n" in both


def test_a_step_is_told_whole():
    assert describe("split", STEPS).endswith("params: …")


def test_a_part_of_one_s_own_is_told_and_a_broken_one_says_why(tmp_path, monkeypatch):
    (tmp_path / "parts/selections").mkdir(parents=True)
    (tmp_path / "parts/selections/mine.py").write_text("import nothing_of_that_name\n")
    monkeypatch.chdir(tmp_path)
    assert "mine  cannot be loaded: ModuleNotFoundError: No module named" in describe("selections", STEPS)
    assert "mine.py)" in describe("mine", STEPS) and "best_candidate" in describe_kinds(STEPS)


@pytest.mark.parametrize(("word", "hint"), [("xyzzy", "lists what there is"), ("toi", "did you mean 'toy'"), ("train.grop", "mean 'train.grpo'")])
def test_an_unknown_word_gets_a_hint(word, hint):
    with pytest.raises(HbenchError, match=hint):
        describe(word, STEPS)


def test_every_known_word_is_told():
    for word in known_words():
        assert describe(word, STEPS), word
