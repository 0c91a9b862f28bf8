"""`python -m hbench.runtime.training.launcher JOB`: starts the ranks with `accelerate launch` and waits for them."""

import os
import sys
from pathlib import Path

from hbench.runtime.training.job import read_job
from hbench.runtime.training.parent import child_environment, end_with_parent


def main(file: Path) -> None:
    end_with_parent()
    from hbench.engines.accelerate_launch import launch

    training = read_job(file).training
    os.environ.update(child_environment())
    launch("hbench.runtime.training", [str(file)], training["processes"], training["accelerate"])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
