"""What a reviewer says of one proposal: read from its text, strictly (Harness-Zero, section 3)."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from hbench.core.action import EXECUTE, Action, Tool
from hbench.core.digest import Json
from hbench.core.thinking import after_thinking

MOST_REASON = 500  # characters of a private reason
_OF_ACTION = ("tool", "command", "answer")
_OF_REPLACEMENT = ("reasoning", "content", *_OF_ACTION, "arguments")
_KEYS = ("decision", *_OF_REPLACEMENT, "components", "reason")
_FENCED = re.compile(r"^[ \t]*```[ \t]*(?:json)?[ \t]*\n(.*?)^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL | re.IGNORECASE)

Wrong = Literal["malformed", "leaked", "forged", "unknown_component"]


class BadVerdict(Exception):
    """A verdict that does not count. The reviewer is told the message, and may try again."""

    def __init__(self, kind: Wrong, message: str):
        super().__init__(message)
        self.kind, self.message = kind, message[:1000]


@dataclass(frozen=True, slots=True)
class Verdict:
    """action: what is to be done instead; None for a pass. Its text is empty, or the answer.

    reasoning, content: what the student is made to say beside a call, in its own voice. components, reason: private.
    """

    action: Action | None = None
    reasoning: str = ""
    content: str = ""
    components: tuple[str, ...] = ()
    reason: str = ""


def read_verdict(text: str, tools: Sequence[Tool], components: Sequence[str] = ()) -> Verdict:
    """The one verdict in `text`: a JSON object that stands alone, or in the one fenced block of a text.

    tools: what a replacement may call. components: paths of the guidance; a verdict names them by path or by name.
    A key that is null or empty is as if it were not there. Raises BadVerdict, naming what is wrong.
    """
    given = {key: value for key, value in _object(text).items() if value not in (None, "", [], {})}
    if unknown := sorted(set(given) - set(_KEYS)):
        raise _malformed(f"unknown key {unknown[0]!r}; a verdict has {', '.join(_KEYS)}")
    said = {key: _text(given, key) for key in ("reasoning", "content", "reason")}
    if len(said["reason"]) > MOST_REASON:
        raise _malformed(f"reason has {len(said['reason'])} characters; {MOST_REASON} are allowed")
    named = _components(given.get("components", []), components)
    if given.get("decision") == "pass":
        if extra := [key for key in _OF_REPLACEMENT if key in given]:
            raise _malformed(f"decision is pass, and there is {extra[0]!r}, which belongs to replace")
        return Verdict(components=named, reason=said["reason"])
    if given.get("decision") != "replace":
        raise _malformed(f"decision must be pass or replace, not {_short(given.get('decision'))}")
    return Verdict(_action(given, tools), said["reasoning"].strip(), said["content"].strip(), named, said["reason"])


def _object(text: str) -> dict[str, Json]:
    said = after_thinking(text)
    if said is None:
        raise _malformed("a thought was opened and never closed; nothing followed it")
    blocks = _FENCED.findall(said)
    if len(blocks) > 1:
        raise _malformed(f"there are {len(blocks)} fenced blocks; give one verdict")
    try:
        found = json.loads(blocks[0] if blocks else said, object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as bad:
        raise _malformed(f"no JSON object can be read: {bad}") from None
    if not isinstance(found, dict):
        raise _malformed(f"a verdict is one JSON object, not {type(found).__name__}")
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _malformed("it holds half a character (a lone surrogate)") from None
    return found


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    twice = {key for number, (key, _) in enumerate(pairs) if key in dict(pairs[:number])}
    if twice:
        raise ValueError(f"key {sorted(twice)[0]!r} is there twice")
    return dict(pairs)


def _no_number(name: str) -> Json:
    raise ValueError(f"{name} is no number")


def _action(given: Mapping[str, Json], tools: Sequence[Tool]) -> Action:
    """The one action of a replacement. What a call format cannot write is found when it is written."""
    asked = [key for key in _OF_ACTION if key in given]
    if len(asked) != 1:
        what = f"there are {' and '.join(asked)}" if asked else "there is none"
        raise _malformed(f"a replacement has exactly one of command, tool (with arguments) and answer; {what}")
    if "arguments" in given and asked != ["tool"]:
        raise _malformed("arguments belong to tool, and there is none")
    name = {"command": EXECUTE, "answer": None}.get(asked[0], given.get("tool"))
    offered = [tool.name for tool in tools]
    if name is not None and name not in offered:
        raise _malformed(f"the student has no tool {_short(name)}; it has {', '.join(offered)}")
    if name is None:
        return Action(None, {}, _some_text(given, "answer"))
    if asked == ["command"]:
        return Action(EXECUTE, {"command": _some_text(given, "command")})
    arguments = given.get("arguments", {})
    if not isinstance(arguments, dict):
        raise _malformed(f"arguments must be an object, not {type(arguments).__name__}")
    return Action(name, arguments)


def _components(named: Json, known: Sequence[str]) -> tuple[str, ...]:
    """Their paths. A reviewer that names what its guidance does not have is told so, and not believed."""
    if not isinstance(named, list) or not all(isinstance(each, str) for each in named):
        raise _malformed("components must be a list of names")
    paths = {name: path for path in known for name in (path, path.rsplit("/", 1)[-1].rsplit(".", 1)[0])}
    if unknown := [each for each in named if each not in paths]:
        there = f"; there are {', '.join(known)}" if known else "; there are none, leave components empty"
        raise BadVerdict("unknown_component", f"components names {_short(unknown[0])}, which you were not given{there}")
    return tuple(dict.fromkeys(paths[each] for each in named))


def _text(given: Mapping[str, Json], key: str) -> str:
    value = given.get(key, "")
    if not isinstance(value, str):
        raise _malformed(f"{key} must be text, not {type(value).__name__}")
    return value


def _some_text(given: Mapping[str, Json], key: str) -> str:
    text = _text(given, key).strip()
    if not text:
        raise _malformed(f"{key} is blank")
    return text


def _malformed(message: str) -> BadVerdict:
    return BadVerdict("malformed", message)


def _short(value: Json) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 60 else shown[:60] + "…"
