"""Held-out questions are held out of everything that a spec does: all its rounds, reports, arms and points of its sweep."""

from collections import defaultdict

import pytest

from hbench.plan import compile
from hbench.spec import load
from hbench.steps.split import split
from tests.thorough import often
from tests.world import SPEC, make_world

pytestmark = pytest.mark.truth
SWEEP = """
sweep:
  family.name: [one, other]
  family.distinct: [300, 90]
  splits.feedback: [4, 9]
  splits.redraw: [never, each_round]
  chain: [0, 1]
"""


def cut(specs):
    """(pool, role) -> the sets of content ids that the splits of all these specs hold. A pool is a family and a seed."""
    steps = {step.id: step.params for spec in specs for step in compile(spec).steps if step.kind == "split"}
    found = defaultdict(set)
    for params in steps.values():
        source = params.get("family") or params["domain"]
        pool = tuple(sorted((name, str(value)) for name, value in source.items())), params["seed"]
        role = "held out" if params["role"] == "evaluation" else "other"
        found[pool, role].add(frozenset(question["content_id"] for question in split(params, {}, None).value["questions"]))
    return found


def check(specs):
    """How many pools the specs draw from. Every one has questions that are held out, the same all through."""
    found = cut(specs)
    pools = {pool for pool, role in found if role == "held out" and found.get((pool, "other"))}
    for pool in pools:
        (held_out,) = found[pool, "held out"]
        assert held_out and not held_out & frozenset().union(*found[pool, "other"])
    return len(pools)


def test_no_point_of_a_sweep_shows_what_another_holds_out(tmp_path, monkeypatch, tried):
    monkeypatch.chdir(make_world(tmp_path, SPEC + SWEEP).folder)
    specs = load("toy")
    assert len(specs) == 32 and check(specs) == 4
    tried("splits of a sweep over sizes, redrawn rounds and chains")


@pytest.mark.parametrize("name", ["quickstart", *["qa/invented"][: often(0, 1)]])
def test_no_arm_of_a_shipped_spec_shows_what_another_holds_out(name, tried):
    assert check(load(name)) >= 1
    tried(f"splits of {name}")
