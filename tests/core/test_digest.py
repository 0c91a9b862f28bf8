"""Identity: equal contents have equal digests, anything else has another."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.core.digest import canonical_json, derive_seed, digest, text_digest

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


def test_the_order_of_keys_does_not_matter_and_the_order_of_items_does():
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest([1, 2]) != digest([2, 1])


def test_kinds_of_values_are_told_apart():
    assert len({digest(v) for v in (0, 0.5, "0", None, False, [], {}, [0])}) == 8


@given(VALUES)
def test_a_value_read_back_from_json_has_the_same_digest(value):
    assert digest(json.loads(json.dumps(value))) == digest(value)


def test_what_json_cannot_hold_is_refused():
    with pytest.raises(ValueError):
        canonical_json(float("nan"))
    with pytest.raises(TypeError):
        canonical_json({1, 2})


def test_any_text_has_a_digest_also_a_lone_surrogate():
    assert len(text_digest("\ud800")) == 32 and text_digest("\ud800") != text_digest("?")


def test_seeds_are_whole_numbers_below_two_to_the_63_and_neighbours_share_nothing():
    seeds = [derive_seed(7, "propose", r, i) for r in range(30) for i in range(30)]
    assert len(set(seeds)) == 900 and all(0 <= s < 2**63 for s in seeds)
    assert derive_seed(1, "2") != derive_seed("1", 2) != derive_seed(12)
    assert min(abs(a - b) for a, b in zip(seeds, seeds[1:], strict=False)) > 1_000_000
