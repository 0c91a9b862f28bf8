"""One token for every row."""

from collections import Counter
from random import Random

import pytest

from hbench.engines.sampler import Draw, pick
from tests.engines.asking import ask

torch = pytest.importorskip("torch")

SHARES = [0.5, 0.25, 0.15, 0.1]


def draw(temperature=1.0, top_p=1.0, top_k=0, min_p=0.0, seed=0) -> Draw:
    return Draw(temperature, top_p, top_k, min_p, Random(seed))


def counts(one: Draw, times=2000) -> Counter:
    logits = torch.tensor([SHARES]).log()
    return Counter(pick(logits, [one])[0] for _ in range(times))


def test_temperature_0_takes_the_likeliest_and_the_first_of_equals():
    assert pick(torch.tensor([[0.0, 2.0, 1.0], [3.0, 3.0, 0.0]]), [draw(0.0), draw(0.0)]) == [1, 0]


def test_temperature_1_draws_by_the_models_own_shares():
    found = counts(draw())
    assert all(abs(found[token] / 2000 - share) < 0.04 for token, share in enumerate(SHARES))


def test_a_low_temperature_sharpens():
    assert counts(draw(0.25))[0] / 2000 > 0.9


@pytest.mark.parametrize(
    "filtered, left",
    [(draw(top_p=0.7), {0, 1}), (draw(top_p=0.01), {0}), (draw(top_k=3), {0, 1, 2}), (draw(min_p=0.25), {0, 1, 2})],
    ids=["top_p", "tiny top_p", "top_k", "min_p"],
)
def test_filters_leave_the_likeliest(filtered, left):
    assert set(counts(filtered, 500)) == left


def test_a_row_draws_the_same_whatever_its_company():
    logits = torch.randn(6, 50)
    together = [draw(seed=seed) for seed in range(6)]
    alone = [draw(seed=seed) for seed in range(6)]
    for _ in range(20):
        assert pick(logits, together) == [pick(logits[[row]], [alone[row]])[0] for row in range(6)]


def test_impossible_tokens_are_never_drawn():
    logits = torch.tensor([[float("-inf"), 0.0, float("-inf"), 0.0]])
    one = draw()
    assert {pick(logits, [one])[0] for _ in range(200)} == {1, 3}


@pytest.mark.parametrize(
    "sampling",
    [{"temperature": -1.0}, {"top_p": 0.0}, {"top_p": 1.5}, {"temperature": float("nan")}, {"extra": {"penalty": 1}}],
)
def test_impossible_or_unknown_sampling_is_refused(sampling):
    with pytest.raises(ValueError):
        Draw.of(ask(**sampling))


def test_known_extras_are_read_and_null_is_nothing():
    one = Draw.of(ask(extra={"top_k": 20, "min_p": 0.1, "presence_penalty": None, "chat_template_kwargs": {}}))
    assert (one.top_k, one.min_p) == (20, 0.1)
