"""Rows at the store's door: checked against their table, cleaned, written as JSON lines, and digested.

Cleaning happens here and nowhere else: databases hold neither NUL nor lone surrogates in a text, so each becomes
U+FFFD in rows. A step's *value* is kept exactly as it is, for later steps; only its copy in `steps` is cleaned.
"""

import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hbench.core.digest import Json, encoder, json_text
from hbench.core.failure import StepError
from hbench.core.output import Row
from hbench.store.tables import STEP_TABLES, TABLES

Rows = Mapping[str, Sequence[Row]]  # table name -> rows

_ENCODE = encoder(sort_keys=False)
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def admit(rows: Rows, tables: frozenset[str] = STEP_TABLES) -> dict[str, list[dict]]:
    """`rows` with columns in order, defaults filled in and NULLs left out.

    Raises StepError for a table not in `tables`, an unknown column, a missing key or a value of another type.
    """
    named = ((name, _shape(name), some) for name, some in rows.items() if some and _known(name, tables))
    return {name: [_admit_row(name, shape, row) for row in some] for name, shape, some in named}


def whole(table: str, row: Row) -> dict:
    """The row with every written column, None where nothing was given: what readers get."""
    return {column.name: row.get(column.name) for column in TABLES[table].written}


def encode(value: Json) -> bytes:
    """One JSON line without its newline, fit for a database. Raises ValueError for NaN and infinities."""
    text = _ENCODE(value)
    try:
        if "\\u0000" not in text:
            return text.encode()
    except UnicodeEncodeError:
        pass
    return _ENCODE(_cleaned(value)).encode()


def read_lines(file: Path, start: int = 0) -> Iterator[Json]:
    """The whole lines of `file` from byte `start`; a torn last line is not one. Nothing when there is no file."""
    if not file.exists():
        return
    with file.open("rb") as lines:
        lines.seek(start)
        for line in lines:
            if line.endswith(b"\n"):
                yield json.loads(line)


def append_line(file: Path, handle: int, line: bytes) -> None:
    """Writes the whole line at the end of `file`, open as `handle` for us alone, or raises OSError and leaves nothing of it.

    What a full disk took of a line would make one garbled line with the next.
    """
    end, rest = os.fstat(handle).st_size, line
    try:
        while rest:
            rest = rest[os.write(handle, rest) :]
    except OSError as trouble:
        os.ftruncate(handle, end)
        trouble.filename = str(file)
        raise


def put_whole(file: Path, text: str, fresh: Path) -> None:
    """`file` holds `text`, or what it held before. fresh: where it is written first, beside it; gone in either case."""
    try:
        fresh.write_text(text)
        os.replace(fresh, file)
    except OSError:  # a full disk: what is half written would take the room of the next try
        fresh.unlink(missing_ok=True)
        raise


def cut_torn_line(file: Path) -> None:
    """Leaves only whole lines in `file`.

    The lines go into a new file: a former writer that wakes up writes into the old one, which nobody reads.
    """
    if not file.exists():
        return
    fresh = file.with_name(file.name + ".cut")
    with file.open("rb") as old, fresh.open("wb") as new:
        new.writelines(line for line in old if line.endswith(b"\n"))
    os.replace(fresh, file)


class Digester:
    """Gathers rows, in any order, into one digest a table: sorted by key, without volatile columns, last row wins."""

    def __init__(self) -> None:
        self._seen: dict[str, dict[bytes, bytes]] = {}

    def add(self, table: str, row: Row) -> bool:
        """True when a row with this key came before."""
        shape, seen = TABLES[table], self._seen.setdefault(table, {})
        stable = {k: v for k, v in row.items() if k not in shape.volatile} if shape.volatile else row
        key = json_text([row[k] for k in shape.written_key]).encode()
        before = len(seen)
        seen[key] = hashlib.sha256(json_text(stable).encode()).digest()
        return len(seen) == before

    def digests(self) -> dict[str, str]:
        """table name -> 64 hex digits."""
        return {
            name: hashlib.sha256(b"".join(seen[key] for key in sorted(seen))).hexdigest()
            for name, seen in sorted(self._seen.items())
        }


def row_key(table: str, row: Row) -> str:
    """What tells this row from others of its table."""
    return json_text([row.get(k) for k in TABLES[table].written_key])


def _known(name: str, tables: frozenset[str]) -> bool:
    if name not in tables:
        raise StepError(f"rows for table {name!r}: {_hint(name, tables)}")
    return True


class _Shape(NamedTuple):
    """What a table asks of its rows. columns: name, default, the Python type that is taken as it is, what checks any other."""

    columns: tuple[tuple[str, Json, type | None, Callable[[Json], Json]], ...]
    names: frozenset[str]
    key: frozenset[str]  # columns that may not be NULL


@cache
def _shape(name: str) -> _Shape:
    table = TABLES[name]
    columns = tuple((c.name, c.default, _PLAIN.get(c.type), _CHECKS[c.type]) for c in table.written)
    key = table.written_key if table.sort in ("step", "shared") else ()
    return _Shape(columns, frozenset(c.name for c in table.written), frozenset(key))


def _admit_row(name: str, shape: _Shape, row: Row) -> dict:
    columns, names, keys = shape
    admitted, get = {}, row.get
    try:
        for key, default, plain, check in columns:
            value = get(key, default)
            if value is not None:
                admitted[key] = value if type(value) is plain else check(value)
    except (TypeError, ValueError) as wrong:
        wanted = next(column.type for column in TABLES[name].columns if column.name == key)
        raise StepError(f"{name}.{key}: wanted {wanted}, got {value!r:.200} ({wrong})") from None
    if not names.issuperset(row):
        odd = min(row.keys() - names)
        why = "the store adds it" if odd == "step_key" else _hint(odd, names)
        raise StepError(f"{name}.{odd}: {why}")
    if not keys <= admitted.keys():
        missing = [k for k in TABLES[name].written_key if k not in admitted]
        raise StepError(f"{name}: a row without {', '.join(missing)}, part of its key")
    return admitted


def _hint(word: str, known: frozenset[str]) -> str:
    close = get_close_matches(word, known, 1)
    return f"unknown (did you mean {close[0]!r}?)" if close else f"unknown (there are {', '.join(sorted(known))})"


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def _whole_number(value: Json) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not -(2**63) <= value < 2**63:
        raise TypeError("not a whole number of 64 bits")
    return value


def _number(value: Json) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise TypeError("not a finite number")
    return float(value) + 0.0  # 1 and 1.0, 0.0 and -0.0 are one content


def _truth(value: Json) -> bool:
    if not isinstance(value, bool):
        raise TypeError("neither true nor false")
    return value


def _any_json(value: Json) -> Json:
    return value


_PLAIN = {"VARCHAR": str, "TIMESTAMP": str, "BOOLEAN": bool}
_CHECKS: dict[str, Callable[[Json], Json]] = {
    "VARCHAR": _text,
    "TIMESTAMP": _text,
    "BIGINT": _whole_number,
    "DOUBLE": _number,
    "BOOLEAN": _truth,
    "JSON": _any_json,
}


def _cleaned(value: Json) -> Json:
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {_cleaned(k): _cleaned(v) for k, v in value.items()}
    return [_cleaned(v) for v in value] if isinstance(value, (list, tuple)) else value
