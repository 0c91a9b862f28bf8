"""A disk that fills in the middle of a line: nothing of that line is there, and what comes later is whole."""

import os
import resource
from contextlib import contextmanager

import pytest

from hbench.core.failure import StepError, disk_trouble
from hbench.core.message import Reply
from hbench.core.output import Output
from hbench.engines.reply_store import ReplyStore
from hbench.store.artifacts import Store
from hbench.store.database import fold
from hbench.store.lease import Lease, Watch
from hbench.store.rows import append_line, read_lines
from tests.store.made import key, put, record, rollout, rollouts

pytestmark = pytest.mark.fault
KEY = key("a")


@contextmanager
def room(size: int):
    """While open, no file of this process grows beyond `size` bytes: writes end in the middle, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_half_a_line_is_cut_off_again_and_the_next_is_whole(tmp_path):
    """What a full disk took of a line made one garbled line with the next: the step could never be gone on with."""
    file = tmp_path / "rows.jsonl"
    handle = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    append_line(file, handle, b'{"a":1}\n')
    with room(12), pytest.raises(OSError) as full:
        append_line(file, handle, b'{"a":2}\n')
    append_line(file, handle, b'{"a":3}\n')
    os.close(handle)
    assert [*read_lines(file)] == [{"a": 1}, {"a": 3}] and full.value.filename == str(file)


def test_rows_that_find_no_room_are_not_there_and_the_step_goes_on_later(tmp_path, tried):
    tried("no room in the middle of a rollout's rows")
    with Store(tmp_path).open(KEY) as part:
        part.append(rollout(1))
        with room(part._file.stat().st_size + 100), pytest.raises(OSError):
            part.append(rollout(2))
        part.append(rollout(3))
    with Store(tmp_path).open(KEY) as part:
        assert [row["question_id"] for row in part.rows("rollouts")] == ["q1", "q3"]
        made = part.commit(Output(None), record())
    assert len(made.rows("rollouts")) == 2


def test_a_step_that_finds_no_room_to_commit_is_committed_later(tmp_path):
    store = Store(tmp_path)
    with pytest.raises(OSError), store.open(KEY) as part:
        part.append(rollout(1))
        with room(part._file.stat().st_size):
            part.commit(Output("x" * 20_000), record())
    assert store.get(KEY) is None
    with store.open(KEY) as part:
        assert len(part.commit(Output("x"), record()).rows("rollouts")) == 1


def test_a_lease_that_finds_no_room_keeps_nobody_waiting(tmp_path):
    """An empty lease file stayed behind, and everybody waited for a minute."""
    file = tmp_path / "x.lock"
    with room(10), pytest.raises(OSError):
        Watch(file).try_take()
    assert isinstance(Watch(file).try_take(), Lease)


def test_a_plan_that_finds_no_room_leaves_nothing_behind(tmp_path):
    # What was half written stayed, and each try took the room that had been made for it.
    store, cells = Store(tmp_path), {"exhibit_cells": [{"exhibit": "e", "row": "r" * 20_000, "column": "c"}]}
    for _ in range(3):
        with room(1_000), pytest.raises(OSError):
            store.put_exhibit("e", cells)
    assert os.listdir(tmp_path / "exhibits") == []
    store.put_exhibit("e", cells)
    assert os.listdir(tmp_path / "exhibits") == ["e.cells.json"]


def test_a_lease_is_given_back_where_no_file_can_be_made(tmp_path):
    """Dropping it wants a file of its own: without one, the lease stayed with a process that had forgotten it."""
    (tmp_path / ".takeover").mkdir()
    lease = Watch(tmp_path / "x.lock").try_take()
    lease.drop()
    assert not lease.file.exists()


def test_a_reply_that_finds_no_room_is_an_error_and_the_ones_before_and_after_are_there(tmp_path):
    store = ReplyStore(tmp_path)
    store.put("0" * 64, Reply("one"))
    with room(250), pytest.raises(StepError, match="cannot be stored"):
        store.put("1" * 64, Reply("two" * 100))
    store.put("2" * 64, Reply("three"))
    again = ReplyStore(tmp_path)
    again.refresh()
    assert [(reply := again.get(number * 64)) and reply.text for number in "012"] == ["one", None, "three"]


def test_a_fold_that_finds_no_room_ends_says_so_and_is_made_up_for(tmp_path):
    """A database that was just made anew was taken for a broken one and made anew again, for ever."""
    put(Store(tmp_path), "a", rollouts([1.0, 0.5]))
    with room(100_000):
        result = fold(tmp_path)
    assert result.how == "failed" and "the database is behind" in result.messages[-1]
    assert fold(tmp_path).steps == 1


def test_trouble_with_the_disk_is_said_in_one_line_and_a_bug_is_not_taken_for_it(tmp_path):
    assert "make room" in disk_trouble(OSError(28, "No space left on device", "/results/x"))
    assert "--results" in disk_trouble(OSError(30, "Read-only file system", "/results/x"))
    assert disk_trouble(FileNotFoundError(2, "No such file or directory", "x")) is None and disk_trouble(KeyError("x")) is None
