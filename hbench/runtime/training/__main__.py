"""`python -m hbench.runtime.training JOB`: one rank."""

import sys
from pathlib import Path

from hbench.runtime.training.rank import main

if __name__ == "__main__":
    main(Path(sys.argv[1]))
