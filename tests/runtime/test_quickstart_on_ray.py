"""Quickstart's own spec with the embedded model, on a Ray cluster and on this machine alone: `make test-ray` runs it."""

import pytest

from tests.runtime.test_kill import table_rows
from tests.runtime.test_on_ray import ON_RAY, cluster
from tests.world import SPEC, make_world

__all__ = ["cluster"]
ONE_FAMILY = 'sweep={"family.name": [products]}'


@pytest.mark.long
def test_it_makes_the_same_steps_and_as_many_rows(cluster, tmp_path):
    """All eight arms: the driver holds the model and the adapters, the machines ask there."""
    world = make_world(tmp_path, SPEC)
    world.hbench("run", "quickstart", ONE_FAMILY, "--results", "alone", timeout=1200)
    said = world.hbench("run", "quickstart", ONE_FAMILY, *ON_RAY, timeout=1200).stderr
    assert "Ray: 2 machines, 2 cores" in said
    ours, theirs = table_rows(world, "results"), table_rows(world, "alone")
    assert {name: len(rows) for name, rows in ours.items()} == {name: len(rows) for name, rows in theirs.items()}
    kinds = "select kind, count(*) as n from steps group by all order by all"
    assert world.sql(kinds) == world.sql(kinds, "alone")
