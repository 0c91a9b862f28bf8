"""What happened in one run, as JSON lines."""

import os
import threading
from pathlib import Path
from typing import Self

from hbench.store.rows import Rows, admit, append_line, cut_torn_line, encode

RUN_TABLES = frozenset({"runs", "run_steps", "spend"})


class RunJournal:
    """Rows of `runs`, `run_steps` and `spend`; a later row replaces an earlier one with the same key, so give whole rows."""

    def __init__(self, file: Path):
        file.parent.mkdir(parents=True, exist_ok=True)
        cut_torn_line(file)
        self._file = file
        self._handle = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o666)
        self._writing = threading.Lock()

    def append(self, rows: Rows) -> None:
        """Hands `rows` to the operating system as one line. Thread-safe. Raises StepError for rows that do not fit."""
        line = encode(admit(rows, RUN_TABLES)) + b"\n"
        with self._writing:
            append_line(self._file, self._handle, line)

    def close(self) -> None:
        os.close(self._handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
