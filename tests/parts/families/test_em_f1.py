"""Exact match and F1, against the shared cases and against rules written here a second time from their description."""

import gzip
import json
import random

import pytest

from hbench.core.question import Question
from hbench.parts.families._em_f1 import em_f1, grade_answer, normalise
from tests.where import cases, data

NAMES = ("hotpotqa", "musique", "2wiki")
CASES = ("49-token-multiplicity", "51-article-only-gold", "53-punctuation-inside-numbers", "55-yes-no-and-answer-shape")
ASCII_SIGNS = {chr(code) for code in (*range(33, 48), *range(58, 65), *range(91, 97), *range(123, 127))}


def words(text: str) -> list[str]:
    """The published normalisation in other words: a walk over characters that makes the list of counted words.

    Lower case; ASCII signs vanish, joining what stood on their two sides; a, an and the vanish as whole words, where a
    word ends at anything that is neither letter nor digit (the underscore has vanished); blanks separate.
    """
    kept = [sign for sign in text.lower() if sign not in ASCII_SIGNS]
    pieces, current = [], ""
    for sign in kept:
        if sign.isalnum():
            current += sign
        else:
            pieces += [current, sign]
            current = ""
    pieces.append(current)
    return "".join(" " if piece in ("a", "an", "the") else piece for piece in pieces).split()


def independent_em_f1(answer: str, golds: list[str], whole_words: bool) -> tuple[float, float]:
    """The best exact match and the best F1 over `golds`, F1 by striking out one gold word for each word said."""
    exact, overlap = [], []
    for gold in golds:
        said, right = words(answer), words(gold)
        exact.append(said == right)
        if whole_words and said != right and {" ".join(said), " ".join(right)} & {"yes", "no", "noanswer"}:
            continue
        left, hits = list(right), 0
        for word in said:
            if word in left:
                left.remove(word)
                hits += 1
        if hits:
            precision, recall = hits / len(said), hits / len(right)
            overlap.append(2 / (1 / precision + 1 / recall))
    return float(any(exact)), max(overlap, default=0.0)


def rows(name: str) -> list[dict]:
    with gzip.open(data() / "qa" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def perturbed(gold: str, others: list[str], draw: random.Random) -> list[str]:
    """Answers near `gold`: each way of being nearly right that a model has, and some of being wrong."""
    parts = gold.split()
    start = draw.randrange(len(parts))
    span = parts[start : start + draw.randint(1, len(parts))]
    article = draw.choice(["a", "an", "the", "The", "A"])
    sign = draw.choice(list("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") + ["–", "’", "«", "…", "\u00a0", "\u2028", "\u00ad"])
    at = draw.randrange(len(gold) + 1)
    return [
        gold,
        f"{article} {gold}",
        f"{gold} {article} {draw.choice(parts)}",
        gold[:at] + sign + gold[at:],
        f"{sign}{gold}{sign}",
        " ".join(draw.sample(parts, len(parts))),
        " ".join(span),
        " ".join(parts + parts[:1]),
        gold.swapcase(),
        f"  {gold}\n\t",
        draw.choice(others),
        f"{gold} {draw.choice(others)}",
        draw.choice(["", " ", "...", "the", "yes", "no", "Yes.", "noanswer", "no answer", f"no {gold}", f"yes, {gold}"]),
    ]


@pytest.mark.parametrize("name", NAMES)
def test_perturbed_answers_to_real_questions_score_as_by_the_published_rules(name):
    found, draw = rows(name), random.Random(7)
    every = [row["answer"] for row in found]
    checked = 0
    for row in found:
        golds = [row["answer"], *row.get("answer_aliases", [])]
        question = Question.of(name, row["question"], golds[0], None, {"aliases": golds[1:]})
        for gold in golds:
            for answer in perturbed(gold, every, draw):
                whole = frozenset() if name == "musique" else frozenset({"yes", "no", "noanswer"})
                grades = grade_answer(answer, question, whole)
                expected = independent_em_f1(answer, golds, bool(whole))
                assert (grades["em"], grades["f1"]) == pytest.approx(expected, abs=1e-12), (answer, golds)
                checked += 1
    assert checked >= 5_000


@pytest.mark.parametrize("case", CASES)
def test_the_shared_cases_score_as_they_say(case):
    for line in (cases() / case / "pairs.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        number, answer, golds, em, f1, *_ = line.split("\t")
        grades = em_f1(json.loads(answer), json.loads(golds))
        assert grades == {"em": float(em), "f1": pytest.approx(float(f1), abs=1e-6)}, f"{case}, {number}"


def test_the_order_of_the_rules_counts():
    assert normalise("The U.S.A., an  A-list\tteam") == "usa alist team"
    assert normalise("t.h.e. end") == "end"  # punctuation goes before articles


def test_only_ascii_punctuation_goes_and_articles_end_at_other_signs():
    assert normalise("Zürich’s «a–b»") == "zürich’s « –b»"


def test_exact_match_and_f1_are_each_the_best_over_the_aliases():
    question = Question.of("q", "Who?", "John Ronald Reuel Tolkien", None, {"aliases": ["J. R. R. Tolkien", "Tolkien"]})
    assert grade_answer("tolkien", question) == {"em": 1.0, "f1": 1.0}
    assert grade_answer("Ronald Tolkien", question) == {"em": 0.0, "f1": pytest.approx(2 / 3)}


def test_yes_and_no_are_right_as_a_whole_or_not_at_all():
    assert em_f1("no, never", ["no"]) == {"em": 0.0, "f1": 0.0}
    assert em_f1("No.", ["no"]) == {"em": 1.0, "f1": 1.0}


def test_musiques_own_script_counts_yes_and_no_as_words():
    assert em_f1("no", ["no doubt"], frozenset()) == {"em": 0.0, "f1": pytest.approx(2 / 3)}


@pytest.mark.parametrize("gold", ["A", "the", "!!!", "Paris"])
def test_an_empty_answer_is_never_right(gold):
    assert em_f1("", [gold]) == em_f1(" \n", [gold]) == {"em": 0.0, "f1": 0.0}
    assert em_f1(gold, [gold]) == {"em": 1.0, "f1": 1.0}


def test_a_gold_of_articles_or_signs_alone_is_compared_as_written():
    """By the published rule every article, and nothing at all, would equal the gold letter A."""
    assert em_f1("The", ["A"])["em"] == em_f1("?!", ["!!!"])["em"] == 0.0
    assert em_f1(" a ", ["A"])["em"] == 1.0
