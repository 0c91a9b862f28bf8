"""Which version of a Python package is installed here. Imports nothing of it."""

from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def installed_version(package: str) -> str:
    """Its number; `absent` where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"
