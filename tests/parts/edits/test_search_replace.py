"""SEARCH/REPLACE blocks: the kinds behind the shared cases, and properties over generated programs."""

import threading

import pytest

from hbench.core.failure import EditFailure
from hbench.core.harness import Harness
from hbench.parts.edits.search_replace import SearchReplace
from hbench.parts.part import build

EDITS = SearchReplace()
PROGRAM = '''"""Ask once."""
import re


def clean(text):
    text = text.strip()
    return text


def run(question, tools):
    reply = tools.lm(question)
    return clean(reply)
'''


def block(search: str, replace: str) -> str:
    """One block; the texts end with a line break, or are empty."""
    return f"<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n"


def edited(response: str, program: str = PROGRAM, finish_reason: str = "stop") -> str:
    return EDITS.apply(Harness.of(program), EDITS.parse(response, finish_reason)).text


def failure(response: str, program: str = PROGRAM, finish_reason: str = "stop"):
    with pytest.raises(EditFailure) as caught:
        edited(response, program, finish_reason)
    return caught.value.failure


def kind(response: str, program: str = PROGRAM) -> str:
    return failure(response, program).kind


RETURN = "    return clean(reply)\n"
GOOD = block(RETURN, "    return clean(reply).lower()\n")


def test_a_block_replaces_its_lines_and_nothing_else():
    assert edited(GOOD) == PROGRAM.replace("clean(reply)\n", "clean(reply).lower()\n")


def test_several_blocks_are_matched_against_the_parent_whatever_their_order():
    second = block("import re\n", "import json\nimport re\n")
    assert edited(GOOD + second) == edited(second + GOOD)


def test_no_block_sees_the_result_of_another():
    first = block("import re\n", "import math\n")
    assert kind(first + block("import math\n", "import json\n")) == "search_not_found"


def test_touching_blocks_do_not_overlap():
    first = block("    reply = tools.lm(question)\n", "    reply = tools.lm(question + '!')\n")
    assert "'!')\n    return clean(reply).lower()" in edited(first + GOOD)


def test_the_same_lines_twice_overlap_also_when_both_blocks_agree():
    assert kind(GOOD + GOOD) == "overlapping_edits"


def test_a_truncated_response_is_never_applied_even_when_its_blocks_are_whole():
    found = failure(GOOD, finish_reason="length")
    assert (found.boundary, found.kind) == ("parse", "truncated_response")


def test_a_block_inside_a_thought_is_not_an_edit():
    draft = block("import re\n", "import math\n")
    assert edited(f"<think>\n{draft}</think>\n{GOOD}") == edited(GOOD)
    assert edited(f"{draft}</think>\n{GOOD}") == edited(GOOD)
    assert kind(f"<think>\n{GOOD}") == "no_edit_blocks"


def test_an_edit_may_handle_thoughts_itself():
    """`reply.split("</think>")` is a useful edit: its tag is program text and must not cut the response."""
    line = '    return clean(reply.split("</think>")[-1])\n'
    assert line in edited(block(RETURN, line))
    line = '    return clean(re.sub(r"<think>.*?</think>", "", reply))\n'
    assert line in edited(block(RETURN, line))


def test_the_explanation_is_the_text_outside_the_blocks():
    assert EDITS.parse(f"Why.\n{GOOD}More.\n", "stop").explanation == "Why.\nMore."


def test_crlf_in_the_response_does_not_reach_an_lf_program():
    assert edited(GOOD.replace("\n", "\r\n")) == edited(GOOD)


def test_a_crlf_program_keeps_its_form_in_every_line():
    assert edited(GOOD, PROGRAM.replace("\n", "\r\n")) == edited(GOOD).replace("\n", "\r\n")


def test_a_file_without_final_line_break_keeps_none():
    program = PROGRAM.removesuffix("\n")
    assert edited(GOOD, program) == edited(GOOD).removesuffix("\n")
    assert edited(GOOD, program.replace("\n", "\r\n")) == edited(GOOD).removesuffix("\n").replace("\n", "\r\n")


def test_the_exact_place_wins_over_one_with_other_trailing_blanks():
    program = PROGRAM.replace("import re\n", "import re  \nimport re\n")
    assert "import re  \nimport json\n" in edited(block("import re\n", "import json\n"), program)


def test_trailing_blanks_that_leave_two_places_are_ambiguous():
    program = PROGRAM.replace("import re\n", "import re  \nimport re   \n")
    assert kind(block("import re\n", "import json\n"), program) == "search_ambiguous"


def test_a_part_of_a_line_is_not_a_place():
    assert kind(block("return clean(reply)\n", "return reply\n")) == "search_not_found"


@pytest.mark.parametrize(
    ("search", "hint"),
    [
        ("return clean(reply)\n", "indentation differs"),
        ("\treturn clean(reply)\n", "tabs against blanks"),
        ("    return clean( reply )\n", "blanks inside the line differ"),
        ("    return Clean(reply)\n", "upper and lower case differ"),
        ("    return clean(replies)\n", "the nearest is line 12"),
        ("    completely_other_thing = 17 ** 4\n", "none like it"),
        ("import re\ndef clean(text):\n", "only in its blank lines"),
        ("def clean(text):\n    return text\n", "not as one run"),
        ("'''Ask once.'''\n", "the nearest is line 1"),
    ],
)
def test_what_was_not_found_is_told_with_what_differs(search, hint):
    found = failure(block(search, "x = 1\n"))
    assert found.kind == "search_not_found" and hint in found.message


def test_quotes_that_differ_are_told():
    program = PROGRAM.replace("text.strip()", 'text.strip("x")')
    assert "quotes differ" in failure(block("    text = text.strip('x')\n", "\n"), program).message


def test_ambiguous_places_are_named_by_line():
    program = PROGRAM + "\n\ndef other(text):\n    text = text.strip()\n    return text\n"
    found = failure(block("    text = text.strip()\n", "    pass\n"), program)
    assert found.kind == "search_ambiguous" and "lines 6, 16" in found.message


@pytest.mark.parametrize(
    "response",
    [
        "<<<<<<< SEARCH\nimport re\n>>>>>>> REPLACE\n",  # no divider
        "<<<<<<< SEARCH\n<<<<<<< SEARCH\nimport re\n=======\n>>>>>>> REPLACE\n",
        "<<<<<<< SEARCH\nimport re\n=======\nimport math\n" + GOOD,  # the first is never closed
        GOOD + ">>>>>>> REPLACE\n",
        block("import re\n=======\n", "import math\n"),
    ],
)
def test_marks_in_the_wrong_place_make_the_response_malformed(response):
    found = failure(response)
    assert (found.boundary, found.kind) == ("parse", "malformed_block")


@pytest.mark.parametrize(
    "marker", ["<<<<<< SEARCH", "<<<<<<<< SEARCH", "<<<<<<< search", " <<<<<<< SEARCH", "<<<<<<<SEARCH"]
)
def test_a_mark_that_is_not_quite_one_is_pointed_out(marker):
    found = failure(GOOD.replace("<<<<<<< SEARCH", marker).replace(">>>>>>> REPLACE", ""))
    assert found.kind == "no_edit_blocks" and "meant as one" in found.message


def test_marks_may_be_followed_by_blanks():
    assert edited(GOOD.replace("SEARCH\n", "SEARCH  \n").replace("=======\n", "=======\t\n")) == edited(GOOD)


def test_a_divider_of_other_length_is_text():
    assert kind(block(RETURN, "").replace("=======\n", "======\n")) == "malformed_block"
    assert failure("<<<<<<< SEARCH\nimport re\n======\n").kind == "unterminated_block"


def test_an_empty_response_has_no_blocks():
    assert kind("") == "no_edit_blocks"


def test_nothing_that_changes_only_trailing_blanks_is_a_change():
    assert kind(block(RETURN, "    return clean(reply)   \n")) == "no_change"


@pytest.mark.parametrize(
    ("replace", "expected"),
    [
        ("    return clean(reply\n", "syntax_error"),
        ("return clean(reply)\n", "syntax_error"),  # outside the function: parses, does not compile
        ("    return clean(“reply”)\n", "syntax_error"),
        ("    return clean('\0')\n", "syntax_error"),
        ("    return clean('\ud800')\n", "syntax_error"),
        ("    return " + "(" * 500 + ")" * 500 + "\n", "syntax_error"),
        ("    return " + "-" * 50_000 + "1\n", "syntax_error"),
        ("    # ... rest of the function unchanged\n    return ''\n", "elided_code"),
        ("    # ...\n    return ''\n", "elided_code"),
        ("    ...\n    return ''\n", "elided_code"),
        ("    return ''\n" + "\n" * 200, "too_many_lines"),
    ],
)
def test_a_result_that_cannot_stand_is_refused(replace, expected):
    found = failure(block(RETURN, replace))
    assert (found.boundary, found.kind) == ("apply", expected)


def test_a_deep_result_is_refused_also_in_a_thread_with_a_small_stack():
    seen = []
    thread = threading.Thread(target=lambda: seen.append(kind(block(RETURN, "    return " + "a." * 60_000 + "b\n"))))
    thread.start()
    thread.join(60)
    assert seen == ["syntax_error"]


@pytest.mark.parametrize(
    "comment",
    ["# ... the last line counts", "# the rest of the words", "# the rest are digits", "# remaining lines"],
)
def test_an_ordinary_comment_is_not_elided_code(comment):
    assert comment in edited(block(RETURN, f"    {comment}\n    return reply\n"))


def test_dots_with_a_meaning_are_not_elided_code():
    body = "    try:\n        return clean(reply)\n    except ValueError: ...\n    return 'wait ...  # unchanged'\n"
    assert body in edited(block(RETURN, body))


def test_a_comment_inside_a_string_is_not_elided_code():
    body = '    return """\n# ...\n"""\n'
    assert body in edited(block(RETURN, body))


def test_what_looks_elided_but_stands_in_the_parent_is_fine():
    program = PROGRAM.replace("import re\n", "import re\n# ...\n")
    assert "lower()" in edited(GOOD, program)


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("def run(q, t):", "applied"),
        ("def run(question, tools, *, votes=3):", "applied"),
        ("def run(*args):", "applied"),
        ("def run(question, tools=None, n=2):", "applied"),
        ("def run(question):", "bad_signature"),
        ("def run(question, *, tools=1, n=" + "-" * 900 + "1):", "bad_signature"),
        ("def run(question, tools, votes):", "bad_signature"),
        ("def run(question, *, tools):", "bad_signature"),
        ("def run(question, tools, *, votes):", "bad_signature"),
        ("async def run(question, tools):", "bad_signature"),
        ("def main(question, tools):", "missing_entry_point"),
        ("class run:", "bad_signature"),
        ("if True:", "missing_entry_point"),
    ],
)
def test_the_entry_point_takes_question_and_tools_by_position(head, expected):
    response = block("def run(question, tools):\n    reply = tools.lm(question)\n" + RETURN, f"{head}\n    pass\n")
    try:
        outcome = "applied" if head in edited(response) else "lost"
    except EditFailure as bad:
        outcome = bad.failure.kind
    assert outcome == expected


def test_the_last_definition_of_run_is_the_one_that_counts():
    assert kind(block(RETURN, RETURN + "\n\ndef run(question):\n    pass\n")) == "bad_signature"
    assert "run = lambda" in edited(block(RETURN, RETURN + "\n\nrun = lambda question, tools: ''\n"))


def test_exactly_as_many_lines_as_allowed_are_fine():
    limit = PROGRAM.count("\n") + 1
    edits = build("edits", {"kind": "search_replace", "max_lines": limit})
    grown = edits.parse(block(RETURN, "    reply += ''\n" + RETURN), "stop")
    assert edits.apply(Harness.of(PROGRAM), grown).text.count("\n") == limit
    with pytest.raises(EditFailure, match="too_many_lines"):
        SearchReplace(max_lines=limit - 1).apply(Harness.of(PROGRAM), grown)


def test_other_files_of_the_harness_stay():
    parent = Harness({"harness.py": PROGRAM, "notes.md": "keep"})
    assert EDITS.apply(parent, EDITS.parse(GOOD, "stop")).files["notes.md"] == "keep"
