"""`hbench check`: everything under specs/, by sort."""


import pytest
from pydantic import BaseModel, ConfigDict

from hbench.core.failure import HbenchError
from hbench.spec import check_all, check_files


class Exhibit(BaseModel):
    model_config = ConfigDict(extra="forbid")
    title: str
    columns: dict[str, str] = {}


def said(result) -> list[str]:
    return [str(problem) for problem in result.problems]


def test_files_are_counted_by_sort(project):
    project.write("specs/part.yaml", "solver: {sampling: {temperature: 1}}\nsplits: {evaluation: '${let.n}'}\n")
    arms = "arms: {a: {}, b: {rounds: 0}, c: {rounds: 2}}\n"
    project.write("specs/one.yaml", "extends: whole\nsweep: {seed: [0, 1]}\n" + arms)
    project.write("specs/exhibits/table.yaml", "title: A table\n")
    result = check_all()
    assert (result.experiments, result.points, result.arms) == (2, 3, 7)
    assert (result.fragments, result.exhibits, said(result)) == (1, 1, [])
    assert result.summary() == "2 experiments (3 points, 7 arms), 1 fragments, 1 exhibits: no problems"


def test_a_file_that_is_none_of_these_is_a_problem(project):
    project.write("specs/notes.yaml", "shopping: [milk]\n")
    project.write("specs/old.yml", "plan: adaptation\n")
    project.write("specs/list.yaml", "- 1\n")
    assert said(check_all()) == [
        "specs/list.yaml:1:1: holds a list, not a mapping (a spec is a mapping such as `plan: adaptation`)",
        "specs/notes.yaml:1:1: is no experiment (it has no plan), no fragment (no key of a spec) "
        "and no exhibit (not under exhibits/)",
        "specs/old.yml: a spec's file name ends in .yaml",
    ]


def test_a_fragment_may_leave_things_to_others_but_not_misspell_them(project):
    rest = "splits: {feedback: lots}\nreward: {parsed: null}\n"
    project.write("specs/part.yaml", "solver:\n  weights: ???\n  dtpye: x\n" + rest)
    assert said(check_all()) == [
        "specs/part.yaml:3:3: unknown key 'dtpye' (did you mean 'dtype'?)",
        "specs/part.yaml:4:10: splits.feedback: expected a whole number, got 'lots'",
    ]


def test_an_exhibit_is_checked_against_its_own_class(project):
    project.write("specs/exhibits/table.yaml", "titel: A table\ncolumns: {score: 3}\n")
    assert said(check_all(exhibit=Exhibit)) == [
        "specs/exhibits/table.yaml:1:1: title is missing",
        "specs/exhibits/table.yaml:1:1: unknown key 'titel' (did you mean 'title'?)",
        'specs/exhibits/table.yaml:2:11: columns.score: expected text, got 3 (quote it: "3")',
    ]


def test_each_sweep_point_is_compiled(project):
    project.write("specs/one.yaml", "extends: whole\nname: s${seed}\nsweep: {seed: [0, 1]}\n")
    compiled = []

    def compile(spec):
        compiled.append(spec.name)
        if spec.name == "s1":
            raise HbenchError("evaluation questions would reach 'report'")

    assert said(check_all(compile=compile)) == ["specs/one.yaml: s1: evaluation questions would reach 'report'"]
    assert compiled == ["s0", "s1", "whole"]


def test_files_named_are_checked_alone(project):
    project.write("specs/bad.yaml", "extends: whole\nruonds: 1\n")
    assert check_files(["specs/whole.yaml"]).summary().endswith("no problems")
    assert said(check_files(["bad", "specs/bad.yaml"])) == [
        "specs/bad.yaml:2:1: unknown key 'ruonds' (did you mean 'rounds'?)"
    ]
    assert said(check_files(["nowhere"])) == ["nowhere: there is no such spec"]


@pytest.mark.slow
def test_every_point_and_arm_of_a_large_sweep_is_checked(project):
    names = ", ".join(f"f{i}" for i in range(30))
    arms = "".join(f"  a{i}: {{rounds: {i}, proposals: {i + 1}}}\n" for i in range(5))
    sweep = f"sweep: {{family.name: [{names}], seed: [0, 1, 2]}}\n"
    project.write("specs/big.yaml", f"extends: whole\n{sweep}arms:\n{arms}")
    result = check_all()
    assert (result.points, result.arms, said(result)) == (91, 451, [])
