"""What a request wants of the rule-based reader: summary, query or answer; on which question; on which pages."""

import re
from dataclasses import dataclass
from typing import Literal

from hbench.core.message import Request
from hbench.engines.reading.pages import Page

Kind = Literal["summary", "query", "answer"]

_QUESTION = re.compile(r"^\W*(?:the )?(?:original |main )?(?:question|claim|q)\s*:\s*(.*)$", re.IGNORECASE)
_ASKS: dict[Kind, re.Pattern] = {
    "query": re.compile(
        r"\b(?:write|give|form|make|propose|suggest|say|what|which|next)\b[^.?]{0,90}\b(?:quer(?:y|ies)|search)", re.I
    ),
    "summary": re.compile(
        r"\bsummari[sz]e\b|\b(?:write|give|make)\b[^.?]{0,90}\bsummary\b|\bnote down\b|\bextract\b", re.I
    ),
    "answer": re.compile(r"\banswer\b|\b(?:reply|respond) with\b", re.I),
}
_TELLS_TO = re.compile(
    r"^(?:please |now |then |first |next |briefly |again |here )*"
    r"(?:summari[sz]e|write|give|form|make|propose|suggest|say|state|answer|reply|respond|return|use|read|find|list|"
    r"note down|extract|keep|think|copy|do not|don't|never|what should|which query|you|if|from|using|based on|with|"
    r"in)\b",
    re.IGNORECASE,
)
_ABOUT_TEXTS = re.compile(
    r"\b(?:passages?|summar\w*|quer(?:y|ies)|question|answers?|sentences?|words?|names?|notes)\b", re.IGNORECASE
)
_LABEL = re.compile(
    r"^\W*(?:passages?|context|documents?|summar(?:y|ies)|notes?|evidence|known(?: so far)?|facts?|texts?|title)"
    r"(?: (?:of|from)[^:]{0,40})?\s*\d*\s*:\s*",
    re.IGNORECASE,
)
_NO_PAGE = re.compile(
    r"^\W*(?:draft(?: answer)?|earlier \w+|previous \w+|answer|quer(?:y|ies)|search)\s*:", re.IGNORECASE
)
_MARK = re.compile(r"^\s*(?:\[\d+\]|\(\d+\)|\d+[.)]|[-*•])\s+")
_TITLED = re.compile(r"^(?P<title>[\"“'(]?[A-Z0-9À-Þ][^.?!|]{0,90}?(?:\([^)]*\))?)(?:: | \| | — )(?P<text>\S.*)$")
_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_SENTENCES = re.compile(r"\b(one|two|three|four|five|six|\d)\s+(?:\w+\s+)?sentences?\b", re.IGNORECASE)
_WORDS = re.compile(r"\b(\d{1,3})\s+words\b", re.IGNORECASE)


_LONGEST_QUESTION = 800  # characters; what is longer is no question of any benchmark


@dataclass(frozen=True)
class Asked:
    """most_sentences, most_words: how long a summary may be."""

    kind: Kind
    question: str
    pages: tuple[Page, ...]
    most_sentences: int = 3
    most_words: int = 60


def read(request: Request) -> Asked:
    """Lines that tell what to do, the question, and the rest, which is reading matter."""
    told: list[str] = []
    pages: list[Page] = []
    question, awaited = "", False
    for line in (line.strip() for message in request.messages for line in message.content.splitlines()):
        if not line:
            continue
        if awaited:
            question, awaited = line, False
        elif found := _QUESTION.match(line):
            question, awaited = found[1].strip(), not found[1].strip()
        elif _tells_what_to_do(line):
            told.append(line)
        elif not _NO_PAGE.match(line):
            pages.extend(_page(line))
    if not question:
        question, pages = _loose_question(pages)
    return _asked(told, question, pages)


def _asked(told: list[str], question: str, pages: list[Page]) -> Asked:
    text = " ".join(told)
    sentences, most_words = _SENTENCES.search(text), _WORDS.search(text)
    most = _NUMBERS.get(sentences[1].lower()) or int(sentences[1]) if sentences else 3
    room = int(most_words[1]) if most_words else 60
    return Asked(_kind(told), question[:_LONGEST_QUESTION], tuple(pages), most, room)


def _kind(told: list[str]) -> Kind:
    """By the first thing that the lines say to do: 'write a query that helps to answer' is a query."""
    for line in told:
        found = [(match.start(), kind) for kind, cue in _ASKS.items() if (match := cue.search(line))]
        if found and not line.lower().startswith("you "):
            return min(found)[1]
    return "answer"


def _tells_what_to_do(line: str) -> bool:
    return not _MARK.match(line) and bool(_TELLS_TO.match(line) and _ABOUT_TEXTS.search(line))


def _page(line: str) -> list[Page]:
    text = _MARK.sub("", _LABEL.sub("", _MARK.sub("", line)))
    titled = _TITLED.match(text)
    if titled and len(titled["title"].split()) <= 14:
        return [Page(titled["title"].strip(), titled["text"])]
    return [Page("", text)] if text else []


def _loose_question(pages: list[Page]) -> tuple[str, list[Page]]:
    """Where no line is marked as the question: the last line that ends like one."""
    for place in reversed(range(len(pages))):
        if pages[place].text.rstrip().endswith("?"):
            return pages[place].text, pages[:place] + pages[place + 1 :]
    return "", pages
