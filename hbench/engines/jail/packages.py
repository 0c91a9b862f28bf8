"""What belongs to installed distributions: their files, and what they need."""

import os
import re
from collections.abc import Sequence
from importlib import metadata

from hbench.core.failure import HbenchError


def entries(packages: Sequence[str]) -> list[str]:
    """Files and folders, as they stand beside each other in site-packages, of `packages` and of all that they require.

    Optional extras are left out, and so is a requirement under a condition (of version or system) that is not installed.
    Raises HbenchError for what else is not installed, or is installed without a record of its files.
    """
    found: dict[str, list[str]] = {}
    todo = [(name, f"this domain needs {name}") for name in packages]
    while todo:
        name, why = todo.pop()
        if _normal(name) in found:
            continue
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            raise HbenchError(f"{why}, which is not installed: pip install {name}") from None
        found[_normal(name)] = _places(name, distribution)
        for needed, condition in map(_requirement, distribution.requires or ()):
            if "extra" not in condition and (not condition or _is_installed(needed)):
                todo.append((needed, f"{name} needs {needed}"))
    return sorted({place for places in found.values() for place in places})


def _places(name: str, distribution: metadata.Distribution) -> list[str]:
    if distribution.files is not None:
        names = {file.parts[0] for file in distribution.files if not file.is_absolute()}
    else:
        top = (distribution.read_text("top_level.txt") or "").split()
        names = {*top, *(f"{module}.py" for module in top)}
    kept = (n for n in names if n not in ("..", "__pycache__") and not n.endswith(".pth"))
    places = [os.path.realpath(str(distribution.locate_file(n))) for n in kept]
    places = [place for place in places if os.path.exists(place)]
    if not places:
        raise HbenchError(f"{name} is installed without a record of its files: install it with pip")
    return places


def _requirement(text: str) -> tuple[str, str]:
    """(name, condition) of `name [extras] (versions) ; condition`."""
    named, _, condition = text.partition(";")
    return re.match(r"[A-Za-z0-9._-]+", named.strip()).group(), condition.strip()


def _is_installed(name: str) -> bool:
    try:
        metadata.distribution(name)
        return True
    except metadata.PackageNotFoundError:
        return False


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
