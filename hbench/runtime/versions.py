"""Versions of what decides how things run; recorded, not hashed."""

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from hbench import __version__

LIBRARIES = ("duckdb", "pydantic", "omegaconf", "jinja2", "reasoning-gym", "torch", "transformers", "trl", "vllm", "lm-eval")


@cache
def versions() -> dict[str, str]:
    """Versions of hbench, Python and the libraries that are installed. Looked up once: not to be changed."""
    found = {"hbench": __version__, "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
