"""What two exhibits share, as SQL: store/views*.sql, each view with its comment above it."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILES = ("views.sql", "views_calls.sql")  # of steps and their scores; of tool calls and what they cost


@dataclass(frozen=True)
class View:
    """comment: what a row of it is. sql: a whole `create or replace view` statement."""

    name: str
    comment: str
    sql: str


@cache
def views() -> tuple[View, ...]:
    """Every view, in an order in which they can be made."""
    text = "\n".join((Path(__file__).parent / name).read_text() for name in FILES)
    return tuple(_view(piece) for piece in re.split(r"^(?=-- \w+: )", text, flags=re.M)[1:])


def _view(text: str) -> View:
    lines = text.strip().splitlines()
    remarks = [line.removeprefix("--").strip() for line in lines if line.startswith("--")]
    name = re.search(r"create or replace view (\w+) as", text)[1]
    comment = " ".join(remarks).removeprefix(f"{name}:").strip()
    return View(name, comment, "\n".join(line for line in lines if not line.startswith("--")).rstrip(";"))
