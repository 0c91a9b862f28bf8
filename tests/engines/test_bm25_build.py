"""An index is built once, by one process, whole or not at all, and noticed when it is damaged."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hbench.core.corpus import Document
from hbench.core.failure import HbenchError, StepError
from hbench.engines import bm25_folder
from hbench.engines.bm25_folder import KEPT, damage, index_folder
from hbench.engines.bm25_spool import JOURNAL, Spool
from tests.engines.corpora import Listed, best, content, index, listed, silent


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(bm25_folder, "CHUNK_DOCUMENTS", 3)


def corpus():
    return listed(*(f"word{number % 7} word{number} fox" for number in range(20)))


def whole(tmp_path, monkeypatch) -> dict[str, bytes]:
    """What an index of corpus() holds that was built in one go."""
    with monkeypatch.context() as here:
        here.setenv("HBENCH_CACHE", str(tmp_path / "other"))
        return content(index_folder(corpus(), silent))


class Killed(BaseException):
    """What a kill looks like from inside: nothing of hbench catches it."""


def test_an_index_is_built_once_and_then_only_opened():
    source, said = corpus(), []
    first = index_folder(source, said.append)
    assert source.read == 20 and "20 documents indexed" in said[-1]
    assert index_folder(source, said.append) == first and source.read == 20 and len(said) == 1
    assert sorted(file.name for file in first.iterdir()) == sorted([*KEPT, "index.json"])


def test_other_documents_get_another_index():
    assert index_folder(listed("fox"), silent) != index_folder(listed("foxes"), silent)


@pytest.mark.parametrize("kept", [0.0, 0.5, 1.0])
def test_a_kill_at_any_write_costs_one_chunk_at_most(tmp_path, monkeypatch, small_chunks, kept):
    """Kills at the first write, the second, the third…, each time with none, half or all of the write on the disk."""
    expected, put, source = whole(tmp_path, monkeypatch), Spool._put, corpus()
    kills = 0
    while True:
        writes = iter(range(kills, -1, -1))

        def torn(spool, name, part):
            if next(writes) == 0:
                put(spool, name, part[: int(len(part) * kept)])
                raise Killed
            put(spool, name, part)

        monkeypatch.setattr(Spool, "_put", torn)
        try:
            folder = index_folder(source, silent)
        except Killed:
            kills += 1
            assert not list((tmp_path / "cache/corpora").glob("*[0-9a-f]/")), "nothing half made bears the name"
        else:
            break
        monkeypatch.setattr(Spool, "_put", put)
    assert kills > 10 and content(folder) == expected


@pytest.mark.parametrize("name", ["invert", "_write_manifest"])
def test_a_kill_after_reading_does_not_read_again(tmp_path, monkeypatch, small_chunks, name):
    expected, source, work = whole(tmp_path, monkeypatch), corpus(), getattr(bm25_folder, name)

    def killed(*given):
        work(*given)
        raise Killed

    monkeypatch.setattr(bm25_folder, name, killed)
    with pytest.raises(Killed):
        index_folder(source, silent)
    monkeypatch.setattr(bm25_folder, name, work)
    assert content(index_folder(source, silent)) == expected and source.read == 20


def test_going_on_reads_past_what_is_spooled_and_says_so(tmp_path, monkeypatch, small_chunks):
    expected, source, said = whole(tmp_path, monkeypatch), corpus(), []
    whole_list, source.items = source.items, [*source.items[:10], None]  # the source breaks in its fourth chunk
    with pytest.raises(AttributeError):
        index_folder(source, said.append)
    source.items = whole_list
    assert content(index_folder(source, said.append)) == expected
    assert said[0] == "corpus listed: going on after 9 documents"


def test_a_source_that_changed_under_its_digest_is_read_from_the_start(monkeypatch, small_chunks):
    source, said = corpus(), []
    source.items[10] = None
    with pytest.raises(AttributeError):
        index_folder(source, said.append)
    source.items = [Document(f"d{number}", "", f"snow word{number}") for number in range(20)]
    assert len(best(index_folder_of(source, said), "snow", 20)) == 20
    assert "differs now; reading starts again" in said[0]


def index_folder_of(source, said):
    index_folder(source, said.append)
    return index(source)


def test_a_journal_that_promises_more_than_there_is_is_believed_as_far_as_it_goes(tmp_path, monkeypatch, small_chunks):
    """After a power cut: a file is shorter than its journal says, and the journal's last line is torn."""
    expected, source = whole(tmp_path, monkeypatch), corpus()
    source.items[17] = None
    with pytest.raises(AttributeError):
        index_folder(source, silent)
    (part,) = (tmp_path / "cache/corpora").glob("*.part")
    os.truncate(part / "postings.rec", (part / "postings.rec").stat().st_size - 8)
    with open(part / JOURNAL, "ab") as journal:
        journal.write(b'{"documents": 18, "who')
    assert content(index_folder(corpus(), silent)) == expected


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("harm", ["truncated", "longer", "changed", "missing", "emptied"])
def test_a_damaged_file_is_noticed_put_aside_and_built_again(harm, name):
    folder, said = index_folder(corpus(), silent), []
    before = content(folder)
    file = folder / name
    size = file.stat().st_size
    if harm == "missing":
        file.unlink()
    elif harm == "changed":
        file.write_bytes(before[name][:-1] + bytes([before[name][-1] ^ 1]))
    else:
        os.truncate(file, {"truncated": size - 1, "longer": size + 1, "emptied": 0}[harm])
    assert content(index_folder(corpus(), said.append)) == before
    assert name in said[0] and "put aside" in said[0] and (folder.parent / (folder.name + ".damaged")).is_dir()


@pytest.mark.parametrize("manifest", [b"", b"{", b"[]", b"{}", b'{"digest": "other", "files": {}}', None])
def test_a_manifest_that_says_nothing_or_something_else_is_damage(manifest):
    folder, said = index_folder(corpus(), silent), []
    if manifest is None:
        (folder / "index.json").unlink()
    else:
        (folder / "index.json").write_bytes(manifest)
    assert best(index_folder_of(corpus(), said), "word3") and "put aside" in said[0]
    assert damage(folder, corpus().digest) is None


def test_a_copied_index_is_read_once_more_and_trusted():
    folder = index_folder(corpus(), silent)
    for name in KEPT:
        os.utime(folder / name)
    assert damage(folder, corpus().digest) is None


def test_two_documents_with_one_id_are_named():
    twice = Listed([Document("d1", "", "fox"), Document("d2", "", "rain"), Document("d1", "", "snow")])
    with pytest.raises(HbenchError, match="two documents of the corpus have the id 'd1'"):
        index_folder(twice, silent)


def test_a_corpus_without_documents_is_refused():
    with pytest.raises(HbenchError, match="corpus nothing has no documents"):
        index_folder(listed(name="nothing"), silent)


@pytest.mark.parametrize("texts", [("", "the of", "?"), ("", "fox"), ("\ud800", "x" * 100_000)])
def test_documents_without_words_stand_in_the_corpus_all_the_same(texts):
    opened = index(listed(*texts))
    assert len(opened) == len(texts) and opened.document(1).text == texts[1]


def test_a_disk_that_refuses_is_an_error_of_the_step(tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(StepError, match="index of corpus listed cannot be made"):
        index_folder(listed("fox"), silent)


def test_progress_tells_counts_and_the_time_left(monkeypatch, small_chunks):
    monkeypatch.setattr(bm25_folder, "SAY_EVERY_S", 0.0)
    source, said = corpus(), []
    source.count = 20
    index_folder(source, said.append)
    assert any("reading, 6 of 20, about 0 s left" in line for line in said), said


BUILD = """
import os, sys, time
from hbench.engines import bm25_folder
from tests.bench.paragraphs import Paragraphs
bm25_folder.CHUNK_DOCUMENTS = 50
source = Paragraphs(2000, words=3000)
if len(sys.argv) > 1:
    slow, documents = float(sys.argv[1]), source.documents
    source_documents = lambda: ((time.sleep(slow), document)[1] for document in documents())
    class Slow:
        name, digest, documents = source.name, source.digest, staticmethod(source_documents)
    source = Slow()
print("going", flush=True)
print(bm25_folder.index_folder(source, lambda line: print(line, flush=True)), flush=True)
"""


def building(*words):
    here = Path(__file__).resolve().parent.parent.parent
    return subprocess.Popen([sys.executable, "-c", BUILD, *words], stdout=subprocess.PIPE, text=True, cwd=here)


@pytest.mark.slow
def test_real_kills_while_building_leave_an_index_equal_to_one_built_in_one_go(tmp_path, monkeypatch, cache):
    with monkeypatch.context() as here:
        here.setenv("HBENCH_CACHE", str(tmp_path / "other"))
        expected = content(Path(building().communicate()[0].splitlines()[-1]))
    for chunks in (2, 5, 9, 20):  # each start goes on where the last one was killed, so it gets there
        process, until = building("0.0005"), time.monotonic() + 60
        while spooled(cache) < chunks and time.monotonic() < until:
            time.sleep(0.003)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert chunks <= spooled(cache) < 40
    last = building().communicate()[0].splitlines()
    assert "going on after" in last[1] and content(Path(last[-1])) == expected


def spooled(cache) -> int:
    """Chunks in the journal of the index that is being built."""
    return sum(file.read_bytes().count(b"\n") for file in cache.glob("corpora/*.part/spool.jsonl"))


@pytest.mark.slow
def test_of_two_processes_one_builds_and_the_other_waits_and_opens(cache):
    first, second = building("0.0005"), building("0.0005")
    said = [process.communicate()[0].splitlines() for process in (first, second)]
    assert said[0][-1] == said[1][-1]
    assert json.loads((Path(said[0][-1]) / "index.json").read_text())["documents"] == 2000
    assert sorted("indexed in" in " ".join(lines) for lines in said) == [False, True]
    assert sorted("another process builds" in " ".join(lines) for lines in said) == [False, True]
