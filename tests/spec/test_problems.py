"""What authors read when a spec is wrong: YAML and the whole message side by side."""

import pytest

EXTENDS = "extends: whole\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "splits: {feedbak: 3}\n",
            "specs/mine.yaml:2:10: unknown key 'feedbak' (did you mean 'feedback'?)",
        ),
        (
            "selection:\n  kind: best_candidat\n",
            "specs/mine.yaml:3:3: selection: no kind 'best_candidat' (did you mean 'best_candidate'?)",
        ),
        (
            "splits:\n  scoring: lots\n",
            "specs/mine.yaml:3:3: splits.scoring: expected a whole number or same_as_feedback, got 'lots'",
        ),
        (
            "ruonds: 2\nproposals: many\nsolver:\n  sampling:\n    temprature: 1\n",
            "specs/mine.yaml:2:1: unknown key 'ruonds' (did you mean 'rounds'?)\n"
            "specs/mine.yaml:3:1: proposals: expected a whole number, got 'many'\n"
            "specs/mine.yaml:6:5: unknown key 'temprature' (did you mean 'temperature'?)",
        ),
        (
            "reward:\n  parsd: {weight: 1}\n",
            "specs/mine.yaml:3:3: reward: no term 'parsd' (did you mean 'parsed'?)",
        ),
        (
            "reward:\n  parsed: {wieght: 1}\n",
            "specs/mine.yaml:3:12: unknown key 'wieght' (did you mean 'weight'?)",
        ),
        (
            "machine:\n  models:\n    tiny: {max_in_fligth: 3}\n",
            "specs/mine.yaml:4:12: unknown key 'max_in_fligth' (did you mean 'max_in_flight'?)",
        ),
        (
            "splits.feedback: 3\n",
            "specs/mine.yaml:2:1: unknown key 'splits.feedback' "
            "(dotted keys stand in `sweep` and on the command line only; write nested mappings here)",
        ),
        (
            "rounds: -1\nlimits: {wall_s: 0}\n",
            "specs/mine.yaml:2:1: rounds: expected at least 0, got -1\n"
            "specs/mine.yaml:3:10: limits.wall_s: expected more than 0.0, got 0",
        ),
        ("rounds: yes\n", "specs/mine.yaml:2:1: rounds: expected a number, got true"),
        ("grade: f1\n", "specs/mine.yaml:2:1: grade: family toy gives no grade 'f1' (it gives score, exact)"),
        (
            "harness: harnesses/one_cal.py\n",
            "specs/mine.yaml:2:1: harness: no file 'harnesses/one_cal.py' under specs/ "
            "(did you mean 'harnesses/one_call.py'?)",
        ),
        (
            "solver: {weights: some/model}\n",
            "specs/mine.yaml:2:1: solver: needs a revision, or as_of: DATE for a hosted model that has none",
        ),
        (
            "solver: {as_of: tomorrow}\n",
            "specs/mine.yaml:2:10: solver.as_of: expected a day such as 2026-01-31, got 'tomorrow'",
        ),
        (
            "machine: {sandbox: nonne}\n",
            "specs/mine.yaml:2:11: machine.sandbox: expected auto, namespaces, landlock or none, got 'nonne' "
            "(did you mean 'none'?)",
        ),
        (
            "machine: {models: {tinny: {port: 1}}}\nsolver: {name: tiny}\n",
            "specs/mine.yaml:2:20: machine.models: no model is called 'tinny' (did you mean 'tiny'?)",
        ),
        (
            "family: toy\n",
            "specs/mine.yaml:2:1: family: expected a mapping, got 'toy' (write {kind: toy})",
        ),
        (
            "solver: {sampling: {extra: {seed: 3}}}\n",
            "specs/mine.yaml:2:21: solver.sampling.extra: seed is hbench's to send (the field of that name, or none)",
        ),
        ("solver: fast\n", "specs/mine.yaml:2:1: solver: expected a mapping, got 'fast' (write {weights: fast}; other kinds: recorded, rules)"),
        ("seed: .inf\n", "specs/mine.yaml:2:1: seed: inf is not a finite number"),
        (
            "seed: 017\n",
            "specs/mine.yaml:2:7: seed: 017 is an octal or base-60 number in YAML (write it in decimal, or quote it)",
        ),
        ("extends: [whole]\n", "specs/mine.yaml:2:1: key 'extends' is given twice (first at line 1)"),
    ],
)
def test_a_mistake_is_said_with_its_line_and_a_hint(problems, text, said):
    assert problems(EXTENDS + text) == said


def test_an_inherited_mistake_is_said_where_it_stands(project):
    project.write("specs/part.yaml", "extends: whole\n\nsplits:\n  feedback: few\n")
    assert project.problems("extends: part\nsplits: {scoring: 2}\nrouns: 1\n").splitlines() == [
        "specs/mine.yaml:3:1: unknown key 'rouns' (did you mean 'rounds'?)",
        "specs/part.yaml:4:3: splits.feedback: expected a whole number, got 'few'",
    ]


def test_a_mistake_in_every_arm_is_said_once(problems):
    text = EXTENDS + "rounds: x\narms:\n  one: {}\n  two: {proposals: y}\n"
    assert problems(text).splitlines() == [
        "specs/mine.yaml:2:1: rounds: expected a whole number, got 'x'",
        "specs/mine.yaml:5:9: proposals: expected a whole number, got 'y'",
    ]


def test_a_mistake_in_a_swept_value_is_said_at_that_value(problems):
    text = EXTENDS + "sweep:\n  rounds:\n    - 1\n    - two\n"
    assert problems(text) == "specs/mine.yaml:5:7: rounds: expected a whole number, got 'two'"


def test_a_mistake_on_the_command_line_is_said_so(problems):
    assert problems(EXTENDS, "ruonds=3") == "<command line>: unknown key 'ruonds' (did you mean 'rounds'?)"
    assert problems(EXTENDS, "rounds") == "<command line>: expected a.b=value, got 'rounds'"
    assert problems(EXTENDS, "rounds=[1") == (
        "<command line>: 'rounds=[1': expected ',' or ']', but got '<stream end>'"
    )


def test_a_missing_field_is_named(problems):
    assert problems("plan: evaluation\nfamily: {kind: toy}\nsplits: {evaluation: 3}\n").splitlines() == [
        "specs/mine.yaml:1:1: harness is missing",
        "specs/mine.yaml:1:1: solver is missing",
    ]


def test_what_an_extended_file_leaves_open_is_missing_in_the_spec_itself(project):
    """It was told at the file that is extended, which others share and the author need never have opened."""
    project.write("specs/half.yaml", "plan: evaluation\nsolver: {sampling: {temperature: 0}}\n")
    assert project.problems("extends: half\nfamily: {kind: toy}\nsplits: {evaluation: 3}\n").splitlines() == [
        "specs/mine.yaml:1:1: harness is missing",
        "specs/mine.yaml:1:1: solver.weights is missing (left open at specs/half.yaml:2:1)",
    ]


def test_a_part_without_a_kind_lists_the_kinds(problems):
    text = "plan: evaluation\nharness: harnesses/one_call.py\nsolver: {weights: embedded/x}\nsplits: {evaluation: 3}\n"
    assert problems(text + "family: {name: maze}\n").startswith("specs/mine.yaml:5:1: family.kind is missing (one of: ")


def test_extends_holds_names(problems):
    said = "extends: expected a name or a list of names, got"
    assert problems("extends: [whole, 3]\n") == f"specs/mine.yaml:1:1: {said} ['whole', 3]"
    assert problems("extends: {a: b}\n").splitlines()[0] == f"specs/mine.yaml:1:1: {said} {{'a': 'b'}}"


def test_a_file_without_a_plan_lists_the_plans(problems):
    assert problems("rounds: 1\n") == "specs/mine.yaml:1:1: plan is missing (one of: adaptation, evaluation, training, distillation)"
    assert problems("plan: adaptatoin\n") == (
        "specs/mine.yaml:1:1: there is no plan 'adaptatoin' (did you mean 'adaptation'?)"
    )


def test_a_harness_that_is_not_python_is_said_with_its_line(project):
    project.write("specs/harnesses/broken.py", "def run(question, tools):\n    return (\n")
    assert project.problems(EXTENDS + "harness: harnesses/broken.py\n") == (
        "specs/mine.yaml:2:1: harness: harnesses/broken.py is not Python: line 2: '(' was never closed"
    )


def test_a_file_that_is_no_harness_is_said_before_anything_runs(project):
    project.write("specs/harnesses/idea.py", "def answer(question):\n    return question\n")
    assert project.problems(EXTENDS + "harness: harnesses/idea.py\n") == (
        "specs/mine.yaml:2:1: harness: harnesses/idea.py is no harness: it has no function run(question, tools) "
        "(harnesses/seed.py is one to begin with)"
    )


def test_a_prompt_with_a_fault_is_said_at_the_spec_that_names_it(project):
    project.write("prompts/report/bad.j2", "{# variables: score #}\n{{ scroe }}\n")
    assert project.problems(EXTENDS + "report: {prompt: report/bad}\n") == (
        "specs/mine.yaml:2:10: report.prompt: prompts/report/bad.j2:1:15: 'score' is declared but not used; "
        "prompts/report/bad.j2:2:4: 'scroe' is not declared (did you mean 'score'?)"
    )


def test_an_unknown_spec_is_said_with_the_nearest_name(project):
    from hbench.spec import SpecError, load

    with pytest.raises(SpecError, match=r"^wole: there is no such spec \(did you mean 'whole'\?\)$"):
        load("wole")
