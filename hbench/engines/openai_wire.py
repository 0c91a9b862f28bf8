"""The OpenAI chat format: a request's body, and what its answer says. No network here."""

import json
import re

from hbench.core.digest import Json, spaced_text
from hbench.core.message import Finish, LMError, Reply, Request
from hbench.engines.stops import cut_at_stop, tidy_stops

MAX_STOPS = 4  # OpenAI's limit; other servers refuse longer lists too
MESSAGE_CHARS = 500

_FINISH: dict[str, Finish] = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}
_HALF = {"abort", "error", "cancelled"}  # the server gave up in the middle: not a reply
_TOO_LONG = re.compile(
    r"context[_ ](length|size|window)|maximum (model|context|input|sequence) length|max_model_len"
    r"|(prompt|input|request) is too (long|large)|longer than the model|too many tokens",
    re.IGNORECASE,
)


# As OpenAI and vLLM word it: "maximum context length is 2048 tokens … 4196 tokens (100 in the messages, 4096 in the completion)".
_CONTEXT = re.compile(r"length[^0-9]{0,12}([\d,]+)", re.IGNORECASE)
_MESSAGES = re.compile(
    r"([\d,]+)\s*(?:tokens )?(?:in|from|of) (?:the |your )?(?:messages|prompt|input)"
    r"|(?:prompt|input|messages) (?:contains|has|have)(?: at least)? ([\d,]+)",
    re.IGNORECASE,
)
LONG_BODY_CHARS = 100_000


def body_of(request: Request, model: str) -> bytes:
    """The JSON body. Zeros are sent as zeros; a null in `sampling.extra` takes a field out that a server refuses."""
    sampling = request.sampling
    body: dict[str, Json] = {
        "model": model,
        "messages": [message.to_json() for message in request.messages],
        "temperature": sampling.temperature,
        "max_tokens": sampling.max_tokens,
        "top_p": sampling.top_p,
        "seed": request.seed,
    }
    if stops := tidy_stops(sampling.stop):
        body["stop"] = stops[:MAX_STOPS]  # the rest is cut here: see `read_choices`
    if request.tools:  # told to the chat template; calls come back as the model wrote them, in the text
        body |= {"tools": request.tools, "tool_choice": "none"}
    if sampling.extra:
        body = {key: value for key, value in {**body, **sampling.extra}.items() if value is not None}
    # A lone surrogate, which no server's tokenizer takes, becomes "?".
    return spaced_text(body).encode("utf-8", "replace")


def read_reply(raw: bytes, request: Request, seconds: float) -> Reply | LMError:
    """The one reply in the body of a 200 answer, or `bad_reply`: half a body, no JSON, no choices, given up."""
    return read_choices(raw, request, 1, seconds)[0]


def read_choices(raw: bytes, request: Request, asked: int, seconds: float = 0.0) -> list[Reply | LMError]:
    """`asked` results, placed by each choice's `index`; a missing one is `bad_reply`. Empty text is a true answer."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as trouble:  # also JSONDecodeError, UnicodeDecodeError
        return [_bad(f"not JSON ({trouble}): {raw[:120]!r}")] * asked
    if not isinstance(body, dict) or not isinstance(body.get("choices"), list):
        return [_bad(f"no choices in {raw[:200]!r}")] * asked
    usage = body.get("usage") if isinstance(body.get("usage"), dict) else {}
    found: dict[int, Reply | LMError] = {}
    for place, choice in enumerate(body["choices"]):
        if isinstance(choice, dict):
            index = choice.get("index")
            found[index if isinstance(index, int) else place] = _read_choice(choice, request, usage, seconds)
    return [found.get(index, _bad(f"choice {index} of {asked} is missing")) for index in range(asked)]


def served_names(status: int, raw: bytes) -> list[str]:
    """The models that a server lists in its answer to GET /models; empty where it has no list."""
    try:
        return [str(model["id"]) for model in json.loads(raw)["data"]] if status == 200 else []
    except (ValueError, KeyError, TypeError):
        return []


def refusal(status: int, raw: bytes, asked: Request | None = None) -> LMError:
    """What an answer other than 200 means, with the server's own words, cut.

    too_long: the messages that were asked are too long by themselves. A context that only `max_tokens` overflows, or a
    proxy that takes no bodies of ordinary size, is the machine's or the spec's fault: bad_request.
    """
    said = server_message(raw)
    long_body = asked is not None and sum(len(m.content) for m in asked.messages) > LONG_BODY_CHARS
    if (status == 413 and long_body) or (status in (400, 422) and _TOO_LONG.search(said) and not _fits(said)):
        return LMError("too_long", f"{status}: {said}")
    if status == 429:
        return LMError("rate_limit", f"{status}: {said}")
    if status in (408, 504):
        return LMError("timeout", f"{status}: {said}")
    return LMError("server" if status >= 500 else "bad_request", f"{status}: {said}")


def _fits(said: str) -> bool:
    """Whether the server's own numbers say that the messages alone would have had room."""
    context, messages = _CONTEXT.search(said), _MESSAGES.search(said)
    return bool(context and messages) and _number(messages) < _number(context)


def _number(found: re.Match) -> int:
    return int(next(group for group in found.groups() if group).replace(",", ""))


def server_message(raw: bytes) -> str:
    """The error's message and code where the body has them, else the body's beginning."""
    text = raw.decode("utf-8", "replace")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return " ".join(text.split())[:MESSAGE_CHARS]
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        parts = [str(error[key]) for key in ("message", "detail", "code") if error.get(key)]
        text = " ".join(parts) or text
    elif isinstance(error, str):
        text = error
    return " ".join(text.split())[:MESSAGE_CHARS]


def _read_choice(choice: Json, request: Request, usage: Json, seconds: float) -> Reply | LMError:
    message, finish = choice.get("message"), str(choice.get("finish_reason"))
    if not isinstance(message, dict) or finish in _HALF:
        return _bad(f"half a reply (finish_reason {finish!r})")
    text, cut = cut_at_stop(_text(message.get("content")), request.sampling.stop)
    return Reply(
        text=text,
        finish_reason="stop" if cut else _FINISH.get(finish, "unknown"),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        reasoning=_text(message.get("reasoning_content") or message.get("reasoning")),
        tool_calls=message.get("tool_calls") or None,
        seconds=seconds,
        reused=usage.get("reused") is True,  # said by no server but our own: runtime/serve_models.py
    )


def _text(content: Json) -> str:
    """null is an empty text; a list of parts is their texts joined."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _count(number: Json) -> int:
    return number if isinstance(number, int) else 0


def _bad(what: str) -> LMError:
    return LMError("bad_reply", what[:MESSAGE_CHARS])
