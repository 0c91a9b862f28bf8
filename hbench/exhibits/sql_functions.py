"""Functions that an exhibit's SQL may call: the audits of information flow. Each takes texts; null gives null."""

import json
from typing import Any

from hbench.exhibits.flow import flow_marks, prompt_only
from hbench.exhibits.flow_trace import trace_marks


def harness_flow(source: str | None) -> str | None:
    """`harness_flow(text)`: mark -> lines of a harness's source that carry it; see flow.py."""
    found = None if source is None else flow_marks(source)
    return None if found is None else json.dumps(found)


def prompt_only_change(before: str | None, after: str | None) -> bool | None:
    """`prompt_only_change(text, text)`: whether two sources differ in what their texts say and in nothing else."""
    return None if before is None or after is None else prompt_only(before, after)


def rollout_flow(question: str | None, events: str | None) -> str | None:
    """`rollout_flow(text, to_json(list({kind, sent, received} order by position)))`: mark -> whether it happened."""
    if question is None or events is None:
        return None
    told = [{key: value or "" for key, value in event.items()} for event in json.loads(events)]
    return json.dumps(trace_marks(question, told))


FUNCTIONS = (
    (harness_flow, ["VARCHAR"], "VARCHAR"),
    (prompt_only_change, ["VARCHAR", "VARCHAR"], "BOOLEAN"),
    (rollout_flow, ["VARCHAR", "VARCHAR"], "VARCHAR"),
)


def add_functions(connection: Any) -> None:
    """Makes them known to a connection, also a read-only one."""
    known = {name for (name,) in connection.execute("select function_name from duckdb_functions()").fetchall()}
    for function, takes, gives in FUNCTIONS:
        if function.__name__ not in known:
            connection.create_function(function.__name__, function, takes, gives, null_handling="special")
