"""A bank translated into guidance: a file for each component, written by a model, in the student's own actions."""

import pytest

from hbench.core.failure import StepError
from hbench.core.harness import Harness
from hbench.core.prompt import load_prompt
from hbench.steps.harness import harness_value
from tests.steps.stage import Stage, value

BANK = {
    "tools/count.py": '"""Count lines."""\nPARAMETERS = {"path": "the file"}\nprint(1)\n',
    "middlewares/guard.py": "def before(call, history):\n    return None\n",
    "skills/csv/SKILL.md": "Use awk.\n",
    "memory.md": "Look first.\n",
}
CHECK = "def check(proposal, history):\n    return None\n"
WRITES = [
    {"match": r"Write recipes/count\.md", "reply": "<<<<<<< WRITE\nRun `wc -l FILE`.\n>>>>>>> WRITE"},
    {"match": r"Write checks/guard\.py", "reply": f"```python\n{CHECK}```"},
    {"match": r"Write advice/csv\.md", "reply": "See that it uses awk."},
    {"match": r"Write patterns\.md", "reply": "<think>hm</think>Changes what it has not read."},
]


@pytest.fixture
def stage(tmp_path):
    made = Stage(tmp_path)
    yield made
    made.close()


def translated(stage, *replies, files=BANK):
    params = {
        "writer": stage.records("writer", *replies),
        "prompt": load_prompt("guidance/translate").to_json(),
        "domain": {"name": "files", "description": "Small jobs."},
        "call": {"kind": "fenced"},
        "seed": 3,
    }
    return stage.run("guidance", params, {"bank": value(harness_value(Harness(files)))})


def test_each_component_becomes_the_file_that_stands_for_it(stage):
    made = translated(stage, *WRITES)
    assert made.value["harness"]["files"] == {
        "recipes/count.md": "Run `wc -l FILE`.\n",
        "checks/guard.py": CHECK,
        "advice/csv.md": "See that it uses awk.\n",
        "patterns.md": "Changes what it has not read.\n",
    }
    assert made.value["missing"] == {} and len(made.rows("events")) == 4
    assert [row["outcome"] for row in made.rows("candidates")] == ["applied"] * 4


def test_what_is_switched_off_is_not_translated(stage):
    made = translated(stage, *WRITES, files={**BANK, "manifest.json": '{"memory.md": false}\n'})
    assert "patterns.md" not in made.value["harness"]["files"]


def test_a_file_that_is_none_is_asked_for_again_and_told_why(stage):
    again = {"match": "a check defines check", "reply": f"```python\n{CHECK}```"}
    broken = {"match": r"Write checks/guard\.py", "reply": "```python\ncheck = None\n```"}
    made = translated(stage, again, broken, *(line for line in WRITES if "guard" not in line["match"]))
    assert made.value["harness"]["files"]["checks/guard.py"] == CHECK and made.value["missing"] == {}


def test_a_recipe_cannot_speak_of_a_folder_that_the_student_will_not_have(stage):
    useless = {"match": ".", "reply": "Run python3 /bank/tools/count.py."}
    made = translated(stage, *WRITES[1:], useless)
    assert set(made.value["missing"]) == {"recipes/count.md"} and "/bank/" in made.value["missing"]["recipes/count.md"]
    assert "recipes/count.md" not in made.value["harness"]["files"]


def test_when_nothing_can_be_translated_there_is_no_guidance(stage):
    with pytest.raises(StepError, match="none of 1 components"):
        translated(stage, {"reply": "no code"}, files={"middlewares/guard.py": BANK["middlewares/guard.py"]})


def test_an_empty_bank_has_nothing_to_translate(stage):
    with pytest.raises(StepError, match="guidance: null"):
        translated(stage, {"reply": "x"}, files={})
