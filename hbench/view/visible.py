"""Text that a model wrote, made harmless to look at: what a terminal or a browser would obey is named."""

import re

# C0 without tab and line feed, DEL, C1, what turns the direction of writing, and what takes no room.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]")


_NAMES = "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US".split()


def visible(text: object) -> str:
    """`text` with control characters named: ESC becomes ⟨ESC⟩, others their name or code. Line ends stay."""
    return _OBEYED.sub(_sign, str(text).replace("\r\n", "\n"))


def _sign(found: re.Match) -> str:
    code = ord(found[0])
    return f"⟨{_NAMES[code]}⟩" if code < len(_NAMES) else "⟨DEL⟩" if code == 0x7F else f"⟨U+{code:04X}⟩"
