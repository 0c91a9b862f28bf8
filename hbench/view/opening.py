"""How a long text opens, for reading: what is shown at first, and what only when it is asked for."""

from dataclasses import dataclass

LINES, CHARS = 60, 4_000


@dataclass(frozen=True)
class Opening:
    """head + rest is the text."""

    head: str
    rest: str

    @property
    def left(self) -> str:
        """How much is left out, for people; empty where nothing is."""
        if not self.rest:
            return ""
        lines = self.rest.count("\n")
        return f"{lines:,} more lines" if lines > 1 and len(self.rest) < 200 * lines else f"{len(self.rest):,} more characters"


def opening(text: str, lines: int = LINES, chars: int = CHARS) -> Opening:
    """The beginning of `text`: at most so many lines and characters, and a quarter more where that is all there is."""
    end = _line_end(text, lines)
    if _line_end(text, lines + lines // 4) >= len(text):
        end = len(text)
    if end > chars and (end < len(text) or len(text) > chars + chars // 4):
        at = text.rfind("\n", chars // 2, chars)
        end = at + 1 if at >= 0 else chars
    return Opening(text[:end], text[end:])


def _line_end(text: str, lines: int) -> int:
    """Behind the `lines`-th line; the text's length where it has no more."""
    at = -1
    for _ in range(lines):
        at = text.find("\n", at + 1)
        if at < 0:
            return len(text)
    return at + 1
