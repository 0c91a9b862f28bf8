"""A round of evolution: what is read of failed questions, which changes are taken, and which components go."""

import json
import sys
from dataclasses import replace

import pytest

from hbench.core.failure import Failure, StepError
from hbench.core.harness import Harness
from hbench.core.message import Message
from hbench.core.prompt import load_prompt
from hbench.steps._evolve_traces import MOST_TRACES, failed_traces, told
from hbench.steps.harness import harness_value
from tests.steps.evolving import acted, rollout
from tests.steps.stage import Stage, value

FAILED, ALSO, SOLVED = "aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb", "cccccccccccccccc"
TOOL = '"""Count lines."""\nPARAMETERS = {"path": "the file"}\nprint(1)\n'
BANK = {"tools/count.py": TOOL, "memory.md": "Look first.\n"}
NOTE = {"match": "The trace of question", "reply": "Failure: answers unchecked."}


@pytest.fixture
def stage(tmp_path):
    made = Stage(tmp_path)
    yield made
    made.close()


def written(path: str, text: str, *cites: str) -> str:
    return f"FILE: {path}\nCITES: {', '.join(cites)}\nWHY: so\n<<<<<<< WRITE\n{text}>>>>>>> WRITE\n"


def evolved(stage, evolver, made, files=None, components=None):
    """The evolve step's artifact."""
    params = {
        "evolver": evolver,
        "notes": load_prompt("evolver/notes").to_json(),
        "prompt": load_prompt("evolver/edit").to_json(),
        "domain": {"name": "files", "description": "Small jobs."},
        "round": 0,
        "seed": 7,
    }
    inputs = {"acted": made}
    if files is not None:
        inputs["bank"] = value(harness_value(Harness(files).tidied()))
    if components is not None:
        inputs["components"] = value(components)
    return stage.run("evolve", params, inputs)


def by_model(stage, answer: str | list[str], made, files=None, components=None):
    """answer: what the evolver says when it is asked for an edit; of a list, what it says try by try."""
    answers = [answer] if isinstance(answer, str) else answer
    again = [{"match": "That cannot be taken", "reply": text} for text in answers[1:]]
    evolver = stage.records("evolver", NOTE, *again, {"reply": answers[0]})
    return evolved(stage, evolver, made, files, components)


def outcomes(made) -> dict[str, str]:
    return {one["path"]: one["outcome"] for one in made.value["changes"]}


def test_notes_are_taken_of_failed_questions_alone_and_an_edit_changes_the_bank(stage):
    made = by_model(stage, written("tools/count.py", TOOL, FAILED), acted(rollout(FAILED, 0), rollout(SOLVED, 1)))
    assert made.value["harness"]["files"] == {"tools/count.py": TOOL}
    assert made.value["notes"] == [{"question_id": FAILED, "text": "Failure: answers unchecked."}]
    assert made.value["failed"] == [FAILED] and made.value["components"] == {"tools/count.py": 0}
    events = [(row["question_id"], row["role"]) for row in made.rows("events")]
    assert events == [(FAILED, "evolver"), ("", "evolver")]
    assert {row["path"]: (row["action"], row["cites"]) for row in made.rows("bank_components")} == {
        "tools/count.py": ("added", [FAILED])
    }


def test_a_change_that_cites_no_trace_that_is_there_is_refused_and_the_others_are_taken(stage):
    answer = (
        written("tools/count.py", TOOL, SOLVED)
        + written("memory.md", "Look.\n", "nowhere", FAILED)
        + written("skills/a/SKILL.md", "Look.\n")
        + written("skills/b/SKILL.md", f"On {FAILED} look.\n", FAILED)
        + written("harness.py", "x = 1\n", FAILED)
    )
    made = by_model(stage, answer, acted(rollout(FAILED, 0), rollout(SOLVED, 1)))
    assert outcomes(made) == {
        "tools/count.py": "no_citation",
        "memory.md": "applied",
        "skills/a/SKILL.md": "no_citation",
        "skills/b/SKILL.md": "names_a_question",
        "harness.py": "outside_bank",
    }
    assert made.value["harness"]["files"] == {"memory.md": "Look.\n"}
    rows = {row["explanation"] + row["outcome"]: row for row in made.rows("candidates")}
    assert len(made.rows("candidates")) == 5 and rows["soapplied"]["harness_id"] == made.value["harness"]["id"]


def test_the_manifest_can_switch_what_the_same_edit_adds(stage):
    answer = written("manifest.json", '{"tools/count.py": false}\n', FAILED) + written("tools/count.py", TOOL, FAILED)
    made = by_model(stage, answer, acted(rollout(FAILED, 0)))
    assert outcomes(made) == {"manifest.json": "applied", "tools/count.py": "applied"}
    assert [row["enabled"] for row in made.rows("bank_components")] == [False]


def test_an_answer_that_cannot_be_read_is_asked_for_again(stage):
    made = by_model(stage, ["I would rather not.", written("memory.md", "Look.\n", FAILED)], acted(rollout(FAILED, 0)))
    assert made.value["harness"]["files"] == {"memory.md": "Look.\n"} and made.value["failure"] is None
    assert len(made.rows("events")) == 3


def test_after_three_answers_that_cannot_be_read_the_bank_stays(stage):
    made = by_model(stage, "I would rather not.", acted(rollout(FAILED, 0)), BANK, {})
    assert made.value["harness"]["files"] == BANK and made.value["failure"]["kind"] == "no_edit_blocks"
    assert [(row["outcome"], row["parsed"]) for row in made.rows("candidates")] == [("no_edit_blocks", False)]
    assert len(made.rows("events")) == 4


def test_a_component_without_benefit_for_two_rounds_goes_and_one_that_helped_stays(stage):
    now = acted(rollout(FAILED, 0, "memory.md"), rollout(SOLVED, 1, "tools/count.py"))
    made = by_model(stage, "Nothing.", now, BANK, {"tools/count.py": 1, "memory.md": 1})
    assert made.value["harness"]["files"] == {"tools/count.py": TOOL}
    assert (made.value["components"], made.value["dropped"]) == ({"tools/count.py": 0}, ["memory.md"])
    rows = {row["path"]: (row["action"], row["idle_rounds"]) for row in made.rows("bank_components")}
    assert rows == {"memory.md": ("dropped", 2), "tools/count.py": ("kept", 0)}


def test_a_component_that_is_changed_begins_anew(stage):
    answer = written("memory.md", "Look twice.\n", FAILED)
    made = by_model(stage, answer, acted(rollout(FAILED, 0)), BANK, {"memory.md": 1, "tools/count.py": 0})
    assert made.value["components"] == {"memory.md": 0, "tools/count.py": 1}


def test_when_all_is_solved_nobody_is_asked(stage):
    evolver = stage.records("evolver", {"match": "never", "reply": "x"})
    made = evolved(stage, evolver, acted(rollout(SOLVED, 1, "memory.md")), BANK, {})
    assert made.value["harness"]["files"] == BANK and made.value["components"] == {"memory.md": 0, "tools/count.py": 1}


def test_without_rollouts_nothing_is_counted(stage):
    made = evolved(stage, stage.records("evolver", {"reply": "x"}), acted(), BANK, {"memory.md": 1, "tools/count.py": 1})
    assert made.value["components"] == {"memory.md": 1, "tools/count.py": 1}


def test_an_evolver_that_gives_no_reply_is_an_error_of_the_step(stage):
    with pytest.raises(StepError, match="the evolver gave no reply"):
        evolved(stage, stage.records("evolver", {"match": "never", "reply": "x"}), acted(rollout(FAILED, 0)))


@pytest.mark.attack
def test_what_a_grader_said_is_in_no_trace(stage):
    """A grader's own failure may name the right answer."""
    failure = Failure("grader", "error", "wanted 42")
    made = by_model(stage, written("memory.md", "Look.\n", FAILED), acted(rollout(FAILED, 0, failure=failure)))
    sent = [row["text"] for row in made.rows("texts") if "The trace of question" in row["text"]]
    assert len(sent) == 1 and "wanted 42" not in sent[0] and "[the end]\nerror" in sent[0]


@pytest.mark.attack
@pytest.mark.control
def test_control_what_a_harness_said_is_in_its_trace(stage):
    failure = Failure("harness", "error", "wanted 42")
    made = by_model(stage, written("memory.md", "Look.\n", FAILED), acted(rollout(FAILED, 0, failure=failure)))
    assert any("error: wanted 42" in row["text"] for row in made.rows("texts") if "The trace of question" in row["text"])


AGENT = '''
import json, os, pathlib, sys
work = pathlib.Path(sys.argv[1])
assert work.resolve() == pathlib.Path.cwd() and "SOME_KEY" not in os.environ
told = (work / "README.md").read_text()
assert "cites.json" in told and "Small jobs." in told
traces = {file.stem: file.read_text() for file in (work / "traces").iterdir()}
assert all("sort names.txt" in text for text in traces.values())
names = sorted(str(file.relative_to(work)) for file in work.rglob("*") if file.is_file())
(work / "bank/memory.md").write_text("Seen: " + " ".join(names[:2]) + "\\n")
(work / "bank/skills").mkdir(exist_ok=True)
'''


def agent(stage, code: str, made, files=None, wall_s: float = 60.0):
    file = stage.folder / "agent.py"
    file.write_text(AGENT + code)
    evolver = {"kind": "command", "command": [sys.executable, str(file), "{workspace}"], "wall_s": wall_s}
    return evolved(stage, evolver, made, files)


CITE = "json.dump({'memory.md': {'cites': list(traces), 'why': 'so'}}, open('cites.json', 'w'))\n"


def test_an_outside_agent_changes_a_copy_of_the_bank_and_sees_failed_traces_alone(stage, monkeypatch):
    monkeypatch.setenv("SOME_KEY", "secret")
    made = agent(stage, CITE + "os.remove('bank/tools/count.py')\n", acted(rollout(FAILED, 0), rollout(SOLVED, 1)), BANK)
    assert made.value["harness"]["files"] == {
        "memory.md": "Seen: README.md bank/memory.md\n",
        "tools/count.py": TOOL,
    }
    assert outcomes(made) == {"memory.md": "applied", "tools/count.py": "no_citation"}
    assert made.value["changes"][0]["cites"] == [FAILED] and made.rows("models") == []


def test_what_an_outside_agent_does_not_cite_is_refused(stage):
    made = agent(stage, "", acted(rollout(FAILED, 0)), BANK)
    assert made.value["harness"]["files"] == BANK and outcomes(made) == {"memory.md": "no_citation"}


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("os.symlink('/etc/passwd', 'bank/passwd.md')", "unreadable_bank"),
        ("os.rename('bank', 'b'); os.symlink('traces', 'bank')", "unreadable_bank"),
        ("os.chdir('bank')\nfor _ in range(1200): os.mkdir('d'), os.chdir('d')", "unreadable_bank"),  # it was a crash
        ("os.mkfifo('bank/memory.md.new')", "unreadable_bank"),
        ("open('bank/x.md', 'wb').write(b'\\xff\\xfe\\x00')", "unreadable_bank"),
        ("[open(f'bank/f{i}.md', 'w').write('x') for i in range(300)]", "unreadable_bank"),
        ("[open(f'bank/f{i}.md', 'w').write('x') for i in range(30)]", "too_many_files"),
        ("open('cites.json', 'w').write('{')", "unreadable_cites"),
        ("os.symlink('/etc/hostname', 'cites.json')", "unreadable_cites"),
    ],
)
def test_a_folder_that_cannot_be_read_changes_nothing(stage, code, kind):
    made = agent(stage, code + "\n", acted(rollout(FAILED, 0)), BANK)
    assert made.value["harness"]["files"] == BANK and made.value["failure"]["kind"] == kind
    assert kind in [row["outcome"] for row in made.rows("candidates")]


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("sys.exit('no credit left')", "exit code 1: no credit left"),
        ("import time; time.sleep(60)", "longer than 1 s"),
    ],
)
def test_an_outside_agent_that_fails_is_an_error_of_the_step(stage, code, what):
    with pytest.raises(StepError, match=what):
        agent(stage, code + "\n", acted(rollout(FAILED, 0)), BANK, wall_s=1.0 if "sleep" in code else 60.0)


def test_equal_inputs_give_equal_banks(stage):
    now = acted(*(rollout(f"{i:016x}", 0) for i in range(3)))
    made = [by_model(stage, written("memory.md", "Look.\n", f"{0:016x}"), now) for _ in range(2)]
    assert json.dumps(made[0].value) == json.dumps(made[1].value)


def test_of_many_failed_questions_some_are_drawn_and_of_long_traces_both_ends_stay():
    many = acted(*(rollout(f"{i:016x}", 0.5) for i in range(MOST_TRACES + 20)))
    drawn = [[trace.question_id for trace in failed_traces(many, seed)] for seed in (1, 1, 2)]
    assert len(drawn[0]) == MOST_TRACES and drawn[0] == drawn[1] != drawn[2]

    one = rollout(FAILED, 0)
    long = replace(one.trajectory.turns[0], observation=Message("user", "first" + "x" * 9_000 + "last"))
    text = told(replace(one, trajectory=replace(one.trajectory, turns=(long,) * 20 + one.trajectory.turns[1:])))
    assert len(text) < 26_000 and "parts left out" in text and "characters left out" in text
    assert text.startswith("[system]\nWork") and text.endswith("[the end]\nIt ended by itself.")


def test_the_worst_rollout_of_a_failed_question_is_read():
    made = acted(rollout(FAILED, 1.0), rollout(FAILED, 0.2, repeat=1), rollout(FAILED, 0.6, repeat=2))
    assert [trace.score for trace in failed_traces(made, 0)] == [0.2]
