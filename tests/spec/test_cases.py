"""Faults that people met with YAML specs in other tools, by their number in the shared cases.

The cases assume another schema. What is about reading runs on their own files; what is about fields runs on the same
mistake in hbench's fields (`model` is `solver`, `tasks` are `family` and `splits`, `train.lr` is a reward's weight).
"""

import json

import pytest

from hbench.spec import SpecError, load
from hbench.spec.source import read
from tests.where import cases

BASE = "extends: whole\n"


def arm(specs):
    return specs[0].arms["main"]


def read_case(folder: str, file: str = "spec.yaml"):
    return read(cases() / folder / file)


def said(source) -> list[str]:
    """The problems without the folder the cases lie in."""
    return [str(problem).replace(f"{source.path.parent.as_posix()}/", "") for problem in source.problems]


def test_66_an_exponent_without_a_dot_is_a_number(project):
    train = read_case("66-exponent-without-dot").tree.values["train"]
    assert (train["lr"], train["kl_beta"]) == (0.001, 0.0005)
    weights = 'parsed: {weight: 1e-3}, applied: {weight: 5E-4}, completed: {weight: "1e-3"}'
    spec = arm(project.load(BASE + f"reward: {{{weights}}}\n"))
    assert [term.weight for term in spec.reward.terms.values()] == [0.0005, 0.001, 0.001]


def test_69_on_as_a_key_is_refused_with_its_line(project):
    assert said(read_case("69-on-as-key")) == ['spec.yaml:12:3: key on is not text in YAML (quote it: "on")']
    assert project.problems(BASE + "report: {on: 1, no: 2, 1e3: 3, 7: 4, ~: 5}\n").count("is not text in YAML") == 5


def test_71_a_key_given_twice_is_refused_wherever_it_stands(project):
    assert said(read_case("71-duplicate-key")) == ["spec.yaml:11:1: key 'model' is given twice (first at line 3)"]
    assert said(read_case("71-duplicate-key", "spec-b.yaml")) == [
        "spec-b.yaml:7:3: key 'temperature' is given twice (first at line 6)"
    ]
    project.write("specs/part.yaml", "solver: {context: 1, context: 2}\n")
    assert project.problems("extends: [whole, part]\n") == (
        "specs/part.yaml:1:22: key 'context' is given twice (first at line 1)"
    )


def test_73_a_list_replaces_the_inherited_one(project):
    project.write("specs/stops.yaml", "extends: whole\nsolver: {sampling: {stop: [qa, sheets]}}\n")
    spec = project.load("extends: stops\nsolver: {sampling: {stop: [chem]}}\n")[0]
    assert spec.arms["main"].solver.sampling.stop == ("chem",)
    assert "chem" in spec.text and "sheets" not in spec.text


def test_75_interpolations_of_an_included_file_are_filled_in_on_the_whole_spec(project):
    tiny = "solver:\n  name: tiny\n  weights: ${let.root}/tiny\n  revision: ${.name}-x\n"
    project.write("specs/models/tiny.yaml", tiny)
    text = "extends: [whole, models/tiny]\nlet: {root: /data}\nsolver: {weights: '${let.root}/tiny'}\n"
    with_root = arm(project.load(text))
    assert (with_root.solver.weights, with_root.solver.revision) == ("/data/tiny", "tiny-x")
    bare = "plan: evaluation\nfamily: {kind: toy}\nsplits: {evaluation: 1}\nharness: harnesses/one_call.py\n"
    project.write("specs/bare.yaml", bare)
    assert project.problems("extends: [bare, models/tiny]\n") == (
        "specs/models/tiny.yaml:3:3: solver.weights: ${let.root} names nothing"
    )


def test_77_every_missing_value_is_listed_and_an_override_mends_it(project):
    text = BASE + "solver:\n  weights: ???\nsplits:\n  evaluation: ???\n"
    assert project.problems(text).splitlines() == [
        "specs/mine.yaml:3:3: solver.weights is missing (??? must be set)",
        "specs/mine.yaml:5:3: splits.evaluation is missing (??? must be set)",
    ]
    assert "(inside { } and [ ] write '???' in quotes)" in project.problems(BASE + "solver: {weights: ???}\n")
    assert arm(project.load(text, "solver.weights=embedded/tiny", "splits.evaluation=3")).splits.evaluation == 3


def test_77_an_item_of_a_list_may_be_addressed(project):
    text = BASE + "solver: {sampling: {stop: [END, '???']}}\n"
    assert "solver.sampling.stop.1 is missing" in project.problems(text)
    assert arm(project.load(text, "solver.sampling.stop.1=STOP")).solver.sampling.stop == ("END", "STOP")


def test_78_a_misspelt_key_is_refused_with_the_right_one(project):
    text = BASE + "solver:\n  sampling: {temprature: 0.7}\nfamly: {}\n"
    assert project.problems(text).splitlines() == [
        "specs/mine.yaml:3:14: unknown key 'temprature' (did you mean 'temperature'?)",
        "specs/mine.yaml:4:1: unknown key 'famly' (did you mean 'family'?)",
    ]


def test_81_text_that_looks_like_a_number_must_be_quoted(project):
    text = BASE + "family: {name: 12e3}\nsolver:\n  revision: 1.10\n  adapter: 1_000\n  dtype: no\n"
    assert project.problems(text).splitlines() == [
        'specs/mine.yaml:2:10: family.name: expected text, got 12e3 (quote it: "12e3")',
        'specs/mine.yaml:4:3: solver.revision: expected text, got 1.10 (quote it: "1.10")',
        'specs/mine.yaml:5:3: solver.adapter: expected text, got 1_000 (quote it: "1_000")',
        'specs/mine.yaml:6:3: solver.dtype: expected text, got no (quote it: "no")',
    ]
    assert arm(project.load(BASE + 'solver: {revision: "1.10"}\n')).solver.revision == "1.10"
    assert project.problems(BASE, "solver.revision=1.10") == (
        '<command line>: solver.revision: expected text, got 1.10 (quote it: "1.10")'
    )


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("a.yaml", "a.yaml:11:10: a key must be text (put text that begins with { or [ in quotes)"),
        ("b.yaml", "b.yaml:2:1: found character '\\t' that cannot start any token (indent with blanks, not with tabs)"),
        ("c.yaml", "c.yaml:11:13: mapping values are not allowed here (put text that holds ': ' in quotes)"),
        ("d.yaml", "d.yaml:11:9: found character '@' that cannot start any token (put the text in quotes)"),
    ],
)
def test_82_unquoted_signs_are_refused_with_place_and_hint(file, message):
    assert said(read_case("82-jinja-unquoted-and-tabs", file)) == [message]


def test_85_an_environment_variable_outside_machine_is_refused(project):
    assert said(read_case("85-env-and-secrets")) == [
        "spec.yaml:5:12: model.api_key: the environment variable HB_KEY may be read under `machine` only "
        "(what is hashed must not depend on it)"
    ]


def test_85_an_unset_variable_is_named_and_a_set_one_is_written_nowhere(project, monkeypatch):
    text = BASE + "machine:\n  models:\n    tiny: {base_url: '${oc.env:HB_KEY}', api_key_env: HB_OTHER}\n"
    monkeypatch.delenv("HB_KEY", raising=False)
    assert project.problems(text) == (
        "specs/mine.yaml:4:12: machine.models.tiny.base_url: the environment variable HB_KEY is not set "
        "(export HB_KEY=… or write ${oc.env:HB_KEY,DEFAULT})"
    )
    monkeypatch.setenv("HB_KEY", "s3cret-value")
    monkeypatch.setenv("HB_OTHER", "other-s3cret")
    spec = project.load(text)[0]
    assert spec.machine.model_settings("tiny")["base_url"] == "s3cret-value"
    written = json.dumps([spec.text, spec.digest, dict(spec.point), spec.name, spec.machine.to_json()])
    assert "s3cret" not in written
    assert "HB_OTHER" in written


def test_85_a_secret_of_the_wrong_sort_is_not_repeated_in_the_message(project, monkeypatch):
    monkeypatch.setenv("HB_KEY", "s3cret-value")
    wrong_sort = BASE + "machine: {models: {tiny: {port: '${oc.env:HB_KEY}'}}}\n"
    assert project.problems(wrong_sort) == (
        "specs/mine.yaml:2:27: machine.models.tiny.port: expected a whole number, got something else "
        "(the value is not shown: it may be secret)"
    )
    for indirect in ("'${machine.models.tiny.base_url}'", "${..base_url}", "x-${.base_url}"):
        text = BASE + "machine:\n  models:\n    tiny:\n      base_url: ${oc.env:HB_KEY}\n      port: " + indirect + "\n"
        assert "s3cret" not in project.problems(text)
    assert "s3cret" not in project.problems(BASE, "machine.models.tiny.port=${oc.env:HB_KEY}")
    key_itself = BASE + "machine: {models: {tiny: {api_key_env: sk-s3cret-value}}}\n"
    assert project.problems(key_itself) == (
        "specs/mine.yaml:2:27: machine.models.tiny.api_key_env: expected the name of an environment variable "
        "(the key itself never stands in a spec)"
    )
    assert project.problems(BASE + "machine: {models: {tiny: {api_key: sk-s3cret}}}\n") == (
        "specs/mine.yaml:2:27: unknown key 'api_key' (did you mean 'api_key_env'?)"
    )


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("empty.yaml", "empty.yaml:1:1: is empty (a spec is a mapping such as `plan: adaptation`)"),
        ("comments.yaml", "comments.yaml:1:1: is empty (a spec is a mapping such as `plan: adaptation`)"),
        ("list.yaml", "list.yaml:1:1: holds a list, not a mapping (a spec is a mapping such as `plan: adaptation`)"),
        ("two.yaml", "two.yaml:2:1: holds more than one document"),
        (
            "tag.yaml",
            "tag.yaml:1:7: name: tag tag:yaml.org,2002:python/object/apply:os.system is not read "
            "(specs hold plain values only)",
        ),
    ],
)
def test_86_odd_documents_are_refused_and_run_nothing(file, message, tmp_path):
    assert said(read_case("86-empty-and-odd-documents", file)) == [message]
    witness = tmp_path / "ran"
    tagged = tmp_path / "tag.yaml"
    tagged.write_text(f'name: !!python/object/apply:os.system ["touch {witness}"]\n')
    with pytest.raises(SpecError):
        load(tagged)
    assert not witness.exists()


def test_86_a_byte_order_mark_and_crlf_load_as_usual(project):
    source = read_case("86-empty-and-odd-documents", "bom.yaml")
    assert (source.problems, source.tree.values["seed"]) == ((), 7)
    assert str(source.tree.mark(("model", "name"))).endswith("bom.yaml:4:3")
    file = project.write("specs/mine.yaml", "")
    file.write_bytes(b"\xef\xbb\xbfextends: whole\r\nrounds: 2\r\n")
    assert arm(load(file)).rounds == 2


def test_101_stop_texts_are_checked_when_the_spec_is_read(project):
    stops = json.loads((cases() / "101-too-many-stops/stops.json").read_text())

    def spec(stops: list[str]) -> str:
        return BASE + f"solver: {{sampling: {{stop: {json.dumps(stops)}}}}}\n"

    assert "sampling.stop: an empty stop text would end every completion at once" in project.problems(spec(stops))
    filled = [stop for stop in stops if stop]
    assert "solver.sampling.stop: 5 different stop texts; servers accept 4" in project.problems(spec(filled))
    kept = ("\n\n", "###", "Question:", "END")
    assert arm(project.load(spec(filled[:-1]))).solver.ref("solver").sampling.stop == kept


def test_106_zeros_reach_what_is_sent(project):
    text = BASE + "seed: 0\nsolver: {sampling: {temperature: 0, max_tokens: 1, extra: {presence_penalty: 0}}}\n"
    spec = arm(project.load(text))
    sent = spec.solver.ref("solver").sampling.to_json()
    assert (spec.seed, sent["temperature"], sent["max_tokens"], sent["extra"]) == (0, 0.0, 1, {"presence_penalty": 0})


def test_142_choosing_and_measuring_on_the_same_questions_is_refused(project):
    chosen = BASE + "splits: {scoring: same_as_evaluation}\n"
    assert project.problems(chosen) == (
        "specs/mine.yaml:2:10: splits.scoring: expected a whole number or same_as_feedback, got 'same_as_evaluation' "
        "(what is chosen on evaluation questions cannot be measured on them)"
    )
    measured = BASE + "splits: {evaluation: same_as_scoring}\n"
    assert project.problems(measured) == (
        "specs/mine.yaml:2:10: splits.evaluation: expected a whole number, got 'same_as_scoring' "
        "(evaluation questions are held out: they serve nothing else)"
    )


def test_142_without_scoring_questions_nothing_falls_back(project):
    text = """\
        plan: adaptation
        family: {kind: toy}
        splits: {feedback: 2, evaluation: 4}
        harness: harnesses/one_call.py
        solver: {weights: embedded/tiny}
        proposer: {weights: embedded/tiny, prompt: proposer/plain}
        report: {prompt: report/plain}
    """
    assert project.problems(text) == "specs/mine.yaml:3:1: splits.scoring is missing"


def test_every_spec_case_of_the_shared_folder_is_tested_here():
    numbers = {folder.name.split("-")[0] for folder in cases().iterdir() if folder.is_dir()}
    about_specs = {number for number in numbers if 66 <= int(number) <= 86} | {"101", "106", "142"}
    tested = {name.split("_")[1] for name in globals() if name.startswith("test_")}
    assert about_specs <= tested
