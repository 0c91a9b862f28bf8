"""Texts as the rule-based reader sees them: pages with a title, and sentences with their words."""

import re
from dataclasses import dataclass
from functools import cached_property

_SENTENCE_END = re.compile(  # not behind an initial, Dr., Mr., Ms., St.
    r"(?:(?<=[.!?][\"”’)])|(?<=[.!?])(?<!\b[A-Z]\.)(?<!\b[DMS][rst]\.))\s+(?=[A-Z“\"(\d])"
)
_WORD = re.compile(r"[^\W_]+(?:[’'][^\W_]+)*")
_STOPS = frozenset(
    "a an and are as at be been before between both by did do does for from had has have he her his how in into is "
    "it its many much no not of on one or other same she so than that the their them then there these they this to was "
    "were what when where which while who whom whose will with yes".split()
)


@dataclass(frozen=True)
class Sentence:
    text: str
    title: str  # of the page it stands on; "" where the page has none

    @cached_property
    def stems(self) -> frozenset[str]:
        return stems(f"{self.title} {self.text}")


@dataclass(frozen=True)
class Page:
    title: str
    text: str

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        return tuple(Sentence(text.strip(), self.title) for text in _SENTENCE_END.split(self.text) if text.strip())


def words(text: str) -> list[str]:
    return _WORD.findall(text)


def stems(text: str) -> frozenset[str]:
    """The telling words of a text, each as its first six letters: crude, so that 'founder' and 'founded' meet."""
    return frozenset(word.lower()[:6] for word in words(text) if word.lower() not in _STOPS)


def same_name(one: str, other: str) -> bool:
    return _plain(one) == _plain(other)


def contains_name(title: str, name: str) -> bool:
    """'Dion DiMucci' contains 'Dion'."""
    return f" {_plain(name)} " in f" {_plain(title)} "


def _plain(name: str) -> str:
    """Without what stands in brackets, articles, signs and case."""
    return " ".join(word for word in words(re.sub(r"\([^)]*\)", " ", name).lower()) if word not in ("a", "an", "the"))
