"""What authors of a distillation spec read when it is wrong: typical mistakes and the whole message side by side."""

import pytest

from hbench.spec import load

WHOLE = """\
plan: distillation
domain: {kind: toy}
splits: {training: 2, evaluation: 3}
student: {name: tiny, weights: embedded/tiny}
"""
BY_RULES = "reviewer: {kind: rules, name: files_expert}"


@pytest.fixture
def said(tmp_path, monkeypatch, project):
    """All that is wrong with the spec that these lines make of WHOLE. They begin in line 5."""
    monkeypatch.chdir(tmp_path)
    return lambda more: project.problems(WHOLE + more)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            "arms:\n  one: {reviews: {}}\n",
            "6:9: unknown key 'reviews' (did you mean 'review'?)",
        ),
        (
            "review: {reviewer: {kind: rules, name: file_expert}}\n",
            "5:34: review.reviewer.name: expected rule_reader or files_expert, got 'file_expert' (did you mean 'files_expert'?)",
        ),
        (
            "review: {reviewer: files_expert}\n",
            "5:10: review.reviewer: expected a mapping, got 'files_expert' (write {weights: files_expert}; other kinds: recorded, rules)",
        ),
        (
            f"review:\n  {BY_RULES}\n  guidance: {{kind: written, writer: {{name: w, weights: embedded/tiny}}}}\n",
            "7:3: review.guidance.bank is missing",
        ),
        (
            f"review:\n  {BY_RULES}\n  guidance: {{kind: given, folder: guidance/fiels}}\n",
            "7:27: review.guidance.folder: no folder 'guidance/fiels' under specs/ (did you mean 'guidance/files'?)",
        ),
        (
            f"review: {{{BY_RULES}, when: {{kind: checks}}}}\n",
            "5:1: review: when: checks needs guidance, whose checks they are",
        ),
        (
            f"review: {{{BY_RULES}, prompt: reviewer/guided}}\n",
            "5:1: review: the prompt reviewer/guided shows guidance, and there is none "
            "(give guidance, or prompt: reviewer/generic)",
        ),
        (
            "bank: {kind: evolved, rounds: 2}\n",
            "5:1: bank.evolver is missing",
        ),
        (
            "train:\n  collect: {bank: {kind: given, folder: banks/fils}}\n",
            "6:33: train.collect.bank.folder: no folder 'banks/fils' under specs/ (did you mean 'banks/files'?)",
        ),
        (
            "train: {keep: [succeded]}\n",
            "5:16: train.keep.0: no kind 'succeded' (did you mean 'succeeded'?)",
        ),
        (
            "grade: soft\n",
            "5:1: grade: domain toy gives no grade 'soft' (it gives score, exact)",
        ),
        (
            "measured: [{name: a}, {name: a}]\n",
            "5:1: measured: the domain a stands here twice (give each block a name of its own)",
        ),
        (
            "measured:\n  - {name: a, akk: sum}\n",
            "6:15: unknown key 'akk' (did you mean 'ask'?)",
        ),
        (
            "measured:\n  - {name: a}\n  - {kind: uspto, split: tset}\n",
            "7:19: measured.1.split: expected train, validation, test or any, got 'tset' (did you mean 'test'?)",
        ),
        (
            "behaviours:\n  reads: {kind: read_before_write, raeds: ls, reads: ls, writes: '>'}\n",
            "6:36: unknown key 'raeds' (did you mean 'reads'?)",
        ),
        (
            "behaviours: {reads: {kind: command_matches, pattern: '('}}\n",
            "5:45: behaviours.reads.pattern: '(' is no pattern: missing ), unterminated subpattern at position 0",
        ),
    ],
)
def test_a_mistake_is_said_with_its_line_and_a_hint(said, more, message):
    assert said(more) == f"specs/mine.yaml:{message}"


def test_a_review_without_guidance_opens_without_it(tmp_path, monkeypatch, project):
    """The default prompt tells the reviewer of guidance: without any it was told of what it did not have."""
    monkeypatch.chdir(tmp_path)
    given = "guidance: {kind: given, folder: guidance/files}"
    arms = f"arms:\n  plain: {{review: {{{BY_RULES}}}}}\n  guided: {{review: {{{BY_RULES}, {given}}}}}\n"
    (spec,) = load(project.write("specs/mine.yaml", WHOLE + arms))
    assert {name: arm.review.prompt.name for name, arm in spec.arms.items()} == {
        "plain": "reviewer/generic", "guided": "reviewer/guided",
    }  # fmt: skip


HALF = '''
from typing import Literal

from hbench.parts.part import Part


class Half(Part):
    """A domain that is not finished."""

    kind: Literal["half"]
    name: str = "half"

    def questions(self, start, stop, seed):
        return []
'''


def test_a_domain_of_ones_own_that_lacks_something_is_told_all_of_it_before_it_is_run(said, project):
    """It was told by a run, one thing at a time: 'Half' object has no attribute 'packages'."""
    project.write("parts/domains/half.py", HALF)
    lacks = "kind 'half' lacks packages, describe, files, collected, grade_names, grade_work: see Domain in hbench/core/protocols.py"
    assert said("measured: [{kind: half}]\n") == f"specs/mine.yaml:5:12: measured.0: {lacks}"
    assert project.problems(WHOLE.replace("toy", "half")) == f"specs/mine.yaml:2:10: domain: {lacks}"


def test_a_domain_that_cannot_be_loaded_is_told_where_it_is_named(said, project):
    project.write("parts/domains/torn.py", "class Torn(\n")
    told = "kind 'torn' cannot be loaded: SyntaxError: '(' was never closed"
    assert said("measured: [{kind: torn}]\n").startswith(f"specs/mine.yaml:5:12: measured.0: {told}")
