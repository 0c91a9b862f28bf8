"""What a loaded spec holds, and what its digest covers."""

import subprocess
import sys

import pytest
import yaml

from hbench.core.limits import Limits
from hbench.spec import load

BASE = "extends: whole\n"


def digest(project, text: str, *overrides: str) -> str:
    return project.load(BASE + text, *overrides)[0].digest


def test_the_digest_leaves_out_name_description_and_machine(project):
    plain = digest(project, "")
    assert digest(project, "name: other\ndescription: words\n") == plain
    assert digest(project, "machine: {workers: 2, models: {tiny: {port: 1}}}\n") == plain
    assert digest(project, "solver: {name: reached_otherwise}\n") == plain
    assert digest(project, "let: {unused: 1}\n") == plain


@pytest.mark.parametrize(
    "change",
    [
        "seed: 1\n",
        "rounds: 2\n",
        "solver: {weights: embedded/other}\n",
        "solver: {sampling: {temperature: 0.5}}\n",
        "limits: {calls: 3}\n",
        "reward: {parsed: {weight: 0.2}}\n",
        "arms: {one: {}}\n",
    ],
)
def test_the_digest_covers_what_can_change_a_result(project, change):
    assert digest(project, change) != digest(project, "")


def test_the_digest_covers_the_text_of_prompts_harnesses_and_recorded_replies(project):
    project.write("specs/replies/edits.jsonl", '{"text": "a"}\n')
    text = "arms: {own: {}, replay: {proposer: {kind: recorded, file: replies/edits.jsonl}}}\n"
    seen = {digest(project, text)}
    project.write("prompts/report/plain.j2", "{# variables: score #}\nScore: {{ score }}\n")
    seen.add(digest(project, text))
    project.write("specs/harnesses/one_call.py", "def run(question, tools):\n    return tools.lm(question + '!')\n")
    seen.add(digest(project, text))
    project.write("specs/replies/edits.jsonl", '{"text": "b"}\n')
    seen.add(digest(project, text))
    assert len(seen) == 4


def test_blanks_at_line_ends_of_a_harness_change_nothing(project):
    before = digest(project, "")
    project.write("specs/harnesses/one_call.py", "def run(question, tools):  \n    return tools.lm(question)\n\n\n")
    assert digest(project, "") == before


def test_the_text_of_a_spec_is_yaml_of_all_that_is_hashed(project):
    spec = project.load(BASE + "arms: {a: {rounds: 3}}\nmachine: {models: {tiny: {api_key_env: MY_KEY}}}\n")[0]
    told = yaml.safe_load(spec.text)
    assert told["arms"]["a"]["rounds"] == 3
    assert set(told["arms"]["a"]) & {"name", "description", "machine"} == set()
    assert "MY_KEY" not in spec.text


def test_a_spec_says_how_its_models_are_reached(project):
    project.write("specs/replies/edits.jsonl", '{"text": "a"}\n')
    spec = project.load(
        BASE
        + "solver: {name: tiny}\nproposer: {kind: recorded, file: replies/edits.jsonl}\n"
        + "machine: {models: {tiny: {port: 8101, max_in_flight: 3}, recorded: {latency_ms: 20}}}\n"
    )[0]
    solver, proposer = spec.arms["main"].models()
    reached = spec.machine.model_settings(solver.name)
    assert (reached["port"], reached["max_in_flight"], reached["engine"]) == (8101, 3, "auto")
    recorded = spec.machine.model_settings(proposer.name)
    assert recorded["file"] == str(project.folder / "specs/replies/edits.jsonl")
    assert (recorded["engine"], recorded["latency_ms"]) == ("recorded", 20.0)
    assert spec.machine.model_settings("unnamed")["engine"] == "auto"


def test_the_solver_is_told_apart_by_everything_that_can_change_a_reply(project):
    ref = project.load(BASE + "solver: {dtype: bfloat16, context: 2048}\n")[0].arms["main"].solver.ref("solver")
    assert ref.identity == {"kind": "weights", "weights": "embedded/tiny", "dtype": "bfloat16", "context": 2048}
    assert ref.role == "solver"


def test_a_limited_spec_is_another_spec_with_fewer_questions(project):
    spec = project.load(BASE + "splits: {feedback: 9, scoring: 5, evaluation: 1}\n")[0]
    limited = spec.limited(3)
    splits = limited.arms["main"].splits
    assert splits.most == 3 and splits.sizes() == spec.arms["main"].splits.sizes(), "no split moves in the pool"
    assert limited.digest != spec.digest
    assert spec.limited(9).digest == spec.digest


def test_limits_mirror_those_of_a_rollout(project):
    assert Limits(**project.load(BASE)[0].arms["main"].limits.to_json()) == Limits()


def test_a_spec_is_found_by_file_and_by_name(project):
    project.write("specs/adaptation/mine.yaml", BASE)
    by_file = load(project.folder / "specs/adaptation/mine.yaml")
    assert load("adaptation/mine")[0].digest == load("adaptation/mine.yaml")[0].digest == by_file[0].digest
    assert by_file[0].file == "specs/adaptation/mine.yaml"


def test_a_broken_part_disturbs_no_spec_but_its_own(project):
    project.write("parts/families/broken.py", "import no_such_library\n")
    assert project.load(BASE)
    assert project.problems(BASE + "family: {kind: broken}\n") == (
        "specs/mine.yaml:2:10: family: kind 'broken' cannot be loaded: "
        "ModuleNotFoundError: No module named 'no_such_library'"
    )


def test_what_was_edited_since_is_read_anew(project):
    before = project.load(BASE)[0].digest
    project.write("prompts/report/plain.j2", "{# variables: score #}\nnew {{ score }}\n")
    assert project.load(BASE)[0].digest != before


def test_importing_specs_and_plans_loads_no_heavy_library():
    heavy = "torch transformers reasoning_gym duckdb vllm trl lm_eval pandas matplotlib jinja2"
    code = f"import sys, hbench.spec, hbench.plan; print(sorted(set('{heavy}'.split()) & set(sys.modules)))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert told.stdout.strip() == "[]"
