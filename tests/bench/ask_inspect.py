"""inspect_ai on the server of overhead.py: ask_inspect.py URL COUNT IN_FLIGHT. Fails where an answer is wrong."""

import os
import sys

url, count, in_flight = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
os.environ |= {"MOCK_API_KEY": "none", "MOCK_BASE_URL": url}

from inspect_ai import Task, eval  # noqa: E402
from inspect_ai.dataset import MemoryDataset, Sample  # noqa: E402
from inspect_ai.scorer import exact  # noqa: E402
from inspect_ai.solver import generate  # noqa: E402

samples = [Sample(input=f"Reply with the number between the Qs: Q{i}Q", target=str(i), id=i + 1) for i in range(count)]
(log,) = eval(
    Task(dataset=MemoryDataset(samples), solver=generate(), scorer=exact()),
    model="openai-api/mock/mock",
    max_connections=in_flight,
    max_samples=in_flight,
    display="none",
    log_dir="log",
    temperature=0,
)
assert log.results and all(metric.value == 1.0 for name, metric in log.results.scores[0].metrics.items() if name == "accuracy"), log.error
