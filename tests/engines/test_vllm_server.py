"""A server that hbench starts: its life as a process. tests/vllm has the same with vLLM itself."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest

from hbench.core.failure import HbenchError
from hbench.engines.server_notes import end_orphans
from hbench.engines.started_lm import StartedLM
from hbench.engines.vllm_command import ToServe, command, environment
from hbench.runtime.model_servers import ModelServers, device_user
from hbench.runtime.services import Machine
from tests.engines.asking import ask
from tests.engines.started import alive, ref, serve, server, told


@pytest.fixture(autouse=True)
def own_notes(tmp_path, monkeypatch):
    monkeypatch.setenv("HBENCH_CACHE", str(tmp_path / "cache"))


@contextmanager
def servers(tmp_path, *models, **options):
    """The servers of a run of these models, all reached by one serve block."""
    settings = {"serve": serve(tmp_path, **options), "retries": 5}
    made = ModelServers(Machine(tmp_path, {m.digest: (m, settings) for m in models}), lambda: None, lambda _: None)
    made.settings = settings
    try:
        yield made
    finally:
        made.end()


def answers(lm: StartedLM, *texts: str):
    async def asked():
        try:
            return await lm.generate([ask(text) for text in texts])
        finally:
            await lm.close()

    return asyncio.run(asked())


def gone(pid: int, seconds: float = 5.0) -> bool:
    until = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.02)
    return not alive(pid)


def test_it_is_started_when_it_is_first_asked_and_ends_with_its_children(tmp_path):
    with servers(tmp_path, ref()) as made:
        lm = made.lm(ref(), made.settings)
        log = tmp_path / "servers/tiny.log"
        assert not log.exists()
        assert [reply.text for reply in answers(lm, "a", "b")] == ["org/tiny: a", "org/tiny: b"]
        assert lm.server.version == "9.9"
        (child,) = told(log, "child")
        assert alive(child)
    assert gone(child) and not lm.server.is_up
    assert not list((tmp_path / "cache/servers").iterdir())


def test_a_base_and_its_adapters_are_one_server_that_knows_them_by_name(tmp_path):
    folder = tmp_path / "adapter"
    folder.mkdir()
    (folder / "adapter_config.json").write_text("{}")
    laid = [ref("a" * 64, folder), ref("b" * 64, folder)]
    with servers(tmp_path, ref(), *laid) as made:
        said = [answers(made.lm(model, made.settings), "x")[0].text for model in (ref(), *laid)]
        (words,) = told(tmp_path / "servers/tiny.log", "words")
    assert said == ["org/tiny: x", f"{'a' * 16}: x", f"{'b' * 16}: x"]
    assert words[words.index("--max-loras") + 1] == "2"


def test_one_that_cannot_start_says_why(tmp_path):
    with servers(tmp_path, ref(), how="dies") as made:
        error = answers(made.lm(ref(), made.settings), "a")[0]
    said = "the vLLM server of org/tiny ended with exit code 3: OutOfMemoryError: CUDA out of memory (more in "
    assert error.kind == "server" and f"RuntimeError: Engine core initialization failed\n{said}" in error.message


def test_one_that_never_answers_is_given_up(tmp_path):
    made = server(tmp_path, "hangs", start_timeout_s=1.0)
    with pytest.raises(HbenchError, match=r"did not answer within 1 s \(more in .*tiny.log\)"):
        made.up()
    assert not list((tmp_path / "cache/servers").iterdir())


def test_one_that_is_killed_tells_all_who_ask_and_comes_back_when_it_is_forgiven(tmp_path):
    with servers(tmp_path, ref()) as made:
        lm = made.lm(ref(), made.settings)
        answers(lm, "a")
        (child,) = told(tmp_path / "servers/tiny.log", "child")
        threading.Timer(0.3, lambda: os.kill(lm.server._process.pid, signal.SIGKILL)).start()
        errors = answers(lm, "wait", "wait")
        assert {error.kind for error in errors} == {"server"} and "was killed (signal 9)" in errors[0].message
        assert gone(child)
        assert "was killed" in answers(lm, "b")[0].message
        made.forgive()
        assert answers(lm, "b")[0].text == "org/tiny: b" and lm.server.lives == 2


def test_what_was_asked_of_a_life_that_ended_is_asked_of_the_next(tmp_path):
    # A request that was waiting when the server was forgiven went on asking the old port, and failed the step
    # that was being tried again.
    async def asked(made, lm):
        waiting = asyncio.ensure_future(lm.generate([ask("a")]))
        while not lm.server.is_up:
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.2)  # half a second is what it takes to answer
        os.kill(lm.server._process.pid, signal.SIGKILL)
        os.waitid(os.P_PID, lm.server._process.pid, os.WEXITED | os.WNOWAIT)
        made.forgive()
        try:
            return await waiting
        finally:
            await lm.close()

    with servers(tmp_path, ref(), how="slow") as made:
        lm = made.lm(ref(), made.settings)
        (reply,) = asyncio.run(asked(made, lm))
        assert reply.text == "org/tiny: a" and lm.server.lives == 2


def test_one_that_dies_again_and_again_stays_dead(tmp_path):
    made = server(tmp_path, "dies")
    for _ in range(5):
        with pytest.raises(HbenchError):
            made.up()
        made.forgive()
    assert made.lives == 3


def test_an_adapter_is_given_again_to_a_server_that_was_started_again(tmp_path):
    (tmp_path / "adapter_config.json").write_text("{}")
    laid = ref("a" * 64, tmp_path)
    with servers(tmp_path, laid, hand_over="stop") as made:
        lm = made.lm(laid, made.settings)
        answers(lm, "x")
        made.hand_over(frozenset())
        assert not lm.server.is_up
        assert answers(lm, "y")[0].text == f"{'a' * 16}: y" and lm.server.lives == 2


def test_handing_over_puts_it_to_sleep_and_asking_wakes_it(tmp_path):
    with servers(tmp_path, ref(), hand_over="sleep") as made:
        lm = made.lm(ref(), made.settings)
        answers(lm, "x")
        made.hand_over(frozenset({device_user(ref(), made.settings)}))
        assert lm.server.is_up, "whoever gets the device does not leave it"
        made.hand_over(frozenset({"another"}))
        assert not lm.server.is_up
        assert answers(lm, "y")[0].text == "org/tiny: y" and lm.server.lives == 1


def test_one_that_cannot_sleep_is_an_error(tmp_path):
    made = server(tmp_path, hand_over="stop")
    made.up()
    made.what.serve["hand_over"] = "sleep"  # it was started without
    with pytest.raises(HbenchError, match="does not take /sleep: 404"):
        made.rest()
    made.end()


def test_a_port_that_is_taken_is_told(tmp_path):
    one, other = server(tmp_path), server(tmp_path)
    one.up()
    other.what.serve["port"] = one.port
    with pytest.raises(HbenchError, match=f"port {one.port}, where tiny should be served, is taken"):
        other.up()
    one.end()


def test_the_end_of_a_run_ends_one_that_is_starting(tmp_path):
    made = server(tmp_path, "hangs")
    waiting = threading.Thread(target=lambda: pytest.raises(HbenchError, made.up))
    waiting.start()
    while not made.log.exists() or not told(made.log, "child"):
        time.sleep(0.02)
    made.end()
    waiting.join(5)
    assert not waiting.is_alive() and gone(told(made.log, "child")[0])


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.engines.started import server
made = server(Path(sys.argv[1]))
made.up()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("leader", ["lives", "is gone too"])
def test_what_a_killed_hbench_left_behind_is_ended_by_the_next(tmp_path, leader):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    (child,) = told(tmp_path / "tiny.log", "child")
    (file,) = (tmp_path / "cache/servers").iterdir()
    if leader == "is gone too":
        os.kill(int(file.stem), signal.SIGKILL)
    assert alive(child)
    assert end_orphans() == [str(tmp_path / "tiny.log")] and gone(child) and gone(int(file.stem))
    assert end_orphans() == []


def test_the_servers_of_a_living_hbench_are_left_alone(tmp_path):
    made = server(tmp_path)
    made.up()
    assert end_orphans() == [] and made.is_up
    made.end()


def words(identity=None, adapters=0, **block):
    return " ".join(command(ToServe("org/m", "m", {"weights": "org/m", **(identity or {})}, block, adapters), 7))


def test_the_command_line_says_what_the_model_block_says():
    said = words({"dtype": "bfloat16", "context": 2048, "quantisation": "fp8", "revision": "abc"})
    for flag in ("--dtype bfloat16", "--max-model-len 2048", "--quantization fp8", "--revision abc", "--generation-config vllm"):
        assert flag in said
    assert "--host 127.0.0.1 --port 7" in said and "lora" not in said


def test_machine_settings_become_flags():
    said = words(adapters=3, adapter_rank=16, prefix_caching=False, memory_share=0.4, gpus=[1, 2], hand_over="sleep")
    assert "--enable-lora --max-loras 3 --max-lora-rank 16" in said and "--tensor-parallel-size 2" in said
    assert "--no-enable-prefix-caching --gpu-memory-utilization 0.4" in said and "--enable-sleep-mode" in said


def test_code_that_lies_with_weights_runs_only_where_its_own_field_says_so():
    assert "--trust-remote-code" in words(trust_remote_code=True)
    assert "trust" not in words()


def test_further_arguments_are_written_as_vllm_reads_them():
    said = words(arguments={"max_num_seqs": 64, "enforce_eager": True, "enable_log_requests": False, "hf_overrides": {"a": 1}, "x": None})
    assert said.endswith('--max-num-seqs 64 --enforce-eager --no-enable-log-requests --hf-overrides {"a": 1}')


def test_gpus_are_counted_among_those_to_be_seen(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,6")
    assert environment(ToServe("m", "m", {}, {"gpus": [1]}), "k")["CUDA_VISIBLE_DEVICES"] == "6"
    with pytest.raises(HbenchError, match="there is no GPU 2 among those to be seen"):
        environment(ToServe("m", "m", {}, {"gpus": [2]}), "k")


def test_a_python_that_is_not_there_is_told():
    with pytest.raises(HbenchError, match="serve.python: nowhere/python is no program here"):
        words(python="nowhere/python")


def test_a_chat_template_must_be_given_as_a_file():
    with pytest.raises(HbenchError, match="serve.arguments.chat_template"):
        words({"chat_template": "abc"})
    assert "--chat-template t.jinja" in words({"chat_template": "abc"}, arguments={"chat_template": "t.jinja"})
