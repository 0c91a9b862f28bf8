"""What a student's code does to AppWorld's engine: it finds no answer, ends nothing but its own world, and holds up nobody."""

import json

import pytest

from hbench.engines.appworld import worlds
from hbench.engines.appworld.world import EVALUATION
from tests.engines.appworld.home_made import DOMAIN, WITH_ENGINE, first, played, solution
from tests.engines.jail.lab import loop

pytestmark = [*WITH_ENGINE, pytest.mark.attack]


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


def test_no_answer_is_within_reach_of_the_students_code():
    """AppWorld's own guard lets code read any file; here the files are not there."""
    asked = first("count")[0]
    task = asked.meta["task_id"]

    async def go():
        world = await DOMAIN.open_services(asked)
        data = world._worlds._folders.data
        answer = data / "tasks" / task / "ground_truth" / "answer.json"
        assert json.loads(answer.read_text()) == asked.answer['answer']  # the control: it is there, for us
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


def test_code_that_ends_the_engine_ends_its_own_world_and_leaves_what_was_done_before():
    asked = first("count")[0]
    right = f"apis.supervisor.complete_task(answer={asked.answer['answer']})"
    found, said = played(asked, right, "import os\nos.abort()", "print(1)")
    assert said[1].startswith("refused: the world has come to its end: its process ended by itself")
    assert said[2] == said[1] and found["success"]
    assert played(asked, "print(1)")[1] == ["1\n"]


FORGED = """
from appworld.apps.simple_note.models import SQLModel
never = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"
SQLModel.db.tracker.changes.append([never, [], False])
"""


def test_forged_changes_that_never_end_cost_their_own_rollout_alone(monkeypatch):
    """They would run half an hour where the tests are."""
    assert played(first("count")[0], "print(1)")[1] == ["1\n"]  # from now on its untouched world is known to be sound
    monkeypatch.setattr(worlds, "JUDGE_CPU_S", 10.0)
    found, said = played(first("count")[0], FORGED)
    assert "its process ended by itself" in found["trouble"], (found, said)
    assert not played(first("count")[0], "print(1)")[0]["success"]
