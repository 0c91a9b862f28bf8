"""`python -m hbench.runtime.benchmarks JOB`: lm-eval's process."""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from hbench.core.benchmark import Benchmarked
from hbench.core.failure import HbenchError
from hbench.parts.families._lm_eval_task import open_tasks
from hbench.runtime.benchmarks.grading import JailedScoring
from hbench.runtime.benchmarks.job import CACHE, FOUND, PAID_AT, TROUBLE, Told, read_job, write, write_found
from hbench.runtime.benchmarks.paying import PaidLM
from hbench.runtime.pay_desk import Purser
from hbench.runtime.training.parent import end_with_parent


def main(file: Path) -> int:
    end_with_parent()
    try:
        write_found(file.with_name(FOUND), benchmarked(read_job(file), file.with_name(CACHE), os.environ.pop(PAID_AT, "")))
        return 0
    except HbenchError as trouble:
        write(file.with_name(TROUBLE), {"message": str(trouble)})
    except BaseException:
        traceback.print_exc()
    return 1


def benchmarked(told: Told, cache: Path, paid_at: str) -> Benchmarked:
    """Tasks are opened before the model, whose weights take longer. paid_at: where calls are paid for; "": nowhere."""
    from hbench.engines.benchmark import evaluate, open_model

    loaded = open_tasks(told.job.tasks)
    with closing(JailedScoring(told.sandbox)) as scoring:
        for name, task in loaded["tasks"].items():
            scoring.lay_on(name, task)
        lm = open_model(told.job.model, told.reach, told.job.chat)
        with _paid(lm, paid_at) as asked:
            found = evaluate(asked, loaded, told.job, cache)
        return replace(found, ungraded=scoring.ungraded)


@contextmanager
def _paid(lm: Any, paid_at: str) -> Iterator[Any]:
    if not paid_at:
        yield lm
        return
    with closing(Purser(paid_at)) as purser:
        yield PaidLM(lm, purser)


if __name__ == "__main__":
    code = main(Path(sys.argv[1]))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # a library that lingers in a thread would keep the process, and with it the step
