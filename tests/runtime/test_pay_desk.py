"""A process that puts calls by itself pays for them at the driver: before they are put, and by what they took."""

import time

import pytest

from hbench.core.failure import OutOfBudget
from hbench.runtime.pay_desk import Purser
from hbench.runtime.progress import Progress
from hbench.runtime.services import Machine, RunServices
from tests.engines.asking import model

SOLVER = model("tiny", revision="r1")


@pytest.fixture
def services(tmp_path):
    machine = Machine(tmp_path, {SOLVER.digest: (SOLVER, {"price": {"prompt": 1_000_000}})}, budget={"calls": 5, "tokens": 1000})
    made = RunServices(machine, Progress(quiet=True))
    yield made
    made.close()


def purser(services):
    return Purser(services.paid_at("step", SOLVER, "benchmark"))


def test_the_driver_notes_what_another_process_asked(services):
    purse, line = services.budget.open("step"), purser(services)
    assert line.hold([(300, 10)] * 4) == 3
    line.settle((600, 12), 2.0)
    assert line.hold([(10, 10)] * 4) == 2
    line.settle((20, 2), 1.0)
    with pytest.raises(OutOfBudget, match="the run has used up its budget of 5 calls"):
        line.hold([(1, 1)])
    line.close()
    (row,) = purse.rows()
    assert (row["role"], row["calls"], row["prompt_tokens"], row["cost"], row["seconds"]) == ("benchmark", 5, 620, 620.0, 3.0)
    assert purse.refused and (services.progress.counts.calls, services.progress.counts.tokens) == (5, 14)


def test_what_one_who_is_gone_had_held_is_given_back(services):
    purse, line = services.budget.open("step"), purser(services)
    assert line.hold([(900, 90)]) == 1 and services.budget.run.tokens == 990
    line.close()
    until = time.monotonic() + 30
    while services.budget.run.under_way and time.monotonic() < until:
        time.sleep(0.05)
    assert (services.budget.run.calls, services.budget.run.tokens) == (1, 0), "a call that may have been put counts as one"
    assert [row["calls"] for row in purse.rows()] == [1]


def test_one_who_knows_no_address_pays_nothing(services):
    import aiohttp

    address = services.paid_at("step", SOLVER, "benchmark")
    for wrong in (address.replace(SOLVER.digest, "0" * 64), address.replace(address.split("/")[3], "guessed")):
        with pytest.raises(aiohttp.WSServerHandshakeError):
            Purser(wrong)


def test_on_another_machine_the_driver_pays(services, tmp_path):
    """A step's machine of a cluster has no budget: what its lm-eval asks is held for, and noted, where the run is."""
    from hbench.runtime.ray_node import NodeServices, Session

    session = Session("t", tmp_path, tmp_path, services.machine, services.serve("").rstrip("/"), 8, {})
    purse, node = services.budget.open("step"), NodeServices(session)
    try:
        line = purser(node)
        assert line.hold([(300, 10)] * 4) == 3
        line.settle((600, 12), 2.0)
        line.close()
    finally:
        node.close()
    (row,) = purse.rows()
    assert (row["role"], row["calls"], row["prompt_tokens"]) == ("benchmark", 3, 600) and services.budget.run.calls == 3
