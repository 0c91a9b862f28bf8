"""How lm-eval's requests are put: in pieces that hold what belongs together, each held for by the most that it may take."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.core.failure import OutOfBudget
from hbench.runtime.benchmarks.paying import PaidLM, at_most, pieces

texts = st.text("ab ", max_size=6)


@given(st.lists(st.tuples(texts, texts), max_size=40), st.integers(1, 5))
def test_every_request_is_in_one_piece_beside_those_of_its_context(asked, contexts):
    found = list(pieces(asked, contexts))
    assert sorted(place for piece in found for place in piece) == list(range(len(asked)))
    held = [{asked[place][0] for place in piece} for piece in found]
    assert all(0 < len(each) <= contexts for each in held)
    assert sum(map(len, held)) == len({context for context, _ in asked}), "no context is in two pieces"


def test_the_longest_come_first_and_those_that_are_sampled_alike_together():
    greedy, drawn = {"until": ["\n"]}, {"until": ["\n"], "do_sample": True}
    asked = [("ab", greedy), ("abc", drawn), ("abcd", greedy), ("a", drawn)]
    assert list(pieces(asked, 2)) == [[1, 3], [2, 0]]


@pytest.mark.parametrize(
    ("how", "asked", "most"),
    [
        ("generate_until", ("x" * 10, {"max_gen_toks": 7}), (74, 7)),
        ("generate_until", ("é" * 10, {}), (84, 256)),
        ("generate_until", (SimpleNamespace(prompt="x" * 10), {"max_tokens": 9}), (74, 9)),  # a chat
        ("loglikelihood", ("x" * 10, "y" * 5), (79, 1)),
        ("loglikelihood_rolling", ("x" * 10,), (84, 1)),
    ],
)
def test_a_request_takes_at_most_a_token_a_byte_and_what_it_may_say(how, asked, most):
    assert at_most(how, asked) == most


class Echo:
    """A model that answers with what it was asked, and counts a token a letter."""

    at_once = 2

    def __init__(self):
        self.put, self.used = [], SimpleNamespace(take=lambda: (sum(map(len, self.put[-1])), 0))

    def loglikelihood(self, requests, disable_tqdm=False):
        self.put.append([each.args[0] for each in requests])
        return [each.args[0] for each in requests]


def test_answers_come_in_order_and_none_is_put_that_was_not_held_for():
    allowed, settled = iter([2, 1, 1, 0]), []

    def hold(calls):
        may = next(allowed)
        if not may:
            raise OutOfBudget("nothing left")
        return min(may, len(calls))

    purser = SimpleNamespace(hold=hold, settle=lambda used, seconds: settled.append(used))
    lm, asked = Echo(), [SimpleNamespace(args=("x" * n, "y")) for n in (1, 4, 3, 2)]
    paid = PaidLM(lm, purser)
    assert paid.loglikelihood(asked) == ["x", "xxxx", "xxx", "xx"] and paid.at_once == 2
    assert lm.put == [["xxxx", "xxx"], ["xx"], ["x"]] and settled == [(7, 0), (2, 0), (1, 0)]
    with pytest.raises(OutOfBudget):
        paid.loglikelihood(asked)
