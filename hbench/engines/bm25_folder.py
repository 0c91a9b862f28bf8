"""The folder of an index: built in a `.part` beside it, renamed when whole, checked when opened."""

import json
import os
import shutil
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

from hbench.core.corpus import CorpusSource, Document
from hbench.core.digest import digest
from hbench.core.failure import HbenchError, StepError
from hbench.engines.bm25_invert import DOCUMENTS, PARAMETERS, PEAKS, RANKS, STARTS, TERMS, VALUES, invert
from hbench.engines.bm25_spool import GROWING, JOURNAL, RECORDS, TEXTS, Spool, encoded
from hbench.engines.bm25_words import recipe
from hbench.engines.embedded import cache_folder

MANIFEST = "index.json"
KEPT = (TEXTS, RECORDS, VALUES, DOCUMENTS, STARTS, TERMS, PARAMETERS, PEAKS, RANKS)
CHUNK_DOCUMENTS, CHUNK_CHARS = 5_000, 8_000_000  # what a kill can cost, and what memory holds of the texts
SAY_EVERY_S = 10.0

Say = Callable[[str], None]


def index_folder(source: CorpusSource, say: Say) -> Path:
    """The whole index of `source`, built now if need be, by one process at a time.

    Raises HbenchError (no library, two documents with one id, no documents) and StepError (the disk).
    """
    made_by = recipe()
    folder = cache_folder() / "corpora" / f"{source.digest[:32]}-{digest(made_by)[:8]}"
    if folder.is_dir() and not damage(folder, source.digest):
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _locked(Path(f"{folder}.lock"), lambda: say(f"corpus {source.name}: another process builds its index")):
            _mend(folder, source, say)
            if not folder.is_dir():
                _build(source, folder, say)
    except OSError as trouble:
        raise StepError(f"the index of corpus {source.name} cannot be made in {folder}: {trouble}") from None
    return folder


def damage(folder: Path, corpus_digest: str) -> str | None:
    """What is wrong with the index, None when nothing is. A file of the old size and time is taken for untouched."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        if manifest["digest"] != corpus_digest:
            return f"it was made from another corpus ({manifest['digest'][:16]})"
        for name in KEPT:
            size, touched, check = manifest["files"][name]
            found = (folder / name).stat()
            if found.st_size != size:
                return f"{name} has {found.st_size:,} bytes instead of {size:,}"
            if found.st_mtime_ns != touched and _check(folder / name) != check:
                return f"{name} was changed"
    except FileNotFoundError as missing:
        return f"{Path(missing.filename).name} is missing"
    except (ValueError, KeyError, TypeError) as trouble:
        return f"{MANIFEST} cannot be read ({trouble!r})"
    return None


class _locked:
    """While open, no other process is in here. waiting(): called once when another one is."""

    def __init__(self, file: Path, waiting: Callable[[], None]):
        from filelock import FileLock

        self._lock, self._waiting = FileLock(file), waiting

    def __enter__(self) -> None:
        from filelock import Timeout

        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            self._waiting()
            self._lock.acquire()

    def __exit__(self, *_) -> None:
        self._lock.release()


def _mend(folder: Path, source: CorpusSource, say: Say) -> None:
    """Puts a damaged index aside, in place of one put aside before."""
    if folder.is_dir() and (what := damage(folder, source.digest)):
        aside = folder.with_name(folder.name + ".damaged")
        shutil.rmtree(aside, ignore_errors=True)
        os.replace(folder, aside)
        say(f"corpus {source.name}: the index is damaged ({what}); it is put aside as {aside.name} and built again")


def _build(source: CorpusSource, folder: Path, say: Say) -> None:
    part = folder.with_name(folder.name + ".part")
    started = time.monotonic()
    if not (part / MANIFEST).is_file():
        with closing(Spool(part)) as spool:
            _read(source, spool, say)
        if not spool.documents:
            raise HbenchError(f"the corpus {source.name} has no documents")
        invert(part, _Pace(lambda text: say(f"corpus {source.name}: indexing, {text}")).at)
        _write_manifest(part, source, spool.documents)
        say(f"corpus {source.name}: {spool.documents:,} documents indexed in {time.monotonic() - started:.0f} s")
    for name in {*GROWING, JOURNAL} - {*KEPT}:
        (part / name).unlink(missing_ok=True)
    os.replace(part, folder)


def _read(source: CorpusSource, spool: Spool, say: Say) -> None:
    """Spools everything of the source that is not spooled yet."""
    if spool.whole:
        return
    documents = _after(source, spool, say)
    pace = _Pace(lambda text: say(f"corpus {source.name}: reading, {text}"))
    count = getattr(source, "count", None)
    while chunk := _chunk(documents):
        spool.add(chunk)
        pace.at(spool.documents, count)
    spool.end()


def _after(source: CorpusSource, spool: Spool, say: Say) -> Iterator[Document]:
    """The documents behind those that an earlier process spooled; all of them when those are not the source's."""
    documents = iter(source.documents())
    if not spool.documents:
        return documents
    last = next(islice(documents, spool.documents - 1, None), None)
    if last is not None and encoded(last) == spool.last_line():
        say(f"corpus {source.name}: going on after {spool.documents:,} documents")
        return documents
    say(f"corpus {source.name}: what was read before differs now; reading starts again")
    spool.clear()
    return iter(source.documents())


def _chunk(documents: Iterator[Document]) -> list[Document]:
    chunk, chars = [], 0
    for document in documents:
        chunk.append(document)
        chars += len(document.text)
        if len(chunk) == CHUNK_DOCUMENTS or chars >= CHUNK_CHARS:
            break
    return chunk


def _write_manifest(part: Path, source: CorpusSource, documents: int) -> None:
    files = {}
    for name in KEPT:
        with open(part / name, "rb") as file:
            os.fsync(file.fileno())
        found = (part / name).stat()
        files[name] = [found.st_size, found.st_mtime_ns, _check(part / name)]
    manifest = {"name": source.name, "digest": source.digest, "documents": documents, "recipe": recipe()}
    fresh = part / (MANIFEST + ".new")
    with open(fresh, "w", encoding="utf-8") as file:
        json.dump(manifest | {"files": files}, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, part / MANIFEST)


def _check(file: Path) -> int:
    """CRC-32 of the whole file."""
    check = 0
    with open(file, "rb") as content:
        while piece := content.read(1 << 20):
            check = zlib.crc32(piece, check)
    return check


class _Pace:
    """Says how far something is and how long it will take, not more often than every 10 seconds."""

    def __init__(self, say: Say):
        self._say, self._started, self._said, self._first = say, time.monotonic(), time.monotonic(), None

    def at(self, done: int, of: int | None) -> None:
        """done, of: counts of the same thing; of None: nobody knows."""
        now = time.monotonic()
        if self._first is None:  # what an earlier process did took none of this one's time
            self._first = done
            return
        if now - self._said < SAY_EVERY_S:
            return
        self._said = now
        rate = (done - self._first) / (now - self._started)
        left = f" of {of:,}, about {max(0, of - done) / rate:.0f} s left" if of and rate else ""
        self._say(f"{done:,}{left}, {rate:,.0f} a second")
