"""Home-made tasks in AppWorld's real engine: played, and evaluated by their tests."""

import asyncio
import json
import shutil

import pytest

from hbench.core.failure import StepError
from hbench.core.trajectory import Work
from hbench.engines.appworld.world import EVALUATION
from hbench.parts.part import build
from tests.engines.appworld.home_made import DOMAIN, LOGIN, WITH_ENGINE, first, kind_of, played, score, solution
from tests.engines.jail.lab import loop
from tests.runtime.acting import Played, bash, told
from tests.runtime.reviewing import review, verdict

pytestmark = WITH_ENGINE


def test_three_tasks_of_a_scenario_one_answered_wrong():
    asked = first("count")
    scores = [score(q, f"apis.supervisor.complete_task(answer={q.answer['answer'] + (i == 2)})") for i, q in enumerate(asked)]
    assert scores == [1.0, 1.0, 0.0]
    assert round(100 * sum(scores) / 3, 1) == 66.7  # task goal completion
    assert min(scores) == 0.0  # its scenario counts for nothing


@pytest.mark.parametrize("kind", ["count", "add", "rename", "clear"])
def test_every_kind_can_be_done_and_an_untouched_world_fails(kind):
    asked = first(kind)[0]
    done, said = played(asked, solution(asked))
    assert (done["success"], done["failures"]) == (True, []), said
    untouched, _ = played(asked)
    assert not untouched["success"] and len(untouched["passes"]) == untouched["num_tests"] - 1


def test_what_nobody_asked_for_is_seen():
    asked = first("count")[0]
    more = f"{LOGIN}apis.simple_note.delete_note(note_id=notes[0]['note_id'], access_token=token)"
    found, said = played(asked, more, f"apis.supervisor.complete_task(answer={asked.answer['answer']})")
    assert found["failures"] == ["no note was changed"], said


def test_variables_stay_from_call_to_call_and_errors_are_told():
    asked = first("count")[1]
    _, said = played(asked, "x = 41", "print(x + 1)", "1 / 0", "apis.simple_note.show_account(access_token='no')", "print(x)")
    assert said[:2] == ["Execution successful.", "42\n"] and said[4] == "41\n"
    assert "ZeroDivisionError" in said[2] and "Response status code is 401" in said[3]


def test_a_student_reaches_the_world_from_its_shell_and_is_graded_by_what_it_did_there():
    """The whole way: workspace, program, engine, tests, grader. One of three tasks is answered wrong."""
    asked = DOMAIN.questions(0, 3, seed=0)
    assert [kind_of(question) for question in asked] == ["count"] * 3
    acted = []
    for place, question in enumerate(asked):
        answer = question.answer['answer'] + (place == 1)
        says = [
            bash("world 'print(apis.supervisor.show_profile()[\"email\"])'; echo code $?; world; echo code $?"),
            bash(f"world <<'CODE'\nx = {answer}\nCODE\nworld 'apis.supervisor.complete_task(answer=x)' | tr a-z A-Z"),
            "I counted them.",
        ]
        acted.append(Played(says, {"kind": "appworld", "source": "home_made"}).play(place=place))
        email = question.meta["made"]["person"]["email"]
        seen = told(acted[-1])
        assert seen[0].startswith(f"{email}\ncode 0\nworld runs Python code") and seen[0].endswith("code 1"), seen
        assert seen[1] == "Execution successful.\nEXECUTION SUCCESSFUL.", seen
    scores = [each.rollout.grades["score"] for each in acted]
    assert scores == [1.0, 0.0, 1.0] and [each.rollout.grades["tests"] for each in acted] == [1.0, 0.5, 1.0]
    assert (round(100 * sum(scores) / 3, 1), 100 * min(scores)) == (66.7, 0.0)  # of tasks, and of the scenario


def test_an_oracle_reviews_tasks_that_ask_for_no_answer_too():
    """It was given None as the right answer, and the whole step broke: most tasks ask for none."""
    place = DOMAIN.questions(0, 12, 0).index(first("add")[0])
    passed = [verdict("pass", reason="fine")]
    acting = Played(["Done."], {"kind": "appworld", "source": "home_made"}, review=review(oracle=True), verdicts=passed)
    acted = acting.play(place=place)
    assert acted.rollout.grades["score"] == 0.0 and acted.rollout.failure is None
    opening = acting.reviewer.asked[0].messages[0].content
    assert "the new note says what it was to say" in opening and first("add")[0].answer["data"]["note"][0] in opening


def test_two_worlds_of_one_task_know_nothing_of_each_other():
    asked = first("add")[0]

    async def go():
        one, other = [await DOMAIN.open_services(asked) for _ in range(2)]
        await asyncio.gather(one.called("world", [solution(asked)], ""), other.called("world", [], "x = 1"))
        return [json.loads((await world.finish())[EVALUATION])["success"] for world in (one, other)]

    assert loop().run_until_complete(go()) == [True, False]


def test_a_call_whose_program_was_stopped_comes_to_its_end_before_the_next():
    asked = first("count")[2]

    async def go():
        world = await DOMAIN.open_services(asked)
        call = asyncio.ensure_future(world.called("world", ["x = sum(range(3 * 10**6))\nprint('first')"], ""))
        await asyncio.sleep(0)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        said = await world.called("world", ["print('second')"], "")
        await world.finish()
        return said

    assert loop().run_until_complete(go()) == "second\n"


def test_published_tasks_are_played_from_their_folder(tmp_path, monkeypatch):
    """What was laid out for the home-made ones is in the published layout: a copy of it stands in for a download."""
    asked = first("count")

    async def lay():
        for question in asked:
            world = await DOMAIN.open_services(question)
            await world.finish()
        shutil.copytree(world._worlds._folders.data, tmp_path / "data")

    loop().run_until_complete(lay())
    (tmp_path / "data" / "datasets").mkdir()
    (tmp_path / "data" / "datasets" / "mine.txt").write_text("".join(f"{q.meta['task_id']}\n" for q in asked))
    monkeypatch.setenv("APPWORLD_ROOT", str(tmp_path))
    domain = build("domains", {"kind": "appworld", "datasets": ["mine"]})
    question = domain.questions(0, 3, seed=0)[1]
    assert (question.text, question.answer) == (asked[1].text, asked[1].answer)

    async def go():
        world = await domain.open_services(question)
        await world.called("world", [f"apis.supervisor.complete_task(answer={question.answer['answer']})"], "")
        return await world.finish()

    assert domain.grade_work(Work("Done.", loop().run_until_complete(go())), question)["score"] == 1.0

    (tmp_path / "data" / "tasks" / asked[0].meta["task_id"] / "ground_truth" / "evaluation.py").write_text("1 / 0")
    with pytest.raises(StepError, match="do not run on its untouched world: ZeroDivisionError"):
        loop().run_until_complete(domain.open_services(domain.questions(0, 1, seed=0)[0]))
