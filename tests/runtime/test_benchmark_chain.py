"""`hbench run` of a training whose spec asks for benchmarks: a tiny model is benchmarked, trained, and benchmarked again."""

import pytest

from tests.smoke_model import save_smoke_model
from tests.world import World

pytest.importorskip("lm_eval", reason="the extra 'benchmark' is not installed")
pytestmark = pytest.mark.long  # `make test-lm-eval` runs it

QUICK = ("train.sft.updates=8", "train.demonstrate.per_context=2", "proposals=1", "splits.evaluation=2", "evaluate_all=false")
ASKED = ("benchmark.tasks=[letters,letters_choice]", "benchmark.limit=8")
SCORES = """
select purpose, benchmark, metric, value, stderr
from benchmark_scores
join labelled_steps using (step_key)
where arm = 'sft'
order by purpose desc, benchmark, metric
"""


def test_scores_stand_before_and_after_training(tmp_path):
    here = World(tmp_path)
    save_smoke_model(tmp_path / "smoke-model")
    here.hbench("run", "training/smoke", "--arm", "sft", *QUICK, *ASKED, timeout=1800)
    rows = here.sql(SCORES)
    print(*rows, sep="\n")
    metrics = [("letters", "exact_match,first-number"), ("letters", "exact_match,last-number"), ("letters_choice", "acc,none")]
    found = [(row["purpose"], row["benchmark"], row["metric"]) for row in rows]
    assert found == [(f"benchmark_{when}", *metric) for when in ("before", "after") for metric in metrics]
    here.hbench("run", "training/smoke", "--arm", "sft", *QUICK, *ASKED, timeout=600)
    ended = "select status, count(*) as n from run_steps where step_key in (select step_key from benchmark_scores) group by 1 order by 1"
    assert here.sql(ended) == [{"status": "cached", "n": 2}, {"status": "ran", "n": 2}]
