"""Files of questions and of documents: where they are looked for, their rows as a stream, their digest."""

import bz2
import gzip
import hashlib
import json
import os
import re
import time
import zlib
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import TextIO

from hbench.core.digest import Json, digest
from hbench.core.failure import HbenchError

_CHUNK = 1 << 20
_LONGEST_ROW = 1 << 26  # characters; a broken array must not fill the memory
_REPOSITORY = Path(__file__).resolve().parents[3]
_OPENERS = {".gz": gzip.open, ".bz2": bz2.open}
_TAIL = 64  # bytes
_BETWEEN = re.compile(r"[\s,]*")  # two rows of an array

# (name, split) -> the published files, the wanted one first; behind them comes a slice, <name>.jsonl.
_PUBLISHED = {
    ("hotpotqa", "validation"): ("hotpot_dev_distractor_v1.json", "hotpot_dev_fullwiki_v1.json"),
    ("hotpotqa", "train"): ("hotpot_train_v1.1.json",),
    ("musique", "validation"): ("musique_ans_v1.0_dev.jsonl",),
    ("musique", "train"): ("musique_ans_v1.0_train.jsonl",),
    ("2wiki", "validation"): ("2wiki_dev.json", "2wiki/dev.json", "data_ids_april7/dev.json"),
    ("2wiki", "train"): ("2wiki_train.json", "2wiki/train.json", "data_ids_april7/train.json"),
}
_PUBLISHER = {
    "hotpotqa": "https://hotpotqa.github.io",
    "musique": "https://github.com/StonyBrookNLP/musique",
    "2wiki": "https://github.com/Alab-NII/2wikimultihop",
}


def find_questions(name: str, split: str, source: str | None) -> Path | None:
    """The file that holds the questions; without `source` the first of the known names. None where there is none."""
    names = (source,) if source else (*_PUBLISHED.get((name, split), ()), f"{name}.jsonl")
    return next((found for found in map(find, names) if found), None)


def find(name: str, sort: str = "qa") -> Path | None:
    """`name` as a path, or in one of the data folders of `sort`, as it is or packed; None where it is nowhere."""
    for folder in (Path(), *folders(sort)):
        for packed in ("", *_OPENERS):
            if (found := folder / f"{name}{packed}").exists():
                return found
    return None


def folders(sort: str) -> list[Path]:
    """Where data of `sort` are looked for besides the working folder, in this order; not all of them need be there."""
    given = os.environ.get("HBENCH_DATA")
    if given:
        return [Path(given) / sort, Path(given)]
    return [root.parent / "shared" / "data" / sort for root in (Path.cwd(), _REPOSITORY)]


def how_to_get(name: str, split: str, source: str | None) -> str:
    """What to tell when `find_questions` finds nothing."""
    if source:
        return f"no file {source!r}, neither here nor in {shown_folders()}"
    wanted = _PUBLISHED.get((name, split), (f"{name}.jsonl",))[0]
    return (
        f"no questions of {name} ({split}): put {wanted} (from {_PUBLISHER[name]}) into $HBENCH_DATA/qa, "
        f"or name a file in family.source, or set family.source: hub. Looked in {shown_folders()}"
    )


def shown_folders(sort: str = "qa") -> str:
    """Where `find` looks besides the working folder, for messages."""
    return ", ".join(str(folder) for folder in folders(sort))


def corpus_beside(questions: Path) -> Path | None:
    """<stem>_corpus.jsonl beside a file of questions, packed or not."""
    stem = questions.name.split(".json")[0]
    packed = (questions.with_name(f"{stem}_corpus.jsonl{ending}") for ending in ("", *_OPENERS))
    return next((file for file in packed if file.is_file()), None)


def files_of(path: Path) -> list[Path]:
    """`path`, or every file of rows in that folder and below, in the order of their names."""
    if not path.is_dir():
        return [path]
    endings = (".json", ".jsonl", *_OPENERS)
    return sorted(file for file in path.rglob("*") if file.name.endswith(endings) and file.is_file())


def digest_of(path: Path) -> str:
    """64 hex digits of a file's bytes; of a folder's names, sizes and last bytes, so that 15,000 files take a second.

    The last bytes of a packed file hold a checksum of all that is in it. A folder is looked at again after a minute.
    """
    if path.is_dir():
        return _folder_digest(path.resolve(), int(time.monotonic() / 60))
    state = path.stat()
    return _digest(path.resolve(), state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=16)
def _folder_digest(folder: Path, minute: int) -> str:
    return digest([[str(file.relative_to(folder)), file.stat().st_size, _contents(file)] for file in files_of(folder)])


@cache
def _digest(file: Path, size: int, changed_ns: int) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _contents(file: Path) -> str:
    state = file.stat()
    return _tail(file) if file.suffix in _OPENERS else _digest(file, state.st_size, state.st_mtime_ns)


def _tail(file: Path) -> str:
    with file.open("rb") as stream:
        stream.seek(max(0, file.stat().st_size - _TAIL))
        return stream.read().hex()


def rows_of(file: Path) -> Iterator[Json]:
    """The objects of a JSON Lines file or of one JSON array, in order, as a stream; packed files too.

    Raises HbenchError where the file is broken.
    """
    opener = _OPENERS.get(file.suffix, open)
    try:
        with opener(file, "rt", encoding="utf-8-sig") as stream:
            is_array = stream.read(4096).lstrip().startswith("[")
            stream.seek(0)
            yield from _array(stream) if is_array else _lines(stream)
    except (ValueError, EOFError, OSError, zlib.error) as broken:
        raise HbenchError(f"{file} cannot be read: {broken}") from broken


def _lines(stream: TextIO) -> Iterator[Json]:
    for number, line in enumerate(stream, 1):
        if not line.isspace():
            try:
                yield json.loads(line)
            except ValueError as bad:
                raise ValueError(f"line {number} is not JSON: {bad}") from bad


def _array(stream: TextIO) -> Iterator[Json]:
    read = json.JSONDecoder().raw_decode
    text, at, number = stream.read(_CHUNK).lstrip()[1:], 0, 0
    while True:
        at = _BETWEEN.match(text, at).end()
        if text.startswith("]", at):
            return
        try:
            row, at = read(text, at)
        except ValueError as bad:  # the row may go on behind what was read
            more = stream.read(_CHUNK)
            if not more or len(text) - at > _LONGEST_ROW:
                raise ValueError(f"row {number + 1} of the array is not JSON, or is cut off: {bad}") from bad
            text, at = text[at:] + more, 0
        else:
            number += 1
            yield row
