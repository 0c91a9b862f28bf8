"""Functions that an exhibit's SQL may call: the audits of information flow. Each takes texts; null gives null."""

import json
from typing import Any

from hbench.exhibits.flow import flow_marks, prompt_only
from hbench.exhibits.flow_edit import edit_marks, harness_form
from hbench.exhibits.flow_proposal import read_proposal
from hbench.exhibits.flow_trace import trace_marks, used_helper


def harness_flow(source: str | None) -> str | None:
    """`harness_flow(text)`: mark -> lines of a harness's source that carry it; see flow.py."""
    found = None if source is None else flow_marks(source)
    return None if found is None else json.dumps(found)


def prompt_only_change(before: str | None, after: str | None) -> bool | None:
    """`prompt_only_change(text, text)`: whether two sources differ in what their texts say and in nothing else."""
    return None if before is None or after is None else prompt_only(before, after)


def proposal_flow(before: str | None, after: str | None) -> str | None:
    """`proposal_flow(text, text)`: mark -> whether an edit has it, and helpers: names; see flow_proposal.py."""
    found = None if before is None or after is None else read_proposal(before, after)
    return None if found is None else json.dumps({**found.marks, "helpers": sorted(found.helpers)})


def edit_flow(before: str | None, after: str | None) -> str | None:
    """`edit_flow(text, text)`: bare and hard_coded -> whether an edit is that; see flow_edit.py."""
    found = None if before is None or after is None else edit_marks(before, after)
    return None if found is None else json.dumps(found)


def same_form(source: str | None) -> str | None:
    """`same_form(text)`: equal for sources that are one program written twice; see flow_edit.py."""
    return None if source is None else harness_form(source)


def helper_used(flow: str | None, answer: str | None, events: str | None) -> bool | None:
    """`helper_used(proposal_flow(…), answer, events as below)`: whether a function that the edit brought made the answer."""
    if flow is None or events is None:
        return None
    marks = json.loads(flow)
    return used_helper(marks["helpers"], marks["helper_answers"], answer or "", _events(events))


def rollout_flow(question: str | None, events: str | None) -> str | None:
    """`rollout_flow(text, to_json(list({kind, sent, received} order by position)))`: mark -> whether it happened."""
    if question is None or events is None:
        return None
    return json.dumps(trace_marks(question, _events(events)))


def _events(listed: str) -> list[dict[str, str]]:
    return [{key: value or "" for key, value in event.items()} for event in json.loads(listed)]


FUNCTIONS = (
    (harness_flow, ["VARCHAR"], "VARCHAR"),
    (prompt_only_change, ["VARCHAR", "VARCHAR"], "BOOLEAN"),
    (proposal_flow, ["VARCHAR", "VARCHAR"], "VARCHAR"),
    (edit_flow, ["VARCHAR", "VARCHAR"], "VARCHAR"),
    (same_form, ["VARCHAR"], "VARCHAR"),
    (rollout_flow, ["VARCHAR", "VARCHAR"], "VARCHAR"),
    (helper_used, ["VARCHAR", "VARCHAR", "VARCHAR"], "BOOLEAN"),
)


def add_functions(connection: Any) -> None:
    """Makes them known to a connection, also a read-only one. One that knows them stays as it is."""
    import duckdb

    try:
        connection.execute("select helper_used(null, null, null)")  # the last one
    except duckdb.CatalogException:
        for function, takes, gives in FUNCTIONS:
            connection.create_function(function.__name__, function, takes, gives, null_handling="special")
