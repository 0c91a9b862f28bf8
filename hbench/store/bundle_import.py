"""Somebody else's bundle, taken in: checked, nothing of it run, nothing copied that it does not name."""

import json
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.folder_digest import file_digest
from hbench.core.published import ADAPTERS, BUNDLE, NAME, find_bundle
from hbench.store.bundle import read_manifest
from hbench.store.bundle_check import check_rows
from hbench.store.bundle_unpack import unpack
from hbench.store.manifest import Manifest, check_manifest

MB = 1_000_000
MOST_JSON = 20 * MB  # of bundle.json and of a model's settings
VOCABULARIES = ("tokenizer.json", "vocab.json")  # of a model, which may be bigger
RUNS_CODE = ("auto_map", "auto_mapping", "custom_pipelines")  # keys by which a model's settings name Python to import


@dataclass(frozen=True)
class Imported:
    """folder: of the bundle, as it is read from now on. left: files beside it that bundle.json does not name."""

    folder: Path
    manifest: Json
    mb: float
    left: tuple[str, ...]


def take_in(source: Path, results: Path, name: str | None = None, max_mb: float = 1000.0) -> Imported:
    """Copies the bundle at `source`, a folder or a DuckDB file of `hbench export`, to results/published/<name>.

    Raises HbenchError, and leaves nothing behind, where it is not whole, not a bundle, or not harmless.
    """
    published = results / "published"
    published.mkdir(parents=True, exist_ok=True)
    with _part(published) as part:
        left = _copy(source, part, max_mb) if source.is_dir() else _unpacked(source, part, max_mb)
        told = read_manifest(part)
        target = published / _free(name or told["name"], results)
        check_rows(part, source)
        os.rename(part, target)
    size = sum(file.stat().st_size for file in target.rglob("*") if file.is_file())
    return Imported(target, told, size / MB, tuple(left))


@contextmanager
def _part(published: Path) -> Iterator[Path]:
    part = published / f".import-{os.getpid()}.part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        yield part
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _free(name: str, results: Path) -> str:
    """`name`, where no bundle has it: one that exhibits or specs name already must not change under them."""
    if not re.fullmatch(NAME, name):
        raise HbenchError(f"{name!r} is no name for a bundle: letters, digits, _, - and . only (give one with --name)")
    if there := find_bundle(name, results):
        raise HbenchError(f"there is a bundle {name} already, {there}: give another --name")
    if (results / "published" / name).exists():
        raise HbenchError(f"{results / 'published' / name} is there and is no bundle: give another --name")
    return name


def _copy(source: Path, part: Path, max_mb: float) -> list[str]:
    """Copies what bundle.json names; returns what else lies there."""
    manifest = _manifest(source)
    if manifest.bytes > max_mb * MB:
        raise HbenchError(f"the bundle {source} takes {manifest.bytes / MB:.0f} MB, more than --max-mb {max_mb:g}")
    for place, known in manifest.files.items():
        _copy_file(source, part, place)
        if file_digest(part / place) != known.sha256:
            raise HbenchError(f"{source / place} is not the file that {BUNDLE} names: it was changed, or not fetched whole")
        _check_settings(part / place, source / place)
    _copy_file(source, part, BUNDLE)
    there = {file.relative_to(source).as_posix() for file in source.rglob("*") if not file.is_dir()}
    return sorted(there - {*manifest.files, BUNDLE})


def _manifest(source: Path) -> Manifest:
    if not (source / BUNDLE).is_file():
        raise HbenchError(f"{source} holds no {BUNDLE}: it is no bundle, or not a whole one")
    _regular(source, BUNDLE)
    if (source / BUNDLE).stat().st_size > MOST_JSON:
        raise HbenchError(f"{source / BUNDLE} is too big to be one")
    return check_manifest(read_manifest(source), source / BUNDLE)


def _copy_file(source: Path, part: Path, place: str) -> None:
    _regular(source, place)
    (part / place).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source / place, part / place, follow_symlinks=False)


def _regular(source: Path, place: str) -> None:
    """Raises where a part of the path is a link, which may lead anywhere, or the file is none."""
    file, above = source / place, Path(place).parents
    links = [folder for folder in above if folder != Path(".") and (source / folder).is_symlink()]
    try:
        plain = stat.S_ISREG(file.lstat().st_mode)
    except OSError as error:
        raise HbenchError(f"{file} cannot be read: {error.strerror}") from None
    if links or not plain:
        raise HbenchError(f"{file} is a link or no file: a bundle holds plain files alone")


def _check_settings(file: Path, shown: Path) -> None:
    """Settings of a model that would import Python when it is loaded are refused."""
    if ADAPTERS not in file.parts or file.suffix != ".json":
        return
    try:
        if file.stat().st_size > MOST_JSON:
            return _check_vocabulary(shown)
        told = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise HbenchError(f"{shown} cannot be read: {error}") from None
    if named := [key for key in RUNS_CODE if isinstance(told, dict) and told.get(key)]:
        raise HbenchError(f"{shown} names code to run ({named[0]}): a bundle brings weights, never code")


def _check_vocabulary(shown: Path) -> None:
    """Nothing else of a model is so big; settings that are may hide what they name."""
    if shown.name not in VOCABULARIES:
        raise HbenchError(f"{shown} is too big to be a model's settings")


def _unpacked(source: Path, part: Path, max_mb: float) -> list[str]:
    if not source.is_file():
        raise HbenchError(f"there is no {source}")
    if source.stat().st_size > max_mb * MB:
        raise HbenchError(f"{source} takes {source.stat().st_size / MB:.0f} MB, more than --max-mb {max_mb:g}")
    unpack(source, part)
    return []
