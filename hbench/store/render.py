"""Query results as text: a plain table, CSV, JSON, Markdown."""

import csv
import io
import json
import math
from collections.abc import Callable
from typing import Any

from hbench.core.failure import HbenchError
from hbench.store.query import Result

_WIDEST = 60  # characters of a cell in a plain table; the other forms give all of it


def render(result: Result, form: str) -> str:
    """The result as `table`, `csv`, `json` or `markdown`. No newline at the end. HbenchError for another form."""
    if form not in _FORMS:
        raise HbenchError(f"no format {form!r}; there are {', '.join(_FORMS)}")
    return _FORMS[form](result)


def as_table(result: Result) -> str:
    """Columns side by side, numbers to the right, long texts cut; NULL is told from an empty text."""
    numbers = [all(_is_number(row[i]) for row in result.rows) for i in range(len(result.columns))]
    lines = [result.columns, *[[_short(value) for value in row] for row in result.rows]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(result.columns))]
    lines.insert(1, ["-" * width for width in widths])
    count = len(result.rows)
    return "\n".join([*(_aligned(line, widths, numbers) for line in lines), f"{count} row{'s' * (count != 1)}"])


def as_csv(result: Result) -> str:
    """RFC 4180 with LF line ends; NULL and an empty text are both empty."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
    writer.writerow(result.columns)
    for row in result.rows:
        writer.writerow(["" if value is None else _plain(value) for value in row])
    return file.getvalue().rstrip("\n")


def as_json(result: Result) -> str:
    """A list of objects, one a row; times are ISO texts, and numbers that JSON lacks (NaN) are null."""
    rows = [dict(zip(result.columns, map(_json_value, row))) for row in result.rows]
    return json.dumps(rows, ensure_ascii=False, indent=1, default=str)


def as_markdown(result: Result) -> str:
    """A pipe table; NULL is empty."""
    lines = [list(result.columns), ["---"] * len(result.columns)]
    lines += [[_cell(value) for value in row] for row in result.rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


_FORMS: dict[str, Callable[[Result], str]] = {
    "table": as_table,
    "csv": as_csv,
    "json": as_json,
    "markdown": as_markdown,
}


def _aligned(line: Any, widths: list[int], numbers: list[bool]) -> str:
    cells = [cell.rjust(w) if right else cell.ljust(w) for cell, w, right in zip(line, widths, numbers)]
    return "  ".join(cells).rstrip()


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, (dict, list)) else str(value)


def _short(value: Any) -> str:
    text = "NULL" if value is None else f"{value:.4f}" if isinstance(value, float) else _one_line(_plain(value))
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


def _one_line(text: str) -> str:
    # Model output may hold escape sequences that would rewrite the reader's terminal.
    return "".join(c if c.isprintable() else " " for c in text)


def _json_value(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cell(value: Any) -> str:
    return "" if value is None else _one_line(_plain(value)).replace("|", "\\|")
