"""A quick look needs no file: three words make a spec that no file can have made."""

from pathlib import Path

import pytest

from hbench.core.failure import HbenchError
from hbench.plan import compile
from hbench.spec import load
from hbench.spec.looked_at import bank_source, harness_names, harness_source, model_names, model_tree, subject_names
from hbench.spec.quick_look import ARM, Look, of_files, quick_look

PROGRAM = "def run(question, tools):\n    return tools.lm(question)\n"


@pytest.fixture(autouse=True)
def scratch(tmp_path, monkeypatch) -> Path:
    """An empty working folder: all else is what ships."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def look(family: str = "toy", model: str = "rule_reader", harness: str = "seed", *overrides: str):
    return quick_look(Look(harness_source(harness), family, model, 4), overrides)


def block(*words: str):
    return look(*words).arms[ARM]


def test_it_is_an_evaluation_of_one_arm_that_can_be_planned():
    spec = look()
    assert (spec.plan, list(spec.arms), spec.name) == ("evaluation", [ARM], "quick look: harnesses/seed.py on toy by rule_reader")
    assert [step.kind for step in compile(spec.limited(4)).steps] == ["harness", "split", "evaluate"]


def test_no_spec_of_a_file_has_its_digest(scratch):
    (scratch / "specs").mkdir()
    text = "plan: evaluation\nextends: base\nfamily: {kind: toy}\nsplits: {evaluation: 4, allow_fewer: true}\nharness: harnesses/seed.py\n"
    (scratch / "specs/same.yaml").write_text(text + "solver: {kind: rules, name: rule_reader}\n")
    (same,) = load("same")
    assert same.arms["main"].hashed() == look().arms[ARM].hashed() and same.digest != look().digest


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("toy", {"kind": "toy", "ask": "copy"}),
        ("maze", {"kind": "reasoning_gym", "name": "maze"}),
        ("sum_list", {"kind": "practice", "name": "sum_list"}),
        ("practice/sum_list", {"kind": "practice", "name": "sum_list"}),
        ("{kind: toy, ask: sum}", {"kind": "toy", "ask": "sum"}),
        ("invented_hops", {"kind": "invented_hops", "paragraphs": 2400}),
    ],
)
def test_a_family_has_many_names(word, told):
    made = block(word).family.to_json()
    assert {key: made[key] for key in told} == told


def test_a_familys_file_brings_its_grade():
    assert block("invented_hops").grade == "em" and block("toy").grade == "score"


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("maize", "there is no family 'maize' .did you mean 'maze'"),
        ("xyzzy", "`hbench kinds families` tells what there is"),
        ("files", "it is a domain, which `target` or a bank's folder works on"),
        ("rg_rl5", "is a list of names, of which one is looked at"),
        ("practice/nothing", "no skill 'nothing'"),
        ("{kind: toy", "is no block of a family"),
        ("{kind: toy, aks: sum}", "unknown key 'aks' .did you mean 'ask'"),
        ("", "there is no family ''"),
    ],
)
def test_a_family_that_is_not_there_is_told(word, said):
    with pytest.raises(HbenchError, match=said):
        look(word)


def test_every_name_of_a_family_is_one():
    for name in ("toy", "maze", "sum_list", "hotpotqa"):
        assert name in subject_names("family")
    assert "rg_rl5" not in subject_names("family") and "files" in subject_names("domain")


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("smollm2_135m", {"weights": "embedded/smollm2-135m-instruct", "context": 2048}),
        ("qwen3_5_9b_student", {"weights": "Qwen/Qwen3.5-9B"}),
        ("gpt_5_6_sol", {"weights": "gpt-5.6-sol"}),
        ("owner/name", {"weights": "owner/name"}),
        ("name@http://127.0.0.1:8000/v1", {"weights": "name"}),
        ("files_expert", {"kind": "rules", "name": "files_expert"}),
        ("replies/qa.jsonl", {"kind": "recorded"}),
    ],
)
def test_a_model_has_many_names(word, told):
    identity = block("toy", word).solver.identity()
    assert {key: identity[key] for key in told} == told


def test_a_server_is_reached_where_the_word_says():
    machine = look("toy", "name@http://127.0.0.1:8000/v1").machine
    assert machine.models["model"].base_url == "http://127.0.0.1:8000/v1"


def test_an_adapter_of_a_bundle_lies_on_the_weights_it_was_trained_on():
    identity = block("toy", "published/mini/sft").solver.identity()
    assert identity["weights"] == "embedded/smollm2-135m-instruct" and len(identity["adapter"]) == 64


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("smolm2", "there is no model 'smolm2' .did you mean 'smollm2_135m'"),
        ("./here", "there is no model './here' .there are: deepseek"),
        ("empty", "holds no config.json: it is no model's"),
        ("published/mini/sfd", "holds no adapter 'sfd' .did you mean 'sft'"),
        ("replies/no.jsonl", "no file 'replies/no.jsonl' under specs/"),
    ],
)
def test_a_model_that_is_not_there_is_told(scratch, word, said):
    (scratch / "empty").mkdir()
    with pytest.raises(HbenchError, match=said):
        look("toy", word)


def test_every_model_that_ships_can_be_looked_at():
    for name in model_names():
        assert model_tree(name, "solver").values["solver"]


def test_a_harness_is_a_file_or_a_name(scratch):
    (scratch / "mine.py").write_text(PROGRAM)
    assert harness_source("mine.py").name == "mine.py" and harness_source("mine.py").text == PROGRAM
    assert harness_source("seed").digest == harness_source("harnesses/seed.py").digest
    assert harness_source("nothere") is None and "seed" in harness_names()


@pytest.mark.parametrize(("text", "said"), [("x = 1\n", "no function run"), ("def run(q, t)\n", "is not Python: line 1"), ("def run(): ...\n", "two values")])
def test_a_file_that_is_no_harness_is_told(scratch, text, said):
    (scratch / "mine.py").write_text(text)
    with pytest.raises(HbenchError, match=said):
        harness_source("mine.py")


def test_a_harness_of_an_earlier_run_is_taken_by_its_files():
    made = of_files({"harness.py": PROGRAM}, "0123456789abcdef")
    assert quick_look(Look(made, "toy", "rule_reader", 4)).arms[ARM].harness.text == PROGRAM


def test_a_domain_is_worked_on_under_the_target_harness_or_with_a_bank():
    plain = quick_look(Look("target", "files", "files_expert", 3))
    with_bank = quick_look(Look(bank_source("banks/files"), "files", "files_expert", 3))
    assert [step.kind for step in compile(plain.limited(3)).steps] == ["split", "act"]
    assert plain.arms[ARM].bank is None and with_bank.arms[ARM].bank.folder.name == "banks/files"


def test_a_family_is_no_domain():
    with pytest.raises(HbenchError, match="there is no domain 'maze': it is a family"):
        quick_look(Look("target", "maze", "files_expert", 3))


def test_overrides_reach_everything_else():
    assert block("toy", "smollm2_135m", "seed", "solver.sampling.temperature=1", "repeats=3").repeats == 3
    with pytest.raises(HbenchError, match="<command line>: unknown key 'repeat'"):
        look("toy", "rule_reader", "seed", "repeat=3")
    with pytest.raises(HbenchError, match="a quick look is one spec of one arm"):
        look("toy", "rule_reader", "seed", "sweep.seed=[0, 1]")
