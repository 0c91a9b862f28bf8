"""The prose of varied wordings, all written by hand: what may stand around a puzzle, and how its framing may be said."""

import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Wording:
    """lead and close stand around the question; voice says which column of PHRASES rewrites its framing (None: none).

    data_first: where the framing can be read without them, the puzzle's data come first, as [1], [2] …
    """

    lead: str = ""
    close: str = ""
    voice: int | None = None
    data_first: bool = False


# The first is the library's own text. Leads and closes tell the wordings apart, so none may occur in a question.
WORDINGS = (
    Wording(),
    Wording(lead="Here is a problem to work on.\n\n", voice=0),
    Wording(close="\n\nThat is the whole problem; answer it in the form it asks for.", voice=1),
    Wording(lead="An exercise.\n\n", voice=0, data_first=True),
    Wording(lead="## Problem\n\n", close="\n\n## End of the problem", voice=2),
    Wording(lead="Someone hands you this puzzle and waits for the solution:\n\n", voice=2),
)

# A phrase of the library's framing, and three other ways to say it. Nothing here touches a rule, a number, a symbol or
# the form of the answer. Applied in this order, each place at most once.
PHRASES: tuple[tuple[str, tuple[str, str, str]], ...] = (
    (r"\bYour (?:task|job) is to\b", ("What you have to do is to", "You are asked to", "The aim is to")),
    (r"\byour (?:task|job) is to\b", ("what you have to do is to", "you are asked to", "the aim is to")),
    (r"\bYou are given\b", ("You have in front of you", "You get", "Here you have")),
    (r"\bYour output should\b", ("Your answer should", "The output should", "What you answer should")),
    (r"\bYour (?:final answer|answer) should\b", ("Your result should", "The answer should", "What you answer should")),
    (r"\bProvide only\b", ("Give only", "State only", "Write only")),
    (r"\bGive only\b", ("Provide only", "State only", "Write only")),
    (r"\bReturn only\b", ("Give only", "State only", "Write only")),
    (r"\bRe(?:spond|ply) (with only|only with|with|as)\b", (r"Answer \1", r"Give your answer \1", r"Come back \1")),
    (r"\bProvide (the|your)\b", (r"Give \1", r"State \1", r"Write down \1")),
    (r"\bReturn (the|your)\b", (r"Give \1", r"Report \1", r"Write down \1")),
    (r"\bReturn True if\b", ("Answer True if", "Say True if", "Give True if")),
    (r"\breturn True if\b", ("answer True if", "say True if", "give True if")),
    (r"\breturn the\b", ("find the", "give the", "work out the")),
    (r"\bas your final answer\b", ("as your answer", "as the final answer", "as the result you settle on")),
    (r"\bFind the\b", ("Work out the", "Determine the", "Establish the")),
    (r"\bfind the\b", ("work out the", "determine the", "establish the")),
    (r"\bdetermine the\b", ("work out the", "find the", "establish the")),
    (r"\bSolve (the following|this)\b", (r"Work out \1", r"Please solve \1", r"Find the solution of \1")),
    (r"\bSimplify\b", ("Bring", "Reduce", "Rewrite")),
    (r"\bCalculate\b", ("Compute", "Work out", "Evaluate")),
    (r"\bConsider\b", ("Look at", "Take", "Have a look at")),
    (r"\bIdentify\b", ("Find", "Work out", "Recognise")),
    (r"\bBelow is\b", ("Here is", "What follows is", "You find below")),
    (r"\bHere is\b", ("Below is", "This is", "See")),
    (r"\bGiven (a|two|the following)\b", (r"Starting from \1", r"For \1", r"Taking \1")),
    (r"\bFor example\b", ("For instance", "As an example", "To give an example")),
    (r"\bYou may\b", ("You can", "You are allowed to", "You are free to")),
    (r"\byou must\b", ("you have to", "you need to", "it is necessary to")),
    (r"\bYou must\b", ("You have to", "You need to", "It is necessary to")),
    (r"\bEach (?!of\b|other\b)", ("Every ", "Every single ", "Every ")),
    (r"\bDo not\b", ("Don't", "Please do not", "Never")),
    (r"\bNote:", ("Mind:", "Remark:", "Keep in mind:")),
    (r"\bNow, ", ("So now, ", "And now, ", "So, ")),
    (r"\bPlease ", ("Kindly ", "We ask you: ", "Now please ")),
    (r"\bSpecify\b", ("State", "Write", "Name")),
    (r"\bAssume\b", ("Suppose", "Presume", "Suppose")),
    (r"\bLegend\b", ("Key", "Signs", "What the signs mean")),
    (r"\bInitially\b", ("At first", "In the beginning", "To begin with")),
    (r"\bThere are\b", ("You are shown", "We have", "Here are")),
)


@cache
def spoken(literal: str, voice: int | None) -> str:
    """`literal`, a piece of framing, in that voice. What stands between code fences stays as it is."""
    if voice is None:
        return literal
    parts = literal.split("```")
    parts[::2] = [_say(part, voice) for part in parts[::2]]
    return "```".join(parts)


def _say(prose: str, voice: int) -> str:
    pattern, ways = _compiled()
    return pattern.sub(lambda found: ways[found.lastgroup][0].sub(ways[found.lastgroup][1][voice], found[0]), prose)


@cache
def _compiled() -> tuple[re.Pattern[str], dict[str, tuple[re.Pattern[str], tuple[str, str, str]]]]:
    # Inner groups of a phrase are numbered anew when that phrase alone is substituted, so \1 means its own.
    whole = "|".join(f"(?P<p{i}>{_uncaptured(phrase)})" for i, (phrase, _) in enumerate(PHRASES))
    return re.compile(whole), {f"p{i}": (re.compile(phrase), ways) for i, (phrase, ways) in enumerate(PHRASES)}


def _uncaptured(phrase: str) -> str:
    return re.sub(r"\((?!\?)", "(?:", phrase)
