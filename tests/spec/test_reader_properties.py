"""Any mapping written as YAML loads back to the same values, and each mark points at its key."""

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hbench.spec.compose import overlay
from hbench.spec.problems import Mark
from hbench.spec.source import parse
from hbench.spec.tree import Tree, leaves

# PyYAML writes 1e5 unquoted for the text, which the reader (like YAML 1.2) takes for a number, and the line ends \x85,
# \u2028 and \u2029 so that it does not read them back itself. `${` is an interpolation.
NOT_THE_SAME_TEXT = re.compile(r"[-+]?[\d_.]+[eE][-+]?\d+|.*(\$\{|[\x85\u2028\u2029]).*", re.DOTALL)

texts = st.text(max_size=12).filter(lambda t: not NOT_THE_SAME_TEXT.fullmatch(t))
numbers = st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | numbers | texts
keys = st.from_regex(r"k[a-z_]{0,6}", fullmatch=True)  # plain words, which stand in YAML as they are
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=12
)
mappings = st.dictionaries(keys, values, min_size=1, max_size=5)


class Plain(yaml.SafeDumper):
    """Writes equal objects out each time: specs have no aliases."""

    def ignore_aliases(self, data):
        return True


def written(mapping, flow: bool | None, indent: int) -> str:
    return yaml.dump(mapping, Dumper=Plain, default_flow_style=flow, indent=indent, allow_unicode=True, sort_keys=False)


@settings(max_examples=200, deadline=None)
@given(mappings, st.sampled_from([True, False, None]), st.integers(2, 5), st.booleans())
def test_a_mapping_written_as_yaml_loads_back_to_the_same_values(mapping, flow, indent, crlf):
    text = written(mapping, flow, indent)
    source = parse(text.replace("\n", "\r\n") if crlf else text, Path("mine.yaml"))
    assert source.problems == ()
    assert source.tree.values == mapping


@settings(max_examples=200, deadline=None)
@given(mappings, st.sampled_from([True, False, None]), st.integers(2, 5))
def test_the_mark_of_every_key_points_at_that_key(mapping, flow, indent):
    text = written(mapping, flow, indent)
    source = parse(text, Path("mine.yaml"))
    lines = text.split("\n")
    marked = {place for place in source.tree.marks if place}
    assert {place for place, _ in leaves(mapping)} <= marked
    for place in marked:
        mark = source.tree.marks[place]
        if isinstance(place[-1], str):
            assert lines[mark.line - 1][mark.column - 1 :].startswith(place[-1])
        else:
            assert mark.line >= source.tree.marks[place[:-1]].line


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60) | st.text(alphabet="a:-?[]{}&*!|>'\"%@`#, \n\t$.1", max_size=40))
def test_no_text_at_all_makes_the_reader_raise(text):
    source = parse(text, Path("mine.yaml"))
    assert source.readable or source.problems
    for problem in source.problems:
        assert problem.mark.line >= 0


@settings(max_examples=100, deadline=None)
@given(mappings, mappings)
def test_what_is_laid_on_last_holds_and_the_rest_stays(below, above):
    def tree(values):
        return Tree(values, {(): Mark("x", 1, 1)})

    laid = overlay(tree(below), tree(above)).values
    assert set(laid) == set(below) | set(above)
    for key, value in below.items():
        if key not in above:
            assert laid[key] == value
    for key, value in above.items():
        if not isinstance(value, dict):
            assert laid[key] == value


@pytest.mark.attack
def test_deep_nesting_is_a_problem_and_not_a_crash():
    assert parse("a: " + "[" * 20000, Path("mine.yaml")).problems
    assert parse("a: " + "[" * 2000 + "]" * 2000, Path("mine.yaml")).problems


@pytest.mark.attack
@pytest.mark.control
def test_control_a_plain_reader_crashes_at_less():
    with pytest.raises(RecursionError):
        yaml.safe_load("a: " + "[" * 700 + "]" * 700)


@pytest.mark.attack
def test_aliases_and_merge_keys_are_refused():
    bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
    assert [str(p) for p in parse(bomb, Path("mine.yaml")).problems][0] == (
        "mine.yaml:1:4: b.0: anchors and aliases are not read (give it a name under `let` and write ${let.name})"
    )
    assert "merge keys are not read" in str(parse("a: {b: 1}\n<<: {c: 1}\n", Path("mine.yaml")).problems[0])
    assert parse("a: &a {b: *a}\n", Path("mine.yaml")).problems


@pytest.mark.attack
def test_a_file_that_is_not_utf8_is_refused(tmp_path):
    from hbench.spec.source import read

    file = tmp_path / "mine.yaml"
    file.write_bytes(b"name: \xff\xfe\n")
    assert [problem.what for problem in read(file).problems] == ["is not UTF-8 text"]
    assert [problem.what for problem in read(tmp_path).problems] == ["cannot be read: Is a directory"]
