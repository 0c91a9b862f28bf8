"""What of a guidance nobody but the reviewer may read, and whether a text gives it away."""

import ast
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from hbench.core.guidance import Entry, entries
from hbench.core.harness import Harness
from hbench.core.syntax import parse

TAGS = ("<proposal>", "</proposal>", "<findings>", "</findings>", "<guidance>", "</guidance>", "<since>", "</since>")
RUN = 8  # words in a row that are no accident
_FEWEST = 7  # words beside code: shorter sentences are headings and turns of speech
_MOST_CODE = 3  # words of a run: with more of them it is what recipes are for

_WORD = re.compile(r"\w+")
_FENCED = re.compile(r"^\s*(```|~~~).*?^\s*\1[^\n]*$", re.MULTILINE | re.DOTALL)
_GOES_ON = re.compile(r"(?<=\S)[ \t]*\n[ \t]*(?=[^\W\d_]|`)")  # a line's end inside a paragraph
_HEADING = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_SENTENCE = re.compile(r"(?:`[^`\n]*`|[.!?:;](?!\s)|[^.!?:;\n])+")
_ESCAPED = re.compile(r"\\[nrt\"]")  # as the arguments of a call hold a line break
# A backslash, which Markdown and JSON write before a sign, and letters that nobody sees.
_UNSEEN = re.compile("[\\\\\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")


def private(guidance: Harness) -> tuple[str, ...]:
    """Tags of a review, paths and names of the guidance, and its sentences, all as `leaked` looks for them.

    A name of one plain word (`sort`) is left out: it says nothing about where it comes from. So is code, in fences or in
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
    """The sentences of `prose` that are long enough to be told again by one who has read them, over the ends of lines.

    Fenced code is left out; code in backticks stays in its sentence, and is none by itself.
    """
    paragraphs = _HEADING.sub(r"\g<0>\n", _FENCED.sub("\n\n", prose))
    whole = _GOES_ON.sub(" ", paragraphs)
    found = (sentence.strip(" \t#*->") for sentence in _SENTENCE.findall(whole))
    return [each for each in found if sum(not code for _, code in _marked(each)) >= _FEWEST]


def leaked(text: str, private: Sequence[str], known: str = "") -> str | None:
    """What of `private` stands in `text`: a name, or a sentence of which RUN words in a row (all, where it has fewer) are
    there; None for nothing. known: what its writer has read anyway; what stands there too is no leak.

    Case, and how a letter is written, do not count; in sentences blanks and punctuation neither. A paraphrase is not found.
    """
    names, runs = _sought(tuple(private))
    text, known = _plain(text), _plain(known)
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
    told = _marked(sentence)
    for start in range(max(len(told) - RUN, 0) + 1):
        run = told[start : start + RUN]
        if sum(code for _, code in run) <= _MOST_CODE:
            yield " ".join(word for word, _ in run)


def _marked(sentence: str) -> list[tuple[str, bool]]:
    """(word, whether it stands in backticks) of each word."""
    parts = enumerate(sentence.split("`"))
    return [(word, bool(number % 2)) for number, part in parts for word in _words(_plain(part)).split()]


def _plain(text: str) -> str:
    """`text` as it is read: signs without their backslashes, no letter that is not seen, each in its plain form."""
    shown = _UNSEEN.sub("", _ESCAPED.sub(" ", text))
    return (shown if shown.isascii() else unicodedata.normalize("NFKC", shown)).casefold()


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text))


def _names(name: str, text: str) -> bool:
    """Whether `name` stands in `text` on its own, not inside a longer word."""
    before, after = (r"(?<![\w-])" if name[0].isalnum() else ""), (r"(?![\w-])" if name[-1].isalnum() else "")
    return re.search(before + re.escape(_plain(name)) + after, text) is not None


def _prose(entry: Entry) -> str:
    """What is said in an entry: a text without its code, or the strings and comments of a check."""
    if entry.sort != "check":
        return entry.text
    strings = [n.value for n in ast.walk(parse(entry.text)) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return "\n\n".join([*strings, *re.findall(r"#[^\n]*", entry.text)])
