"""The laptop-size study of distillation: lists that share nothing, questions that share nothing, and replies that fit."""

import json
from collections import Counter
from functools import cache

import pytest
import yaml

from hbench.core.harness import Harness
from hbench.core.question import Question
from hbench.parts.domains._files_words import words_of
from hbench.parts.domains.files import JOBS
from hbench.parts.edits._files import read_file
from hbench.parts.edits.bank import Bank
from hbench.plan import compile
from hbench.spec import load
from hbench.spec.files import read_folder
from hbench.steps.split import split
from tests.where import REPO

pytestmark = pytest.mark.truth
FINAL, TUNING, SMOKE = "distillation/mini_distil", "distillation/mini_distil_tuning", "distillation/smoke"
LISTS = yaml.safe_load((REPO / "specs" / "domains" / "files.yaml").read_text("utf-8"))["let"]
REPLIES = [json.loads(line) for line in (REPO / "specs" / "replies" / "files_bank.jsonl").read_text("utf-8").splitlines()]


@cache
def splits(name: str) -> dict[tuple[str, str], list[Question]]:
    """(domain, role) -> the questions of a spec."""
    steps = [step for step in compile(load(name)[0]).steps if step.kind == "split"]
    values = [split(step.params, {}, None).value for step in steps]
    return {(value["family"], value["role"]): [Question.from_json(q) for q in value["questions"]] for value in values}


def of(name: str, role: str) -> list[Question]:
    return [question for (_, its), questions in splits(name).items() if its == role for question in questions]


def test_every_kind_of_job_stands_in_one_list():
    assert Counter(job for jobs in LISTS.values() for job in jobs) == Counter(list(JOBS))
    assert [len(LISTS[name]) for name in ("files_learned", "files_tuning", "files_new")] == [17, 2, 5]


def test_both_experiments_train_on_the_same_questions_and_share_no_other():
    assert of(FINAL, "training") == of(TUNING, "training")
    roles = [of(FINAL, "training"), of(TUNING, "evaluation"), of(FINAL, "evaluation")]
    found = [{question.content_id for question in questions} for questions in roles]
    assert [len(contents) for contents in found] == [170, 170, 170]
    assert len(set.union(*found)) == 510


@pytest.mark.parametrize(("name", "share"), [(TUNING, "tuning"), (FINAL, "evaluation")])
def test_what_is_measured_is_made_of_words_that_training_never_had(name, share):
    others = {word for each in ("training", "tuning", "evaluation") if each != share for word in words_of(each)}
    for question in of(name, "evaluation"):
        shown = " ".join([question.text, *question.meta["files"], *question.meta["files"].values()])
        assert not others & set(shown.replace(".", " ").replace(",", " ").split())


@pytest.mark.parametrize(
    ("name", "measured", "jobs"),
    [
        (FINAL, "files_held_out", "files_learned"),
        (FINAL, "files_new", "files_new"),
        (TUNING, "files_tuning", "files_learned"),
        (TUNING, "files_tuning_new", "files_tuning"),
    ],
)
def test_every_kind_is_asked_equally_often(name, measured, jobs):
    asked = Counter(question.meta["job"] for question in splits(name)[measured, "evaluation"])
    assert set(asked) == set(LISTS[jobs]) and max(asked.values()) - min(asked.values()) <= 1
    taught = Counter(question.meta["job"] for question in of(name, "training"))
    assert set(taught) == set(LISTS["files_learned"]) and set(taught.values()) == {10}


@pytest.mark.parametrize("name", [FINAL, TUNING])
def test_the_arms_are_those_that_the_study_compares_and_only_the_trained_ones_train(name):
    spec = load(name)[0]
    trained = [arm for arm, block in spec.arms.items() if block.train]
    trains = ["distilled", "distilled_reviewed", "direct"] + (["direct_h_star"] if name == TUNING else [])
    shots, weak = (["base_shots"], ["weak"]) if name == TUNING else ([], [])
    assert list(spec.arms) == ["base", *shots, "expert", "reviewed", *weak, *trains]
    assert trained == trains
    outputs = compile(spec).outputs
    assert outputs["distilled/checkpoint"] == outputs["distilled_reviewed/checkpoint"] != outputs["direct/checkpoint"]


def test_the_recorded_evolver_writes_the_bank_and_cites_questions_of_the_smoke_run():
    reply = next(row["reply"] for row in REPLIES if row["label"] == "edit")
    edit = Bank().parse(reply)
    assert Bank().apply(Harness({}), edit).files == Harness(dict(read_folder("banks/files").texts)).tidied().files
    ids = {question.id for question in of(SMOKE, "training")}
    assert [change.path for change in edit.changes if not set(change.cites) <= ids] == [], f"there are {sorted(ids)}"


def test_the_recorded_writer_translates_it_into_the_guidance():
    guidance = Harness(dict(read_folder("guidance/files").texts)).tidied().files
    made = {row["label"]: read_file(row["reply"], row["label"]) for row in REPLIES if row["label"] not in ("notes", "edit")}
    assert Harness(made).tidied().files == {path: text for path, text in guidance.items() if path != "checks/unreadable.py"}
