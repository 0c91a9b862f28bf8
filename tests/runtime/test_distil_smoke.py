"""`make distil-smoke`: the whole of Harness-Zero on file jobs, for real, with the embedded model as student."""

import time

import pytest

from tests.runtime.distil_chain import SPEC, Chain, check_tables

pytestmark = pytest.mark.long  # `make distil-smoke` runs it


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    made = Chain(tmp_path_factory.mktemp("smoke"))
    began = time.monotonic()
    made.hbench("run", SPEC, "-q", timeout=900)
    print(f"\nthe whole chain in {time.monotonic() - began:.0f} s")
    return made


def test_every_table_of_the_chain_is_filled(smoke):
    check_tables(smoke)


def test_the_embedded_model_fails_under_plain_h_and_is_led_by_the_reviewer(smoke):
    """What so few updates teach is printed, not judged: mini_distil is the experiment."""
    for arm in ("base", "h_star", "selective", "reviewed", "distilled", "direct"):
        scores = smoke.scores(arm)
        print(f"{arm}: score {sum(scores) / len(scores):.2f} on {len(scores)} jobs, {smoke.replaced(arm):.2f} of turns replaced")
    assert sum(smoke.scores("base")) <= 1 and smoke.replaced("distilled", "collect") > 0.5


def test_the_loss_falls(smoke):
    rows = smoke.sql("select step_key, update, value from updates where name = 'loss' order by 1, 2")
    for step in {row["step_key"] for row in rows}:
        loss = [row["value"] for row in rows if row["step_key"] == step]
        print("loss", [round(value, 2) for value in loss])
        assert sum(loss[-3:]) < sum(loss[:3]) / 2
