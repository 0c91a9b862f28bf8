"""What a model said after it had thought."""

import re

_TAG = re.compile(r"</?think>")
# A tag inside quotes on one line is program text: `reply.split("</think>")` is an edit worth having.
_QUOTED = re.compile(r"(?<!\w)[rbfRBF]{0,2}([\"'`])[^\"'`\n]{0,200}?</?think>[^\"'`\n]{0,200}?\1")


def after_thinking(text: str) -> str | None:
    """`text` behind the last `</think>`; None when a thought is opened and never closed.

    Tags inside quotes do not count. A byte-order mark in front is dropped.
    """
    if "think>" not in text:
        return text.removeprefix("\ufeff")
    masked = _QUOTED.sub(lambda found: "x" * len(found[0]), text)
    tags = list(_TAG.finditer(masked))
    if tags and tags[-1][0] == "<think>":
        return None
    return text[tags[-1].end() if tags else 0 :].removeprefix("\ufeff")
