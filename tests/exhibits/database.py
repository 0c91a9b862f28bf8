"""A real DuckDB database with hand-made rows."""

import json
from typing import Any

SCHEMA = """
create table runs (run_id varchar, spec_digest varchar, started_at timestamp, ended_at timestamp, outcome varchar,
  git_commit varchar, versions json, machine json);
create table plan_labels (spec_digest varchar, step_id varchar, arm varchar, family varchar, seed bigint, round integer,
  slot integer, purpose varchar, label varchar);
create table run_steps (run_id varchar, step_id varchar, step_key varchar, status varchar, seconds double, error varchar);
create table steps (step_key varchar, kind varchar, version integer, params json, value json, seconds double,
  finished_at timestamp);
create table rollouts (step_key varchar, candidate integer, question_id varchar, repeat integer, harness_id varchar,
  answer varchar, score double, completed boolean);
create table grades (step_key varchar, candidate integer, question_id varchar, repeat integer, name varchar, value double);
create table candidates (step_key varchar, candidate integer, parent_id varchar, harness_id varchar, outcome varchar,
  parsed boolean, applied boolean);
create table selections (step_key varchar, rule varchar, parent_id varchar, chosen_id varchar, parent_score double,
  chosen_score double, kept_parent boolean);
"""


def empty() -> Any:
    import duckdb

    connection = duckdb.connect()
    connection.execute(SCHEMA)
    return connection


def filled(rows: dict[str, list[dict[str, Any]]]) -> Any:
    connection = empty()
    for table, its in rows.items():
        for row in its:
            values = [json.dumps(v) if isinstance(v, dict | list) else v for v in row.values()]
            names = ", ".join(f'"{name}"' for name in row)
            connection.execute(f"insert into {table} ({names}) values ({', '.join('?' for _ in row)})", values)
    return connection
