"""What the audit of sources finds, and that it finds whatever can be seen to happen."""

import pytest

from hbench.exhibits.flow import flow_marks, prompt_only
from tests.where import REPO

HARNESSES = REPO / "specs/harnesses"


def found(source: str) -> set[str]:
    return {mark for mark, lines in flow_marks(source).items() if lines}


@pytest.mark.parametrize(
    ("name", "marks"),
    [
        ("seed", set()),
        ("tool_loop", {"interpreter_loop"}),
        ("two_hop", {"summary_feeds_query", "summaries_reach_answer"}),
        ("passages", {"summary_feeds_query", "passages_reach_answer"}),
        ("third_hop", {"summary_feeds_query", "third_search", "passages_reach_answer"}),
    ],
)
def test_a_harness_of_ours_has_its_marks(name, marks):
    assert found((HARNESSES / f"{name}.py").read_text()) == marks


def test_the_reference_that_searches_again_checks_its_draft():
    marks = found((HARNESSES / "re_search.py").read_text())
    assert {"conditional_search", "draft_checked", "passages_reach_answer"} <= marks


TWO_SEARCHES = """
def run(question, tools):
    first = tools.search(question)
    note = tools.lm(str(first))
    second = tools.search({query})
    draft = tools.lm({prompt})
    {more}
    return draft
"""


def harness(query: str = "question", prompt: str = "note", more: str = "pass") -> set[str]:
    return found(TWO_SEARCHES.format(query=query, prompt=prompt, more=more))


@pytest.mark.parametrize(
    "query", ["note", "f'{question} {note}'", "' '.join([question, note])", "tools.lm('next? ' + note)"]
)
def test_a_summary_feeds_the_next_query(query):
    assert "summary_feeds_query" in harness(query=query)


@pytest.mark.parametrize("query", ["question", "first[0]['title']", "tools.lm(question)"])
def test_a_query_without_the_summary_is_fed_by_none(query):
    assert "summary_feeds_query" not in harness(query=query)


@pytest.mark.parametrize(
    "prompt",
    [
        "str(second)",
        "'%s' % [p['text'] for p in second]",
        "[{'role': 'user', 'content': ''.join(p['text'] for p in first + second)}]",
        "question, system=second[0]['text']",
    ],
)
def test_passages_reach_the_answer(prompt):
    assert "passages_reach_answer" in harness(prompt=prompt)


def test_summaries_alone_are_no_passages():
    assert harness(prompt="note") == {"summaries_reach_answer"}


@pytest.mark.parametrize(
    "more",
    [
        "if not any(draft in p['text'] for p in second): second = tools.search(draft)",
        "known = [p for p in second if draft in p['text']]\n    if not known: tools.search(draft)",
        "seen = draft in str(second)\n    seen or tools.search(draft)",
        "if draft in str(second): return draft\n    more = tools.search(draft)",
        "while draft not in str(second): second += tools.search(draft)",
    ],
)
def test_searching_again_when_the_draft_is_in_no_passage(more):
    assert {"draft_checked", "conditional_search"} <= harness(more=more)


def test_a_condition_on_the_reply_alone_is_no_check_against_passages():
    marks = harness(more="if 'unknown' in draft: tools.search(question)")
    assert "conditional_search" in marks and "draft_checked" not in marks


CHECK = """
def supported(draft, passages):
    for passage in passages:
        if draft.lower() in passage["text"].lower():
            return True
    return False

def run(question, tools):
    passages = tools.search(question)
    draft = tools.lm(str(passages))
    if not supported(draft, passages):
        draft = tools.lm(str(tools.search(draft)))
    return draft
"""


def test_a_check_in_a_function_of_its_own_is_one():
    assert flow_marks(CHECK)["draft_checked"] == [12]
    assert flow_marks(CHECK)["passages_reach_answer"] == [12]


@pytest.mark.parametrize(
    ("loop", "third"),
    [
        ("for _ in range(2): tools.search(question)", False),
        ("for _ in range(3): tools.search(question)", True),
        ("for _ in range(HOPS): tools.search(question)", True),
        ("for query in [question, 'b']: tools.search(query)", False),
        ("for query in question.split(): tools.search(query)", True),
        ("[tools.search(query) for query in question.split()]", True),
        ("tools.search(question) if question else tools.search('b')\n    tools.search('c')", False),
        ("if question: tools.search('a'); tools.search('b')\n    else: tools.search('c')", False),
        ("if question: tools.search('a'); return ''\n    tools.search('b'); tools.search('c')", False),
        ("if question: tools.search('a')\n    tools.search('b'); tools.search('c')", True),
        ("twice(tools); twice(tools)", True),
        ("twice(tools)", False),
        ("list(map(tools.search, question.split())); twice(tools)", True),
    ],
)
def test_a_third_search_is_counted_along_the_longest_way(loop, third):
    twice = "HOPS = 4\ndef twice(t):\n    t.search('a')\n    t.search('b')\n"
    source = f"{twice}def run(question, tools):\n    {loop}\n"
    assert ("third_search" in found(source)) is third


LOOP = """
class Solver:
    def __init__(self, tools):
        self.tools, self.messages = tools, []

    def step(self):
        reply = self.tools.lm(self.messages)
        self.messages.append(reply)
        result = self.tools.python(reply)
        self.messages.append(result["stdout"])
        return reply

def run(question, tools):
    solver = Solver(tools)
    solver.messages.append(question)
    for _ in range(6):
        reply = solver.step()
    return reply
"""


def test_an_interpreter_loop_may_live_in_a_class():
    assert "interpreter_loop" in found(LOOP)


def test_code_of_the_harness_itself_is_no_interpreter_loop():
    source = "def run(question, tools):\n    n = tools.python('print(1)')['stdout']\n    return tools.lm(question + n)\n"
    assert found(source) == set()


@pytest.mark.parametrize(
    "body",
    [
        "ask = tools.lm\n    return ask(str(tools.search(question)))",
        "ask = lambda text: tools.lm(text)\n    return ask(str(tools.search(question)))",
        "def ask(text): return tools.lm(text)\n    return ask(str(tools.search(question)))",
        "ns = []\n    def note(text): ns.append(text)\n    note(tools.search(question))\n    return tools.lm(str(ns))",
        "d = {}\n    d['p'] = tools.search(question)\n    return tools.lm(d['p'][0]['text'])",
        "a, b = tools.search(question), 1\n    return tools.lm(str(a))",
        "try:\n        p = tools.search(question)\n    except Exception:\n        p = []\n    return tools.lm(str(p))",
        "search = getattr(tools, 'search')\n    return tools.lm(str(search(question)))",
        "if (p := tools.search(question)):\n        return tools.lm(f'{p!r}')\n    return ''",
        "match tools.search(question):\n        case [p, *_]: return tools.lm(str(p))\n    return ''",
        "with open('x') as f:\n        p = tools.search(question)\n    return tools.lm(str(p))",
        "p = ''\n    p += tools.search(question)[0]['text']\n    return max([tools.lm(p)], key=len)",
    ],
)
def test_passages_are_followed_through_whatever_python_offers(body):
    assert "passages_reach_answer" in found(f"def run(question, tools):\n    {body}\n")


@pytest.mark.parametrize(
    "source", ["", "def run(", "x = 1", "def ran(q, t): return t.lm(q)", "\x00", "(" * 500 + ")" * 500]
)
def test_a_source_without_a_harness_has_no_marks(source):
    assert flow_marks(source) is None


def test_a_source_that_is_too_winding_is_given_up():
    calls = "\n".join(f"def f{i}(t): f{i + 1}(t); f{i + 1}(t); f{i + 1}(t); f{i + 1}(t)" for i in range(30))
    assert flow_marks(f"{calls}\ndef f30(t): t.search('a')\ndef run(question, tools): f0(tools)\n") is None
    assert flow_marks("def run(question, tools): return run(question, tools)") is not None


def test_changed_texts_are_a_change_of_prompts_alone():
    before = 'def run(question, tools):\n    """One."""\n    return tools.lm(f"Say {question} now", max_tokens=5)\n'
    assert prompt_only(before, before.replace("Say", "Tell").replace("One", "Two")) is True
    assert prompt_only(before, before.replace('"""One."""\n    ', "")) is True
    assert prompt_only(before, before + "# a remark\n") is False
    assert prompt_only(before, before.replace("5", "6")) is False
    assert prompt_only(before, before.replace(" now", " now {question}")) is False
    assert prompt_only(before, "def run(") is None
