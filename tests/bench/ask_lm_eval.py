"""lm-eval on the server of overhead.py: ask_lm_eval.py URL COUNT IN_FLIGHT. Fails where an answer is wrong."""

import json
import os
import sys
from pathlib import Path

url, count, in_flight = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(Path("cache").absolute())}

import lm_eval  # noqa: E402
from lm_eval.tasks import TaskManager  # noqa: E402

TASK = """
task: mock
dataset_path: json
dataset_kwargs: {data_files: {test: %s}}
test_split: test
output_type: generate_until
doc_to_text: "Reply with the number between the Qs: Q{{i}}Q"
doc_to_target: "{{a}}"
generation_kwargs: {until: ["\\n\\n"], max_gen_toks: 16, temperature: 0}
metric_list: [{metric: exact_match, aggregation: mean, higher_is_better: true}]
metadata: {version: 1.0}
"""

Path("tasks").mkdir()
rows = Path("tasks/mock.jsonl").absolute()
rows.write_text("".join(json.dumps({"i": i, "a": str(i)}) + "\n" for i in range(count)))
Path("tasks/mock.yaml").write_text(TASK % rows)
found = lm_eval.simple_evaluate(
    model="local-chat-completions",
    model_args=f"model=mock,base_url={url}/chat/completions,num_concurrent={in_flight},max_retries=1,tokenized_requests=False",
    tasks=["mock"],
    task_manager=TaskManager(include_path="tasks"),  # with its own tasks, as its command line has them
    apply_chat_template=True,
    log_samples=True,
)
assert found["results"]["mock"]["exact_match,none"] == 1.0, found["results"]
