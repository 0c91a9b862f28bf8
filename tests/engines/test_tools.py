"""Tools that a request names reach the chat template, and a template that would pass over them is refused."""

import json

import pytest

from hbench.core.message import Message, Request, Sampling
from hbench.engines.openai_wire import body_of
from tests.engines.tiny_model import TEMPLATE, tokenizer

TOOLS = [{"type": "function", "function": {"name": "execute", "description": "", "parameters": {"type": "object"}}}]


def asked(tools=TOOLS, **sampling):
    return Request((Message("user", "a+b"),), Sampling(**sampling), 0, tools)


def test_a_server_is_told_of_tools_and_leaves_calls_in_the_text():
    body = json.loads(body_of(asked(), "m"))
    assert (body["tools"], body["tool_choice"]) == (TOOLS, "none")
    assert "tool_choice" not in json.loads(body_of(asked(None), "m"))


def test_a_spec_may_choose_otherwise_for_a_server_that_takes_no_choice():
    assert "tool_choice" not in json.loads(body_of(asked(extra={"tool_choice": None}), "m"))


def test_a_model_in_this_process_is_told_of_tools_by_its_template():
    pytest.importorskip("transformers")
    from hbench.engines.local_model import LocalModel

    local = LocalModel(None, tokenizer(), 64)
    with pytest.raises(ValueError, match="takes no tools"):
        local.encode(asked())
    plain = local.encode(asked(None))
    local.tokenizer.chat_template = "{% if tools %}{{ tools[0].function.name }}{% endif %}" + TEMPLATE
    assert local.tokenizer.decode(local.encode(asked())) == "execute" + local.tokenizer.decode(plain)
