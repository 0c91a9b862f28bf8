"""Where a mapping with a `kind` is to stand, whatever stands there instead is answered alike: place, what is expected, a hint.

`race: 5` was answered with "there is no kind 'None' in parts/races", other fields with words of the library that reads them.
"""

import pytest
import yaml

from hbench.spec import load
from hbench.spec.problems import SpecError
from tests.plan.test_training_plan import SPEC as TRAINING
from tests.world import SPEC as ADAPTATION, make_world

DISTILLATION = """
plan: distillation
name: toy
domain: {kind: toy, name: toy, ask: copy}
splits: {training: 4, evaluation: 3}
student: {kind: recorded, file: replies/solver.jsonl}
"""
REVIEWED = DISTILLATION + "review: {reviewer: {kind: recorded, file: replies/solver.jsonl}, prompt: reviewer/guided}\n"
MODELS = "weights, recorded, rules"
BARE = "a kind or a mapping"
# place in a spec -> what may stand there, and kinds that there are
FIELDS = {
    "family": (ADAPTATION, "a mapping", "invented_hops, lm_eval, multihop_qa, output_grammar, practice, reasoning_gym, toy"),
    "edit": (ADAPTATION, "a mapping", "bank, python_block, search_replace"),
    "selection": (ADAPTATION, "a mapping", "best_candidate, best_or_parent, pareto, strict_improvement"),
    "race": (ADAPTATION, BARE, "halving, paired"),
    "solver": (ADAPTATION, "a mapping", MODELS),
    "proposer": (ADAPTATION, "a mapping", MODELS),
    "train.demonstrate.teacher": (TRAINING, "a mapping", MODELS),
    "train.grpo.credit": (TRAINING, BARE, "immediate, discounted"),
    "domain": (DISTILLATION, "a mapping", "appworld, files, spreadsheet, toy, uspto"),
    "target.call": (DISTILLATION, BARE, "fenced, tool_call"),
    "bank": (DISTILLATION, "a mapping", "given, evolved"),
    "bank.evolver": (DISTILLATION + "bank: {kind: evolved}\n", "a mapping", "command, weights, recorded, rules"),
    "review.guidance": (REVIEWED, "a mapping", "given, written"),
    "review.when": (REVIEWED, "a mapping", "always, checks, turns"),
    "review.reviewer": (REVIEWED, "a mapping", MODELS),
    "train.keep.0": (DISTILLATION, BARE, "completed, no_leak, succeeded, tool_names"),
    "measured.0": (DISTILLATION, "a domain's name or a mapping", "appworld, files, spreadsheet, toy, uspto"),
    "behaviours.one": (
        DISTILLATION,
        BARE,
        "all_of, answer_matches, any_of, checked_before_answer, command_matches, observed_then, read_before_write, tool_called",
    ),
}


@pytest.fixture
def told(tmp_path, monkeypatch):
    """A function: what is said of a spec in which `value` stands at a place, and where that is: "line:column"."""
    monkeypatch.chdir(make_world(tmp_path).folder)

    def tell(spec: str, place: str, value: str) -> tuple[list[str], str, str]:
        (tmp_path / "specs/toy.yaml").write_text(text := with_value(spec, place.split("."), value))
        with pytest.raises(SpecError) as found:
            load("specs/toy.yaml")
        return str(found.value).splitlines(), *marks(text, place.split("."))

    return tell


def with_value(spec: str, place: list[str], value: str) -> str:
    tree = at = yaml.safe_load(spec)
    for part in place[:-1]:
        at = at.setdefault(part, {})
    if place[-1] == "0":
        above = tree
        for part in place[:-2]:
            above = above[part]
        above[place[-2]] = ["@@"]
    else:
        at[place[-1]] = "@@"
    return yaml.safe_dump(tree, sort_keys=False).replace("'@@'", value)


def marks(text: str, place: list[str]) -> tuple[str, str]:
    """Where the field stands, and the kind in it."""
    node, mark = yaml.compose(text), None
    for part in place:
        if isinstance(node, yaml.SequenceNode):
            node = node.value[int(part)]
            mark = node.start_mark
        else:
            key, node = next(pair for pair in node.value if pair[0].value == part)
            mark = key.start_mark
    inside = node.value[0][0].start_mark if isinstance(node, yaml.MappingNode) and node.value else mark
    return tuple(f"specs/toy.yaml:{at.line + 1}:{at.column + 1}" for at in (mark, inside))


@pytest.mark.parametrize("place", FIELDS)
@pytest.mark.parametrize(("value", "got"), [("5", "5"), ("yes", "yes"), ("[1]", "a list"), ("1.50", "1.50")])
def test_what_is_no_mapping_is_told_with_what_is_expected_and_the_kinds(told, place, value, got):
    spec, expected, kinds = FIELDS[place]
    lines, mark, _ = told(spec, place, value)
    assert f"{mark}: {place}: expected {expected}, got {got} (there are: {kinds})" in lines


@pytest.mark.parametrize("place", FIELDS)
@pytest.mark.parametrize("value", ["{kind: 5}", "{kind: nothing}", "{kind: [5]}"])
def test_a_kind_that_there_is_not_is_told_where_it_stands(told, place, value):
    spec, _, kinds = FIELDS[place]
    lines, _, mark = told(spec, place, value)
    assert f"{mark}: {place}: no kind '{yaml.safe_load(value)['kind']}' (there are: {kinds})" in lines


@pytest.mark.parametrize("place", [place for place in FIELDS if place not in ("review.when", "measured.0")])  # those have a kind without saying it
def test_a_missing_kind_is_told(told, place):
    spec, _, kinds = FIELDS[place]
    lines, mark, _ = told(spec, place, "{}")
    missing = f"{place}.weights is missing" if "weights" in kinds else f"{place}.kind is missing (one of: {kinds})"
    assert f"{mark}: {missing}" in lines


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        ("selection", "best_candidate", "expected a mapping, got 'best_candidate' (write {kind: best_candidate})"),
        ("selection", "best_candidat", "expected a mapping, got 'best_candidat' (did you mean 'best_candidate'?)"),
        ("bank", "given", "expected a mapping, got 'given' (write {kind: given})"),
        ("solver", "fast", "expected a mapping, got 'fast' (write {weights: fast}; other kinds: recorded, rules)"),
        ("race", "halvin", "no kind 'halvin' (did you mean 'halving'?)"),
        ("race", "never", "no kind 'never' (there are: halving, paired)"),
        ("train.grpo.credit", "discount", "no kind 'discount' (did you mean 'discounted'?)"),
        ("target.call", "null", "expected a kind or a mapping, got nothing (there are: fenced, tool_call)"),
        ("family", "null", "expected a mapping, got nothing (there are: "),
    ],
)
def test_a_text_in_its_place_is_told_how_to_be_written(told, place, value, said):
    lines, mark, _ = told(FIELDS[place][0], place, value)
    assert any(line.startswith(f"{mark}: {place}: {said}") for line in lines)


def test_the_command_ends_with_2_and_the_place(tmp_path):
    world = make_world(tmp_path, ADAPTATION + "race: 5\n")
    done = world.hbench("check", "specs/toy.yaml", check=False)
    line = len(ADAPTATION.splitlines()) + 1
    assert done.returncode == 2
    assert f"specs/toy.yaml:{line}:1: race: expected a kind or a mapping, got 5 (there are: halving, paired)" in done.stdout + done.stderr
