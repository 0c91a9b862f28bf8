from pathlib import Path

import pytest
import yaml

from hbench.parts.families import _lists
from tests.where import REPO

pytestmark = pytest.mark.truth
FOLDER = REPO / "specs" / "families"
LISTS = _lists.draw_lists()
COUNTS = {"rl5": 5, "sft21": 21, "unseen26": 26, "unseen21": 21, "common15": 15, "c1_19": 19,
          "c2_24_canonical": 24, "c2_24_varied": 24, "table10_5": 5, "table18_4": 4}  # fmt: skip


@pytest.mark.parametrize("name", COUNTS)
def test_the_published_list_is_the_one_that_the_seed_draws(name):
    text = (FOLDER / f"rg_{name}.yaml").read_text(encoding="utf-8")
    assert text == _lists.as_yaml(name, LISTS[name])
    assert yaml.safe_load(text)["let"][name] == LISTS[name]
    assert len(set(LISTS[name])) == COUNTS[name]


def test_every_list_is_published_and_no_other():
    assert {file.stem.removeprefix("rg_") for file in FOLDER.glob("rg_*.yaml")} == set(LISTS) == set(COUNTS)


def test_no_unseen_family_is_in_a_training_list():
    trained = {family for name in _lists.TRAINING for family in LISTS[name]}
    assert len(trained) == 26
    assert {name: trained & set(families) for name, families in LISTS.items() if name not in _lists.TRAINING} == {
        name: set() for name in COUNTS if name not in _lists.TRAINING
    }


def test_the_unseen_lists_stand_to_each_other_as_the_paper_says():
    hard = {"knight_swap", "letter_jumble", "modulo_grid", "sokoban", "ab"}
    assert set(LISTS["unseen26"]) - set(LISTS["unseen21"]) == hard
    assert set(LISTS["common15"]) < set(LISTS["unseen21"]) < set(LISTS["unseen26"])
    assert not set(LISTS["table10_5"]) & set(LISTS["unseen26"])


def test_every_drawn_family_can_fill_25_and_75_questions():
    assert {name: set(families) - _lists.eligible() - {*_lists.HARD} for name, families in LISTS.items()} == {
        name: set() for name in COUNTS
    }
    assert "tower_of_hanoi" not in _lists.eligible()  # 90 different questions in 1,000


def test_the_capacity_of_every_installed_family_is_published():
    from hbench.parts.families._library import modules

    lines = Path(_lists.CAPACITY).read_text(encoding="utf-8").splitlines()
    named = {line.split(",")[0] for line in lines if not line.startswith("#")} - {"family"}
    assert named == set(modules()) - {"composite"}
