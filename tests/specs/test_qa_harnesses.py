"""The multi-hop harnesses: what they do with their tools, and that each adds what its first line says."""

import ast
import asyncio
import json
import re

import pytest

from hbench.core.harness import Harness
from hbench.core.message import Message, Request, Sampling
from hbench.engines.recorded import RecordedLM
from hbench.engines.rule_reader import RuleReader
from hbench.parts.edits.python_block import PythonBlock
from hbench.parts.part import build
from tests.engines.asking import ask
from tests.where import REPO

NAMES = ("two_hop", "passages", "third_hop", "re_search")
FILES = {name: (REPO / "specs" / "harnesses" / f"{name}.py").read_text("utf-8") for name in NAMES}
REPLIES = REPO / "specs" / "replies" / "qa.jsonl"
FAMILY = build("families", {"kind": "invented_hops"})


def run(name, question, tools):
    space = {}
    exec(compile(FILES[name], name, "exec"), space)
    return space["run"](question, tools)


class FakeTools:
    """Finds `found` for every query, says what `says` makes of a prompt, and keeps what it was asked."""

    def __init__(self, says, found=None):
        self.says, self.found = says, found
        self.queries, self.prompts = [], []

    def search(self, query, top_k=7):
        self.queries.append(query)
        number = len(self.queries)
        return [{"id": f"{number}-{i}", "title": f"T{number}-{i}", "text": f"text {number}-{i}"} for i in range(top_k)]

    def lm(self, prompt, **_):
        self.prompts.append(prompt)
        return self.says(prompt)


def by_ask(prompt):
    last = prompt.splitlines()[-1]
    return {"Summarise": "a summary", "Write": "a query", "Answer": '"Zork"\nbecause'}[last.split()[0]]


@pytest.mark.parametrize("name", NAMES)
def test_a_harness_is_short_plain_and_has_its_entry_point(name):
    lines = FILES[name].splitlines()
    assert len(lines) <= 80
    imports = [node for node in ast.walk(ast.parse(FILES[name])) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert not imports
    PythonBlock(kind="python_block").apply(Harness({"harness.py": "x = 1\n"}), edit(FILES[name]))


def edit(code):
    return PythonBlock(kind="python_block").parse(f"As it is.\n\n```python\n{code}```\n")


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_is_the_first_line_of_the_last_reply_without_quotes(name):
    assert run(name, "Who?", FakeTools(by_ask)) == "Zork"


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_reply_or_no_passages_break_nothing(name):
    class Nothing(FakeTools):
        def search(self, query, top_k=7):
            assert query
            return []

    assert run(name, "Who?", Nothing(lambda prompt: "")) == ""


def test_the_seed_answers_from_two_summaries_and_sees_no_passage():
    tools = FakeTools(by_ask)
    run("two_hop", "Who?", tools)
    assert tools.queries == ["Who?", "a query"]
    assert "a summary" in tools.prompts[1] and tools.prompts[1].splitlines()[-1].startswith("Write")
    assert tools.prompts[-1].count("a summary") == 2 and "text" not in tools.prompts[-1]


def test_passages_shows_both_searches_to_the_answer_and_asks_for_the_query_with_the_summary():
    tools = FakeTools(by_ask)
    run("passages", "Who?", tools)
    assert tools.queries == ["Who?", "a query"] and "a summary" in tools.prompts[1]
    assert "text 1-0" in tools.prompts[-1] and "text 2-0" in tools.prompts[-1] and "a summary" not in tools.prompts[-1]


def test_third_hop_searches_three_times():
    tools = FakeTools(by_ask)
    run("third_hop", "Who?", tools)
    assert len(tools.queries) == 3
    assert all(f"text {n}-0" in tools.prompts[-1] for n in (1, 2, 3))


def test_re_search_goes_on_until_the_draft_stands_in_a_passage():
    queries = iter("abcdefgh")
    says = lambda prompt: next(queries) if prompt.splitlines()[-1].startswith("Write") else "text 3-1"  # noqa: E731
    tools = FakeTools(says)
    assert run("re_search", "Who?", tools) == "text 3-1"
    assert tools.queries == ["Who?", "a", "b"]
    yes = FakeTools(lambda prompt: "Yes")
    assert run("re_search", "Is it?", yes) == "Yes" and len(yes.queries) == 1


def test_re_search_ends_after_five_searches_or_when_it_would_repeat_one():
    queries = iter("abcdefgh")
    never = FakeTools(lambda prompt: next(queries) if prompt.splitlines()[-1].startswith("Write") else "Zork")
    run("re_search", "Who?", never)
    assert len(never.queries) == 5
    same = FakeTools(by_ask)
    run("re_search", "Who?", same)
    assert same.queries == ["Who?", "a query"]


@pytest.mark.parametrize("name", NAMES)
def test_no_prompt_is_longer_than_a_small_context_allows(name):
    class Long(FakeTools):
        def search(self, query, top_k=7):
            found = super().search(f"{query} {len(self.queries)}", top_k)
            return [{**p, "title": "A title of some length", "text": "word " * 400} for p in found]

    tools = Long(lambda prompt: f"nothing {len(tools.prompts)}")
    run(name, "Who?", tools)
    assert max(map(len, tools.prompts)) < 5200  # about 1,500 tokens


class RealTools:
    """The rule-based reader, and BM25 over the invented corpus."""

    def __init__(self, corpus, loop):
        self.corpus, self.loop, self.found = corpus, loop, set()

    def search(self, query, top_k=7):
        found = [passage.to_json() for passage in self.loop.run_until_complete(self.corpus.search(query, top_k))]
        self.found |= {passage["id"] for passage in found}
        return found

    def lm(self, prompt, **_):
        request = Request((Message("user", prompt),), Sampling(max_tokens=64))
        return self.loop.run_until_complete(RuleReader().generate([request]))[0].text


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """harness -> hops -> (EM, supporting-document recall), over 60 questions with the rule-based reader."""
    pytest.importorskip("bm25s")
    from hbench.engines.bm25 import open_corpus

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HBENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        loop = asyncio.new_event_loop()

        async def opened():
            return open_corpus(FAMILY.corpus(), lambda line: None)

        corpus = loop.run_until_complete(opened())
        questions = FAMILY.questions(0, 60, seed=11)
        yield {name: measure(name, questions, corpus, loop) for name in NAMES}
        loop.run_until_complete(corpus.close())
        loop.close()


def measure(name, questions, corpus, loop):
    rows = []
    for question in questions:
        tools = RealTools(corpus, loop)
        em = FAMILY.grade(run(name, question.text, tools), question)["em"]
        supporting = set(question.meta["supporting"])
        rows.append((question.meta["hops"], em, len(supporting & tools.found) / len(supporting)))
    return {
        hops: tuple(sum(row[i] for row in chosen) / len(chosen) for i in (1, 2))
        for hops in (2, 3, 4)
        if (chosen := [row for row in rows if row[0] == hops])
    }


def long_ones(measured, name, which):
    return (measured[name][3][which] + measured[name][4][which]) / 2


def test_references_beat_the_seed_with_the_rule_based_reader(measured):
    em = {name: sum(hops[0] for hops in measured[name].values()) / 3 for name in NAMES}
    assert em["two_hop"] < em["passages"] < em["third_hop"] < em["re_search"]
    assert em["re_search"] - em["two_hop"] > 0.4
    assert 0.02 < em["two_hop"] < 0.5  # weak, and not hopeless


def test_further_searches_find_more_supporting_paragraphs_of_three_and_four_hops(measured):
    recall = {name: long_ones(measured, name, 1) for name in NAMES}
    assert recall["passages"] < recall["third_hop"] < recall["re_search"]
    assert recall["two_hop"] < recall["third_hop"] - 0.05
    em = {name: long_ones(measured, name, 0) for name in NAMES}
    assert em["two_hop"] <= em["passages"] < em["third_hop"] < em["re_search"]


def test_given_exactly_the_supporting_paragraphs_the_reader_answers():
    documents = {document.id: document for document in FAMILY.corpus().documents()}
    right = 0.0
    questions = FAMILY.questions(0, 150, seed=11)
    for question in questions:
        pages = [documents[identity] for identity in question.meta["supporting"]]
        lines = "\n".join(f"[{i}] {p.title}: {p.text}" for i, p in enumerate(pages, 1))
        prompt = f"Passages:\n{lines}\n\nQuestion: {question.text}\nAnswer the question."
        right += FAMILY.grade(asyncio.run(RuleReader().generate([ask(prompt)]))[0].text, question)["em"]
        less = "\n".join(lines.splitlines()[:-1])
        assert asyncio.run(RuleReader().generate([ask(prompt.replace(lines, less))]))[0].text == "unknown"
    assert right / len(questions) >= 0.9


def proposed(parent, seed=0):
    """What the recorded proposer makes of the harness `parent`."""
    text = f"Family: invented_hops\nQuestions.\n\nThe harness now:\n<harness>\n{parent}</harness>\n\nScore 0.1"
    reply = asyncio.run(RecordedLM(REPLIES).generate([ask(text, seed)]))[0].text
    assert reply.startswith("Diagnosis: ")
    edits = PythonBlock(kind="python_block")
    return edits.parse(reply).code


def test_the_recorded_edits_turn_the_seed_into_the_references_round_by_round():
    assert proposed(FILES["two_hop"]) == FILES["passages"]
    assert {proposed(FILES["passages"], seed) for seed in (0, 1)} == {FILES["third_hop"], FILES["re_search"]}
    assert proposed(FILES["third_hop"]) == FILES["re_search"]
    wide = proposed(FILES["re_search"])
    assert wide == re.sub("four times", "six times", FILES["re_search"].replace("SEARCHES = 5", "SEARCHES = 7"))
    assert proposed(wide) == wide  # no change: the chain has come to its end


def test_every_recorded_edit_says_that_it_was_written_by_hand():
    rows = [json.loads(line) for line in REPLIES.read_text("utf-8").splitlines()]
    assert {row["label"] for row in rows} == {"hand-written"}
