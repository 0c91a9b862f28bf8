"""Where specs, prompts and published bundles are looked up: the working folder first, then what ships with hbench."""

from collections.abc import Iterable
from pathlib import Path

_SHIPPED = Path(__file__).resolve().parent.parent


def roots(sort: str) -> list[Path]:
    """Folders named `sort` ("specs" or "prompts"), in order of lookup; only those that exist, each once."""
    return _there([Path.cwd() / sort, _SHIPPED / "shipped" / sort, _SHIPPED.parent / sort])


def published_roots(results: Path | None = None) -> list[Path]:
    """Folders of bundles, in order of lookup: those of the folder `results` first, then of ./results."""
    own = [folder / "published" for folder in (results, Path.cwd() / "results") if folder]
    return _there([*own, _SHIPPED / "shipped" / "published", _SHIPPED.parent / "results" / "published"])


def find_file(sort: str, name: str) -> Path | None:
    """The first file `name` under the roots of `sort`, or None."""
    return next((root / name for root in roots(sort) if (root / name).is_file()), None)


def _there(folders: Iterable[Path]) -> list[Path]:
    found: list[Path] = []
    for folder in folders:
        if folder.is_dir() and folder.resolve() not in [f.resolve() for f in found]:
            found.append(folder)
    return found
