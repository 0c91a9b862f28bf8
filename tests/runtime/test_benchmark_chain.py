"""`hbench run` of a training whose spec asks for benchmarks: a tiny model is benchmarked, trained, and benchmarked again."""

import shutil

import pytest

from hbench.parts.families._lm_eval_files import data_file
from tests.plan.test_training_plan import SPEC
from tests.smoke_model import save_smoke_model
from tests.where import REPO
from tests.world import World, make_world

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


SHORT = "benchmark={tasks: [gsm8k_short], limit: 3, shots: 1}"
LEDGER = """
select arm, role, calls, completion_tokens, cost = prompt_tokens + 2 * completion_tokens as priced, reused_calls
from ledger where role = 'benchmark'
"""


@pytest.mark.skipif(data_file("gsm8k/gsm8k_test.jsonl") is None, reason="GSM8K is not in $HBENCH_DATA")
def test_what_lm_eval_asks_is_paid_for_and_stands_in_the_ledger(tmp_path):
    """Its calls were in no ledger, and no budget ended them."""
    here = make_world(tmp_path, SPEC.replace("embedded/tiny", "embedded/smollm2-135m-instruct, name: small"))
    shorten(tmp_path / "parts/lm_eval")
    price = "machine.models.small.price={prompt: 1000000, completion: 2000000}"  # 1 and 2 a token
    base = ("specs/toy.yaml", "--arm", "base", "rounds=0", price)
    here.hbench("run", *base)
    assert "benchmark             3 calls               48 completion tokens" in here.hbench("plan", *base, SHORT).stdout
    done = here.hbench("run", *base, SHORT, "machine.budget.calls=2", "machine.models.small.batch=1", check=False, timeout=600)
    assert done.returncode == 3 and "the run has used up its budget of 2 calls" in done.stderr
    (broken,) = here.sql("select calls, completion_tokens from spend where role = 'benchmark'")
    assert broken["calls"] == 2 and here.sql(LEDGER) == []
    here.hbench("run", *base, SHORT, timeout=600)
    rest = here.sql("select calls from spend where role = 'benchmark' order by calls")
    assert rest == [{"calls": 1}, {"calls": 2}], "what was paid for is not asked again"
    (row,) = here.sql(LEDGER)
    assert (row["arm"], row["calls"], row["priced"], row["reused_calls"]) == ("base", 3, True, 0)
    assert broken["completion_tokens"] < row["completion_tokens"] <= 48


def shorten(folder):
    """gsm8k_short: GSM8K with answers of 16 tokens."""
    ours = REPO / "hbench/parts/lm_eval"
    folder.mkdir(parents=True)
    shutil.copy(ours / "local.py", folder)
    text = (ours / "gsm8k_local.yaml").read_text().replace("task: gsm8k_local", "task: gsm8k_short")
    (folder / "gsm8k_short.yaml").write_text(text.replace("do_sample: false,", "do_sample: false, max_gen_toks: 16,"))
