"""Guesses for questions of unknown form: the sentence that shares most words with it, and a span of that."""

import re
from collections.abc import Iterable, Sequence

from hbench.engines.reading.pages import Page, Sentence, stems, words
from hbench.engines.reading.relation import SORTS

_DATE = re.compile(
    r"\b(?:\d{1,2} )?(?:January|February|March|April|May|June|July|August|September|October|November|December)"
    r"(?: \d{1,2},)? \d{4}\b|\b1\d{3}\b|\b20\d{2}\b"
)
_DATE_WORD = re.compile(
    r"(?:Janu|Febr|March|April|May|June|July|Augu|Sept|Octo|Nove|Dece|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)"
)
_NUMBER = re.compile(r"\b\d[\d,.]*\d\b|\b\d\b|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b")
_NAME = re.compile(rf"[\"“](?P<quoted>[^\"”]+)[\"”]|(?P<name>{SORTS['name']})")
_EITHER = re.compile(r"(?:,|:| between) (?P<x>[^,]+?),? (?:or|and) (?P<y>[^,?]+)\??$")
_LEAST_SHARED = 0.25  # of the question's telling words; below that, no sentence is about it


def ranked(question: str, pages: Iterable[Page]) -> list[tuple[float, Sentence]]:
    """Sentences with a word of the question, best first: names count twice, and earlier pages win ties."""
    asked = stems(question)
    names = stems(" ".join(word for word in words(question)[1:] if word[0].isupper()))
    scored = [
        (float(len(asked & sentence.stems) + len(names & sentence.stems)), sentence)
        for page in pages
        for sentence in page.sentences
    ]
    return sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])


def guess(question: str, pages: Sequence[Page]) -> str | None:
    """A span of the pages that may answer; None where they do not seem to be about the question."""
    best = ranked(question, pages)
    if not best or len(stems(question) & best[0][1].stems) < _LEAST_SHARED * len(stems(question)):
        return None
    if (either := _EITHER.search(question)) and (chosen := _earlier(question, either, pages)):
        return chosen
    if re.match(r"(?:are|is|was|were|do|does|did|has|have|can)\b", question, re.IGNORECASE):
        return _yes_or_no(question, pages)
    for _, sentence in best[:5]:
        if found := _span(question, sentence):
            return found
    return None


def _span(question: str, sentence: Sentence) -> str | None:
    asked = question.lower()
    if re.search(r"\bwhen\b|\b(?:what|which) (?:year|date|day)\b", asked):
        found = _DATE.search(sentence.text)
        return found[0] if found else None
    if re.search(r"\bhow (?:many|much|long|old|far|tall|high|large)\b", asked):
        found = _NUMBER.search(sentence.text)
        return found[0] if found else None
    new = [name for name in names_in(sentence.text) if not stems(name) & stems(question)]
    if re.search(r"\bwho\b", asked):
        new = [name for name in new if " " in name] or new
    elif not new and sentence.title and not stems(sentence.title) & stems(question):
        new = [sentence.title]
    return new[0] if new else None


def names_in(text: str) -> list[str]:
    """Capitalised spans and quoted titles, without words that are capitalised only as the first of the sentence."""
    found = []
    for match in _NAME.finditer(text):
        name = match["quoted"] or match["name"]
        if match.start() == 0 and " " not in name and not match["quoted"]:
            continue
        name = re.sub(r"^(?:The|A|An|In|On|At|He|She|It|This) (?=[A-Z])", "", name)
        found.append(re.sub(r"[’']s$", "", name))
    return [name for name in found if len(name) > 2 and not _DATE_WORD.match(name)]


def _earlier(question: str, either: re.Match, pages: Sequence[Page]) -> str | None:
    """Of two named things the one with the earlier, or later, first year on its page."""
    if not re.search(r"\b(?:first|earlier|older|later|younger|more recently|newer)\b", question):
        return None
    years = []
    for name in (either["x"], either["y"]):
        own = [page for page in pages if page.title and stems(page.title) & stems(name)]
        found = [match[0] for page in own for match in _DATE.finditer(page.text)]
        if not found:
            return None
        years.append(int(found[0][-4:]))
    later = re.search(r"\b(?:later|younger|more recently|newer)\b", question)
    first = years[0] >= years[1] if later else years[0] <= years[1]
    return either["x" if first else "y"].strip(" “”\"")


def _yes_or_no(question: str, pages: Sequence[Page]) -> str:
    """Yes where the question's last word stands on the pages of at least two of its names."""
    told = words(question)
    names = names_in(" ".join(told[1:]))
    last = told[-1].lower()[:6]
    named = [page for page in pages if any(stems(name) & stems(page.title) for name in names)]
    holding = {page.title for page in named if last in stems(page.text)}
    return "yes" if len(holding) >= 2 else "no"
