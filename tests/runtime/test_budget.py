"""What a run may use is looked at before each call; what is there when it is used up is whole."""

import asyncio
import json
import time

import pytest

from hbench.core.budget import Account, Limit, Price, at_most
from hbench.core.failure import OutOfBudget
from hbench.core.message import LMError, Message, Reply, Request, Sampling
from hbench.engines.reply_store import ReplyStore, StoredLM
from hbench.engines.scripted import ScriptedLM
from hbench.runtime.budget import Budget
from tests.engines.asking import ask, model
from tests.world import make_world

SOLVER = model("tiny", revision="r1")
BIG = Request((Message("user", "x" * 20),), Sampling(max_tokens=100))  # may take 200 tokens


def long(request):
    return "word " * 50


def paid(budget, folder, answers=long, price=Price(), arms=(), latency_ms=0):
    """(the scripted model, the same as a step of these arms asks it, the purse of that step)"""
    scripted, purse = ScriptedLM(answers, latency_ms=(latency_ms, latency_ms)), budget.open("k", arms)
    return scripted, StoredLM(scripted, ReplyStore(folder), SOLVER).paid_by(purse.payer(SOLVER, price, "solver")), purse


def asked(lm, *requests):
    return asyncio.run(lm.generate(list(requests)))


def test_the_call_behind_the_last_one_is_not_put(tmp_path):
    scripted, lm, purse = paid(Budget(Limit(calls=2)), tmp_path)
    replies = asked(lm, *[ask(f"{i}") for i in range(5)])
    assert [isinstance(reply, Reply) for reply in replies] == [True, True, False, False, False]
    assert replies[2] == LMError("budget", "the run has used up its budget of 2 calls") and len(scripted.asked) == 2
    with pytest.raises(OutOfBudget, match="2 calls"):
        purse.check()


def test_what_the_store_answers_is_free(tmp_path):
    budget = Budget(Limit(calls=1))
    _, lm, purse = paid(budget, tmp_path)
    first, *again = asked(lm, *[ask("same")] * 4)
    assert [reply.reused for reply in (first, *again)] == [False, True, True, True] and not purse.refused
    (row,) = purse.rows()
    assert (row["calls"], row["reused_calls"], row["reused_tokens"]) == (1, 3, 3 * (first.prompt_tokens + first.completion_tokens))


def test_no_more_tokens_are_used_than_the_limit(tmp_path):
    """A call is put when the most that it may take is there; what it did not take is there for the next."""
    most = sum(at_most(BIG))
    scripted, lm, purse = paid(Budget(Limit(tokens=most + 60)), tmp_path, latency_ms=20)
    requests = [Request((Message("user", f"{i:020}"),), BIG.sampling) for i in range(9)]
    replies = asked(lm, *requests)
    used = sum(reply.prompt_tokens + reply.completion_tokens for reply in replies if isinstance(reply, Reply))
    assert len(scripted.asked) > 1, "those that come later wait for the first to be settled"
    assert used <= most + 60 and purse.refused.startswith("the run has ")


def test_money_is_limited_by_the_price_of_the_model(tmp_path):
    price = Price(prompt=1_000_000, completion=2_000_000)  # 1 and 2 a token
    scripted, lm, purse = paid(Budget(Limit(cost=400)), tmp_path, price=price)
    replies = asked(lm, *[Request((Message("user", f"{i:020}"),), BIG.sampling) for i in range(50)])
    (row,) = purse.rows()
    assert row["cost"] == sum(r.prompt_tokens + 2 * r.completion_tokens for r in replies if isinstance(r, Reply)) <= 400
    assert 0 < len(scripted.asked) < 50 and "(cost)" in purse.refused


def test_a_call_that_fails_costs_a_call_and_no_tokens(tmp_path):
    budget = Budget(Limit(calls=5, tokens=1000))
    _, lm, purse = paid(budget, tmp_path, answers=lambda request: LMError("server", "down"))
    assert asked(lm, BIG)[0].kind == "server"
    assert (budget.run.calls, budget.run.tokens, budget.run.under_way) == (1, 0, 0) and not purse.refused


def test_an_arm_pays_for_its_steps_and_a_shared_step_goes_on_for_the_arm_that_can(tmp_path):
    budget = Budget(each_arm=Limit(calls=2), arms={"rich": Limit(calls=4)})
    _, poor, purse = paid(budget, tmp_path, arms=["poor"])
    assert [isinstance(r, Reply) for r in asked(poor, *[ask(f"p{i}") for i in range(3)])] == [True, True, False]
    assert purse.refused == "arm poor has used up its budget of 2 calls"
    _, both, shared = paid(budget, tmp_path, arms=["poor", "rich"])
    assert [isinstance(r, Reply) for r in asked(both, *[ask(f"b{i}") for i in range(5)])] == [True] * 4 + [False]
    assert budget.run.calls == 6


def test_one_who_may_not_pay_takes_nothing_from_another_who_asks_the_same(tmp_path):
    budget = Budget(arms={"poor": Limit(calls=0)})
    stored = StoredLM(ScriptedLM(["yes"]), ReplyStore(tmp_path), SOLVER)
    poor, rich = (stored.paid_by(budget.open(arm, [arm]).payer(SOLVER, Price(), "solver")) for arm in ("poor", "rich"))

    async def both():
        return await asyncio.gather(poor.generate([ask("same")]), rich.generate([ask("same")]))

    (refused,), (reply,) = asyncio.run(both())
    assert refused.kind == "budget" and reply.text == "yes"


def test_calls_that_are_put_elsewhere_are_held_for_as_far_as_they_can_be_paid():
    """So many at once, and one is never waited for whose room the others hold."""
    budget = Budget(Limit(calls=5, tokens=1000))
    purse = budget.open("k")
    payer = purse.payer(SOLVER, Price(1_000_000, 0), "benchmark")

    async def all_of(*most):
        return await payer.hold(most)

    held, _ = asyncio.run(all_of(*[(300, 10)] * 4))
    assert len(held) == 3 and not purse.refused, "the fourth may be put once these have ended"
    payer.settle(held, (600, 12), 2.0)
    assert (budget.run.calls, budget.run.tokens, budget.run.under_way) == (3, 612, 0)
    held, _ = asyncio.run(all_of(*[(10, 1)] * 4))
    payer.settle(held, (20, 2), 1.0)
    assert len(held) == 2 and asyncio.run(all_of((1, 1)))[1] == purse.refused == "the run has used up its budget of 5 calls"
    (row,) = purse.rows()
    assert (row["calls"], row["prompt_tokens"], row["completion_tokens"], row["cost"]) == (5, 620, 14, 620.0)


def test_time_counts_while_a_step_is_at_work():
    now = [0.0]
    account = Account("arm a", Limit(wall_s=10), lambda: now[0])
    account.begin(), account.begin()
    now[0] = 4.0
    account.end(), account.end()
    now[0] = 50.0
    assert account.seconds == 4.0 and not account.late()
    account.begin()
    now[0] = 56.0
    assert account.late() == account.lacks(0, 0.0) == "arm a has used up its budget of 10 s"


# A whole run.
@pytest.fixture
def world(tmp_path):
    return make_world(tmp_path)


def rows(world, sql):
    return rows_of(world, "results", sql)


def rows_of(world, results, sql):
    return json.loads(world.hbench("sql", sql, "-f", "json", "--results", results).stdout)


@pytest.mark.slow
def test_a_run_ends_with_what_is_paid_for_and_goes_on_with_a_larger_budget(world):
    done = world.hbench("run", "specs/toy.yaml", "machine.budget.calls=30", check=False)
    assert done.returncode == 3 and "the run has used up its budget of 30 calls" in done.stderr
    (run,) = rows(world, "select outcome, (select sum(calls) from spend) as calls from runs")
    assert run["outcome"] == "spent" and run["calls"] <= 30
    (left,) = rows(world, "select count(*) as n from run_steps join steps using (step_key) where status in ('spent', 'skipped')")
    assert left["n"] == 0, "no step that was not paid to its end is an artifact"
    done = world.hbench("run", "specs/toy.yaml", "-q", "machine.budget.calls=1000")
    assert "spent" not in done.stderr
    both = rows(world, "select run_id, sum(calls) as calls from spend group by all order by 1")
    world.hbench("run", "specs/toy.yaml", "-q", "--results", "alone")
    (alone,) = rows_of(world, "alone", "select sum(calls) as calls from spend")
    assert sum(row["calls"] for row in both) == alone["calls"], "what was paid for is not paid for twice"
    ledger = "select arm, role, sum(calls) as calls from ledger group by all order by all"
    assert rows(world, ledger) == rows_of(world, "alone", ledger)


@pytest.mark.slow
def test_an_arm_that_has_nothing_left_ends_and_the_others_are_whole(world):
    budget = "machine.budget={arms: {sequential: {calls: 8}}}"
    done = world.hbench("run", "specs/toy.yaml", "-q", budget, check=False)
    assert done.returncode == 3 and "arm sequential has used up its budget of 8 calls" in done.stderr
    status = "select arm, bool_and(status in ('ran', 'cached')) as whole from plan_labels join run_steps using (step_id) group by all order by 1"
    assert rows(world, status) == [
        {"arm": "independent", "whole": True},
        {"arm": "seed", "whole": True},
        {"arm": "sequential", "whole": False},
    ]


@pytest.mark.slow
def test_a_run_that_is_late_begins_nothing_more(world):
    began = time.monotonic()
    done = world.hbench("run", "specs/toy.yaml", "-q", "machine.budget.wall_s=0.001", check=False)
    assert done.returncode == 3 and "used up its budget of 0.001 s" in done.stderr and time.monotonic() - began < 60
    assert rows(world, "select count(*) as n from rollouts") == [{"n": 0}]
    assert world.hbench("run", "specs/toy.yaml", "-q").returncode == 0
    assert world.hbench("run", "specs/toy.yaml", "-q", "machine.budget.wall_s=0.001").returncode == 0, "all is there already"


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("machine.budget.arms={sequental: {calls: 1}}", "there is no arm 'sequental' (did you mean 'sequential'?)"),
        ("machine.budget.call=1", "unknown key 'call' (did you mean 'calls'?)"),
        ("machine.budget.calls=-1", "machine.budget.calls"),
    ],
)
def test_a_budget_that_would_limit_nothing_is_a_mistake(world, override, said):
    done = world.hbench("run", "specs/toy.yaml", override, check=False)
    assert done.returncode == 2 and said in done.stderr
