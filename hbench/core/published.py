"""Published bundles: how the folder of one is laid out, and where one is found."""

import re
from pathlib import Path, PurePosixPath

from hbench.core.digest import Json
from hbench.core.places import published_roots

BUNDLE = "bundle.json"  # written last: a folder that has it is a whole bundle
ROWS, SPECS, ADAPTERS = "rows", "specs", "adapters"  # its folders: Parquet files, resolved specs, trained models
CARD = "checkpoint.json"  # beside a trained model: its digest, base, recipe and lineage
PREFIX = "published/"  # how specs and exhibits name a bundle: published/NAME
NAME = r"[A-Za-z0-9][\w.-]*"  # of a bundle, and of an adapter in one
# An absolute path of at least two parts: a whole text (blanks are part of it) or value of KEY=; or inside a text.
_WHOLE = re.compile(r"([\w.-]+=)?((?:file://)?(?:~[\w.-]*)?/[^/\n]+/[^\n]+)")
_INSIDE = re.compile(r"""(?:(?<=[\s"'=:,(\[])|^)(?:file://)?(?:~[\w.-]*)?/(?:[^/\s"',)\]]+/)+[^/\s"',)\]]*""")


def without_places(value: Json) -> Json:
    """`value` with absolute paths, in every text of one line, made their last part: /home/me/models/x becomes x.

    A text of several lines is a prompt or a program, and stays as its author wrote it.
    """
    if isinstance(value, dict):
        return {key: without_places(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [without_places(each) for each in value]
    if not isinstance(value, str) or "/" not in value or "\n" in value:
        return value
    if whole := _WHOLE.fullmatch(value):
        return (whole[1] or "") + PurePosixPath(whole[2]).name
    return _INSIDE.sub(lambda found: PurePosixPath(found[0]).name, value)


def find_bundle(name: str, results: Path | None = None) -> Path | None:
    """The folder of the bundle `name` (`published/` before it or not), or None."""
    short = name.removeprefix(PREFIX).strip("/")
    folders = [root / short for root in published_roots(results)] if short else []
    return next((folder for folder in folders if (folder / BUNDLE).is_file()), None)


def bundle_names(results: Path | None = None) -> list[str]:
    """The bundles there are, sorted."""
    found = (file for root in published_roots(results) for file in root.glob(f"*/{BUNDLE}"))
    return sorted({file.parent.name for file in found})
