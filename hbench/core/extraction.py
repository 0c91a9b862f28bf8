"""An answer out of what a model said: by tag, by box, or the last number. Pure text, no judging."""

import re

from hbench.core.thinking import after_thinking

_BOX = re.compile(r"\\(?:boxed|fbox)\b\s*")
_NUMBER = re.compile(r"[-+]?\d+(?:,\d{3})*(?:\.\d+)?")


def tagged_answer(text: str | None, tag: str = "answer") -> str | None:
    """The inside of the last complete `<tag>…</tag>` behind the thinking, blanks around it dropped; None without one.

    The tag's case does not count. A tag that opens and never closes is no answer, however many closed ones stand
    before it: the model was about to say something else. A thought closed by a wrong tag (`<think>…</notes>`) is over.
    """
    said = after_thinking(_close_thought(text or ""))
    if said is None:
        return None
    last_open = [found.end() for found in re.finditer(f"<{tag}>", said, re.IGNORECASE)]
    if not last_open:
        return None
    close = re.search(f"</{tag}>", said[last_open[-1] :], re.IGNORECASE)
    return said[last_open[-1] :][: close.start()].strip() if close else None


def _close_thought(text: str) -> str:
    """`text` with its last open thought ended at the first closing tag in it that nothing in the thought opened."""
    start = text.rfind("<think>")
    if start < 0 or "</think>" in text[start:]:
        return text
    for found in re.finditer(r"</(\w+)>", text[start:]):
        if f"<{found[1]}>" not in text[start : start + found.start()]:
            at = start + found.end()
            return f"{text[:at]}</think>{text[at:]}"
    return text


def boxed_answer(text: str | None) -> str | None:
    r"""The inside of the last `\boxed{…}` or `\fbox{…}`, with its braces matched; None when that one never closes.

    `\boxed 42` without braces gives the next word, up to a dollar sign; a box command that nothing of the two follows
    (`Use \boxed for the answer`, at a letter) is passed over.
    """
    said = after_thinking(text or "")
    for found in reversed(list(_BOX.finditer(said or ""))):
        rest = said[found.end() :]
        if rest.startswith("{"):
            return _inside_braces(rest)
        bare = re.match(r"[^\s${}A-Za-z]+", rest)
        if bare:
            return bare[0]
    return None


def last_number(text: str | None) -> str | None:
    """The last number behind the thinking, thousands commas dropped; a comma or full stop after it is no part of it."""
    numbers = _NUMBER.findall(after_thinking(text or "") or "")
    return numbers[-1].replace(",", "") if numbers else None


def _inside_braces(text: str) -> str | None:
    r"""What stands between the first brace and its partner; `\{` and `\}` are signs, not braces."""
    depth = 0
    for found in re.finditer(r"\\.|[{}]", text, re.DOTALL):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0:
            return text[1 : found.start()]
    return None
