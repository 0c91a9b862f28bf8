"""What a folder of files is known by: a digest of their names and contents."""

import hashlib
from collections.abc import Container
from pathlib import Path

# Beside a trained model these say what it is; they are no part of it, and a copy that has them is the same model.
CARDS = frozenset({"README.md", "checkpoint.json"})


def folder_digest(folder: Path, without: Container[str] = CARDS) -> str:
    """64 hex digits (SHA-256) of every file in `folder`, however deep, but for those named in `without` at its top.

    Dates, rights and empty folders do not count. Raises OSError for what cannot be read.
    """
    inside = sorted(p for p in folder.rglob("*") if p.is_file())
    names = {p: p.relative_to(folder).as_posix() for p in inside}
    listed = "".join(f"{names[p]}\0{file_digest(p)}\n" for p in inside if names[p] not in without)
    return hashlib.sha256(listed.encode("utf-8", "surrogateescape")).hexdigest()


def file_digest(path: Path) -> str:
    """64 hex digits (SHA-256) of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
