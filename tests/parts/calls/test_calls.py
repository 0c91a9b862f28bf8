"""Call formats: what is written is read back, and what cannot be read says why."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hbench.core.action import EXECUTE, Action, CallFailure, Tool
from hbench.parts.part import build

TOOLS = (Tool(EXECUTE, "Runs a shell command.", {"command": "the command"}), Tool("look_up", "Looks.", {"word": "a word"}))
FENCED = build("calls", {"kind": "fenced"})
JSON = build("calls", {"kind": "tool_call"})
PARAMETERS = build("calls", {"kind": "tool_call", "form": "parameters"})
FORMATS = [FENCED, JSON, PARAMETERS]

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="`<>\r"), max_size=60).map(str.strip)
TAGS = ("```", "````", "```bash", "<tool_call>", "</tool_call>", "</parameter>", "\n", "\\n", '"', "EOF", "\r\n", "\t")
COMMANDS = st.lists(st.one_of(WORDS, st.sampled_from(TAGS)), min_size=1, max_size=8).map("".join).filter(str.strip)
VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=20), lambda inner: st.lists(inner, max_size=3))
ACTIONS = st.one_of(
    st.builds(Action, st.none(), st.just({}), WORDS.filter(bool)),
    st.builds(lambda command, text: Action(EXECUTE, {"command": command}, text), COMMANDS, WORDS),
    st.builds(lambda given, text: Action("look_up", given, text), st.dictionaries(st.sampled_from("ab"), VALUES), WORDS),
)


@pytest.mark.parametrize("call", FORMATS)
@settings(deadline=None)  # the machine may be busy
@given(action=ACTIONS)
def test_what_is_written_is_read_back(call, action):
    try:
        written = call.write(action)
    except CallFailure:
        assert call is PARAMETERS and any(tag in str(action.arguments) for tag in TAGS)
        return
    assert call.parse(written, TOOLS) == action


@pytest.mark.parametrize("call", FORMATS)
@settings(deadline=None)
@given(text=st.lists(st.one_of(st.text(max_size=20), st.sampled_from((*TAGS, "<function=execute>", "{"))), max_size=12).map("".join))
def test_any_text_is_an_action_or_a_call_failure(call, text):
    try:
        assert call.parse(text, TOOLS).tool in (None, EXECUTE, "look_up")
    except CallFailure as bad:
        assert bad.message and bad.kind in ("several_calls", "unclosed", "bad_arguments", "unknown_tool", "empty")


def kind_of(call, text):
    with pytest.raises(CallFailure) as caught:
        call.parse(text, TOOLS)
    return caught.value.kind


@pytest.mark.parametrize(
    "text, kind",
    [
        ("", "empty"),
        ("<think>on and on", "unclosed"),
        ("<think>done</think>\n\n", "empty"),
        ("```bash\nls", "unclosed"),
        ("```bash\nls\n```\n```bash\npwd\n```", "several_calls"),
        ("```python\nprint(1)\n```", "unknown_tool"),
        ("```bash\n\n```", "bad_arguments"),
        ("```bash ls```", "unclosed"),
        ("I run ```bash\nls\n```", "unclosed"),
        ("```look_up\nword\n```", "bad_arguments"),
        ("```look_up\n[1]\n```", "bad_arguments"),
    ],
)
def test_a_fenced_message_that_cannot_be_read_says_why(text, kind):
    assert kind_of(FENCED, text) == kind


def hermes(**call):
    return f"<tool_call>\n{json.dumps(call)}\n</tool_call>"


@pytest.mark.parametrize(
    "text, kind",
    [
        ("<tool_call>\n{}", "unclosed"),
        ("<tool_call>\nls\n</tool_call>", "bad_arguments"),
        ("<tool_call>\n{}\n</tool_call>", "bad_arguments"),
        (hermes(name="python", arguments={}), "unknown_tool"),
        (hermes(name=EXECUTE, arguments={"code": "ls"}), "bad_arguments"),
        (hermes(name=EXECUTE, arguments={"command": "ls", "timeout": 5}), "bad_arguments"),
        (hermes(name="look_up", arguments="word") * 2, "several_calls"),
    ],
)
def test_a_tagged_message_that_cannot_be_read_says_why(text, kind):
    assert kind_of(JSON, text) == kind


def test_a_thought_is_no_part_of_the_call():
    thought = "<think>I could write\n```bash\nrm -r .\n```\n</think>"
    assert FENCED.parse(f"{thought}\nLook first.\n```bash\nls\n```", TOOLS) == Action(EXECUTE, {"command": "ls"}, "Look first.")
    assert JSON.parse(thought + hermes(name=EXECUTE, arguments={"command": "ls"}), TOOLS).command == "ls"


def test_a_block_without_a_language_belongs_to_the_answer():
    text = "The file is:\n```\na,b\n```\nDone."
    assert FENCED.parse(text, TOOLS) == Action(None, {}, text)


def test_an_answer_may_show_a_command_in_a_wider_block():
    text = "Run this:\n````\n```bash\nls\n```\n````"
    assert FENCED.parse(text, TOOLS) == Action(None, {}, text)


def test_a_stray_fence_does_not_swallow_a_call():
    """The block of a call stood inside the block that a lone fence had opened, and the message passed for an answer."""
    assert FENCED.parse("So:\n```\n```bash\nls\n```", TOOLS).command == "ls"


def test_a_command_may_hold_fences_of_its_own():
    command = "cat > notes.md <<'EOF'\n```bash\nls\n```\nEOF"
    written = FENCED.write(Action(EXECUTE, {"command": command}))
    assert written.startswith("````bash\n")
    assert FENCED.parse(written, TOOLS).command == command


def test_parameters_keep_a_command_as_text_and_give_other_values_their_types():
    text = "<tool_call>\n<function=execute>\n<parameter=command>\ntrue\n</parameter>\n</function>\n</tool_call>"
    assert PARAMETERS.parse(text, TOOLS).command == "true"
    text = "<tool_call><function=look_up><parameter=n>3</parameter><parameter=s>a b</parameter></function></tool_call>"
    assert PARAMETERS.parse(text, TOOLS).arguments == {"n": 3, "s": "a b"}


def test_each_format_tells_of_the_tools_in_its_own_way():
    assert "```bash" in FENCED.told(TOOLS) and "```look_up" in FENCED.told(TOOLS)
    assert FENCED.template_tools(TOOLS) is None and FENCED.observation("x").role == "user"
    assert JSON.told(TOOLS) == "" and JSON.observation("x").role == "tool"
    told = JSON.template_tools(TOOLS)[1]["function"]
    assert (told["name"], told["parameters"]["required"]) == ("look_up", ["word"])
