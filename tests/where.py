"""Where tests find the files that stay outside the project: shared cases and data. Absent: the test skips, saying so."""

import os
from pathlib import Path

import pytest

from hbench.core.libreoffice import program_folder

REPO = Path(__file__).resolve().parent.parent


def cases() -> Path:
    return _folder("HBENCH_CASES", "cases")


def data() -> Path:
    return _folder("HBENCH_DATA", "data")


def libreoffice() -> None:
    """Skips without LibreOffice, saying so; fails where HBENCH_NEEDS_LIBREOFFICE says that it has to be there."""
    if program_folder() is None:
        (pytest.fail if os.environ.get("HBENCH_NEEDS_LIBREOFFICE") else pytest.skip)("LibreOffice is not installed")


def _folder(variable: str, name: str) -> Path:
    folder = Path(os.environ.get(variable) or REPO.parent / "shared" / name)
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there (set {variable})", allow_module_level=True)
    return folder
