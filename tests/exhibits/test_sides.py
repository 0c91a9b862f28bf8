"""How the sides of a comparison are named, and what is said where a name does not fit."""

from pathlib import Path

import pytest

from hbench.core.failure import HbenchError
from hbench.exhibits.sides import Asked, find_sides, read_asked

MINI = "published/mini"
UNSEEN = f"{MINI} training/mini_unseen"
RESULTS = Path("results")


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("quickstart", Asked("", "quickstart", ())),
        ("quickstart:rl", Asked("", "quickstart", ("rl",))),
        ("specs/quickstart.yaml:rl rounds=2", Asked("", "specs/quickstart.yaml rounds=2", ("rl",))),
        ("training/mini:rl_0+rl_1", Asked("", "training/mini", ("rl_0", "rl_1"))),
        (":rl", Asked("", "", ("rl",))),
        (MINI, Asked(MINI, "", ())),
        (f"{MINI}:rl_0", Asked(MINI, "", ("rl_0",))),
        (f"{MINI}/rl_0", Asked(MINI, "rl_0", ())),
        (f"{UNSEEN}:rl_0", Asked(MINI, "training/mini_unseen", ("rl_0",))),
        (f"{MINI}/training/mini_unseen:rl_0", Asked(MINI, "training/mini_unseen", ("rl_0",))),
    ],
)
def test_a_side_is_a_spec_and_an_arm_perhaps_of_a_bundle(text, asked):
    assert read_asked(text) == asked


@pytest.mark.parametrize("text", ["quickstart:rl", ":rl", f"{MINI}:rl_0", f"{UNSEEN}:rl_0+rl_1", "quickstart:rl rounds=2"])
def test_a_side_is_named_so_that_it_can_be_asked_for_again(text):
    asked = read_asked(text)
    assert asked.named(asked.arms) == text
    assert read_asked(asked.named(asked.arms)) == asked


def names(*texts, **more):
    return [side.name for side in find_sides(RESULTS, texts, **more)]


def test_the_other_side_may_be_an_arm_of_the_same_spec():
    expected = [f"{UNSEEN}:rl_0", f"{UNSEEN}:sft"]
    assert names(f"{UNSEEN}:rl_0", ":sft") == expected
    assert names(UNSEEN, arms=["rl_0", "sft"]) == expected
    assert names(f"{UNSEEN}:rl_0", arms=["sft"]) == expected
    assert names("training/mini_unseen:rl_0", ":sft", bundle="mini") == expected


def test_one_arm_may_be_asked_of_two_specs():
    assert names(UNSEEN, f"{MINI} training/mini_far", arms=["sft"]) == [f"{UNSEEN}:sft", f"{MINI} training/mini_far:sft"]


def test_a_checkpoint_is_the_arm_for_which_it_was_trained_last():
    assert names(f"{MINI}/rl_0", f"{MINI}/sft") == [f"{MINI}:rl_0", f"{MINI}:sft"]
    ours, theirs = find_sides(RESULTS, ["f8be9a60", "b87ea7bd"], bundle="mini")
    assert (ours.arms, theirs.arms) == (("rl_0",), ("sft_long",))
    assert len(ours.points) == 3 and len(theirs.points) == 1, "of every spec in which it was trained"


@pytest.mark.parametrize(
    ("texts", "more", "said"),
    [
        ([f"{UNSEEN}:rl", ":sft"], {}, r"has no arm 'rl' \(did you mean 'rl_1'\? there are: seed, tool_loop"),
        ([UNSEEN, ":sft"], {}, "has several arms; say which, as 'published/mini training/mini_unseen:ARM' or with --arm ARM"),
        ([UNSEEN], {"arms": ["sft"]}, "against what"),
        ([UNSEEN], {"arms": ["sft", "rl_0", "rl_1"]}, r"--arm at most twice.*`--arm sft\+rl_0\+rl_1` pools them"),
        ([f"{UNSEEN}:sft", ":sft"], {}, "both have the arm 'sft': against itself"),
        ([f"{UNSEEN}:sft", f"{MINI}:rl_0+sft"], {}, "both have the arm 'sft'"),
        ([f"{MINI} training/unseen:sft", ":rl_0"], {}, "holds no published/mini training/unseen; it holds training/mini_unseen"),
        (["published/nothing:sft", ":rl_0"], {}, "no bundle 'nothing'"),
        (["58fa9201", ":rl_0"], {"bundle": "mini"}, "several arms.*sft, sft_cold, sft_greedy"),
        (["deadbeef:a", ":b"], {"bundle": "mini"}, "published/mini holds no checkpoint deadbeef"),
        (["it's", ":b"], {}, "names no spec"),
        (["", ":b"], {}, "names no spec"),
    ],
)
def test_what_does_not_fit_is_told(texts, more, said):
    with pytest.raises(HbenchError, match=said):
        find_sides(RESULTS, texts, **more)
