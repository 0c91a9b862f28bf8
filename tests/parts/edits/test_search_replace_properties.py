"""Properties of SEARCH/REPLACE edits, over programs of short lines, many of them equal, so that places are often ambiguous."""

import difflib

from hypothesis import given, settings
from hypothesis import strategies as st

from hbench.core.failure import EditFailure
from hbench.core.harness import Harness
from tests.parts.edits.test_search_replace import EDITS, PROGRAM, RETURN, block

LINES = st.lists(
    st.sampled_from(["x = 1", "x = 2", "x = 1  ", "", "y = 'é'", "if x:\n    y = 0", "z = '\\t'"]), max_size=12
)
ENDS = st.sampled_from(["\n", "\r\n"])


def program(lines: list[str], end: str) -> str:
    text = "\n".join([*lines, "def run(question, tools):", "    return ''"]) + "\n"
    return text.replace("\n", end)


def block_between(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """The block that turns `old` into `new`: the changed span, widened until it stands in `old` exactly once."""
    changes = [op for op in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if op[0] != "equal"]
    start, new_start = (changes[0][1], changes[0][3]) if changes else (0, 0)
    stop, new_stop = (changes[-1][2], changes[-1][4]) if changes else (0, 0)
    while not _stands_once(old, old[start:stop]):
        start, new_start = (start - 1, new_start - 1) if start else (start, new_start)
        stop, new_stop = (stop + 1, new_stop + 1) if stop < len(old) else (stop, new_stop)
    return old[start:stop], new[new_start:new_stop]


def _stands_once(lines: list[str], part: list[str]) -> bool:
    return bool(part) and sum(lines[i : i + len(part)] == part for i in range(len(lines) - len(part) + 1)) == 1


@given(LINES, LINES, ENDS, ENDS)
@settings(max_examples=300, deadline=None)
def test_an_edit_made_from_two_programs_turns_one_into_the_other(before, after, end, response_end):
    parent = Harness.of(program(before, end))
    wanted = Harness.of(program(after, end))
    old, new = program(before, "\n").splitlines(), program(after, "\n").splitlines()
    search, replace = ("".join(f"{line}\n" for line in part) for part in block_between(old, new))
    response = block(search, replace).replace("\n", response_end)
    try:
        result = EDITS.apply(parent, EDITS.parse(response, "stop"))
    except EditFailure as bad:
        assert bad.failure.kind == "no_change" and wanted.id == parent.id
    else:
        assert result.text == wanted.text


CHANGES = st.dictionaries(
    st.integers(0, 14), st.lists(st.sampled_from(["new = 1", "", "new = 2  "]), max_size=3), min_size=1
)


@given(CHANGES, st.randoms(), st.sampled_from(["", "  ", "\t"]), ENDS)
@settings(max_examples=200, deadline=None)
def test_many_blocks_in_any_order_change_their_own_lines(changes, draw, blanks, end):
    old = [f"v{i} = {i}" for i in range(15)]
    new = [line for i, one in enumerate(old) for line in changes.get(i, [one])]
    written = [block(old[i] + blanks + "\n", "".join(f"{line}\n" for line in lines)) for i, lines in changes.items()]
    draw.shuffle(written)
    parent = Harness.of(program(old, end))
    assert EDITS.apply(parent, EDITS.parse("".join(written), "stop")).text == program(new, end)


PIECES = st.sampled_from(
    ["<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE", "import re", RETURN.strip("\n"), "def run(q, t):", "", "    pass"]
    + ["```", "<think>", "</think>", "...", "# ... unchanged", "    return (", "\r", "\x00", "\ud800"]
)


@given(st.lists(PIECES | st.text(max_size=20), max_size=25))
@settings(max_examples=500, deadline=None)
def test_garbage_raises_edit_failures_only_and_applied_results_stand(pieces):
    parent = Harness.of(PROGRAM)
    try:
        result = EDITS.apply(parent, EDITS.parse("\n".join(pieces), "stop")).text
    except EditFailure as bad:
        assert bad.failure.kind and parent.text == PROGRAM
        return
    compile(result, "harness.py", "exec")
    assert result != PROGRAM and result.count("\n") <= 200 and ("def run" in result or "run =" in result)
