"""What the door lets in, what it changes, and when two contents are the same."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hbench.core.failure import StepError
from hbench.store.rows import Digester, admit, encode
from tests.store.made import rollout

GRADE = {"question_id": "q", "name": "score", "value": 1}


def test_a_row_gets_its_defaults_and_loses_its_nulls():
    assert admit({"grades": [GRADE]}) == {
        "grades": [{"candidate": 0, "question_id": "q", "repeat": 0, "name": "score", "value": 1.0}]
    }


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({"grade": [GRADE]}, "did you mean 'grades'"),
        ({"runs": [{"run_id": "r"}]}, "unknown"),
        ({"grades": [GRADE | {"valeu": 1}]}, "did you mean 'value'"),
        ({"grades": [GRADE | {"step_key": "k"}]}, "the store adds it"),
        ({"grades": [{"name": "score", "value": 1}]}, "without question_id"),
        ({"grades": [GRADE | {"value": "1"}]}, "wanted DOUBLE, got '1'"),
        ({"grades": [GRADE | {"value": True}]}, "wanted DOUBLE"),
        ({"grades": [GRADE | {"value": float("nan")}]}, "finite"),
        ({"grades": [GRADE | {"repeat": 2**63}]}, "64 bits"),
        ({"rollouts": [{"question_id": "q", "completed": 1}]}, "wanted BOOLEAN"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_with_its_table_and_column(rows, said):
    with pytest.raises(StepError, match=said):
        admit(rows)


def test_nul_and_lone_surrogates_become_replacement_characters():
    assert json.loads(encode({"a\0": ["x\ud800y", "\0"], "fine": "😀 \\u0000 é"})) == {
        "a\ufffd": ["x\ufffdy", "\ufffd"],
        "fine": "😀 \\u0000 é",
    }


def test_volatile_columns_are_no_content():
    assert _digests(rollout(1, seconds=0.1, reused=False)) == _digests(rollout(1, seconds=9.0, reused=True))
    assert _digests(rollout(1, score=1.0)) != _digests(rollout(1, score=0.5))


def test_one_and_one_point_zero_are_one_content():
    assert _digests({"grades": [GRADE]}) == _digests({"grades": [GRADE | {"value": 1.0}]})


texts = st.text(st.characters(codec="utf-8"), max_size=20)
grades = st.fixed_dictionaries({"question_id": texts, "name": texts, "value": st.floats(0, 1)})
rows = st.lists(grades, max_size=8, unique_by=lambda row: (row["question_id"], row["name"]))


@given(rows, st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_the_digest_does_not_hang_on_the_order_of_rows(some: list[dict], chance: random.Random):
    shuffled = chance.sample(some, len(some))
    assert _digests({"grades": some}) == _digests({"grades": shuffled})


@given(rows, st.floats(0, 1))
@settings(max_examples=100, deadline=None)
def test_the_digest_sees_every_value(some: list[dict], other: float):
    if some and some[0]["value"] != other:
        assert _digests({"grades": some}) != _digests({"grades": [some[0] | {"value": other}, *some[1:]]})


def _digests(rows: dict[str, list[dict]]) -> dict[str, str]:
    digester = Digester()
    for table, some in admit(rows).items():
        for row in some:
            digester.add(table, row)
    return digester.digests()
