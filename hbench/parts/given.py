"""What parts of somebody else's give, checked where they give it: what is something else is told by part, file and method."""

import functools
import math
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from inspect import isfunction
from numbers import Real
from pathlib import PurePosixPath
from typing import Any

from hbench.core.action import Action
from hbench.core.failure import StepError
from hbench.core.harness import Harness
from hbench.core.message import Message
from hbench.core.question import Question
from hbench.core.scored import Scored

OURS = "hbench."
SHOWN = 80  # characters of what came
FINE = object()  # what a check gives where nothing is wrong; else it gives what is
ONE = {
    "families": "family",
    "domains": "domain",
    "calls": "call format",
    "edits": "edit format",
    "rewards": "reward term",
    "selections": "selection rule",
    "races": "race rule",
    "filters": "filter",
    "detectors": "detector",
}
Check = Callable[[Any], Any]


def check_given(sort: str, part: type) -> None:
    """Lays a check on those methods of a part that are not hbench's own, if `GIVES` tells what they are to give."""
    for name, (wanted, check) in {**GIVES, **GIVES_BY_SORT.get(sort, {})}.items():
        method = getattr(part, name, None)
        if isfunction(method) and not method.__module__.startswith(OURS):
            setattr(part, name, _checked(method, ONE[sort], wanted, check))


def _checked(method: Callable[..., Any], sort: str, wanted: str, check: Check) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: Any, *given: Any, **named: Any) -> Any:
        made = method(self, *given, **named)
        if (odd := check(made)) is not FINE:
            file = getattr(sys.modules.get(method.__module__), "__file__", None)
            who = f"the {sort} {getattr(self, 'name', None) or self.kind}" + (f" ({file})" if file else "")
            raise StepError(f"{who}: {method.__name__}() gave {_shown(made, odd)}; expected {wanted}")
        return made

    return call


def _shown(made: Any, odd: Any) -> str:
    """What came, and where in it the trouble is."""
    told = "None" if odd is None else f"{type(odd).__name__} {odd!r}"
    told = told if len(told) <= SHOWN else told[:SHOWN] + "…"
    if odd is made:
        return told
    at = next((f" under {key!r}" for key, value in made.items() if value is odd), "") if isinstance(made, Mapping) else ""
    return f"a {type(made).__name__} that holds {told}{at}"


def _is(*types: type) -> Check:
    return lambda made: FINE if isinstance(made, types) and (bool in types or not isinstance(made, bool)) else made


def _or_none(check: Check) -> Check:
    return lambda made: FINE if made is None else check(made)


def _some(check: Check) -> Check:
    return lambda made: check(made) if made else made


def _each(check: Check, kind: type = Sequence) -> Check:
    """Of a collection that is no text itself."""

    def wrong(made: Any) -> Any:
        if not isinstance(made, kind) or isinstance(made, str | bytes):
            return made
        return next((odd for odd in map(check, made) if odd is not FINE), FINE)

    return wrong


def _mapping(name: Check, content: Check) -> Check:
    def wrong(made: Any) -> Any:
        if not isinstance(made, Mapping):
            return made
        return next((odd for key, value in made.items() for odd in (name(key), content(value)) if odd is not FINE), FINE)

    return wrong


def _path(made: Any) -> Any:
    inside = isinstance(made, str) and made and not PurePosixPath(made).is_absolute() and ".." not in PurePosixPath(made).parts
    return FINE if inside else made


def _question(made: Any) -> Any:
    whole = isinstance(made, Question) and isinstance(made.text, str) and isinstance(made.meta, Mapping)
    return FINE if whole else made


def _number(made: Any) -> Any:
    return FINE if isinstance(made, Real) and math.isfinite(made) else made


_text, _whole = _is(str), _is(int)

# Method -> what it is to give, in words, and what tells where that is wrong: see core/protocols.py. What a family or a domain
# grades is checked in the grader's jail, and once more on this side of it.
GIVES: dict[str, tuple[str, Check]] = {
    "describe": ("a text", _text),
    "versions": ("a mapping of names to texts", _mapping(_text, _or_none(_text))),
    "questions": ("a list of Question, with a text and a mapping as meta", _each(_question)),
    "settled": ("a list of Question, with a text and a mapping as meta", _each(_question)),
    "grade_names": ("a tuple of texts, at least one", _some(_each(_text))),
    "files": ("a mapping of paths below the workspace to bytes", _mapping(_path, _is(bytes))),
    "collected": ("a tuple of patterns, which are texts", _each(_text)),
    "told": ("a text", _text),
    "write": ("a text", _text),
    "observation": ("a Message", _is(Message)),
    "apply": ("a Harness", _is(Harness)),
    "reason_to_drop": ("a text, or None", _or_none(_text)),
    "shown": ("True or False", _is(bool)),
    "value": ("a finite number", _number),
    "select": ("a Scored, the parent or one of the candidates", _is(Scored)),
    "looks": ("a list of whole numbers", _each(_whole)),
    "survivors": ("a collection of whole numbers", _each(_whole, Collection)),
    "most_rollouts": ("a whole number", _whole),
}
GIVES_BY_SORT: dict[str, dict[str, tuple[str, Check]]] = {"calls": {"parse": ("an Action", _is(Action))}}
