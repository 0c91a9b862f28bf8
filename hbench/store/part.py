"""The unfinished artifact of a running step, and how it becomes whole."""

import json
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Self

from hbench.core.digest import Json, digest
from hbench.core.failure import StepError
from hbench.core.output import Artifact, Output, Row
from hbench.store.lease import Lease
from hbench.store.packing import INLINE_BYTES, Packed, clear, move_files, pack_inline, pack_parquet
from hbench.store.parquet import sync
from hbench.store.reading import read_artifact
from hbench.store.rows import admit, append_line, cut_torn_line, encode, read_lines, whole
from hbench.store.tables import SCHEMA

_WRITTEN_BY_COMMIT = ("step.json", "rows", "texts.parquet", "files")


@dataclass(frozen=True)
class StepRecord:
    """What the store notes of a step besides its output. params: all that is hashed. made_with: what is not."""

    kind: str
    version: int
    params: Json
    seconds: float
    made_with: Json = field(default_factory=dict)


class UnfinishedPart:
    """Implements core.protocols.Part. A context manager: leaving it gives the lease back, committed or not.

    What an earlier holder appended is there; its torn last line is cut. Trainers may keep checkpoints in `folder`.
    """

    def __init__(self, final: Path, lease: Lease):
        self.final, self.folder, self._lease = final, final.with_name(final.name + ".part"), lease
        self._file = self.folder / "rows.jsonl"
        self._handle: int | None = None
        self._writing = threading.Lock()
        self._held = True
        self.folder.mkdir(exist_ok=True)
        cut_torn_line(self._file)
        clear(self.folder, only=_WRITTEN_BY_COMMIT)  # left by a commit that was cut short

    def append(self, rows: Mapping[str, Sequence[Row]]) -> None:
        """Hands `rows` to the operating system as one line: they survive a kill -9, all or none. Thread-safe.

        Raises StepError for rows that do not fit their tables. Not yet on disk: `commit` waits for that.
        """
        admitted = admit(rows)
        if not admitted:
            return
        line = encode(admitted) + b"\n"
        with self._writing:
            if not self._held:
                raise StepError(f"{self.folder.name}: rows came after the step had ended")
            if self._handle is None:
                self._handle = os.open(self._file, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o666)
            append_line(self._file, self._handle, line)

    def rows(self, table: str) -> list[dict]:
        """The rows of `table` appended so far, by this holder or an earlier one, each with all its columns."""
        return [whole(table, row) for record in read_lines(self._file) for row in record.get(table, ())]

    def commit(self, output: Output, record: StepRecord) -> Artifact:
        """The finished artifact: appended rows and the output's, value and files, on disk and renamed into place.

        Raises StepError when the lease was lost or rows do not fit. When somebody committed the same key first,
        theirs stays and is returned.
        """
        self._lease.check()
        packed = self._pack(output)
        files = move_files(output.files, self.folder)
        contents = digest({"value": output.value, "files": files, "rows": dict(packed.digests)})
        self._write_record(output.value, record, packed, contents)
        clear(self.folder, keep=_WRITTEN_BY_COMMIT)
        sync(self.folder)
        self._lease.check()
        self._put_in_place()
        self.close()
        return read_artifact(self.final)

    def close(self) -> None:
        """Gives the lease back; harmless when that was done."""
        with self._writing:
            held, self._held = self._held, False
            if self._handle is not None:
                os.close(self._handle)
                self._handle = None
        if held:
            if self.folder.is_dir() and not any(os.scandir(self.folder)):
                self.folder.rmdir()
            self._lease.drop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _pack(self, output: Output) -> Packed:
        # The output's rows go through the same encoding as appended ones, so both are cleaned alike.
        lines = [encode({table: [row]}) for table, rows in admit(output.rows).items() for row in rows]
        appended = self._file.stat().st_size if self._file.exists() else 0
        records = chain(read_lines(self._file), map(json.loads, lines))
        if appended + sum(map(len, lines)) < INLINE_BYTES:
            return pack_inline(records)
        return pack_parquet(records, self.folder, self.final.name)

    def _write_record(self, value: Json, record: StepRecord, packed: Packed, contents: str) -> None:
        """step.json: one JSON object on two lines, so that a resume need not parse the rows on the second."""
        head = {
            "schema": SCHEMA,
            "key": self.final.name,
            "digest": contents,
            "kind": record.kind,
            "version": record.version,
            "seconds": record.seconds,
            "finished_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f"),
            "made_with": record.made_with,
            "params": record.params,
            "value": value,
            "counts": packed.counts,
        }
        with (self.folder / "step.json").open("w") as file:  # ASCII: lone surrogates in a value come back as they were
            file.write(json.dumps(head, allow_nan=False)[:-1] + ',\n"rows": ' + json.dumps(packed.inline) + "}\n")
            file.flush()
            os.fsync(file.fileno())

    def _put_in_place(self) -> None:
        try:
            os.rename(self.folder, self.final)
        except OSError:
            if not (self.final / "step.json").exists():
                raise
            clear(self.folder)
            self.folder.rmdir()
        sync(self.final.parent)
