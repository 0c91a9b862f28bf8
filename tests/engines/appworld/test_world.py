"""A world from the driver's side, with what stands in for the engine's process; and a machine without the engine."""

import asyncio

import pytest

from hbench.core.failure import HbenchError, ToolError
from hbench.engines.appworld import installation
from hbench.engines.appworld import world as module
from hbench.engines.appworld.world import World
from tests.engines.appworld.home_made import DOMAIN, first


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


def test_a_world_in_which_more_is_changed_than_is_kept_comes_to_its_end(monkeypatch):
    """Large texts filled the driver's memory: statements were counted, and not what stands in them."""
    monkeypatch.setattr(module, "_MOST_CHANGED", 1000)

    async def go():
        reply = {"text": "fine", "changes": {"notes": [["insert", ["x" * 400], False]]}}
        world = World(None, "task_1", Liar(reply, reply, reply), {"notes": ["Note"]})
        for _ in range(2):
            assert await world.called("world", ["1"], "") == "fine"
        with pytest.raises(ToolError, match="more was changed than is kept"):
            await world.called("world", ["2"], "")
        assert world._job.closed and len(world.changes["notes"]) == 2

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
