"""The rule-based reader: what it makes of a request, and that it uses nothing else."""

import asyncio

import pytest

from hbench.core.failure import HbenchError
from hbench.core.message import Message, Request, Sampling
from hbench.core.model import ModelRef
from hbench.engines.open_lm import open_lm
from hbench.engines.reading.asked import read
from hbench.engines.reading.chains import Chain, Comparison, understood
from hbench.engines.rule_reader import UNKNOWN, VERSION, RuleReader
from hbench.spec import model_block
from tests.engines.asking import ask

BOOK = (
    "The Salt of Vinopod is a novel. A play of the same name was written by Brun Tagg. "
    "The book was written by Vradol Krork."
)
AUTHOR = "Vradol Krork was a painter of some renown. He was born in 1711. He was born in the town of Sonetheln."
TOWN = "Sonetheln is a market town. The river Kregoth flows through Sonetheln. It has 4210 inhabitants."
PAGES = [("The Salt of Vinopod", BOOK), ("Vradol Krork", AUTHOR), ("Sonetheln", TOWN)]
QUESTION = "Which river flows through the town where the author of the book “The Salt of Vinopod” was born?"
# A pattern that goes back and forth over these would hang.
HOSTILE = "Write " * 5_000 + "\nQuestion: " + "the author of the or " * 2_000 + "\n" + "Xy of (" * 5_000
TO_ANSWER = "Answer the question with a name, and nothing else."
TO_SUMMARISE = "Summarise in at most two sentences what the passages say about the question."
TO_SEARCH = "Write the next search query that helps to answer the question, and nothing else."


def said(prompt: str, **sampling) -> str:
    return asyncio.run(RuleReader().generate([ask(prompt, **sampling)]))[0].text


def prompt(pages, told, question=QUESTION) -> str:
    lines = [f"[{i}] {title}: {text}" for i, (title, text) in enumerate(pages, 1)]
    return "Passages:\n" + "\n".join(lines) + f"\n\nQuestion: {question}\n{told}"


def test_it_follows_a_chain_through_the_passages_of_its_request():
    assert said(prompt(PAGES, TO_ANSWER)) == "Kregoth"
    assert said(prompt(reversed(PAGES), TO_ANSWER)) == "Kregoth"


@pytest.mark.parametrize("missing", range(3))
def test_it_says_that_it_does_not_know_when_a_passage_is_missing(missing):
    assert said(prompt(PAGES[:missing] + PAGES[missing + 1 :], TO_ANSWER)) == UNKNOWN


def test_what_was_asked_before_does_not_help_later():
    reader = RuleReader()
    first, second = asyncio.run(reader.generate([ask(prompt(PAGES, TO_ANSWER)), ask(prompt([], TO_ANSWER))]))
    assert (first.text, second.text) == ("Kregoth", UNKNOWN)
    assert vars(reader) == {}


def test_the_next_query_names_what_it_has_come_to_and_what_is_missing():
    assert said(prompt([], TO_SEARCH)).startswith("The Salt of Vinopod author")
    assert said(prompt(PAGES[:1], TO_SEARCH)).startswith("Vradol Krork born")
    assert said(prompt(PAGES[:2], TO_SEARCH)).startswith("Sonetheln river")


def test_a_query_for_a_comparison_names_both_sides():
    question = "Who was born earlier, the author of the book “The Salt of Vinopod” or Grasta Vitark?"
    query = said(prompt(PAGES[:1], TO_SEARCH, question))
    assert "Vradol Krork born" in query and "Grasta Vitark born" in query


def test_a_summary_keeps_few_whole_sentences_with_their_titles():
    lines = said(prompt(PAGES, TO_SUMMARISE)).splitlines()
    assert len(lines) == 2
    for line in lines:
        title, sentence = line.split(": ", 1)
        assert sentence in dict(PAGES)[title]


def test_a_summary_loses_facts_that_are_told_in_other_words_than_the_question():
    long = [*PAGES, ("Kregoth", "The Kregoth is a river. The river flows through a town where a book was born.")]
    summary = said(prompt(long, TO_SUMMARISE))
    assert said(f"Summaries:\n{summary}\n\nQuestion: {QUESTION}\n{TO_ANSWER}") == UNKNOWN


def test_the_length_of_a_summary_is_as_told_and_within_the_tokens():
    assert len(said(prompt(PAGES, "Summarise the passages in one sentence.")).splitlines()) == 1
    assert len(said(prompt(PAGES, "Summarise the passages in 12 words.")).split()) <= 12
    reply = asyncio.run(RuleReader().generate([ask(prompt(PAGES, TO_SUMMARISE), max_tokens=5)]))[0]
    assert (len(reply.text.split()), reply.finish_reason) == (5, "length")


def test_temperature_and_seed_change_nothing():
    replies = {
        asyncio.run(RuleReader().generate([ask(prompt(PAGES, TO_ANSWER), seed, temperature=heat)]))[0].text
        for seed in range(3)
        for heat in (0.0, 1.0)
    }
    assert replies == {"Kregoth"}


def test_it_stops_where_it_is_told_to():
    assert said(prompt(PAGES, TO_ANSWER), stop=("go",)) == "Kre"


@pytest.mark.parametrize(
    "layout",
    [
        "{q}\n\nContext:\n{p}\n\n{t}",
        "{t}\n\nQuestion: {q}\n\nDocuments:\n{p}",
        "Question:\n{q}\nPassages:\n{p}\n{t}",
        "You are a careful reader.\n{t}\n{p}\nQ: {q}",
    ],
)
def test_passages_question_and_order_may_stand_in_any_layout(layout):
    pages = "\n".join(f"- {title} | {text}" for title, text in PAGES)
    assert said(layout.format(q=QUESTION, p=pages, t=TO_ANSWER)) == "Kregoth"
    assert said(layout.format(q=QUESTION, p=pages, t=TO_SEARCH)) == "Kregoth"  # nothing is missing: what it found


def test_messages_of_a_conversation_are_read_together():
    last = Message("user", f"[1] Sonetheln: {TOWN}")
    messages = (Message("system", TO_ANSWER), Message("user", prompt(PAGES[:2], "")), last)
    assert asyncio.run(RuleReader().generate([Request(messages, Sampling())]))[0].text == "Kregoth"


def test_a_draft_in_the_request_is_no_passage():
    asked = read(ask(f"Draft answer: The river Nix flows through Sonetheln.\nQuestion: {QUESTION}\n{TO_ANSWER}"))
    assert asked.pages == () and asked.question == QUESTION


def test_facts_of_others_on_the_same_page_do_not_count():
    page = (
        "Vradol Krork was a painter. A cousin, Brun Tagg, was born in Nalidrom. "
        "Some guidebooks wrongly name Hegim as the place."
    )
    assert said(prompt([("Vradol Krork", page)], TO_ANSWER, "Where was Vradol Krork born?")) == UNKNOWN


def test_questions_become_chains_and_comparisons():
    chain = understood(QUESTION)
    assert isinstance(chain, Chain) and chain.start == "The Salt of Vinopod"
    assert [r.name for r in chain.relations] == ["author", "birthplace", "river"]
    both = understood("Was the founder of the town of Kelim born before the head of Dovalk Academy?")
    assert isinstance(both, Comparison) and (both.left.start, both.right.start) == ("Kelim", "Dovalk Academy")
    assert understood("Why is the sea salt?") is None


def test_for_other_questions_it_guesses_from_the_sentence_that_shares_most_words():
    pages = [("Réserve Lomako", "The Réserve Lomako was established in 1991 to protect the habitat of Bonobo apes."),
             ("Céreste", "Céreste is a commune in southeastern France.")]  # fmt: skip
    assert said(prompt(pages, TO_ANSWER, "When was the Réserve Lomako established to protect apes?")) == "1991"
    assert said(prompt(pages, TO_ANSWER, "What colour has the flag of Mexico City?")) == UNKNOWN


ODD = ["", "?", "Question:", "[1] : x", "Summarise.", "\u2028\ud800", "Answer the question.\n" * 50, HOSTILE]


@pytest.mark.parametrize("odd", ODD)
def test_any_request_gets_a_reply(odd):
    reply = asyncio.run(RuleReader().generate([ask(odd)]))[0]
    assert reply.finish_reason == "stop" and reply.text


def test_a_request_that_no_context_would_hold_is_refused_as_too_long():
    (error,) = asyncio.run(RuleReader().generate([ask("word " * 30_000)]))
    assert error.kind == "too_long"


def test_it_is_the_model_that_a_spec_names_by_kind_rules():
    block = model_block.RulesBlock(kind="rules", name="rule_reader")
    ref = block.ref("solver")
    assert ref.identity == {"kind": "rules", "name": "rule_reader", "version": VERSION}
    assert isinstance(open_lm(ref, {}), RuleReader)


def test_a_reader_of_another_version_is_refused():
    with pytest.raises(HbenchError, match="version 99"):
        open_lm(ModelRef("solver", "rules:rule_reader", {"kind": "rules", "name": "rule_reader", "version": 99}), {})
