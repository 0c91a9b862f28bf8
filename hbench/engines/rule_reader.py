"""A rule-based reader: an LM made of rules, for runs that show what a harness does and not what a model knows."""

from hbench.core.message import Request
from hbench.engines.of_rules import OfRules
from hbench.engines.reading.asked import Asked, read
from hbench.engines.reading.chains import Chain, Comparison, understood
from hbench.engines.reading.follow import Reached, decide, follow, sides
from hbench.engines.reading.guess import guess, names_in, ranked
from hbench.engines.reading.pages import stems, words

VERSION = 1  # as in spec/model_block.py; raised when the same request gets another reply
UNKNOWN = "unknown"


class RuleReader(OfRules):
    """An LM that uses nothing but what stands in its request: no memory, no knowledge of questions, answers or corpora.

    It does three things, told apart by plain cues: it summarises (keeps the few whole sentences that share most words
    with the question, so it loses facts told in other words), writes the next search query (what it has come to, and
    what is missing), and answers: it follows relations it knows by their wordings through the pages, else guesses a
    span of the sentence that shares most words, else says "unknown". Temperature and seed change nothing.
    """

    name = "rule_reader"
    version = VERSION

    def said(self, request: Request) -> str:
        return said(read(request))


def said(asked: Asked) -> str:
    return {"summary": summary, "query": query, "answer": answer}[asked.kind](asked)


def answer(asked: Asked) -> str:
    """A short answer, "unknown" where the pages do not tell."""
    meant = understood(asked.question)
    if isinstance(meant, Comparison):
        found = decide(meant, asked.pages)
    elif isinstance(meant, Chain):
        reached = follow(meant, asked.pages)
        found = None if reached.missing else reached.name
    else:
        found = guess(asked.question, asked.pages)
    return found or UNKNOWN


def query(asked: Asked) -> str:
    """What has been found out so far, with words of what is still missing; the question where nothing is known."""
    meant = understood(asked.question)
    if isinstance(meant, Comparison):
        parts = [_missing(side) for side in sides(meant, asked.pages) if side.missing]
    else:
        parts = [_missing(follow(meant, asked.pages))] if meant else _new_names(asked)
    return " ".join(parts) or asked.question


def summary(asked: Asked) -> str:
    """The best sentences, a line each, with the title of their page; in the order of reading."""
    kept, left = [], asked.most_words
    for _, sentence in ranked(asked.question, asked.pages):
        line = f"{sentence.title}: {sentence.text}" if sentence.title else sentence.text
        if len(kept) < asked.most_sentences and len(words(line)) <= left and line not in kept:
            kept.append(line)
            left -= len(words(line))
    return "\n".join(kept) or "Nothing in the passages helps."


def _missing(reached: Reached) -> str:
    return f"{reached.name} {reached.missing.cues}" if reached.missing else reached.name


def _new_names(asked: Asked) -> list[str]:
    """For a question of unknown form: names that the best sentences bring in, and the question's own telling words."""
    known = stems(asked.question)
    best = [sentence for _, sentence in ranked(asked.question, asked.pages)[:2]]
    found = [name for s in best for name in (s.title, *names_in(s.text)) if stems(name) - known]
    own = [word for word in words(asked.question) if stems(word) and word[0].islower()]
    return [*dict.fromkeys(found[:2]), *own] if found else []
