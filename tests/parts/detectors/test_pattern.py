"""Patterns are held against hostile text: none may take long."""

import re

import pytest

from hbench.parts.detectors._looked import cut
from hbench.parts.detectors._pattern import LONGEST, MOST_STEPS, found, steps
from hbench.parts.part import build

SLOW = ["(a+)+b", "(a|aa)+b", "(?:a|b?a)*c", "a.*b", r"^\s*sed", r"(\w+\s?)*x", r"\s*\w*=", r"(a+)\1x", "(?:x{0,50}){0,50}y"]
QUICK = [r"\bcat\b", "load_workbook|read_excel", r"^\s?sed\b", "a.{0,200}b", r"(?:cat|head|tail)\s{1,3}\S{1,60}", r"(?:foo|bar){0,5}z", "(?i)x{3}"]


@pytest.mark.parametrize("pattern", SLOW)
def test_a_pattern_that_hostile_text_could_stall_is_refused(pattern):
    with pytest.raises(ValueError, match="steps on a text that was written to stall it"):
        build("detectors", {"kind": "command_matches", "pattern": pattern})


@pytest.mark.parametrize("pattern", QUICK)
def test_plain_patterns_are_let_through(pattern):
    assert steps(pattern) <= MOST_STEPS
    build("detectors", {"kind": "command_matches", "pattern": pattern})


def test_the_bound_grows_with_the_ways_to_match():
    assert steps("abc") == LONGEST
    assert steps("a{0,9}b?") == LONGEST * 10 * 2
    assert steps("cat|dog") == LONGEST, "one letter tells which"
    assert steps("(?:a.|ab)c") == 2 * LONGEST
    assert steps(".*") == LONGEST * (LONGEST + 1)


def test_parts_are_looked_for_behind_each_other_whatever_stands_between():
    assert found(("a", "b"), "a\n\nb") and not found(("a", "b"), "ba") and not found(("a", "a"), "a")
    assert found(("^b$",), "a\nb\nc"), "ends are those of lines"


def test_a_long_text_keeps_its_head_and_its_tail():
    text = "first" + "x" * (2 * LONGEST) + "last"
    assert len(cut(text)) == LONGEST and found(("^first", "last$"), cut(text))
    assert cut("x" * LONGEST) == "x" * LONGEST
    joined = "a" * LONGEST + "b" * LONGEST
    assert re.search("ab", joined) and not found(("ab",), cut(joined)), "head and tail are no neighbours"
