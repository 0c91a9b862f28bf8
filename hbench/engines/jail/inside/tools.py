"""`tools` as a harness sees it: a few functions that ask the driver and wait.

Loops instead of comprehensions, and names bound once: every page that a child touches first is copied, at 2 to 3 microseconds.
"""

from .wire import receive, send


class ToolError(Exception):
    """A tool refused this one call. The harness may catch it and go on."""


class Tools:
    """Only the tools that this family offers are there."""

    def __repr__(self) -> str:
        return f"Tools({', '.join(sorted(vars(self)))})"


def offer(asked: tuple, names: list[str]) -> Tools:
    """asked: of `asking`."""
    known, ask = asked
    tools = Tools()
    for name in names:
        setattr(tools, name, known.get(name) or _other(ask, name))
    return tools


def _other(ask, name: str):
    return lambda **arguments: ask(name, arguments)


def asking(channel: int) -> tuple:
    """The functions by name, and `ask` which they call. Made before the fork, they cost no child anything."""

    def ask(name: str, arguments: dict):
        given = {}
        for key, value in arguments.items():
            if value is not None:
                given[key] = value
        send(channel, {"call": name, "arguments": given})
        reply = receive(channel)
        if "refused" in reply:
            raise ToolError(reply["refused"])
        return reply["result"]

    def lm(prompt_or_messages, *, system=None, max_tokens=None, temperature=None, stop=None) -> str:
        """What the solver says to a prompt (str) or to messages ([{"role": …, "content": …}, …])."""
        messages = _messages(prompt_or_messages, system)
        stop = [stop] if isinstance(stop, str) else stop
        return ask("lm", {"messages": messages, "max_tokens": max_tokens, "temperature": temperature, "stop": stop})

    def python(code, timeout_s=5) -> dict:
        """Runs Python code in a process of its own: {"stdout": str, "stderr": str, "ok": bool}."""
        return ask("python", {"code": code, "timeout_s": timeout_s})

    def search(query, top_k=7) -> list:
        """Passages of the corpus: [{"id": …, "title": …, "text": …}, …], best first."""
        return ask("search", {"query": query, "top_k": top_k})

    return {"lm": lm, "python": python, "search": search}, ask


def _messages(prompt_or_messages, system) -> list[dict]:
    """Plain messages. Raises TypeError for what is not one."""
    messages = prompt_or_messages
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    if not isinstance(messages, (list, tuple)) or not messages:
        raise TypeError("lm() takes a str or a list of {'role': str, 'content': str}")
    plain = [] if system is None else [{"role": "system", "content": system}]
    for message in messages:
        plain.append({"role": message["role"], "content": message["content"]} if isinstance(message, dict) else None)
    for message in plain:
        if message is None or not isinstance(message["role"], str) or not isinstance(message["content"], str):
            raise TypeError("each message must be {'role': str, 'content': str}")
    return plain
