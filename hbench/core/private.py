"""What of a guidance nobody but the reviewer may read, and whether a text gives it away."""

import ast
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from hbench.core.guidance import Entry, entries
from hbench.core.harness import Harness
from hbench.core.syntax import parse

TAGS = ("<proposal>", "</proposal>", "<findings>", "</findings>", "<guidance>", "</guidance>", "<since>", "</since>")
RUN = 8  # words in a row that are no accident
_FEWEST = 7  # words: shorter pieces are headings and turns of speech

_WORD = re.compile(r"\w+")
_CODE = re.compile(r"^\s*(```|~~~).*?^\s*\1[^\n]*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_PIECE = re.compile(r"(?:[.!?:;]\s+|\n)")


def private(guidance: Harness) -> tuple[str, ...]:
    """Tags of a review, paths and names of the guidance, and its sentences, all as `leaked` looks for them.

    A name of one plain word (`sort`) is left out: it says nothing about where it comes from. So is code in recipes and in
    backticks: saying it is what recipes are for.
    """
    told: dict[str, None] = dict.fromkeys(TAGS)
    for entry in entries(guidance.files):
        told[entry.path] = None
        if re.search(r"[_\d-]", entry.name):
            told[entry.name] = None
        told |= dict.fromkeys(sentences(_prose(entry)))
    return tuple(told)


def sentences(prose: str) -> list[str]:
    """The sentences of `prose` that are long enough to be told again by one who has read them; code is left out."""
    pieces = (piece.strip(" \t#*->") for piece in _PIECE.split(_CODE.sub("\n", prose)))
    return [piece for piece in pieces if len(_WORD.findall(piece)) >= _FEWEST]


def leaked(text: str, private: Sequence[str], known: str = "") -> str | None:
    """What of `private` stands in `text`: a name, or a sentence of which RUN words in a row (all, where it has fewer) are
    there; None for nothing. known: what its writer has read anyway; what stands there too is no leak.

    Case, blanks and punctuation do not count in sentences. A paraphrase is not found.
    """
    names, runs = _sought(tuple(private))
    found = next((name for name in names if _names(name, text) and not _names(name, known)), None)
    if found is not None:
        return found
    said = f" {_words(text)} "
    return next((told for run, told in runs if run in said and run not in f" {_words(known)} "), None)


@lru_cache(maxsize=16)
def _sought(private: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Names, and (words in a row, sentence) of every sentence."""
    names = tuple(each for each in private if not re.search(r"\s", each))
    runs = [(f" {run} ", told) for told in private if told not in names for run in _runs(told)]
    return names, tuple(runs)


def _runs(sentence: str) -> Iterator[str]:
    words = _words(sentence).split()
    for start in range(max(len(words) - RUN, 0) + 1):
        yield " ".join(words[start : start + RUN])


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _names(name: str, text: str) -> bool:
    """Whether `name` stands in `text` on its own, not inside a longer word."""
    before, after = (r"(?<![\w-])" if name[0].isalnum() else ""), (r"(?![\w-])" if name[-1].isalnum() else "")
    return re.search(before + re.escape(name.casefold()) + after, text.casefold()) is not None


def _prose(entry: Entry) -> str:
    """What is said in an entry: a text without its code, or the strings and comments of a check."""
    if entry.sort != "check":
        return entry.text
    strings = [n.value for n in ast.walk(parse(entry.text)) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return "\n".join([*strings, *re.findall(r"#[^\n]*", entry.text)])
