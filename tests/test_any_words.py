"""Whatever a model or a jailed process says: reading it ends in a result or in the one failure that is declared.

Words that mean something to a reader are put together in any order, so that half-open blocks, tags and fences are common.
`make fuzz` goes on with new ones for as long as it is told; what it found stands here as `@example`.
"""

import json

from hypothesis import example, given, settings
from hypothesis import strategies as st

from hbench.core.extraction import boxed_answer, last_number, tagged_answer
from hbench.core.failure import EditFailure
from hbench.core.harness import Harness
from hbench.core.thinking import after_thinking
from hbench.engines.jail.channel import BadMessage, parse
from hbench.parts.part import find
from tests.thorough import often

PROGRAM = "def run(question, tools):\n    x = 1\n    x = 1\n    return tools.lm(question)\n"
BANK = {"memory.md": "Read first.\n", "tools/look.py": "def look(path: str) -> str:\n    return path\n", "manifest.json": "{}"}
WORDS = st.sampled_from([
    "<<<<<<< SEARCH\n", "=======\n", ">>>>>>> REPLACE\n", "```python\n", "```\n", "````", "~~~\n", "<think>", "</think>",
    "    x = 1\n", "    return tools.lm(question)\n", "def run(question, tools):\n", "    pass\n", "...\n", "# rest unchanged\n", "\n",
    "memory.md\n", "tools/look.py\n", "### FILE: tools/look.py\n", "DELETE\n", "../../etc/passwd\n", "Read first.\n", "manifest.json\n",
    "'</think>'", "\r\n", "{}", "<answer>", "</answer>", "<ANSWER>", "\\boxed{", "\\boxed 4", "\\fbox", "{", "}", "\\}", "$", "-1,234.5", "1e5", "٣",
    "\x00", "\ud800", "\u2028", "\ufeff", "é", "\x1b[31m", "\t", " ",
])  # fmt: skip
SAID = st.lists(st.one_of(WORDS, st.text(max_size=3)), max_size=often(30, 60)).map("".join)
TRIES = settings(max_examples=often(100, 1000), deadline=None)


@given(SAID, st.sampled_from(["search_replace", "python_block", "bank"]), st.sampled_from(["stop", "length"]))
@example("<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE\n", "search_replace", "stop")
@TRIES
def test_an_edit_is_read_and_applied_or_fails_as_one(said, kind, finish_reason):
    edit = find("edits", kind)(kind=kind)
    parent = Harness(BANK if kind == "bank" else {"harness.py": PROGRAM})
    try:
        made = edit.apply(parent, edit.parse(said, finish_reason))
    except EditFailure as failed:
        assert failed.failure.boundary in ("parse", "apply") and failed.failure.kind
    else:
        assert made.id != parent.id and finish_reason == "stop"


@given(SAID)
@TRIES
def test_an_answer_is_a_part_of_what_was_said_or_there_is_none(said):
    for answer in (tagged_answer(said), boxed_answer(said), after_thinking(said)):
        assert answer is None or answer in said or "</think>" in answer
    number = last_number(said)
    assert number is None or float(number) is not None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
SIGNS = st.sampled_from([b"{", b"}", b'"', b"[" * 50, b":", b",", b"NaN", b"1e999", b"9" * 30, b"\\ud800"])
PIECES = st.lists(st.one_of(st.binary(max_size=4), SIGNS), max_size=12)


@given(st.one_of(PIECES.map(b"".join), JSON.map(lambda value: json.dumps(value).encode())))
@example(b'{"a":' + b"[" * 100_000)
@example(b'{"a": 1e999}')
@TRIES
def test_a_message_of_a_jail_is_an_object_or_a_bad_message(body):
    try:
        assert isinstance(parse(body, 1_000_000), dict)
    except BadMessage:
        pass
