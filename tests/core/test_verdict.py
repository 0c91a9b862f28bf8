"""Verdicts are read strictly: one well-formed submission, or a sentence that names what is wrong."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.core.action import EXECUTE, Action, Tool
from hbench.core.verdict import BadVerdict, Verdict, read_verdict

TOOLS = (Tool(EXECUTE, "Run a command.", {"command": "the command"}), Tool("look", "Look.", {"path": "a file"}))
KNOWN = ("advice/read_first.md", "recipes/count.md")


def read(**said):
    return read_verdict(json.dumps(said), TOOLS, KNOWN)


def wrong(text):
    with pytest.raises(BadVerdict) as caught:
        read_verdict(text if isinstance(text, str) else json.dumps(text), TOOLS, KNOWN)
    return caught.value


def test_a_pass_has_a_reason_and_components():
    verdict = read(decision="pass", reason="It reads first.", components=["read_first", "recipes/count.md", "count"])
    assert verdict == Verdict(components=KNOWN, reason="It reads first.")


def test_a_replacement_is_a_command_another_tool_or_an_answer():
    assert read(decision="replace", command=" ls\n").action == Action(EXECUTE, {"command": "ls"})
    assert read(decision="replace", tool="look", arguments={"path": "a"}).action == Action("look", {"path": "a"})
    assert read(decision="replace", tool=EXECUTE, arguments={"command": "ls"}).action == Action(EXECUTE, {"command": "ls"})
    assert read(decision="replace", answer="42").action == Action(None, {}, "42")


def test_what_is_null_or_empty_is_not_there():
    everything = {"reasoning": "", "content": None, "tool": None, "arguments": {}, "command": "", "answer": None}
    assert read(decision="pass", components=[], reason=None, history=[], **everything) == Verdict()
    assert read(decision="replace", **{**everything, "command": "ls"}).action.command == "ls"


def test_it_may_stand_in_a_fence_and_behind_a_thought():
    said = '<think>{"decision": "replace"}</think>\nI have looked.\n```json\n{"decision": "pass"}\n```\nThat is all.'
    assert read_verdict(said, TOOLS) == Verdict()
    assert read_verdict('```\n{"decision": "pass"}\n```', TOOLS) == Verdict()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no JSON object can be read"),
        ("I would pass this.", "no JSON object can be read"),
        ('Sure! {"decision": "pass"}', "no JSON object can be read"),
        ('{"decision": "pass"} {"decision": "pass"}', "no JSON object can be read"),
        ('```\n{"decision": "pass"}\n```\n```\n{"decision": "pass"}\n```', "2 fenced blocks"),
        ('<think>{"decision": "pass"}', "never closed"),
        ('["pass"]', "not list"),
        ('{"decision": "pass", "decision": "replace"}', "'decision' is there twice"),
        ('{"decision": NaN}', "NaN is no number"),
        ('{"decision": "pass", "reason": "\\ud800"}', "lone surrogate"),
        ("[" * 100_000, "no JSON object can be read"),
        ('{"decision": ' + "9" * 5_000 + "}", "no JSON object can be read"),
    ],
)
def test_what_is_not_one_object_is_told(text, told):
    bad = wrong(text)
    assert bad.kind == "malformed" and told in bad.message


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({}, "decision must be pass or replace, not null"),
        ({"decision": "PASS"}, 'not "PASS"'),
        ({"decision": "accept"}, 'not "accept"'),
        ({"decision": ["pass"]}, 'not ["pass"]'),
        ({"decision": "pass", "history": ["x"]}, "unknown key 'history'"),
        ({"decision": "pass", "turns": [{"accepted": "x"}]}, "unknown key 'turns'"),
        ({"decision": "pass", "command": "ls"}, "decision is pass, and there is 'command'"),
        ({"decision": "pass", "reasoning": "I look."}, "decision is pass, and there is 'reasoning'"),
        ({"decision": "replace"}, "exactly one of command, tool (with arguments) and answer; there is none"),
        ({"decision": "replace", "command": "ls", "answer": "4"}, "there are command and answer"),
        ({"decision": "replace", "command": ["ls", "pwd"]}, "command must be text, not list"),
        ({"decision": "replace", "command": " \n"}, "command is blank"),
        ({"decision": "replace", "answer": 42}, "answer must be text, not int"),
        ({"decision": "replace", "command": "ls", "arguments": {"a": 1}}, "arguments belong to tool"),
        ({"decision": "replace", "tool": "smiles_check", "arguments": {}}, 'no tool "smiles_check"; it has execute, look'),
        ({"decision": "replace", "tool": ["look"]}, 'no tool ["look"]'),
        ({"decision": "replace", "tool": "look", "arguments": ["a"]}, "arguments must be an object, not list"),
        ({"decision": "replace", "command": "ls", "reasoning": {"a": 1}}, "reasoning must be text, not dict"),
        ({"decision": "pass", "reason": "x" * 501}, "reason has 501 characters; 500 are allowed"),
        ({"decision": "pass", "components": "count"}, "components must be a list of names"),
        ({"decision": "pass", "components": [1]}, "components must be a list of names"),
    ],
)
def test_what_is_wrong_in_it_is_named(said, told):
    bad = wrong(said)
    assert bad.kind == "malformed" and told in bad.message


def test_a_component_that_was_not_given_is_a_lie_of_its_own():
    bad = wrong({"decision": "pass", "components": ["count", "oracle"]})
    assert bad.kind == "unknown_component" and '"oracle"' in bad.message and "recipes/count.md" in bad.message
    with pytest.raises(BadVerdict, match="there are none"):
        read_verdict('{"decision": "pass", "components": ["count"]}', TOOLS)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
_KEYS = st.sampled_from(("decision", "reasoning", "content", "tool", "command", "answer", "arguments", "components", "reason", "x"))


@given(st.dictionaries(_KEYS, _JSON | st.sampled_from(("pass", "replace", "look")), max_size=6).map(json.dumps) | st.text())
def test_whatever_is_said_is_a_verdict_or_told_to_be_none(text):
    try:
        verdict = read_verdict(text, TOOLS, KNOWN)
    except BadVerdict as bad:
        assert bad.message
    else:
        assert verdict.action is None or verdict.action.tool in (None, EXECUTE, "look")
        assert len(verdict.reason) <= 500 and set(verdict.components) <= set(KNOWN)
