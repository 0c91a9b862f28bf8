"""Where specs and prompts are looked up: the working folder first, then what ships with hbench."""

from pathlib import Path

_SHIPPED = Path(__file__).resolve().parent.parent


def roots(sort: str) -> list[Path]:
    """Folders named `sort` ("specs" or "prompts"), in order of lookup; only those that exist, each once."""
    found: list[Path] = []
    for folder in (Path.cwd() / sort, _SHIPPED / "shipped" / sort, _SHIPPED.parent / sort):
        if folder.is_dir() and folder.resolve() not in [f.resolve() for f in found]:
            found.append(folder)
    return found


def find_file(sort: str, name: str) -> Path | None:
    """The first file `name` under the roots of `sort`, or None."""
    return next((root / name for root in roots(sort) if (root / name).is_file()), None)
