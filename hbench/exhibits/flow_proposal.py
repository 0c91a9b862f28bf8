"""What a proposal is, by reading the harness before and after it: an audit of sources, as flow.py is.

What learned proposals are (Harness learning, section 5 and Table 18). It tells what may happen; used_helper in
flow_trace.py tells what did. The marks do not exclude one another.
"""

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hbench.core.syntax import parse
from hbench.exhibits.flow import flow_marks, prompt_only
from hbench.exhibits.flow_origins import Origin, Walked
from hbench.exhibits.flow_values import defined_in
from hbench.exhibits.flow_walk import walk

PROPOSAL_MARKS: Mapping[str, str] = {
    "interpreter_loop": "the solver's code is run and its output comes back",
    "algorithm": "the answer may be what the harness's own code makes of the question, without the solver",
    "prompt_change": "what its texts say changes, and nothing else",
    "helper": "it defines a function that the parent has not and that calls no tool",
    "composed": "it has the loop, and such a function reaches the loop's code, a request, a condition or the answer; "
    "where the parent has no loop, one that is given the question: reading replies is a part of any loop",
    "helper_answers": "what such a function gives may become the answer",
}


@dataclass(frozen=True)
class Proposal:
    """marks: which of PROPOSAL_MARKS it has. helpers: the functions that `composed` and `helper_answers` speak of."""

    marks: Mapping[str, bool]
    helpers: frozenset[str]


def read_proposal(before: str, after: str) -> Proposal | None:
    """What `before` became as `after`; None where one of the two cannot be read."""
    added, loops, looped = new_helpers(before, after), flow_marks(after), flow_marks(before)
    walked = walk(after, added or ())
    if added is None or walked is None or loops is None:
        return None
    looping = bool(loops["interpreter_loop"])
    helpers = frozenset(added if looped and looped["interpreter_loop"] else added & walked.given)
    reached = {origin for call in walked.calls for origin in call.takes | call.guards} | walked.returned
    marks = {
        "interpreter_loop": looping,
        "algorithm": _computes(walked),
        "prompt_change": bool(prompt_only(before, after)),
        "helper": bool(added),
        "composed": looping and bool(_helpers(reached) & helpers),
        "helper_answers": bool(_helpers(walked.returned) & helpers),
    }
    return Proposal(marks, helpers)


def _helpers(origins: Iterable[Origin]) -> set[str]:
    return {str(origin.at) for origin in origins if origin.kind == "helper"}


def new_helpers(before: str, after: str) -> set[str] | None:
    """The functions that only `after` defines and that call no tool, also those in texts that it may run; None: unreadable."""
    try:
        had, has = _functions(before), _functions(after)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return {name for name, asks in has.items() if name not in had and not asks and name != "run"}


def _functions(source: str) -> dict[str, bool]:
    """Name -> whether it names the tools."""
    found: dict[str, bool] = {}
    for node in ast.walk(parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = ast.walk(node)
            found[node.name] = any(isinstance(each, ast.Name | ast.arg) and _named(each) == "tools" for each in inside)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= dict.fromkeys(defined_in(node.value), False)
    return found


def _named(node: ast.Name | ast.arg) -> str:
    return node.id if isinstance(node, ast.Name) else node.arg


def _computes(walked: Walked) -> bool:
    """Whether the question comes to the answer past the solver: in the harness itself, or in code of its own that is run."""
    ran = {
        ("output", at)
        for at, call in enumerate(walked.calls)
        if call.tool == "python" and {o.kind for o in call.takes} & {"question", "reply"} == {"question"}
    }
    return any(origin.kind == "question" or origin in ran for origin in walked.returned)
