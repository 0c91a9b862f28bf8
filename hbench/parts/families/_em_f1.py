"""Exact match and token F1 of an answer, by the rules that HotpotQA, MuSiQue and 2WikiMultihopQA publish."""

import re
import string
from collections import Counter
from collections.abc import Iterable, Mapping, Set

from hbench.core.question import Question

GRADES = ("em", "f1")
WHOLE = frozenset({"yes", "no", "noanswer"})  # right as a whole or not at all: HotpotQA's and 2WikiMultihopQA's rule

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)  # ASCII signs only, as published
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def grade_answer(answer: str, question: Question, whole: Set[str] = WHOLE) -> Mapping[str, float]:
    """{"em": 0.0 or 1.0, "f1": in [0, 1]}: the best over the question's answer and meta["aliases"]."""
    return em_f1(answer, [question.answer, *question.meta.get("aliases", ())], whole)


def em_f1(answer: str, golds: Iterable[str], whole: Set[str] = WHOLE) -> dict[str, float]:
    """The best of each over `golds`; the two may come from different golds. An empty answer scores 0.

    whole: normalised answers that share no token with any other answer; MuSiQue's script has none.
    Where a gold is nothing but articles and punctuation ("A", "!!!"), the published rule would call an empty answer
    right and every letter equal: such a gold is compared as it is written, in lower case with single blanks.
    """
    best_em = best_f1 = 0.0
    for gold in golds:
        read = normalise if normalise(gold) else _as_written
        said, right = read(answer), read(gold)
        best_em = max(best_em, float(said == right and said != ""))
        best_f1 = max(best_f1, _f1(said, right, whole))
    return {"em": best_em, "f1": best_f1}


def normalise(text: str) -> str:
    """Lower case, no ASCII punctuation, no articles, single blanks, in this order: "The U.S.A." -> "usa"."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def _as_written(text: str) -> str:
    return " ".join(text.lower().split())


def _f1(said: str, right: str, whole: Set[str]) -> float:
    """Harmonic mean of precision and recall of tokens, counted as often as they stand there."""
    if said != right and (said in whole or right in whole):
        return 0.0
    said_tokens, right_tokens = said.split(), right.split()
    same = sum((Counter(said_tokens) & Counter(right_tokens)).values())
    return 2 * same / (len(said_tokens) + len(right_tokens)) if same else 0.0
