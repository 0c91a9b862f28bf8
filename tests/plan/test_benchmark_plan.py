"""Benchmarks in a plan: before training once for all arms, after it once for each checkpoint; nothing reads them."""

import re

import pytest

from hbench.plan import compile
from hbench.plan.bounds import bounds
from hbench.plan.show import show
from hbench.spec import load
from hbench.spec.problems import SpecError
from tests.plan.test_training_plan import SPEC
from tests.world import make_world

pytest.importorskip("lm_eval", reason="the extra 'benchmark' is not installed")


@pytest.fixture
def spec(tmp_path, monkeypatch):
    world = make_world(tmp_path, SPEC)
    monkeypatch.chdir(world.folder)
    return lambda *overrides: load("specs/toy.yaml", overrides)[0]


def benchmarks(plan, purpose):
    return {label.arm: label.step_id for label in plan.labels if label.purpose == purpose}


def test_arms_share_what_comes_before_training_and_have_their_own_after_it(spec):
    plan = compile(spec("benchmark.tasks=[letters]"))
    before, after = (benchmarks(plan, f"benchmark_{when}") for when in ("before", "after"))
    assert set(before) == set(plan.spec.arms) and len(set(before.values())) == 1
    assert set(after) == set(before) - {"base"} and after["sft"] == after["cold"] and len(set(after.values())) == 5
    read = {source.id for step in plan.steps for source in step.parents().values()}
    assert not read & {*before.values(), *after.values()}


def test_a_spec_without_benchmarks_keeps_its_digest_and_its_steps(spec):
    plain, asked = spec(), spec("benchmark.tasks=[letters]")
    assert "benchmark" not in plain.text and plain.digest != asked.digest
    assert {step.id for step in compile(plain).steps} < {step.id for step in compile(asked).steps}


def test_what_decides_the_scores_is_in_the_recipe(spec):
    first, *_ = (step for step in compile(spec("benchmark.tasks=[letters]")).steps if step.kind == "benchmark")
    assert set(first.params["benchmark"]["libraries"]) == {"lm-eval", "letters"}
    others = ("benchmark.shots=0", "benchmark.chat=true", "benchmark.seed=1", "benchmark.limit=4")
    ids = {step.id for more in others for step in compile(spec("benchmark.tasks=[letters]", more)).steps if step.kind == "benchmark"}
    assert first.id not in ids


@pytest.mark.parametrize(
    ("asked", "most"),
    [
        ("tasks=[letters]", (56, 56 * 16)),  # documents of a local file are counted
        ("tasks=[letters_choice]", (56 * 7, 56 * 7)),
        ("tasks=[letters,letters_choice],limit=2", (2 + 14, 2 * 16 + 14)),
        ("tasks=[letters],limit=100", (56, 56 * 16)),
        ("tasks=[gsm8k],limit=3", (3, 3 * 256)),
        ("tasks=[wikitext],limit=3", (3, 3)),
    ],
)
def test_what_lm_eval_asks_is_bounded_where_its_files_tell(spec, asked, most):
    found = asked_of(spec, asked)
    assert (found.calls, found.tokens, found.unknown) == (*most, "")


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("tasks=[gsm8k]", "how many documents gsm8k has is known when it is opened: set benchmark.limit"),
        ("tasks=[arc_easy],limit=3", "how many choices arc_easy gives is known when it is opened"),
        ("tasks=[letters,mmlu_stem],limit=3", "mmlu_stem is a group: name its tasks"),
    ],
)
def test_a_plan_says_plainly_where_nothing_bounds_it(spec, asked, why):
    assert asked_of(spec, asked).unknown == why
    plan = compile(asked_spec(spec, asked))
    text = show(plan, {step.id: "to run" for step in plan.steps})
    assert f"  sft              benchmark  not bounded ({why})\n" in text
    assert re.search(r"all +proposer +[\d,]+ calls", text), "what other roles are asked is bounded as before"


def asked_spec(spec, asked):
    return spec(*(f"benchmark.{each}" for each in re.split(r",(?=limit)", asked)))


def asked_of(spec, asked):
    step = next(step for step in compile(asked_spec(spec, asked)).steps if step.kind == "benchmark")
    (bound,) = bounds(step).values()
    return bound


def test_its_price_is_that_of_the_model(spec):
    price = "machine.models.tiny.price={prompt: 1, completion: 1000000}"
    plan = compile(spec("benchmark.tasks=[letters]", "proposer.name=tiny", price))
    text = show(plan, {step.id: "to run" for step in plan.steps})
    assert re.search(r"sft +benchmark +112 calls +1,792 completion tokens +cost 1,792.00 and prompts", text)


def test_a_quick_look_asks_as_few_documents_as_questions(spec):
    looked = spec("benchmark.tasks=[letters]").limited(2)
    assert {arm.benchmark.limit for arm in looked.arms.values()} == {2}


def test_a_task_that_there_is_not_is_said_where_it_stands(spec):
    with pytest.raises(SpecError, match="benchmark.tasks: lm-eval has no task 'leters'"):
        spec("benchmark.tasks=[leters]")


def test_a_model_without_weights_has_no_benchmark(spec):
    with pytest.raises(SpecError, match="benchmark: the proposer is no model of weights"):
        spec("benchmark.tasks=[letters]", "proposer={kind: recorded, file: replies/proposer.jsonl}", "arms={base: {}}")
