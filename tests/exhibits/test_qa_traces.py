"""The second path: harnesses run with tools that make up texts, and what happened is read off the events."""

import json
import random
from pathlib import Path

import pytest

from hbench.exhibits.flow import MARKS
from hbench.exhibits.flow_trace import TRACE_MARKS, trace_marks
from tests.exhibits.test_qa_flow import HARNESSES, found


class Tools:
    """Passages and replies with words that nothing else has; code in replies runs nowhere and prints a word."""

    def __init__(self, draw: random.Random, code: bool):
        self.events: list[dict] = []
        self._draw, self._code = draw, code

    def _word(self) -> str:
        return "".join(self._draw.choice("bcdfghklmnprst") + self._draw.choice("aeiou") for _ in range(5))

    def _keep(self, kind: str, sent, received) -> None:
        told = [x if isinstance(x, str) else json.dumps(x) for x in (sent, received)]
        self.events.append({"kind": kind, "sent": told[0], "received": told[1]})

    def lm(self, prompt, **_):
        messages = prompt if isinstance(prompt, list) else [{"role": "user", "content": prompt}]
        reply = f"```python\nprint('{self._word()}')\n```" if self._code and self._draw.random() < 0.7 else self._word()
        self._keep("lm", messages, reply)
        return reply

    def search(self, query, top_k=7):
        found = [{"id": self._word(), "title": self._word(), "text": self._word()} for _ in range(top_k)]
        self._keep("search", {"query": query, "top_k": top_k}, [{"id": p["id"], "title": p["title"]} for p in found])
        return found

    def python(self, code, timeout_s=5):
        result = {"stdout": self._word(), "stderr": "", "ok": True}
        self._keep("python", code, result)
        return result


def played(source: str, seed: int) -> dict[str, bool]:
    tools, names = Tools(random.Random(seed), code="python(" in source), {}
    exec(compile(source, "harness", "exec"), names)
    names["run"]("who was that", tools)
    return trace_marks("who was that", tools.events)


OURS = sorted(HARNESSES.glob("*.py"))


@pytest.mark.parametrize("file", OURS, ids=lambda file: file.stem)
def test_what_happens_is_what_the_source_lets_happen(file: Path):
    source = file.read_text()
    may, did = found(source), set()
    for seed in range(20):
        did |= {mark for mark, happened in played(source, seed).items() if happened}
    assert did <= may
    assert may & set(TRACE_MARKS) - {"third_search"} <= did  # in twenty tries whatever may happen does


def test_the_marks_of_traces_are_marks_of_sources():
    assert set(TRACE_MARKS) <= set(MARKS)
    assert set(trace_marks("q", [])) == set(TRACE_MARKS)


def event(kind: str, sent, received) -> dict[str, str]:
    back = received if isinstance(received, str) else json.dumps(received)
    return {"kind": kind, "sent": json.dumps(sent), "received": back}


def asked(text: str, reply: str = "a reply") -> dict[str, str]:
    return event("lm", [{"role": "user", "content": text}], reply)


def searched(query: str, *titles: str) -> dict[str, str]:
    return event("search", {"query": query, "top_k": 7}, [{"id": t, "title": t} for t in titles])


def test_a_query_with_a_word_of_the_summary_is_fed_by_it():
    events = [searched("Who wrote it?", "It"), asked("…", "Ada Brown wrote it.")]
    assert trace_marks("Who wrote it?", [*events, searched("born Brown", "Ada")])["summary_feeds_query"]
    assert not trace_marks("Who wrote it?", [*events, searched("who wrote it", "It")])["summary_feeds_query"]


def test_half_of_a_searchs_titles_show_its_passages():
    found_ = searched("q", "Ada", "Bell", "Cox", "Dorn")
    assert trace_marks("q", [found_, asked("Ada … Bell …")])["passages_reach_answer"]
    assert not trace_marks("q", [found_, asked("Ada …")])["passages_reach_answer"]
    assert not trace_marks("q", [found_, asked("Ada Bell Cox Dorn"), asked("in short?")])["passages_reach_answer"]


def test_titles_that_a_summary_names_show_no_passages():
    events = [searched("q", "Ada", "Bell", "Cox"), asked("Ada Bell Cox", reply="Ada met Bell.")]
    assert not trace_marks("q", [*events, asked("Ada met Bell.")])["passages_reach_answer"]
    assert trace_marks("q", [*events, asked("Ada met Bell. Cox: …")])["passages_reach_answer"]
    assert not trace_marks("Who of Ada, Bell and Cox?", [events[0], asked("Ada Bell Cox")])["passages_reach_answer"]


def test_garbled_events_mark_nothing():
    events = [{"kind": kind, "sent": "{", "received": "null"} for kind in ("search", "lm", "python")]
    assert trace_marks("q", events)["passages_reach_answer"] is False
