"""What information did flow in one rollout, read off its events. The audit of sources is flow.py.

Texts of passages are in the corpus, not in the database, so passages are recognised by their titles.
"""

import ast
import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from hbench.core.syntax import parse

SHOWN = 0.5  # share of a search's titles, but for those in replies, that a request must hold to show its passages
LEAST = 4  # letters of a word that tells something

TRACE_MARKS = ("summary_feeds_query", "third_search", "passages_reach_answer", "interpreter_loop")


def trace_marks(question: str, events: Sequence[Mapping[str, str]]) -> dict[str, bool]:
    """Mark -> whether it happened. events: kind, sent and received of each tool call, as texts, in order.

    summary_feeds_query: a query has a word of an earlier reply that the question has not.
    third_search: three searches or more. passages_reach_answer: the last request of the solver holds at least half of
    the titles that some search gave and that neither the question nor a reply names (summaries name titles, too); where
    they name all, it does not show. interpreter_loop: code of an earlier reply was run, and a later request holds its
    output or the rollout ends with it.
    """
    searches = [at for at, event in enumerate(events) if event["kind"] == "search"]
    asked = [at for at, event in enumerate(events) if event["kind"] == "lm"]
    last = asked[-1] if asked else -1
    told = "\n".join([question, *(events[at]["received"] for at in asked[:-1])])
    return {
        "summary_feeds_query": any(_fed(question, events, at) for at in searches),
        "third_search": len(searches) >= 3,
        "passages_reach_answer": any(at < last and _shows(events[last]["sent"], events[at], told) for at in searches),
        "interpreter_loop": any(_looped(events, at) for at, event in enumerate(events) if event["kind"] == "python"),
    }


def used_helper(helpers: Collection[str], answers: bool, answer: str, events: Sequence[Mapping[str, str]]) -> bool:
    """Whether one of these functions of the harness contributed to the answer of a rollout, as far as its events can tell.

    helpers: their names. answers: by its source, what they give may become the answer. events: as in trace_marks. Either
    code was run that calls one, and the answer stands in what it printed; or they may become the answer, and it stands in no
    reply and no output. What they did to a request, or to an answer that the solver gave as well, does not show: at least so
    many did.
    """
    said = answer.strip()
    if not said or not helpers:
        return False
    outputs = [event for event in events if event["kind"] == "python"]
    if any(_stands(said, _stdout(event)) for event in outputs if calls_one(event["sent"], helpers)):
        return True
    given = [_stdout(event) for event in outputs] + [event["received"] for event in events if event["kind"] == "lm"]
    return answers and not any(_stands(said, text) for text in given)


def calls_one(code: str, names: Collection[str]) -> bool:
    """Whether code calls a function of one of these names outside the function itself."""
    try:
        tree = parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return any(re.search(rf"(?<!def )\b{re.escape(name)}\s*\(", code) for name in names)
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            return True
        if not (isinstance(node, ast.FunctionDef) and node.name in names):
            todo += ast.iter_child_nodes(node)
    return False


def _stands(said: str, text: str) -> bool:
    """Whether the words stand in the text, not as part of longer ones."""
    return re.search(rf"(?<!\w){re.escape(said)}(?!\w)", text) is not None


def _stdout(event: Mapping[str, str]) -> str:
    return str(_read(event["received"], {}).get("stdout", ""))


def _fed(question: str, events: Sequence[Mapping[str, str]], at: int) -> bool:
    """Whether the search at this place asks for something that a reply before it brought up."""
    asked = _words(str(_read(events[at]["sent"], {}).get("query", ""))) - _words(question)
    return any(asked & _words(event["received"]) for event in events[:at] if event["kind"] == "lm")


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.casefold()) if len(word) >= LEAST}


def _shows(request: str, search: Mapping[str, str], told: str) -> bool:
    titles = {passage["title"] for passage in _read(search["received"], []) if passage.get("title")}
    untold = [title for title in titles if title not in told]
    said = _said(request)
    return bool(untold) and sum(title in said for title in untold) >= SHOWN * len(untold)


def _said(request: str) -> str:
    """The texts of a request's messages."""
    messages = _read(request, [])
    return "\n".join(str(message.get("content", "")) for message in messages if isinstance(message, dict)) or request


def _looped(events: Sequence[Mapping[str, str]], at: int) -> bool:
    code, output = events[at]["sent"].strip(), _stdout(events[at]).strip()
    written = any(code in event["received"] for event in events[:at] if event["kind"] == "lm")
    later = [_said(event["sent"]) for event in events[at + 1 :] if event["kind"] == "lm"]
    return bool(code) and written and (not later or any(output in request for request in later))


def _read(text: str, otherwise: Any) -> Any:
    """The JSON in `text`, if it is of the same sort as `otherwise`."""
    try:
        found = json.loads(text)
    except ValueError:
        return otherwise
    return found if isinstance(found, type(otherwise)) else otherwise
