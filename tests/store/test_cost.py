"""What storing costs. Bounds are several times what was measured, for busy machines; the numbers are printed."""

import subprocess
import sys

import pytest

BIG = """
import sys, time
began = time.process_time()
from hbench.core.output import Output
from hbench.store.artifacts import Store, StepRecord
from tests.store.made import rollout
rows = [rollout(i) for i in range(1000)]
for row in rows:
    row["texts"][0]["text"] *= 50
began = time.process_time()
with Store(sys.argv[1]).open("a" * 64) as part:
    for row in rows:
        part.append(row)
    part.commit(Output({"score": 1.0}), StepRecord("evaluate", 1, {}, 1.0))
print((time.process_time() - began))
"""

RESUME = """
import sys, time
from hbench.store.artifacts import Store
store = Store(sys.argv[1])
began = time.process_time()
for i in range(10_000):
    store.get(f"{i:064x}")
print((time.process_time() - began) / 10_000 * 1e6)
"""

IMPORT = """
import sys
import hbench.store.artifacts, hbench.store.database, hbench.store.query, hbench.store.render
print(len({"duckdb", "pyarrow", "numpy", "pandas"} & set(sys.modules)))
"""


def measured(code: str, *arguments: str) -> float:
    found = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return float(found.stdout)


@pytest.mark.slow
def test_a_thousand_rollouts_with_events_and_texts_cost_little(tmp_path):
    """At most 0.4 CPU-milliseconds a rollout, DuckDB's import included; of three tries the best."""
    seconds = min(measured(BIG, str(tmp_path / str(i))) for i in range(3))
    print(f"{seconds:.3f} CPU-milliseconds a rollout")
    assert seconds < 0.8


def test_a_resume_looks_up_a_missing_step_in_microseconds(tmp_path):
    microseconds = measured(RESUME, str(tmp_path))
    print(f"{microseconds:.0f} CPU-microseconds a step")
    assert microseconds < 200


def test_importing_the_store_loads_no_heavy_library():
    assert measured(IMPORT) == 0
