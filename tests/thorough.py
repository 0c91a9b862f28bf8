"""How much is drawn: little in `make test` and `make slow`, so that they stay short; more in `make thorough`."""

import os

THOROUGH = bool(os.environ.get("HBENCH_THOROUGH"))


def often(usual: int, thorough: int) -> int:
    """How many questions, examples or kills a test takes."""
    return thorough if THOROUGH else usual
