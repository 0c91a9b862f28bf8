"""Sweeps and interpolation."""


def values(specs, *path):
    def at(block):
        for name in path:
            block = getattr(block, name)
        return block

    return [at(spec.arms["main"]) for spec in specs]


def test_several_paths_make_the_product_the_first_varying_slowest(project):
    specs = project.load("extends: whole\nsweep:\n  family.name: [a, b]\n  seed: [0, 1]\n")
    assert [dict(spec.point) for spec in specs] == [
        {"family.name": "a", "seed": 0},
        {"family.name": "a", "seed": 1},
        {"family.name": "b", "seed": 0},
        {"family.name": "b", "seed": 1},
    ]
    assert values(specs, "seed") == [0, 1, 0, 1]


def test_a_key_of_two_paths_walks_rows_together(project):
    specs = project.load("extends: whole\nsweep:\n  rounds, proposals: [[1, 8], [8, 1]]\n")
    assert list(zip(values(specs, "rounds"), values(specs, "proposals"), strict=True)) == [(1, 8), (8, 1)]


def test_a_sweep_may_reach_into_arms(project):
    specs = project.load("extends: whole\narms: {a: {}, b: {}}\nsweep: {arms.b.rounds: [2, 3]}\n")
    assert [(s.arms["a"].rounds, s.arms["b"].rounds) for s in specs] == [(1, 2), (1, 3)]


def test_a_row_of_the_wrong_length_is_said_at_that_row(problems):
    assert problems("extends: whole\nsweep:\n  rounds, proposals: [[1, 8], [8]]\n") == (
        "specs/mine.yaml:3:31: sweep.rounds, proposals: expected rows of 2 values, got [8]"
    )


def test_a_sweep_reads_its_list_from_a_name(project):
    project.write("specs/families.yaml", "let: {unseen: [x, y]}\n")
    specs = project.load("extends: [whole, families]\nsweep: {family.name: '${let.unseen}'}\n")
    assert values(specs, "family", "name") == ["x", "y"]


def test_an_override_of_a_swept_value_takes_it_out_of_the_sweep(project):
    specs = project.load("extends: whole\nsweep: {seed: [0, 1, 2], rounds: [1, 2]}\n", "seed=1")
    assert [dict(spec.point) for spec in specs] == [{"rounds": 1}, {"rounds": 2}]
    assert values(specs, "seed") == [1, 1]


def test_an_override_of_one_of_two_values_walked_together_is_refused(project):
    text = "extends: whole\nsweep: {'rounds, proposals': [[1, 8], [8, 1]]}\n"
    assert project.problems(text, "rounds=1") == (
        "<command line>: rounds has no effect: the sweep walks 'rounds, proposals' (override the sweep)"
    )


def test_a_sweep_may_be_overridden(project):
    text = "extends: whole\nsweep: {family.name: [a, b]}\n"
    assert values(project.load(text, "sweep.family.name=[c]"), "family", "name") == ["c"]


def test_two_points_that_are_one_spec_are_refused(problems):
    assert problems("extends: whole\nsweep: {seed: [0, 1, 1]}\n") == (
        "specs/mine.yaml:2:1: sweep: the points seed=1 and seed=1 are the same spec "
        "(a value twice, or one that every arm sets again)"
    )


def test_a_sweep_without_a_list_is_refused(problems):
    assert problems("extends: whole\nsweep: {seed: 3, rounds: []}\n").splitlines() == [
        "specs/mine.yaml:2:9: sweep.seed: expected a list of values, got 3",
        "specs/mine.yaml:2:18: sweep.rounds: expected a list of values, got []",
    ]


def test_names_are_filled_in_at_each_point_and_told_apart(project):
    text = "extends: whole\nname: {name}\nsweep: {{family.name: [a, b]}}\n"
    assert [s.name for s in project.load(text.format(name="toy-${family.name}"))] == ["toy-a", "toy-b"]
    assert [s.name for s in project.load(text.format(name="toy"))] == ["toy family.name=a", "toy family.name=b"]
    assert [s.name for s in project.load("extends: whole\n")] == ["mine"]


def test_a_whole_interpolation_keeps_its_sort_and_one_inside_text_becomes_text(project):
    let = "let: {n: 3, m: {kind: toy, name: x}}\n"
    spec = project.load("extends: whole\n" + let + "rounds: ${let.n}\nfamily: ${let.m}\nname: r${.rounds}\n")[0]
    assert (spec.arms["main"].rounds, spec.arms["main"].family.name, spec.name) == (3, "x", "r3")


def test_a_number_inside_text_stands_as_written(project):
    assert project.load("extends: whole\nlet: {v: 1.10}\nname: v${let.v}\n")[0].name == "v1.10"


def test_a_missing_target_points_at_the_line_that_uses_it(problems):
    assert problems("extends: whole\nlet: {unseen: 3}\nrounds: ${let.unsen}\n") == (
        "specs/mine.yaml:3:1: rounds: ${let.unsen} names nothing (did you mean 'let.unseen'?)"
    )


def test_interpolations_in_a_loop_are_printed_as_a_chain(problems):
    said = problems("extends: whole\nlet: {a: '${let.b}', b: '${let.a}'}\nrounds: ${let.a}\n")
    assert "let.b: interpolations go in a loop: let.a → let.b → let.a" in said


def test_what_is_no_interpolation_is_refused_with_its_place(problems):
    assert problems("extends: whole\nname: a ${HOME:x}\n") == (
        "specs/mine.yaml:2:7: name: ${HOME:x} is not an interpolation "
        "(write ${dotted.path} or ${.name}, or \\${ for the signs themselves; long texts belong into prompts/)"
    )


def test_signs_written_with_a_backslash_stay(project):
    assert project.load("extends: whole\nname: a \\${b}\n")[0].name == "a ${b}"


def test_machine_settings_reach_nothing_that_is_hashed(problems):
    text = "extends: whole\nmachine: {models: {x: {base_url: http://there}}}\nname: ${machine.models.x.base_url}\n"
    assert "reads machine settings, which are not hashed" in problems(text)
    hidden = "extends: whole\nmachine: {workers: 3}\nlimits: {calls: '${..machine.workers}'}\n"
    assert "reads machine settings, which are not hashed" in problems(hidden)
