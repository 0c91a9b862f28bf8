"""Where a text speaks as its reviewer would: sentences about a draft, which no student could have written of itself."""

import re

from hbench.core.trajectory import Span, Turn

_THEIRS = r"response|reply|answer|command|call|action|draft|proposal|attempt|reasoning|message"
_VOICE = re.compile(
    rf"""\b(?:
      (?:the|this|that|its|his|her|their|your|my)\s+(?:\w+\s+)?(?:draft|proposal|replacement|rejected\s+\w+)\b
    | the\s+(?:proposed|drafted|submitted|suggested|original|rejected)\s+(?:{_THEIRS})\b
    | the\s+(?:student['’]s|student|model['’]s|model|assistant['’]s)\s+(?:{_THEIRS})\b
    | (?:the|this|a)\s+(?:student|reviewer|assistant)\b
    | students?['’]?s?\s+(?:{_THEIRS})\b
    | as\s+(?:a|the)\s+reviewer\b
    | (?:the|my|this|private|review)\s+(?:review|guidance|verdict)\b
    | (?:should|must|to|will|would|can)\s+(?:be\s+)?(?:replaced?|passed?)\s+(?:it|this|the\s+(?:{_THEIRS}))\b
    | review\s+(?:check|note|finding|session|budget)s?\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
# A sentence ends at a full stop and blank, at a line break, or with the text.
_SENTENCE = re.compile(r"\S(?:[^\n]*?(?:[.!?…][\"'”’)\]]*(?=\s)|(?=\n)|\Z)|[^\n]*)")


def voice_spans(text: str) -> tuple[Span, ...]:
    """Half-open character spans of the sentences in the reviewer's voice, ascending, neighbours joined.

    A guess by words, made to hide rather too much: `the draft` is also said of a letter (Harness-Zero, masks).
    """
    found: list[Span] = []
    for sentence in _SENTENCE.finditer(text):
        if not _VOICE.search(sentence[0]):
            continue
        start, end = sentence.start(), sentence.start() + len(sentence[0].rstrip())
        if found and not text[found[-1][1] : start].strip():
            start = found.pop()[0]
        found.append((start, end))
    return tuple(found)


def without_loss(turn: Turn, hide: str) -> tuple[Span, ...]:
    """Spans of the accepted response that are read and not trained: of what a reviewer wrote as reasoning, nothing (none),
    the sentences in its own voice (voice), or all (reasoning)."""
    if hide == "none" or turn.verdict == "pass":
        return ()
    if hide == "reasoning":
        return turn.hidden
    voice = voice_spans(turn.accepted)
    both = ((max(a, c), min(b, d)) for a, b in turn.hidden for c, d in voice)
    return tuple((start, end) for start, end in both if start < end)
