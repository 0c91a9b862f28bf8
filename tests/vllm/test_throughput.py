"""How many requests a second a run gets through vLLM, beside a bare client: printed, never asserted."""

import asyncio
import os
import threading
import time
from collections.abc import Callable
from urllib.request import urlopen

import pytest

import hbench
from hbench.engines.openai_wire import body_of
from hbench.engines.vllm_command import ToServe
from hbench.engines.vllm_server import VLLMServer
from hbench.parts.part import build
from tests.engines.asking import ask
from tests.vllm.place import SERVE, installed, machine, measured
from tests.world import make_world

pytestmark = [pytest.mark.long, pytest.mark.slow]
MODEL = "embedded/smollm2-135m-instruct"
COUNT, TOKENS, IN_FLIGHT = int(os.environ.get("HBENCH_VLLM_REQUESTS") or 160), 48, 32


@pytest.fixture
def server(tmp_path):
    installed()
    serve = {**SERVE, "prefix_caching": False}
    made = VLLMServer(ToServe(MODEL, MODEL, {"dtype": "bfloat16", "context": 2048}, serve), tmp_path / "vllm.log", lambda: None)
    made.up()
    yield made
    made.end()


async def bare(server: VLLMServer, texts: list[str]) -> None:
    """The same requests from a client that does nothing else."""
    import aiohttp

    rest = iter(texts)
    headers = {"Authorization": f"Bearer {server.key}", "Content-Type": "application/json"}
    async with aiohttp.ClientSession(headers=headers, timeout=aiohttp.ClientTimeout(total=None)) as session:

        async def work():
            for text in rest:
                body = body_of(ask(text, max_tokens=TOKENS, extra={"ignore_eos": True}), MODEL)
                async with session.post(f"{server.base_url}/chat/completions", data=body) as answer:
                    assert (await answer.json())["usage"]["completion_tokens"] == TOKENS

        await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))


def test_throughput_beside_a_bare_client(server, tmp_path, monkeypatch):
    monkeypatch.setenv("SERVED_KEY", server.key)
    (tmp_path / "world").mkdir()
    reach = {"engine": "openai", "base_url": server.base_url, "api_key_env": "SERVED_KEY", "max_in_flight": IN_FLIGHT}
    here = make_world(tmp_path / "world", measured(COUNT, TOKENS) + machine(smollm2_135m=reach))
    monkeypatch.chdir(here.folder)
    (here.folder / "specs/harnesses/plain.py").write_text("def run(question, tools):\n    return tools.lm(question)\n")
    texts = [question.text for question in build("families", {"kind": "toy"}).questions(0, COUNT, 1)]
    asyncio.run(bare(server, texts[:IN_FLIGHT]))  # warm
    took = [timed(server, lambda: asyncio.run(bare(server, texts)))]
    ran = timed(server, lambda: finished(hbench.run("specs/toy.yaml")))
    took.append(timed(server, lambda: asyncio.run(bare(server, texts))))
    print(f"\n{COUNT} requests of {TOKENS} tokens, {IN_FLIGHT} in flight; seconds in all, and from the first token to the last:")
    for who, (whole, drawing) in (("bare before", took[0]), ("hbench", ran), ("bare after", took[1])):
        print(f"  {who}: {whole:.1f}, {drawing:.1f}")
    ratios = [sum(each[i] for each in took) / len(took) / ran[i] for i in range(2)]
    print(f"throughput of hbench against the bare client: {ratios[1]:.2f}, its start and end counted too: {ratios[0]:.2f}")


def timed(server: VLLMServer, work: Callable[[], None]) -> tuple[float, float]:
    """Seconds that `work` took, and seconds from the first to the last token that the server drew meanwhile."""
    seen: list[float] = []
    over = threading.Event()

    def look():
        drawn = tokens(server)
        while not over.wait(0.2):
            if (now := tokens(server)) > drawn:
                drawn = now
                seen.append(time.perf_counter())

    looking = threading.Thread(target=look)
    looking.start()
    began = time.perf_counter()
    work()
    ended = time.perf_counter()
    over.wait(1.0)
    over.set()
    looking.join()
    return ended - began, seen[-1] - seen[0]


def tokens(server: VLLMServer) -> float:
    """How many it has drawn since it was started."""
    with urlopen(f"{server.base_url.removesuffix('/v1')}/metrics", timeout=60) as answer:
        lines = answer.read().decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith("vllm:generation_tokens_total"))


def finished(result) -> None:
    assert result.outcome == "finished" and result.statuses["ran"] >= 1, result
