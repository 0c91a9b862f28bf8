"""Where LibreOffice lies on this machine, and which version it is. Starts nothing."""

import os
import shutil
from collections.abc import Iterator
from functools import cache
from glob import glob
from pathlib import Path

from hbench.core.digest import digest

_PLACES = ("/usr/lib/libreoffice", "/usr/lib64/libreoffice", "/opt/libreoffice*", "/usr/local/lib/libreoffice")
HOW_TO_GET = "install LibreOffice (Debian and Ubuntu: apt-get install --no-install-recommends libreoffice-calc)"


@cache
def program_folder() -> Path | None:
    """The folder of soffice.bin; None where there is no LibreOffice."""
    return next((folder for folder in _folders() if (folder / "soffice.bin").is_file()), None)


def _folders() -> Iterator[Path]:
    command = shutil.which("soffice") or shutil.which("libreoffice")
    if command:
        yield Path(os.path.realpath(command)).parent
    for place in _PLACES:
        yield from (Path(found) / "program" for found in sorted(glob(place), reverse=True))


@cache
def version() -> str:
    """Its name and number as its own files tell them, with a digest of its build; `absent` without one."""
    folder = program_folder()
    if folder is None:
        return "absent"
    told = [_lines(folder / name) for name in ("bootstraprc", "versionrc")]
    name = next((line.partition("=")[2] for line in told[0] if line.startswith("ProductKey=")), "LibreOffice")
    return f"{name} ({digest([line for line in told[1] if line.startswith('buildid')])[:8]})"


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
