"""AppWorld's tasks as questions, published and home-made, and the grades. What the engine does: tests/engines/appworld."""

import ast
import json

import pytest

from hbench.core.failure import HbenchError, StepError
from hbench.core.trajectory import Work
from hbench.parts.domains import _appworld_home_made
from hbench.parts.domains.appworld import EVALUATION
from hbench.parts.part import build
from hbench.steps.split import split

PERSON = {"first_name": "Ada", "last_name": "Stone", "email": "ada@example.com", "phone_number": "5551234567"}


def appworld(**fields):
    return build("domains", {"kind": "appworld", **fields})


def home_made(start, stop, seed=0):
    return appworld(source="home_made").questions(start, stop, seed)


@pytest.fixture
def published(tmp_path, monkeypatch):
    """A folder in the published layout: two scenarios of three, one of which is in another list too."""
    monkeypatch.delenv("APPWORLD_ROOT", raising=False)
    monkeypatch.setenv("HBENCH_DATA", str(tmp_path))
    data = tmp_path / "appworld" / "data"
    (data / "datasets").mkdir(parents=True)
    for task in (f"{scenario}_{number}" for scenario in ("82e2fac", "0d01c76") for number in (1, 2, 3)):
        folder = data / "tasks" / task / "ground_truth"
        folder.mkdir(parents=True)
        told = {"instruction": f"Do {task}.", "supervisor": PERSON, "datetime": "2023-05-18T12:00:00", "db_version": "0.1.0"}
        (folder.parent / "specs.json").write_text(json.dumps(told))
        (folder / "answer.json").write_text(json.dumps(7 if task.endswith("1") else None))
        (folder / "test_data.json").write_text(json.dumps([{"requirement": f"{task} is done", "label": "no_op_fail"}]))
        (folder / "private_data.json").write_text(json.dumps({"of": task}))
    (data / "datasets" / "train.txt").write_text("82e2fac_1\n82e2fac_2\n82e2fac_3\n")
    (data / "datasets" / "dev.txt").write_text("0d01c76_1\n0d01c76_2:tag\n0d01c76_3\n\n")
    return data


def test_a_scenario_is_three_questions_one_behind_the_other():
    asked = home_made(0, 12)
    assert [q.meta["scenario_size"] for q in asked] == [3] * 12
    scenarios = [q.meta["scenario"] for q in asked]
    assert scenarios == [scenarios[i // 3 * 3] for i in range(12)] and len(set(scenarios)) == 4
    assert [q.meta["task_id"] for q in asked] == [f"{scenarios[i]}_{i % 3 + 1}" for i in range(12)]
    assert {q.meta["made"]["kind"] for q in asked} == set(_appworld_home_made.KINDS)


def test_a_pool_is_the_same_whatever_part_is_asked_for_and_the_seeds_have_different_ones():
    assert home_made(4, 8) == home_made(0, 8)[4:]
    assert {q.content_id for q in home_made(0, 30)}.isdisjoint(q.content_id for q in home_made(0, 30, seed=1))
    assert len({q.content_id for q in home_made(0, 60)}) == 60


def test_splits_of_threes_hold_whole_scenarios():
    params = {"domain": {"kind": "appworld", "source": "home_made"}, "sizes": {"evaluation": 6, "training": 9}, "seed": 4}
    roles = {role: split({**params, "role": role}, {}, None).value["questions"] for role in ("evaluation", "training")}
    scenarios = {role: {q["meta"]["scenario"] for q in questions} for role, questions in roles.items()}
    assert [len(found) for found in scenarios.values()] == [2, 3]
    assert scenarios["evaluation"].isdisjoint(scenarios["training"])


def test_no_scenario_is_parted_between_what_is_learnt_and_what_is_measured():
    params = {"domain": {"kind": "appworld", "source": "home_made"}, "role": "training", "seed": 4}
    with pytest.raises(StepError, match="evaluation and training questions would share scenario .*multiples of 3"):
        split({**params, "sizes": {"evaluation": 7, "training": 9}}, {}, None)
    assert len(split({**params, "sizes": {"evaluation": 6, "training": 8}}, {}, None).value["questions"]) == 8


def test_a_home_made_task_says_what_its_tests_ask_for():
    for asked in home_made(0, 48):
        made, text = asked.meta["made"], asked.text
        titles = [note["title"] for note in made["notes"]]
        private = made["ground_truth"]["private_data.json"]
        assert len(set(titles)) == len(titles) and text.startswith(made["instruction"])
        if made["kind"] == "count":
            (tag,) = [tag for tag in _appworld_home_made.TAGS if made["instruction"].endswith(f"tagged {tag}?")]
            assert asked.answer["answer"] == sum(note["tags"] == [tag] for note in made["notes"]) >= 3
        elif made["kind"] == "clear":
            assert 0 < len(private["titles"]) < len(titles) and set(private["titles"]) <= set(titles)
        else:
            new = private["note"][0]
            assert f'"{new}"' in text and new not in titles and asked.answer["answer"] is None


def test_the_tests_of_a_home_made_task_are_python_and_listed_one_by_one():
    for asked in home_made(0, 12):
        truth = asked.meta["made"]["ground_truth"]
        ast.parse(truth["evaluation.py"])
        listed = [test["requirement"] for test in truth["test_data.json"]]
        assert [f"with test({requirement!r}):" in truth["evaluation.py"] for requirement in listed] == [True] * len(listed)
        assert truth["evaluation.py"].count("with test(") == len(listed) >= 2


def test_published_tasks_come_in_whole_scenarios_in_the_order_of_the_seed(published):
    both = "".join((published / "datasets" / f"{name}.txt").read_text() for name in ("train", "dev"))
    (published / "datasets" / "both.txt").write_text(both)
    orders = set()
    for seed in range(8):
        asked = appworld(datasets=["both"]).questions(0, 99, seed)
        assert [q.meta["task_id"][-1] for q in asked] == list("123123")
        orders.add(tuple(q.meta["scenario"] for q in asked))
    assert orders == {("82e2fac",) * 3 + ("0d01c76",) * 3, ("0d01c76",) * 3 + ("82e2fac",) * 3}


def test_lists_come_one_behind_the_other_whatever_the_seed(published):
    """So a split can hold out all of one list, and learn from the others."""
    for seed in range(8):
        asked = appworld(datasets=["dev", "train"]).questions(0, 99, seed)
        assert [q.meta["scenario"] for q in asked] == ["0d01c76"] * 3 + ["82e2fac"] * 3


def test_a_published_task_tells_its_instruction_and_never_its_answer(published):
    asked = {q.meta["task_id"]: q for q in appworld(datasets=["train"]).questions(0, 9, 0)}
    assert set(asked) == {"82e2fac_1", "82e2fac_2", "82e2fac_3"}
    assert asked["82e2fac_1"].text.startswith("Do 82e2fac_1.\n") and "ada@example.com" in asked["82e2fac_1"].text
    assert [asked[f"82e2fac_{n}"].answer["answer"] for n in (1, 2, 3)] == [7, None, None]
    assert "made" not in asked["82e2fac_1"].meta


def test_what_is_right_is_told_of_every_task_for_an_oracle(published):
    """Most tasks ask for no answer; an oracle without anything to know breaks its step."""
    for asked in (*home_made(0, 12), *appworld(datasets=["train", "dev"]).questions(0, 9, 0)):
        truth = asked.answer
        assert set(truth) == {"answer", "tests", "data"} and truth["tests"] and truth["data"] is not None
    assert appworld(datasets=["train"]).questions(0, 1, 0)[0].answer["tests"] == ["82e2fac_1 is done"]


def test_a_task_that_changes_is_another_domain_and_a_list_that_is_not_there_is_named(published):
    before = appworld().versions()["tasks"]
    with pytest.raises(HbenchError, match="'test_normal' of AppWorld"):
        appworld(datasets=["test_normal"]).questions(0, 1, 0)
    assert appworld(datasets=["dev"]).versions()["tasks"] != before != "absent"


def test_without_the_published_data_a_plan_can_be_made_and_the_message_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("HBENCH_DATA", str(tmp_path))
    monkeypatch.delenv("APPWORLD_ROOT", raising=False)
    assert appworld().versions()["tasks"] == "absent"
    with pytest.raises(HbenchError, match="appworld download data --root FOLDER.*domain.source: home_made"):
        appworld().questions(0, 1, 0)


def test_a_task_counts_when_every_test_passes():
    (asked,) = home_made(0, 1)

    def graded(**found):
        return appworld(source="home_made").grade_work(Work("Done.", {EVALUATION: json.dumps(found).encode()}), asked)

    assert graded(success=True, num_tests=2, passes=["a", "b"], failures=[]) == {"score": 1.0, "tests": 1.0}
    assert graded(success=False, num_tests=4, passes=["a"], failures=["b", "c", "d"]) == {"score": 0.0, "tests": 0.25}
    with pytest.raises(ValueError, match="did not come to their end: RecursionError"):
        graded(trouble="RecursionError: …")
