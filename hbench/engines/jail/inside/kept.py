"""The first and the last of a long text, while it is read."""

import codecs


class Kept:
    """Takes bytes as they come and holds at most `chars` characters, half from the start and half from the end."""

    def __init__(self, chars: int):
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._first_room = chars - chars // 2
        self._last_room = chars // 2
        self._first = self._last = ""
        self.count = 0  # characters that came
        self.bytes = 0

    def add(self, data: bytes, final: bool = False) -> None:
        """`data` is at most a few hundred kB. What is no UTF-8 becomes U+FFFD."""
        text = self._decoder.decode(data, final)
        self.bytes += len(data)
        self.count += len(text)
        room = self._first_room - len(self._first)
        self._first += text[:room]
        self._last = (self._last + text[room:])[-self._last_room :] if self._last_room else ""

    def text(self) -> str:
        """All of it, or its two ends and between them how much was left out."""
        left_out = self.count - len(self._first) - len(self._last)
        if not left_out:
            return self._first + self._last
        return f"{self._first}\n[... {left_out} characters left out ...]\n{self._last}"
