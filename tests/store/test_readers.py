"""People who read while others fold, and folds that are killed (cases 93 and 95)."""

import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

from hbench.store import database
from hbench.store.artifacts import Store
from hbench.store.database import fold, rebuild
from hbench.store.query import open_read_only, query
from tests.store.made import contents, put, put_run, rollouts

pytestmark = pytest.mark.fault

HOLD = """
import sys, duckdb
folder, read_only = sys.argv[1], sys.argv[2] == "read"
connection = duckdb.connect(folder + "/hbench.duckdb", read_only=read_only)
connection.execute(f"attach '{folder}/texts.duckdb' as texts (read_only)")
print("open", flush=True)
for line in sys.stdin:
    print(connection.execute("select count(*) from rollouts").fetchone()[0], flush=True)
"""

LEAVE_WAL = """
import os, signal, sys, duckdb
connection = duckdb.connect(sys.argv[1] + "/hbench.duckdb")
connection.execute("set wal_autocheckpoint = '1GB'")
connection.execute("delete from folded where place = 'nothing'")
connection.execute("insert into folded values ('nothing', 'x')")
os.kill(os.getpid(), signal.SIGKILL)
"""

FOLD = "import sys; from hbench.store.database import fold; print(fold(sys.argv[1], wait_s=30))"


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path)
    put(made, "first", rollouts([1.0, 0.0]))
    assert fold(tmp_path).how == "folded"
    return made


class Holder:
    """Another process that keeps the database open."""

    def __init__(self, folder, way: str = "read"):
        command = [sys.executable, "-c", HOLD, str(folder), way]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "open\n"

    def rollouts(self) -> int:
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def count(store) -> int:
    return query(store.folder, "select count(*) from rollouts").rows[0][0]


@pytest.mark.parametrize("way", ["read", "write"])
def test_an_open_reader_keeps_the_old_and_others_get_the_new(store, way):
    """Also when the notebook forgot `read_only`: DuckDB's own default opens for writing."""
    with Holder(store.folder, way) as holder:
        put(store, "second", rollouts([1.0]))
        assert fold(store.folder).how == "folded"
        assert (holder.rollouts(), count(store)) == (2, 3)
        assert sorted(name for name in os.listdir(store.folder) if ".new" in name or ".wal" in name) == []


@pytest.mark.slow
def test_copies_are_not_made_too_often(store, monkeypatch):
    monkeypatch.setattr(database, "COPY_EVERY_S", 600.0)
    with Holder(store.folder):
        put(store, "second", rollouts([1.0]))
        assert fold(store.folder).how == "folded"
        with Holder(store.folder):
            put(store, "third", rollouts([1.0]))
            assert fold(store.folder).how == "held"
            assert count(store) == 3
            monkeypatch.setattr(database, "COPY_EVERY_S", 0.0)
            monkeypatch.setattr(database, "COPY_SHARE", 0.0)
            assert fold(store.folder).how == "folded"
            assert count(store) == 4


def test_a_fold_in_place_follows_once_the_reader_has_gone(store):
    with Holder(store.folder):
        put(store, "second", rollouts([1.0]))
        fold(store.folder)
    put(store, "third", rollouts([1.0]))
    before = (store.folder / "hbench.duckdb").stat().st_ino
    assert fold(store.folder).how == "folded"
    assert (store.folder / "hbench.duckdb").stat().st_ino == before
    assert count(store) == 4


def test_a_wal_left_by_a_killed_writer_loses_nothing(store):
    subprocess.run([sys.executable, "-c", LEAVE_WAL, str(store.folder)])
    assert (store.folder / "hbench.duckdb.wal").exists()
    put(store, "second", rollouts([1.0]))
    assert fold(store.folder).how == "folded"
    assert count(store) == 3
    assert not (store.folder / "hbench.duckdb.wal").exists()


def test_a_held_database_with_a_wal_is_made_anew_not_copied(store):
    """A copy without its WAL loses committed rows, and a file put beside an old WAL cannot be opened."""
    subprocess.run([sys.executable, "-c", LEAVE_WAL, str(store.folder)])
    with Holder(store.folder) as holder:
        put(store, "second", rollouts([1.0]))
        assert fold(store.folder).steps == 2
        assert (holder.rollouts(), count(store)) == (2, 3)
        assert not (store.folder / "hbench.duckdb.wal").exists()


def test_leftovers_of_a_killed_copy_are_removed(store):
    for name in ("hbench.duckdb.new", "hbench.duckdb.new.wal", "texts.duckdb.new"):
        (store.folder / name).write_text("half a copy")
    (store.folder / ".folding").mkdir()
    put(store, "second", rollouts([1.0]))
    assert fold(store.folder).messages == ()
    assert sorted(os.listdir(store.folder)) == ["fold.lock", "hbench.duckdb", "steps", "texts.duckdb"]


@pytest.mark.slow
def test_a_query_and_a_fold_in_one_process_get_along(store):
    errors, ended = [], threading.Event()

    def read() -> None:
        while not ended.is_set():
            try:
                query(store.folder, "select count(*) from event_texts")
            except Exception as error:
                errors.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    results = []
    for i in range(8):
        put(store, str(i), rollouts([1.0]))
        results.append(fold(store.folder))
    ended.set()
    reader.join()
    fold(store.folder)
    assert errors == []
    assert {result.how for result in results} <= {"folded", "held"}
    assert count(store) == 10


def test_a_look_into_a_file_that_was_replaced_since_doubles_nothing(store, monkeypatch):
    """A query of this process kept the old file open while a fold looked, and was over when it put rows in: they were there."""
    reader = open_read_only(store.folder, 5.0)
    put(store, "second", rollouts([1.0]))
    subprocess.run([sys.executable, "-c", FOLD, str(store.folder)], check=True)
    look = database._Folding._look

    def look_at_last(folding, connection):
        found = look(folding, connection)
        reader.close()
        return found

    monkeypatch.setattr(database._Folding, "_look", look_at_last)
    put(store, "third", rollouts([1.0]))
    assert fold(store.folder).steps == 1
    assert count(store) == 4


@pytest.mark.slow
def test_readers_see_the_old_or_the_new_and_never_an_error(store, monkeypatch):
    """Three processes read as fast as they can, one lingers over its connection, while every step is folded."""
    monkeypatch.setattr(database, "COPY_EVERY_S", 0.1)
    monkeypatch.setattr(database, "COPY_SHARE", 0.0)
    code = """
import sys, time
from hbench.store.query import query
last = 0
while last < 20:
    now = query(sys.argv[1], "select count(*) from rollouts").rows[0][0]
    assert now >= last and now % 2 == 0, (last, now)
    last = now
    time.sleep(float(sys.argv[2]))
"""
    readers = [subprocess.Popen([sys.executable, "-c", code, str(store.folder), p]) for p in ("0.01", "0.05", "0.2")]
    for i in range(9):
        put(store, str(i), rollouts([1.0, 0.0]))
        if i % 4 == 2:
            with Holder(store.folder):
                fold(store.folder, wait_s=10)
        elif i % 4 == 3:
            rebuild(store.folder)
        else:
            fold(store.folder, wait_s=10)
    ends = time.monotonic() + 60
    while fold(store.folder, wait_s=10).how not in ("folded", "nothing") and time.monotonic() < ends:
        time.sleep(0.1)
    assert [reader.wait(timeout=60) for reader in readers] == [0, 0, 0]


@pytest.mark.slow
def test_a_fold_killed_at_any_moment_loses_and_doubles_nothing(store, tmp_path_factory):
    seed = random.randrange(10**9)
    print("seed", seed)
    chance = random.Random(seed)
    wanted = Store(tmp_path_factory.mktemp("uninterrupted"))
    put(wanted, "first", rollouts([1.0, 0.0]))
    for turn in range(12):
        for made in (store, wanted):
            for i in range(4):
                put(made, f"{turn}-{i}", rollouts([turn / 20, i / 4]))
            put_run(made, [f"{turn}-{i}" for i in range(4)], run=f"run-{turn}")
        holder = Holder(store.folder) if turn % 3 == 1 else None
        folding = subprocess.Popen([sys.executable, "-c", FOLD, str(store.folder)], stdout=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.0, 1.2))
        folding.send_signal(signal.SIGKILL)
        folding.wait()
        if holder:
            holder.__exit__()
    assert fold(store.folder, wait_s=10).how in ("folded", "nothing")
    assert fold(wanted.folder).how == "folded"
    assert contents(store.folder) == contents(wanted.folder)


@pytest.mark.slow
def test_folds_of_several_processes_at_once_fold_everything_once(store):
    for i in range(30):
        put(store, str(i), rollouts([1.0]))
    command = [sys.executable, "-c", FOLD, str(store.folder)]
    folding = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = [process.communicate(timeout=60)[0] for process in folding]
    assert sum("steps=30" in text for text in said) == 1, said
    assert count(store) == 32
