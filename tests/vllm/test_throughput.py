"""How many requests a second a run gets through vLLM, beside a bare client: printed, never asserted."""

import asyncio
import os
import time

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
    seconds = {"bare before": timed(lambda: asyncio.run(bare(server, texts)))}
    seconds["hbench"] = timed(lambda: finished(hbench.run("specs/toy.yaml")))
    seconds["bare after"] = timed(lambda: asyncio.run(bare(server, texts)))
    floor = (seconds["bare before"] + seconds["bare after"]) / 2
    print(f"\n{COUNT} requests of {TOKENS} tokens, {IN_FLIGHT} in flight: " + ", ".join(f"{n} {s:.1f} s" for n, s in seconds.items()))
    print(f"throughput of hbench, its whole run, against the bare client's mean: {floor / seconds['hbench']:.2f}")


def timed(work) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def finished(result) -> None:
    assert result.outcome == "finished" and result.statuses["ran"] >= 1, result
