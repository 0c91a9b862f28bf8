"""Which rows go into a bundle: those of some specs' newest runs, and what they point at; nothing about the machine."""

import json
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Any

from hbench.core.published import without_places
from hbench.store.parquet import quoted
from hbench.store.table import Table
from hbench.store.tables import TABLES

# Shared table -> columns, by name, in which rows of steps hold its key.
POINTING = {
    "questions": ("question_id",),
    "harnesses": ("harness_id", "parent_id", "chosen_id"),
    "texts": (
        "text_digest",
        "response_digest",
        "sent_digest",
        "received_digest",
        "output_digest",
        "head_digest",
        "proposal",
        "accepted",
        "observation",
    ),
}
MADE_ANEW = frozenset({"exhibit_cells", "folded"})  # what the rest gives again, and the store's own
EVENT_TEXTS = "event_texts"  # what harnesses asked and were answered; the rows of `events` stay
STEP_TABLES = tuple(t.name for t in TABLES.values() if t.sort == "step")

# What tells of the machine that ran, of its folders and its servers, stays there. A digest is that of what ran: where a
# path is left out, what stands here no longer gives it.
_ADDRESS = r"(\w+://|/)\S*"
_WITHOUT_PLACES = {
    "runs.machine": "json_object('cores', machine -> 'cores', 'memory_gb', machine -> 'memory_gb')",
    "run_steps.error": "null::varchar",
    "steps.made_with": """if(made_with is null, null, json_merge_patch(made_with, '{"host": null}'))""",
    "models.engine": f"trim(regexp_replace(engine, '{_ADDRESS}', '', 'g'))",
    "completions.trouble": f"regexp_replace(trouble, '{_ADDRESS}', '…', 'g')",
    "specs.file": "if(starts_with(file, '/'), parse_filename(file), file)",
    "specs.text": "yaml_without_places(text)",
    **{
        f"{table}.{column}": f"text_without_places({column})"
        for table, column in (("specs", "name"), ("models", "model"), ("models", "revision"), ("events", "model"),
                              ("checkpoints", "base_model"))
    },
    **{
        f"{table}.{column}": f"json_without_places({column}::varchar)::json"
        for table, column in (("specs", "point"), ("steps", "params"), ("steps", "value"), ("models", "sampling"),
                              ("models", "identity"))
    },
}


def choose(connection: Any, run_ids: Sequence[str]) -> None:
    """Makes the temporary tables that `write_rows` reads: these runs, and the steps that each of them has finished."""
    connection.execute(_RUNS, [run_ids])
    connection.execute(_STEPS)
    known = {name for (name,) in connection.execute("select function_name from duckdb_functions()").fetchall()}
    for function in (text_without_places, json_without_places, yaml_without_places):
        if function.__name__ not in known:
            connection.create_function(function.__name__, function, ["VARCHAR"], "VARCHAR")


def text_without_places(text: str) -> str:
    return without_places(text)


def json_without_places(text: str) -> str:
    """JSON as it was where it holds no absolute path."""
    if "/" not in text or (kept := without_places(before := json.loads(text))) == before:
        return text
    return json.dumps(kept, ensure_ascii=False)


def yaml_without_places(text: str) -> str:
    """A resolved spec, written as hbench writes it."""
    import yaml

    if (kept := without_places(before := yaml.safe_load(text))) == before:
        return text
    return yaml.safe_dump(kept, sort_keys=False, allow_unicode=True, width=120)


_RUNS = """
create or replace temp table published_runs as
select *
from runs
where run_id in (select unnest(?))
"""

_STEPS = """
create or replace temp table published_steps as
select distinct
  s.step_key
from published_runs as r
join plan_labels as l
  using (spec_digest)
join run_steps as s
  on s.run_id = r.run_id
  and s.step_id = l.step_id
where s.status in ('ran', 'cached')
"""


def write_rows(connection: Any, folder: Path, without: Container[str] = ()) -> None:
    """Writes <table>.parquet into `folder` for every table that has rows of the chosen runs, sorted by key.

    without: tables of steps to leave out, and `event_texts`. Equal rows give equal files.
    """
    folder.mkdir(parents=True)
    for table in _written(without):
        rows = _rows(table, without)
        if connection.execute(f"select 1 from ({rows}) limit 1").fetchone():
            key = ", ".join(f'"{k}"' for k in table.key)
            columns = ", ".join(_column(table.name, c.name) for c in table.columns)
            connection.execute(
                f"copy (select {columns} from ({rows}) order by {key}) to '{quoted(folder / table.name)}.parquet' "
                "(format parquet, compression zstd, compression_level 9)"
            )


def _written(without: Container[str]) -> Iterator[Table]:
    return (t for t in TABLES.values() if t.name not in MADE_ANEW and t.name not in without)


def _column(table: str, name: str) -> str:
    made = _WITHOUT_PLACES.get(f"{table}.{name}")
    return f'{made} as "{name}"' if made else f'"{name}"'


def _rows(table: Table, without: Container[str]) -> str:
    """A query for the rows of `table` that belong to the chosen runs."""
    if table.sort == "shared":
        return f'select * from {_place(table)} where "{table.key[0]}" in ({_pointers(table.name, without)})'
    # What an artifact took was spent by all runs that worked on it, also by those that did not finish.
    by = "step_key" if table.name == "spend" else {"owned": "spec_digest", "run": "run_id"}.get(table.sort, "step_key")
    chosen = "published_steps" if by == "step_key" else "published_runs"
    return f'select * from {_place(table)} where "{by}" in (select "{by}" from {chosen})'


def _place(table: Table) -> str:
    return "texts.texts" if table.name == "texts" else f'"{table.name}"'


def _pointers(shared: str, without: Container[str]) -> str:
    """A query for the keys of a shared table that the chosen steps' rows hold."""
    queries = []
    for table in (t for t in _written(without) if t.sort == "step"):
        for column in (c.name for c in table.columns if c.name in POINTING[shared]):
            rows = _rows(table, without)
            if shared == "texts" and table.name == "events" and EVENT_TEXTS in without:
                rows += " and question_id = ''"  # the proposer's own calls
            queries.append(f'select "{column}" from ({rows}) where "{column}" is not null')
    return " union ".join(queries) or "select null where false"
