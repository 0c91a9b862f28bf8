"""The specs of the paper's size: those that measure on other families train nothing anew."""

import pytest

from hbench.exhibits.exhibit import names, read
from hbench.plan import compile
from hbench.spec import load

TRAINING = ("demonstrate", "train_sft", "train_grpo")
OTHERS = ("rg_table10", "rg_c1_19", "rg_common15", "rg_c2_24_varied", "rg_c2_24_canonical")


def steps(name: str, *kinds: str) -> set[str]:
    return {step.id for step in compile(load(f"training/{name}")[0]).steps if step.kind in kinds}


@pytest.fixture(scope="module")
def trained() -> set[str]:
    return steps("rg_paper", *TRAINING)


@pytest.mark.parametrize("name", OTHERS)
def test_a_spec_on_other_families_has_the_training_steps_of_rg_paper(name, trained):
    mine = steps(name, *TRAINING)
    assert mine and mine <= trained


@pytest.mark.parametrize("name", [n for n in names() if n not in ("proposal_quality", "rounds")])
def test_every_spec_that_an_exhibit_reads_is_there(name):
    """published/NAME SPEC reads a bundle: its spec stands in the tree too."""
    for spec in read(name)[0].from_:
        assert load(spec.split()[-1]), spec


@pytest.mark.parametrize(("name", "arms"), [("table9", 7), ("table10", 3), ("failed_three_ways", 4), ("multistep", 4)])
def test_an_exhibit_of_the_paper_has_the_arms_that_the_paper_compares(name, arms):
    block, _ = read(name)
    for spec in block.from_:
        has = load(spec)[0].arms
        rows = {row.split(" / ")[-1] for row in block.paper} | {block.baseline} - {None}
        assert rows <= set(has)
        assert len(block.shown(list(has))) >= arms
