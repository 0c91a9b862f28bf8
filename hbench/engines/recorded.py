"""An LM that answers from a file of recorded replies: hand-written edits, and runs without any model."""

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.message import Finish, LMError, Reply, Request
from hbench.engines.scripted import spoken, wait_between


@dataclass(frozen=True)
class _Line:
    """What one line of the file says. match: patterns that the last user message must hold, all of them."""

    replies: tuple[str, ...]
    match: tuple[re.Pattern, ...]
    family: re.Pattern | None
    finish: Finish

    def fits(self, request: Request) -> bool:
        if self.family and not any(self.family.search(message.content) for message in request.messages):
            return False
        asked = last_user_text(request)
        return all(pattern.search(asked) for pattern in self.match)


class RecordedLM:
    """file: JSON Lines. A line holds

    - `reply`: a text or a list of texts;
    - `match` (optional): a regular expression, or {"contains": text or texts}, looked for in the last user message;
    - `family` (optional): a text that some message must hold as a whole word, e.g. the family's name;
    - `finish_reason` (optional, "stop"); `label` (optional), and anything starting with "_", for readers.

    The first line that fits answers; of its replies, the one at `request.seed` modulo their number. So equal requests
    get equal replies, in any order of asking. latency_ms: [lowest, highest] or the one wait of each
    reply, which changes nothing that is said.
    """

    def __init__(self, file: Path, latency_ms: float | Sequence[float] = 0):
        self.file = file
        self.latency_ms = [latency_ms] * 2 if isinstance(latency_ms, int | float) else latency_ms
        numbered = enumerate(_read(file).split("\n"), 1)
        self._lines = [_line(text, f"{file}:{number}") for number, text in numbered if text.strip()]

    async def generate(self, requests: Sequence[Request]) -> list[Reply | LMError]:
        return list(await asyncio.gather(*map(self._answer, requests)))

    async def check(self) -> None: ...

    async def close(self) -> None: ...

    async def _answer(self, request: Request) -> Reply | LMError:
        line = next((line for line in self._lines if line.fits(request)), None)
        if line is None:
            return LMError("bad_request", f"no line of {self.file} fits the message {last_user_text(request)[:120]!r}")
        await wait_between(self.latency_ms)
        return spoken(request, line.replies[request.seed % len(line.replies)], line.finish)


def last_user_text(request: Request) -> str:
    return next((message.content for message in reversed(request.messages) if message.role == "user"), "")


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as trouble:
        raise HbenchError(f"the recorded replies {file} cannot be read: {trouble}") from None


def _line(text: str, place: str) -> _Line:
    """Raises HbenchError, naming file and line, for what is not a line of recorded replies."""
    try:
        row = json.loads(text)
        known = {key: value for key, value in row.items() if not key.startswith("_")}
        if unknown := set(known) - {"match", "family", "reply", "finish_reason", "label"}:
            raise ValueError(f"unknown key {sorted(unknown)[0]!r}")
        replies = [known["reply"]] if isinstance(known["reply"], str) else known["reply"]
        if not replies or not isinstance(replies, list) or not all(isinstance(reply, str) for reply in replies):
            raise ValueError("`reply` is neither a text nor a list of texts")
        finish = known.get("finish_reason", "stop")
        if finish not in get_args(Finish):
            raise ValueError(f"finish_reason {finish!r} is none of {', '.join(get_args(Finish))}")
        family = re.compile(rf"\b{re.escape(known['family'])}\b") if "family" in known else None
        return _Line(tuple(replies), _patterns(known.get("match")), family, finish)
    except KeyError as missing:
        raise HbenchError(f"{place}: {missing} is missing") from None
    except (ValueError, TypeError, AttributeError, re.error) as trouble:
        raise HbenchError(f"{place}: {trouble}") from None


def _patterns(match: Json) -> tuple[re.Pattern, ...]:
    """A text is a regular expression; {"contains": …} takes a text or a list of texts as they are."""
    if match is None:
        return ()
    if isinstance(match, str):
        return (re.compile(match),)
    texts = match["contains"]
    return tuple(re.compile(re.escape(text)) for text in ([texts] if isinstance(texts, str) else texts))
