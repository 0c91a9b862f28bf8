"""How several files become one tree of values."""

import pytest

from hbench.spec import SpecError, load


def main(specs):
    return specs[0].arms["main"]


def test_a_diamond_lays_each_file_down_once(project):
    """Merging parent by parent put base's rounds back over long's: base came again with the second parent."""
    project.write("specs/base.yaml", "extends: whole\nrounds: 3\n")
    project.write("specs/long.yaml", "extends: base\nrounds: 5\n")
    project.write("specs/qa_rule.yaml", "extends: base\nselection: {kind: best_candidate}\n")
    spec = main(project.load("extends: [long, qa_rule]\n"))
    assert (spec.rounds, spec.selection.kind) == (5, "best_candidate")


def test_a_loop_of_extends_is_printed_as_a_chain(project):
    project.write("specs/b.yaml", "extends: c\n")
    project.write("specs/c.yaml", "extends: [whole, mine]\n")
    assert project.problems("extends: b\n") == (
        "specs/c.yaml:1:18: extends goes in a loop: specs/mine.yaml → specs/b.yaml → specs/c.yaml → specs/mine.yaml"
    )


def test_an_unknown_parent_is_said_with_the_nearest_name(project):
    assert project.problems("extends: [whole, models/smollm2]\n") == (
        "specs/mine.yaml:1:18: extends: no spec 'models/smollm2' (did you mean 'models/smollm2_135m'?)"
    )


def test_unrelated_files_that_disagree_are_both_named_until_the_child_decides(project):
    project.write("specs/parts/long.yaml", "extends: whole\nrounds: 5\n")
    project.write("specs/clash_a.yaml", "extends: whole\nrounds: 7\n")
    both = "extends: [parts/long, clash_a]\n"
    assert project.problems(both) == (
        "specs/clash_a.yaml:2:1: rounds is also set at specs/parts/long.yaml:2:1 (set it in specs/mine.yaml)"
    )
    assert main(project.load(both + "rounds: 6\n")).rounds == 6


def test_a_file_between_may_decide_too(project):
    project.write("specs/a.yaml", "extends: whole\nrounds: 5\n")
    project.write("specs/b.yaml", "extends: whole\nrounds: 7\n")
    project.write("specs/both.yaml", "extends: [a, b]\nrounds: 6\n")
    assert main(project.load("extends: both\n")).rounds == 6


def test_unrelated_files_may_agree(project):
    project.write("specs/a.yaml", "rounds: 5\nsplits: {feedback: 2}\n")
    project.write("specs/b.yaml", "rounds: 5\n")
    assert main(project.load("extends: [whole, a, b]\n")).rounds == 5


def test_a_kind_set_apart_by_unrelated_files_is_a_clash(project):
    project.write("specs/a.yaml", "selection: {kind: best_candidate}\n")
    project.write("specs/b.yaml", "selection: {kind: best_or_parent}\n")
    assert "selection.kind is also set at specs/a.yaml:1:13" in project.problems("extends: [whole, a, b]\n")


def test_a_mapping_that_names_another_kind_replaces(project):
    """A deep merge kept `rescore` of strict_improvement under best_candidate, which has no such field."""
    project.write("specs/fresh.yaml", "extends: whole\nselection: {kind: strict_improvement, rescore: fresh}\n")
    spec = main(project.load("extends: fresh\nselection: {kind: best_candidate}\n"))
    assert spec.selection.kind == "best_candidate"


def test_a_mapping_without_a_kind_adds_to_the_inherited_one(project):
    project.write("specs/strict.yaml", "extends: whole\nselection: {kind: strict_improvement}\n")
    assert main(project.load("extends: strict\nselection: {rescore: fresh}\n")).selection.rescore == "fresh"
    project.write("specs/later.yaml", "extends: whole\nselection: {rescore: fresh}\n")
    chosen = main(project.load("extends: later\nselection: {kind: strict_improvement}\n")).selection
    assert chosen.rescore == "fresh"


def test_a_recorded_proposer_takes_the_place_of_the_weights(project):
    project.write("specs/replies/edits.jsonl", '{"text": "no edit"}\n')
    text = "extends: whole\narms:\n  replay: {proposer: {kind: recorded, file: replies/edits.jsonl}}\n"
    ref = project.load(text)[0].arms["replay"].proposer.ref("proposer")
    assert ref.identity["kind"] == "recorded"
    assert ref.prompt == "proposer/search_replace"


def test_null_drops_a_reward_term(project):
    project.write("specs/two.yaml", "extends: whole\nreward: {parsed: {weight: 0.1}, applied: {weight: 0.2}}\n")
    terms = main(project.load("extends: two\nreward: {parsed: null, applied: {weight: 0.3}}\n")).reward.terms
    assert {name: term.weight for name, term in terms.items()} == {"applied": 0.3}


def test_dropping_a_term_that_nobody_set_is_a_mistake(problems):
    assert problems("extends: whole\nreward: {parsed: null}\n") == (
        "specs/mine.yaml:2:10: reward: there is no 'parsed' to drop (nothing that this spec extends sets it)"
    )


def test_without_a_reward_the_four_terms_of_the_paper_are_recorded(project):
    terms = main(project.load("extends: whole\n")).reward.terms
    assert {name: term.weight for name, term in terms.items()} == {
        "parsed": 0.05,
        "applied": 0.10,
        "completed": 0.15,
        "task_score": 1.0,
    }


def test_a_name_with_a_dot_is_relative_to_the_file(project):
    project.write("elsewhere/part.yaml", "extends: whole\nrounds: 4\n")
    file = project.write("elsewhere/mine.yaml", "extends: ./part\n")
    assert main(load(file)).rounds == 4


def test_keys_that_only_other_plans_read_are_left_out_when_inherited(project):
    spec = main(project.load("extends: whole\nplan: evaluation\n"))
    assert (spec.plan, hasattr(spec, "proposer")) == ("evaluation", False)
    assert project.problems("extends: whole\nplan: evaluation\nrounds: 2\n").startswith(
        "specs/mine.yaml:3:1: unknown key 'rounds'"
    )


def test_the_description_of_an_ancestor_is_not_inherited(project):
    project.write("specs/told.yaml", "extends: whole\ndescription: about the parent\n")
    assert main(project.load("extends: told\n")).description == ""


def test_an_override_is_laid_on_last_and_read_as_yaml(project):
    spec = main(project.load("extends: whole\n", "rounds=2", "solver.sampling={temperature: 1e-1, stop: [END]}"))
    assert (spec.rounds, spec.solver.sampling.temperature, spec.solver.sampling.stop) == (2, 0.1, ("END",))


def test_an_override_that_every_arm_sets_again_is_refused(project):
    text = "extends: whole\narms:\n  a: {rounds: 1}\n  b: {rounds: 2}\n"
    assert project.problems(text, "rounds=3") == (
        "<command line>: rounds has no effect: every arm sets it (write arms.NAME.rounds=…, NAME being one of a, b)"
    )
    assert project.load(text, "arms.b.rounds=3")[0].arms["b"].rounds == 3


def test_arms_are_overlays_and_one_of_them_is_main_where_none_are_named(project):
    assert list(project.load("extends: whole\n")[0].arms) == ["main"]
    arms = project.load("extends: whole\nrounds: 4\narms:\n  seed: {rounds: 0}\n  long: {}\n")[0].arms
    assert {name: arm.rounds for name, arm in arms.items()} == {"seed": 0, "long": 4}


@pytest.mark.parametrize(
    ("arms", "said"),
    [
        ("  one:\n", "specs/mine.yaml:3:3: arms.one: is empty (write {} for an arm without changes)"),
        ("  one: 3\n", "specs/mine.yaml:3:3: arms.one: expected a mapping"),
        ("  a.b: {}\n", "specs/mine.yaml:3:3: arms.a.b: a name holds letters, digits, _ and - only"),
        (
            "  one: {machine: {workers: 2}}\n",
            "specs/mine.yaml:3:9: arms.one: an arm cannot set machine (it is the spec's)",
        ),
    ],
)
def test_an_arm_that_cannot_be_is_refused(problems, arms, said):
    assert problems("extends: whole\narms:\n" + arms) == said


def test_null_drops_an_inherited_arm(project):
    project.write("specs/two.yaml", "extends: whole\narms: {a: {rounds: 0}, b: {rounds: 1}}\n")
    assert list(project.load("extends: two\narms: {a: null}\n")[0].arms) == ["b"]


def test_a_file_that_cannot_be_read_does_not_hide_the_faults_of_the_others(project):
    project.write("specs/a.yaml", "- 1\n")
    project.write("specs/b.yaml", "rounds: 1\nrounds: 2\n")
    with pytest.raises(SpecError) as caught:
        project.load("extends: [whole, a, b]\n")
    assert str(caught.value).splitlines() == [
        "specs/a.yaml:1:1: holds a list, not a mapping (a spec is a mapping such as `plan: adaptation`)",
        "specs/b.yaml:2:1: key 'rounds' is given twice (first at line 1)",
    ]
