"""Where a text speaks as its reviewer would: sentences about a draft, which no student could have written of itself."""

import re
from bisect import bisect_right

from hbench.core.trajectory import Span, Turn

_THEIRS = r"response|reply|answer|command|call|action|draft|proposal|attempt|reasoning|message"
_B = r"[\s*`\"“”‘’'(]+"  # between two words: blanks, line breaks, emphasis, quotes
_VOICE = re.compile(
    rf"""
      (?:\b(?:the|this|that|its|your){_B})?(?<![\w/.-])(?:drafts?|proposals?)(?![\w/-]|\.\w)  # no file of that name
    | \b(?:
      (?:the|this|that|its|his|her|their|your|my){_B}(?:\w+{_B})?(?:replacement|rejected{_B}\w+)
    | the{_B}(?:proposed|drafted|submitted|suggested|original|rejected|reviewed|candidate){_B}(?:{_THEIRS})
    | the{_B}(?:student['’]s|student|model['’]s|model|assistant['’]s){_B}(?:{_THEIRS})
    | (?:the|this|a){_B}(?:student|reviewer|assistant)
    | students?['’]?s?{_B}(?:{_THEIRS})
    | as{_B}(?:(?:a|the){_B})?reviewer
    | (?:the|my|this|per|private|review){_B}(?:review|guidance|verdict)
    | (?:should|must|to|will|would|can){_B}(?:be{_B})?(?:replaced?|passed?){_B}(?:it|this|the{_B}(?:{_THEIRS}))
    | (?:{_THEIRS}){_B}(?:should|must|has{_B}to|will|would|can){_B}be{_B}(?:replaced|passed|rejected)
    | review{_B}(?:check|note|finding|session|budget)s?
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
# A sentence ends at a full stop and blank, at a line break, or with the text.
_SENTENCE = re.compile(r"\S(?:[^\n]*?(?:[.!?…][\"'”’)\]]*(?=\s)|(?=\n)|\Z)|[^\n]*)")


def voice_spans(text: str) -> tuple[Span, ...]:
    """Half-open character spans of the sentences in the reviewer's voice, ascending, neighbours joined.

    What is said over a line break is heard in both lines. A guess by words, made to hide rather too much: `the draft` is
    also said of a letter (Harness-Zero, masks).
    """
    heard = [match.span() for match in _VOICE.finditer(text)]
    ends, found = [end for _, end in heard], []
    for sentence in _SENTENCE.finditer(text):
        start, end = sentence.start(), sentence.start() + len(sentence[0].rstrip())
        first = bisect_right(ends, start)
        if first == len(heard) or heard[first][0] >= end:
            continue
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
