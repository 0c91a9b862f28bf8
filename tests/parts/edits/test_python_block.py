"""One Python block that holds the whole program: the kinds behind the shared cases, and a property."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hbench.core.failure import EditFailure
from hbench.core.harness import Harness
from hbench.parts.edits.python_block import PythonBlock

EDITS = PythonBlock()
PARENT = Harness.of("def run(question, tools):\n    return tools.lm(question)\n")
CODE = "def run(question, tools):\n    return tools.lm(question).strip()\n"


def edited(response: str, parent: Harness = PARENT, finish_reason: str = "stop") -> str:
    return EDITS.apply(parent, EDITS.parse(response, finish_reason)).text


def failure(response: str, finish_reason: str = "stop"):
    with pytest.raises(EditFailure) as caught:
        edited(response, finish_reason=finish_reason)
    return caught.value.failure


def kind(response: str) -> str:
    return failure(response).kind


@pytest.mark.parametrize("tag", ["", "python", "Python", "py", "PYTHON3", "python title=harness.py", " python"])
def test_the_block_may_be_tagged_python_or_not_at_all(tag):
    assert edited(f"Why.\n```{tag}\n{CODE}```\n") == CODE


@pytest.mark.parametrize(
    ("opening", "closing"), [("~~~python", "~~~"), ("````python", "````"), ("```python", "`````  "), ("~~~~", "~~~~~")]
)
def test_fences_of_either_sign_are_closed_by_one_at_least_as_long(opening, closing):
    assert edited(f"{opening}\n{CODE}{closing}\n") == CODE


def test_a_shorter_fence_inside_belongs_to_the_program():
    code = 'FENCE = """\n```\n"""\n' + CODE
    assert edited(f"````python\n{code}````\n") == code
    assert edited(f"~~~python\n{code}~~~\n") == code


def test_an_indented_fence_line_inside_a_string_does_not_close_the_block():
    code = 'def run(question, tools):\n    return tools.lm(question + """\n        ```\n    """)\n'
    assert edited(f"```python\n{code}```") == code


def test_a_fence_behind_a_list_mark_is_dedented():
    indented = "".join(f"   {line}\n" for line in CODE.splitlines())
    assert edited(f"1. Diagnosis.\n2. ```python\n{indented}   ```\n") == CODE


def test_blocks_in_other_languages_do_not_count():
    assert edited(f"```text\n{CODE}```\n```python\n{CODE}```\n~~~json\n{{}}\n~~~\n") == CODE
    assert kind(f"```javascript\n{CODE}```\n") == "no_code_block"


def test_a_python_fence_quoted_inside_a_text_block_is_text():
    assert edited(f"````text\n```python\nx = 1\n```\n````\n\n```python\n{CODE}```\n") == CODE


@pytest.mark.parametrize("second", ["```python\nx = 1\n```\n", "```\nsample output\n```\n"])
def test_two_python_blocks_are_refused(second):
    found = failure(f"```python\n{CODE}```\n{second}")
    assert (found.boundary, found.kind) == ("parse", "multiple_code_blocks") and "lines 1, 5" in found.message


def test_a_block_that_is_never_closed_is_refused_though_the_program_is_whole():
    assert kind(f"```python\n{CODE}") == "unterminated_code_block"
    assert kind(f"```python\n{CODE}~~~\n") == "unterminated_code_block"
    assert kind(f"````python\n{CODE}```\n") == "unterminated_code_block"
    assert kind(f"```text\nsample\n\n```python\n{CODE}") == "unterminated_code_block"


def test_a_truncated_response_is_never_applied_even_when_its_block_is_whole():
    assert failure(f"```python\n{CODE}```\n", "length").kind == "truncated_response"


def test_code_inside_a_sentence_is_no_block():
    assert kind("Use ```def run(q, t): return ''``` here.\n```x = 1``` too.") == "no_code_block"


def test_a_thought_is_not_part_of_the_answer():
    assert edited(f"<think>```python\nx\n```</think>\n```python\n{CODE}```") == CODE
    assert failure(f"<think>\n```python\n{CODE}```").kind == "unfinished_reasoning"
    assert failure(f"a</think>\n<think>\n```python\n{CODE}```").kind == "unfinished_reasoning"


def test_a_program_may_handle_thoughts_itself():
    code = CODE.replace(".strip()", '.split("</think>")[-1]')
    assert edited(f"```python\n{code}```") == code


def test_the_explanation_is_everything_but_the_block():
    assert EDITS.parse(f"Diagnosis.\n```python\n{CODE}```\nEnd.", "stop").explanation == "Diagnosis.\nEnd."


def test_the_program_takes_the_line_ends_of_the_parent():
    crlf = Harness.of(PARENT.text.replace("\n", "\r\n"))
    assert edited(f"```python\n{CODE}```", crlf) == CODE.replace("\n", "\r\n")
    assert edited(f"```python\n{CODE}```".replace("\n", "\r\n")) == CODE


def test_the_parent_written_again_is_no_change():
    found = failure(f"```python\n{PARENT.text}\n\n```")
    assert (found.boundary, found.kind) == ("apply", "no_change")


def test_an_empty_block_has_no_entry_point():
    assert kind("```python\n\n```") == "missing_entry_point"


@pytest.mark.parametrize(
    "code",
    [
        "# ... imports unchanged\n" + CODE,
        "# rest of the code stays the same\n" + CODE,
        CODE + "\n\n# (existing code)\n",
        CODE + "\n\ndef helper(text):\n    ...\n",
        "...\n\n" + CODE,
        "# … remaining functions unchanged …",
        "class Solver:\n    # ... existing methods ...\n",
    ],
)
def test_a_program_with_lines_left_out_is_refused(code):
    found = failure(f"```python\n{code}\n```")
    assert found.kind == "elided_code" and "write them in full" in found.message


def test_too_many_lines_are_counted_as_python_counts_them():
    assert kind("```python\n" + "x = 1\r" * 250 + CODE + "```") == "too_many_lines"
    long = CODE + "x = 1\n" * 198
    assert edited(f"```python\n{long}```") == long
    assert kind(f"```python\n{long}x = 2\n```") == "too_many_lines"


PIECES = st.sampled_from(
    ["```", "```python", "~~~", "````", "   ```py", CODE.strip(), "x = (", "<think>", "</think>", "", "1. ```"]
)


@given(st.lists(PIECES | st.text(max_size=15), max_size=20))
@settings(max_examples=400, deadline=None)
def test_garbage_raises_edit_failures_only_and_applied_results_stand(pieces):
    try:
        result = edited("\n".join(pieces))
    except EditFailure:
        return
    compile(result, "harness.py", "exec")
    assert "run" in result and result.count("\n") <= 200


@given(st.lists(st.sampled_from(["x = 1", "", "    ", "y = '```'", "# a", "z = '~~~'"]), max_size=20))
@settings(max_examples=200, deadline=None)
def test_a_program_in_a_fence_comes_out_as_it_went_in(lines):
    code = "\n".join([*lines, CODE.strip()]) + "\n"
    assert edited(f"Why.\n~~~~python\n{code}~~~~\nEnd.\n") == code
