"""`python -m hbench.runtime.benchmarks JOB`: lm-eval's process."""

import os
import sys
import traceback
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from hbench.core.benchmark import Benchmarked
from hbench.core.failure import HbenchError
from hbench.parts.families._lm_eval_task import open_tasks
from hbench.runtime.benchmarks.grading import JailedScoring
from hbench.runtime.benchmarks.job import CACHE, FOUND, TROUBLE, Told, read_job, write, write_found
from hbench.runtime.training.parent import end_with_parent


def main(file: Path) -> int:
    end_with_parent()
    try:
        write_found(file.with_name(FOUND), benchmarked(read_job(file), file.with_name(CACHE)))
        return 0
    except HbenchError as trouble:
        write(file.with_name(TROUBLE), {"message": str(trouble)})
    except BaseException:
        traceback.print_exc()
    return 1


def benchmarked(told: Told, cache: Path) -> Benchmarked:
    """Tasks are opened before the model, whose weights take longer."""
    from hbench.engines.benchmark import evaluate, open_model

    loaded = open_tasks(told.job.tasks)
    with closing(JailedScoring(told.sandbox)) as scoring:
        for name, task in loaded["tasks"].items():
            scoring.lay_on(name, task)
        found = evaluate(open_model(told.job.model, told.reach, told.job.chat), loaded, told.job, cache)
        return replace(found, ungraded=scoring.ungraded)


if __name__ == "__main__":
    code = main(Path(sys.argv[1]))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # a library that lingers in a thread would keep the process, and with it the step
