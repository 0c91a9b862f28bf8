"""What a harness does with what its tools give it: an audit of information flow by reading its source.

What learned revisions of multi-hop harnesses are (Harness learning, section 6.2, Figures 7 and 15). It tells what may
happen; flow_trace.py tells what did. Lines count from 1.
"""

import ast
from collections.abc import Mapping, Sequence

from hbench.core.syntax import parse
from hbench.exhibits.flow_origins import Call, Origins, Walked
from hbench.exhibits.flow_walk import walk

MARKS: Mapping[str, str] = {
    "summary_feeds_query": "a summary of passages feeds a later query",
    "third_search": "a third search",
    "conditional_search": "a search that depends on a reply",
    "draft_checked": "a search when the draft is in no passage",
    "passages_reach_answer": "passages reach the prompt of the answer",
    "summaries_reach_answer": "summaries reach the prompt of the answer",
    "interpreter_loop": "the solver's code is run and its output comes back",
}


def flow_marks(source: str) -> dict[str, list[int]] | None:
    """Mark -> the lines that carry it, none where it is not found; None for a source that cannot be read."""
    walked = walk(source)
    if walked is None:
        return None
    answers = _answering(walked)
    found = {
        "summary_feeds_query": [c for c in _of(walked, "search") if _summarised(walked, c.takes, set())],
        "third_search": [c for c in _of(walked, "search") if c.before >= 2],
        "conditional_search": [c for c in _of(walked, "search") if "reply" in _kinds(c.guards)],
        "draft_checked": [c for c in _of(walked, "search") if {"reply", "passages"} <= _kinds(c.guards)],
        "passages_reach_answer": [c for c in answers if "passages" in _kinds(c.takes)],
        "summaries_reach_answer": [c for c in answers if _summarised(walked, c.takes, set())],
        "interpreter_loop": [c for c in _of(walked, "python") if _loops(walked, c)],
    }
    return {mark: sorted({call.line for call in found[mark]}) for mark in MARKS}


def prompt_only(before: str, after: str) -> bool | None:
    """Whether two sources differ, and in their texts alone; None where one cannot be read."""
    try:
        one, two = (parse(source) for source in (before, after))
        if ast.dump(one) == ast.dump(two):
            return False
        return ast.dump(_Blanked().visit(one)) == ast.dump(_Blanked().visit(two))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class _Blanked(ast.NodeTransformer):
    """Without what texts say: literals become empty, f-strings keep the values that they hold, docstrings go."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
        held = [self.visit(part) for part in node.values if isinstance(part, ast.FormattedValue)]
        return ast.JoinedStr(held)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        docstring = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if docstring else self.generic_visit(node)


def _of(walked: Walked, tool: str) -> list[Call]:
    return [call for call in walked.calls if call.tool == tool]


def _kinds(origins: Origins) -> set[str]:
    return {origin.kind for origin in origins}


def _replies(walked: Walked, origins: Origins) -> list[tuple[int, Call]]:
    return [(int(o.at), walked.calls[int(o.at)]) for o in sorted(origins) if o.kind == "reply"]


def _answering(walked: Walked) -> Sequence[Call]:
    """The last solver call whose reply may become the answer, in the order of the source's run."""
    found = _replies(walked, walked.returned)
    return [max(found, key=lambda each: each[0])[1]] if found else []


def _summarised(walked: Walked, origins: Origins, seen: set[int]) -> bool:
    """Whether a reply to passages is among them, or a reply to such a reply."""
    for at, call in _replies(walked, origins):
        if at not in seen:
            seen.add(at)
            if "passages" in _kinds(call.takes) or _summarised(walked, call.takes, seen):
                return True
    return False


def _loops(walked: Walked, ran: Call) -> bool:
    """Its code comes from a reply, and its output goes to the solver or becomes the answer."""
    at = next(i for i, call in enumerate(walked.calls) if call is ran)
    users = [call.takes for call in walked.calls if call.tool == "lm"] + [walked.returned]
    return "reply" in _kinds(ran.takes) and any(("output", at) in takes for takes in users)
