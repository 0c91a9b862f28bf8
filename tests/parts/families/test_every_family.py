"""What holds for all 106 families of the installed reasoning-gym, shown on a few questions of each."""

import asyncio
import json
import os
import subprocess
import sys

import pytest

from hbench.core.failure import Failure
from hbench.engines.jail.jails import Jails
from hbench.parts.families import _derive_frames, _framing, _library
from hbench.parts.families._wordings import WORDINGS
from hbench.parts.families.reasoning_gym import ReasoningGym
from tests.parts.families.proof import MALFORMED, settings_of
from tests.where import REPO

pytestmark = pytest.mark.slow
NAMES = sorted(_library.modules())
WITHOUT_GOLD = {"boxnet", "graph_color", "propositional_logic", "rubiks_cube", "rush_hour"}


def proofs(*arguments: str) -> dict:
    command = [sys.executable, "-m", "tests.parts.families.proof", *arguments]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, cwd=REPO, env=environment, capture_output=True, timeout=300, check=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def drawn():
    return proofs("0", "3")


def questions(name, entries, wording="canonical"):
    family = ReasoningGym(kind="reasoning_gym", name=name, format=wording, settings=settings_of(name))
    return family, [family._question(entry, i) for i, entry in enumerate(entries)]


@pytest.mark.long
def test_another_process_another_order_and_another_start_draw_the_same(drawn):
    again = proofs("1", "3", "backwards")
    assert {name for name in NAMES if drawn[name]["entries"][1:] != again[name]["entries"]} == set()


def test_every_score_survives_the_way_through_json(drawn):
    assert {name: drawn[name]["lost"] for name in NAMES if drawn[name]["lost"]} == {}


def test_every_gold_answer_scores_one_and_only_five_families_have_none(drawn):
    golds = {name: {entry["gold_score"] for entry in drawn[name]["entries"]} for name in NAMES}
    assert {name for name, scores in golds.items() if scores == {None}} == WITHOUT_GOLD
    assert {name for name, scores in golds.items() if scores not in ({1.0}, {None})} == set()


def test_grades_of_gold_answers_are_one_and_of_malformed_ones_in_range(drawn):
    for name in NAMES:
        family, made = questions(name, drawn[name]["entries"][:1])
        if name not in WITHOUT_GOLD:
            assert family.grade(f" {made[0].answer}\n", made[0]) == {"score": 1.0, "exact": 1.0}, name
        for answer in MALFORMED:
            grades = family.grade(answer, made[0])
            assert set(grades) == {"score", "exact"} and all(0.0 <= grade <= 1.0 for grade in grades.values()), name


def test_no_constant_answer_is_right_for_every_question(drawn):
    """It would be for game_of_life_halting and coin_flip by the library's scorers; see _guards.py."""
    for name in NAMES:
        family, made = questions(name, drawn[name]["entries"])
        for answer in ("?", "0", "none", "no answer at all", "x" * 40):
            assert not any(family.grade(answer, question)["exact"] for question in made if question.answer != answer), name


def test_every_family_grades_in_the_jail(drawn):
    """Two families could not: the library imports matplotlib below them, which wants a folder to write to."""
    grades = asyncio.run(jailed_grades(drawn))
    golds = {name: grade for name, (grade, _) in grades.items() if name not in WITHOUT_GOLD}
    assert {name: grade for name, grade in golds.items() if grade != {"score": 1.0, "exact": 1.0}} == {}
    assert {name: grade for name, (_, grade) in grades.items() if isinstance(grade, Failure) or grade["exact"]} == {}


async def jailed_grades(drawn):
    jails, grades = Jails(zygotes=1), {}
    for name in NAMES:
        family, made = questions(name, drawn[name]["entries"][:1])
        answers = (str(made[0].answer), "no answer at all")
        grades[name] = [await jails.grade(family.to_json(), answer, made[0]) for answer in answers]
    await jails.close()
    return grades


@pytest.mark.parametrize(
    ("name", "example"),
    [
        ("graph_color", lambda entry: json.dumps(entry["possible_answer"])),
        ("rubiks_cube", lambda entry: entry["example_correct_answer"]),
        ("propositional_logic", lambda entry: entry["example_answer"]),
    ],
)
def test_a_family_without_gold_grades_its_own_example(drawn, name, example):
    family, made = questions(name, drawn[name]["entries"])
    assert [family.grade(example(question.meta["entry"]), question)["exact"] for question in made] == [1.0] * 3


def test_every_wording_keeps_the_data_byte_for_byte_and_parses_back(drawn):
    for name in NAMES:
        for text in [entry["question"] for entry in drawn[name]["entries"]]:
            _, data = _framing.unframe(name, text)
            versions = [_framing.render(name, text, number) for number in range(len(WORDINGS))]
            assert versions[0] == text
            assert len(set(versions)) == len(WORDINGS) >= 4, name
            for number, version in enumerate(versions):
                assert all(gap in version for gap in data), name
                assert _framing.unframe(name, version) == (number, data), name
                assert _framing.original(name, version) == (text, number), name


def test_varied_and_canonical_wording_share_content_ids_and_answers(drawn):
    for name in NAMES:
        _, plain = questions(name, drawn[name]["entries"])
        _, varied = questions(name, drawn[name]["entries"], "varied")
        assert [(q.content_id, q.answer) for q in plain] == [(q.content_id, q.answer) for q in varied]


@pytest.mark.parametrize("name", ["gcd", "maze", "acre", "survo", "aiw"])
def test_the_stored_frames_are_those_that_the_library_gives(name):
    stored = json.loads(_framing.FRAMES.read_text(encoding="utf-8"))
    assert _derive_frames.derive(_derive_frames.sample(name)) == stored.get(name, [])
