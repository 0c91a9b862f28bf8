"""Home-made tasks in AppWorld's real engine: played, evaluated, attacked. One engine serves all tests of this file."""

import asyncio
import json
import shutil

import pytest

from hbench.core.failure import HbenchError, StepError, ToolError
from hbench.core.trajectory import Work
from hbench.engines.appworld import installation, worlds
from hbench.engines.appworld.world import EVALUATION, World
from hbench.parts.part import build
from tests.engines.jail.lab import loop
from tests.runtime.acting import Played, bash, told

engine = pytest.mark.skipif(installation.version() == "absent", reason="AppWorld is not installed: make appworld")
DOMAIN = build("domains", {"kind": "appworld", "source": "home_made"})
LOGIN = """
passwords = {each["account_name"]: each["password"] for each in apis.supervisor.show_account_passwords()}
email = apis.supervisor.show_profile()["email"]
token = apis.simple_note.login(username=email, password=passwords["simple_note"])["access_token"]
notes, page = [], 0
while found := apis.simple_note.search_notes(access_token=token, page_index=page, page_limit=5):
    notes, page = notes + found, page + 1
"""


def kind_of(question) -> str:
    return question.meta["made"]["kind"]


def first(kind: str, seed: int = 0) -> list:
    """The three questions of the first scenario of this kind."""
    return [question for question in DOMAIN.questions(0, 12, seed) if kind_of(question) == kind]


def solution(question) -> str:
    """Code that does what is asked, by the apps' interfaces alone."""
    truth = question.meta["made"]["ground_truth"]["private_data.json"]
    doing = {
        "count": f"answer = {question.answer}",
        "add": "title, content = NOTE\napis.simple_note.create_note(title=title, content=content, access_token=token)",
        "rename": "old = [n['note_id'] for n in notes if n['title'] == OLD]\n"
        "apis.simple_note.update_note(note_id=old[0], title=NOTE[0], access_token=token)",
        "clear": "for n in notes:\n    if n['title'] in TITLES:\n"
        "        apis.simple_note.delete_note(note_id=n['note_id'], access_token=token)",
    }[kind_of(question)]
    old = question.text.split('"')[1] if kind_of(question) == "rename" else None
    given = f"NOTE, OLD, TITLES = {truth.get('note')!r}, {old!r}, {truth.get('titles')!r}\nanswer = None\n"
    return f"{LOGIN}{given}{doing}\napis.supervisor.complete_task(answer=answer)"


def played(question, *codes: str) -> tuple[dict, list[str]]:
    """What the tests say of the world after these calls, and what each call gave."""

    async def go():
        world = await DOMAIN.open_services(question)
        said = []
        try:
            for code in codes:
                try:
                    said.append(await world.called("world", [code], ""))
                except ToolError as refused:
                    said.append(f"refused: {refused}")
        finally:
            files = await world.finish()
        return json.loads(files[EVALUATION]), said

    return loop().run_until_complete(go())


def score(question, *codes: str) -> float:
    found, _ = played(question, *codes)
    return DOMAIN.grade_work(Work("Done.", {EVALUATION: json.dumps(found).encode()}), question)["score"]


@engine
@pytest.mark.slow
def test_three_tasks_of_a_scenario_one_answered_wrong():
    asked = first("count")
    scores = [score(q, f"apis.supervisor.complete_task(answer={q.answer + (i == 2)})") for i, q in enumerate(asked)]
    assert scores == [1.0, 1.0, 0.0]
    assert round(100 * sum(scores) / 3, 1) == 66.7  # task goal completion
    assert min(scores) == 0.0  # its scenario counts for nothing


@engine
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["count", "add", "rename", "clear"])
def test_every_kind_can_be_done_and_an_untouched_world_fails(kind):
    asked = first(kind)[0]
    done, said = played(asked, solution(asked))
    assert (done["success"], done["failures"]) == (True, []), said
    untouched, _ = played(asked)
    assert not untouched["success"] and len(untouched["passes"]) == untouched["num_tests"] - 1


@engine
@pytest.mark.slow
def test_what_nobody_asked_for_is_seen():
    asked = first("count")[0]
    more = f"{LOGIN}apis.simple_note.delete_note(note_id=notes[0]['note_id'], access_token=token)"
    found, said = played(asked, more, f"apis.supervisor.complete_task(answer={asked.answer})")
    assert found["failures"] == ["no note was changed"], said


@engine
@pytest.mark.slow
def test_variables_stay_from_call_to_call_and_errors_are_told():
    asked = first("count")[1]
    _, said = played(asked, "x = 41", "print(x + 1)", "1 / 0", "apis.simple_note.show_account(access_token='no')", "print(x)")
    assert said[:2] == ["Execution successful.", "42\n"] and said[4] == "41\n"
    assert "ZeroDivisionError" in said[2] and "Response status code is 401" in said[3]


@engine
@pytest.mark.slow
def test_a_student_reaches_the_world_from_its_shell_and_is_graded_by_what_it_did_there():
    """The whole way: workspace, program, engine, tests, grader. One of three tasks is answered wrong."""
    asked = DOMAIN.questions(0, 3, seed=0)
    assert [kind_of(question) for question in asked] == ["count"] * 3
    acted = []
    for place, question in enumerate(asked):
        answer = question.answer + (place == 1)
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


LOOK = """
from pathlib import Path
import os
found = []
for folder in (Path(os.environ["APPWORLD_ROOT"]).parent, Path("{data}"), Path("/tmp")):
    try:
        found += [str(place) for place in folder.rglob("answer.json")]
    except OSError:
        pass
print("found", found)
"""


@engine
@pytest.mark.slow
def test_no_answer_is_within_reach_of_the_students_code():
    """AppWorld's own guard lets code read any file; here the files are not there."""
    asked = first("count")[0]
    task = asked.meta["task_id"]

    async def go():
        world = await DOMAIN.open_services(asked)
        data = world._worlds._folders.data
        answer = data / "tasks" / task / "ground_truth" / "answer.json"
        assert json.loads(answer.read_text()) == asked.answer  # the control: it is there, for us
        load = f"from appworld.ground_truth import GroundTruth\nprint(GroundTruth.load({task!r}).answer)"
        read = f"from pathlib import Path\nprint('read', Path({str(answer)!r}).read_text())"
        look = LOOK.format(data=data)
        said = [await world.called("world", [code], "") for code in (look, load, read, "import os\nprint(sorted(os.environ))")]
        await world.finish()
        return said

    said = loop().run_until_complete(go())
    assert said[0] == "found []\n"
    assert "doesn't exist" in said[1] and said[2].startswith("Execution failed") and "Error" in said[2]
    assert json.loads(said[3]) == ["APPWORLD_CACHE", "APPWORLD_ROOT", "HOME", "IPYTHONDIR"]


@engine
@pytest.mark.slow
def test_without_namespaces_it_is_the_same(monkeypatch):
    monkeypatch.setenv("HBENCH_JAIL", "landlock")
    asked = first("clear")[1]

    async def go():
        own = worlds.Worlds(None)
        world = await own.open(asked.meta["task_id"], asked.meta["made"])
        answer = own._folders.data / "tasks" / asked.meta["task_id"] / "ground_truth" / "answer.json"
        read = f"from pathlib import Path\nprint('read', Path({str(answer)!r}).read_text())"
        said = [await world.called("world", [code], "") for code in (read, solution(asked))]
        files = await world.finish()
        own.close()
        return json.loads(files[EVALUATION]), said, answer

    found, said, answer = loop().run_until_complete(go())
    assert found["success"] and "PermissionError" in said[0], said
    assert not answer.exists()  # what the engine was given is gone


@engine
@pytest.mark.slow
def test_code_that_ends_the_engine_ends_its_own_world_and_leaves_what_was_done_before():
    asked = first("count")[0]
    right = f"apis.supervisor.complete_task(answer={asked.answer})"
    found, said = played(asked, right, "import os\nos.abort()", "print(1)")
    assert said[1].startswith("refused: the world has come to its end: its process ended by itself")
    assert said[2] == said[1] and found["success"]
    assert played(asked, "print(1)")[1] == ["1\n"]


@engine
@pytest.mark.slow
def test_two_worlds_of_one_task_know_nothing_of_each_other():
    asked = first("add")[0]

    async def go():
        one, other = [await DOMAIN.open_services(asked) for _ in range(2)]
        await asyncio.gather(one.called("world", [solution(asked)], ""), other.called("world", [], "x = 1"))
        return [json.loads((await world.finish())[EVALUATION])["success"] for world in (one, other)]

    assert loop().run_until_complete(go()) == [True, False]


@engine
@pytest.mark.slow
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


@engine
@pytest.mark.slow
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
        await world.called("world", [f"apis.supervisor.complete_task(answer={question.answer})"], "")
        return await world.finish()

    assert domain.grade_work(Work("Done.", loop().run_until_complete(go())), question)["score"] == 1.0

    (tmp_path / "data" / "tasks" / asked[0].meta["task_id"] / "ground_truth" / "evaluation.py").write_text("1 / 0")
    with pytest.raises(StepError, match="do not run on its untouched world: ZeroDivisionError"):
        loop().run_until_complete(domain.open_services(domain.questions(0, 1, seed=0)[0]))


class Liar:
    """An engine's process that the student has taken over: it says `replies`, one a call."""

    def __init__(self, *replies):
        self.replies, self.closed = list(replies), False

    async def ask(self, request, patience_s):
        return self.replies.pop(0)

    def close(self):
        self.closed = True


@pytest.mark.parametrize(
    "changes",
    [None, [], {"gmail": []}, *({"notes": rows} for rows in ("drop", [["select"]], [[1, [], False]], [["x", 3, False]]))],
)
def test_a_world_that_says_of_itself_what_cannot_be_comes_to_its_end(changes):
    async def go():
        honest = {"text": "fine", "changes": {"notes": [["insert", [1], False]]}}
        world = World(None, "task_1", Liar(honest, {"text": "ha", "changes": changes}), {"notes": ["Note"]})
        assert await world.called("world", ["1"], "") == "fine"
        with pytest.raises(ToolError, match="what cannot be"):
            await world.called("world", ["2"], "")
        assert world._job.closed and world.changes == {"notes": [["insert", [1], False]]}

    asyncio.run(go())


def test_the_program_without_code_says_how_it_is_used():
    async def go():
        with pytest.raises(ToolError, match="world runs Python code"):
            await World(None, "task_1", Liar(), {}).called("world", [], " \n")

    asyncio.run(go())


def test_without_the_engine_the_message_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("HBENCH_APPWORLD", str(tmp_path))
    assert installation.version() == "absent"
    with pytest.raises(HbenchError, match="make appworld"):
        asyncio.run(DOMAIN.open_services(first("count")[0]))
