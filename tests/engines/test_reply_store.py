"""What was said once is found again, also after a kill."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from random import Random

import pytest

from hbench.core.message import LMError, Message, Reply, Request, Sampling
from hbench.core.model import ModelRef
from hbench.engines.reply_store import ReplyStore, StoredLM
from hbench.engines.scripted import ScriptedLM
from tests.engines.asking import ask, model
from tests.where import cases


def stored(folder, answers, ref=None) -> StoredLM:
    return StoredLM(ScriptedLM(answers), ReplyStore(folder), ref or model())


def generate(lm, *requests):
    return asyncio.run(lm.generate(requests))


def test_a_reply_is_asked_for_once_and_reused_word_for_word(tmp_path):
    first = generate(stored(tmp_path, ["4"]), ask())[0]
    second = generate(stored(tmp_path, []), ask())[0]
    assert first.text == second.text == "4" and not first.reused and second.reused


def test_eight_equal_prompts_with_own_seeds_get_several_texts_and_the_same_on_resume(tmp_path):
    requests = [ask("Pick a number.", seed=seed, temperature=1.0) for seed in range(8)]
    first = generate(stored(tmp_path, lambda r: str(Random(r.seed).randrange(1000))), *requests)
    again = generate(stored(tmp_path, []), *requests)
    assert len({r.text for r in first}) > 1
    assert [r.text for r in again] == [r.text for r in first] and all(r.reused for r in again)


@pytest.mark.fault
def test_errors_are_never_stored(tmp_path):
    assert isinstance(generate(stored(tmp_path, [LMError("server", "down")]), ask())[0], LMError)
    assert generate(stored(tmp_path, ["4"]), ask())[0].text == "4"


def test_an_empty_text_is_stored_like_any_other(tmp_path):
    generate(stored(tmp_path, [""]), ask())
    assert generate(stored(tmp_path, []), ask())[0].text == ""


def test_every_field_of_a_reply_comes_back(tmp_path):
    said = Reply("a\ud800\n\x00é", "length", 3, 5, "hm", [{"id": "1"}], 0.25)
    generate(stored(tmp_path, [said]), ask())
    assert generate(stored(tmp_path, []), ask())[0] == replace(said, reused=True)


def test_equal_requests_under_way_are_asked_once(tmp_path):
    script = ScriptedLM(lambda _: "4", latency_ms=(20, 20))
    results = generate(StoredLM(script, ReplyStore(tmp_path), model()), *[ask()] * 5, ask("other"))
    assert len(script.asked) == 2 and [r.text for r in results] == ["4"] * 6
    assert [r.reused for r in results] == [False, True, True, True, True, False]


def test_who_gives_up_takes_no_reply_from_the_others(tmp_path):
    async def run():
        lm = StoredLM(ScriptedLM(lambda _: "4", latency_ms=(50, 50)), ReplyStore(tmp_path), model())
        first, second = (asyncio.ensure_future(lm.generate([ask()])) for _ in range(2))
        await asyncio.sleep(0.01)
        first.cancel()
        return await second

    assert asyncio.run(run())[0].text == "4"


@pytest.mark.fault
def test_a_torn_last_line_is_not_there_and_the_rest_is(tmp_path):
    lm = stored(tmp_path, ["one", "two"])
    generate(lm, ask("1"), ask("2"))
    (segment,) = tmp_path.iterdir()
    whole = segment.read_bytes()
    for cut in (1, 40, whole.rindex(b"\n", 0, -1) - len(whole) + 2):
        segment.write_bytes(whole[: -abs(cut)])
        first, second = generate(stored(tmp_path, ["again"]), ask("1"), ask("2"))
        assert first.text == "one" and second.text == "again"
        for other in tmp_path.iterdir():
            if other != segment:
                other.unlink()


@pytest.mark.fault
def test_lines_that_are_no_replies_are_passed_over(tmp_path):
    generate(stored(tmp_path, ["4"]), ask())
    (segment,) = tmp_path.iterdir()
    bad = json.dumps({"id": ask("b").id(model().identity), "reply": {"nonsense": 1}}, separators=(",", ":"))
    segment.write_bytes(b"\x00\x00\n[]\nnot json\n" + bad.encode() + b"\n" + segment.read_bytes())
    good, damaged = generate(stored(tmp_path, ["new"]), ask(), ask("b"))
    assert good.text == "4" and damaged.text == "new"


def test_what_another_process_writes_is_noticed(tmp_path):
    early = ReplyStore(tmp_path)
    assert early.get(ask().id("m")) is None
    late = ReplyStore(tmp_path)
    late.put(ask().id("m"), Reply("4"))
    early.refresh()
    assert early.get(ask().id("m")).text == "4"
    late.put(ask("b").id("m"), Reply("5"))  # the same segment has grown
    early.refresh()
    assert early.get(ask("b").id("m")).text == "5"


def test_each_writer_has_a_segment_of_its_own(tmp_path):
    one, two = ReplyStore(tmp_path), ReplyStore(tmp_path)
    one.put("0" * 64, Reply("a"))
    two.put("1" * 64, Reply("b"))
    assert len(list(tmp_path.iterdir())) == 2


WRITER = """
import sys
from pathlib import Path
from hbench.core.message import Reply
from hbench.engines.reply_store import ReplyStore
store = ReplyStore(Path(sys.argv[1]))
for number in range(10**9):
    store.put(f"{number:064x}", Reply(str(number) * 300))
    print(number, flush=True)
"""


@pytest.mark.fault
@pytest.mark.parametrize("moment", [0.05, 0.11, 0.23])
def test_a_reply_that_was_handed_on_survives_a_killed_writer(tmp_path, moment):
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout.readline() == "0\n"
    time.sleep(moment)
    os.kill(writer.pid, signal.SIGKILL)
    handed_on = [0, *(int(line) for line in writer.stdout.read().split("\n")[:-1])]
    writer.wait()
    store = ReplyStore(tmp_path)
    assert len(handed_on) > 5
    assert all(store.get(f"{number:064x}").text == str(number) * 300 for number in handed_on)


def request_of(parts: dict) -> tuple[Request, ModelRef]:
    """The request and the model that a side of case 105 describes; fields the case leaves out have our defaults."""
    sampling = {key: parts[key] for key in ("temperature", "max_tokens", "top_p") if key in parts}
    stop = tuple(parts.get("stop", ()))
    # Neither side of a pair names a default seed: an absent one is what a rollout derives, never 0.
    seed = parts.get("seed", 12345) + parts.get("sample_index", 0)
    extra = {key: parts[key] for key in ("a_key_order",) if key in parts}
    request = Request((Message("user", parts.get("prompt", "a")),), Sampling(**sampling, stop=stop, extra=extra), seed)
    return request, model(revision=parts.get("model_revision", "main"))


def test_case_105_what_can_change_a_reply_and_nothing_else_tells_requests_apart():
    """Stop lists in another order are another request: our choice, as only the first four reach a server."""
    for pair in json.loads((cases() / "105-cache-key-parts" / "pairs.json").read_text()):
        (one, first), (two, second) = request_of(pair["a"]), request_of(pair["b"])
        same = one.id(first.identity) == two.id(second.identity)
        assert pair["keys"] in ("same_or_different_documented", "same" if same else "different"), pair


def test_the_index_stays_small(tmp_path):
    import tracemalloc

    store = ReplyStore(tmp_path)
    for number in range(5000):
        store.put(f"{number:064x}", Reply("long text " * 100))
    tracemalloc.start()
    again = ReplyStore(tmp_path)
    again.refresh()
    assert tracemalloc.get_traced_memory()[0] < 5000 * 400
    tracemalloc.stop()
