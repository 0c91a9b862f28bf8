"""One harness on one question, from the driver's side: answer its calls, hold it to its limits, judge how it ended."""

import asyncio
import fcntl
import os
import signal
import time

from hbench.core.digest import Json
from hbench.core.failure import Failure, LimitReached, StepError, ToolError
from hbench.engines.jail.channel import BadMessage, Channel
from hbench.engines.jail.clock import Clock
from hbench.engines.jail.inside.wire import FORK_FAILED
from hbench.engines.jail.job import HarnessJob, Outcome
from hbench.engines.jail.zygote import Child, Ended, Zygote

_TROUBLES = {"error", "exited", "bad_type", "syntax_error", "missing_entry_point"}  # what a child may say of itself
_LINGER_S = 0.5  # from its answer to its end
_PIPE = 1 << 16  # what a pipe holds unless asked for more
_MOST_PIPE = 1 << 20


class HarnessRun:
    """Made for one job, used once."""

    def __init__(self, job: HarnessJob):
        self.job = job
        self.calls = 0
        self.asked = False  # whether a tool was called: then the job must not be run a second time unseen
        self._failure: Failure | None = None

    async def outcome(self, program: Json, zygote: Zygote) -> Outcome:
        """Runs to the end. program: of the job's source, see compiled.py. Raises StepError (and what else a tool raises) once the child is on its way out."""
        limits = self.job.limits
        self._clock = Clock(limits.wall_s, self._time_is_up)
        self._channel = Channel(limits.message_chars, self._clock.stop)
        printed, their_output = _output_pipe(limits.output_chars)
        self._child: Child | None = None
        began = time.monotonic()
        try:
            order = {"memory_mb": limits.memory_mb, "cpu_s": limits.cpu_s, "output_chars": limits.output_chars}
            self._child = zygote.fork(order, [self._channel.theirs.fileno(), their_output])
            final = await self._serve(program)
            ended = await self._wait_for_end(final)
            return self._judge(final, ended, _read_all(printed, limits.output_chars), time.monotonic() - began)
        finally:
            self._clock.stop()
            if self._child is not None:
                self._child.kill()
            self._channel.close()
            os.close(printed)
            if their_output is not None:
                os.close(their_output)

    async def _serve(self, program: Json) -> dict | None:
        """Answers calls until the child's last message, which is given; None when there is none to come."""
        job, channel = self.job, self._channel
        channel.send({**program, "question": job.question, "tools": sorted(job.tools), "seed": job.seed})
        await self._child.started
        channel.theirs.close()
        self._clock.go()
        try:
            while (message := await channel.receive()) is not None and "call" in message:
                channel.send(await self._reply(message))
                self._clock.go()
        except BadMessage as bad:
            self._stop(bad.failure)
        except LimitReached as reached:
            self._stop(reached.failure)
        else:
            return message
        return None

    async def _reply(self, message: dict) -> Json:
        """A tool's result, or its refusal. Raises LimitReached, BadMessage, and what the tool raises."""
        name, arguments = message.get("call"), message.get("arguments")
        self.calls += 1
        if self.calls > self.job.limits.calls:
            raise LimitReached("calls", f"more than {self.job.limits.calls} tool calls")
        if len(message) != 2 or not isinstance(name, str) or not isinstance(arguments, dict):
            raise BadMessage(Failure("harness", "protocol", "not a tool call"))
        tool = self.job.tools.get(name)
        if tool is None:
            return {"refused": f"there is no tool {name[:100]!r}"}
        self.asked = True
        try:
            return {"result": await tool(**arguments)}
        except ToolError as refusal:
            return {"refused": str(refusal)}
        except TypeError as trouble:
            if trouble.__traceback__.tb_next is not None:  # from inside the tool: a bug of ours
                raise
            return {"refused": f"{name}: {trouble}"}

    def _stop(self, failure: Failure) -> None:
        self._failure = self._failure or failure
        self._child.kill()

    def _time_is_up(self) -> None:
        self._stop(Failure("limits", "timeout", f"more than {self.job.limits.wall_s:g} s of its own time"))

    async def _wait_for_end(self, final: dict | None) -> Ended:
        """A child that has answered has nothing more to do; one whose pipe ended has its own time left to end."""
        if final is None:
            return await self._child.ended
        self._clock.stop()
        linger = asyncio.get_running_loop().call_later(_LINGER_S, self._child.kill)
        try:
            return await self._child.ended
        finally:
            linger.cancel()

    def _judge(self, final: dict | None, ended: Ended, output: str, seconds: float) -> Outcome:
        if ended.status == FORK_FAILED:
            raise StepError("the harness jail cannot fork: this machine is out of processes or memory")
        if final is None and self._failure is None and ended.cpu_seconds <= self.job.limits.cpu_s:
            self._child.raise_if_starved(ended)
        failure = self._failure or _said(final) or _overdrawn(final, ended, self.job) or _broke(final, ended)
        answer = final["answer"] if failure is None else None
        return Outcome(answer, failure is None, failure, output, seconds, ended.cpu_seconds)


def _said(final: dict | None) -> Failure | None:
    """The trouble a child tells of itself: words from a short list, so that a forged one says no more than that."""
    if final is None or "answer" in final:
        return None
    kind, message = final.get("trouble"), str(final.get("message", ""))[:2000]
    if kind == "memory":
        return Failure("limits", "memory", message)
    return Failure("harness", kind if kind in _TROUBLES else "protocol", message)


def _overdrawn(final: dict | None, ended: Ended, job: HarnessJob) -> Failure | None:
    """CPU time is read off the kernel's account; the kernel itself kills at whole seconds."""
    limits = job.limits
    if ended.cpu_seconds > limits.cpu_s or (ended.signal in (signal.SIGKILL, signal.SIGXCPU) and final is None):
        return Failure("limits", "cpu", f"more than {limits.cpu_s:g} s of CPU time")
    length = len(final["answer"]) if final is not None and isinstance(final["answer"], str) else 0
    if length > limits.output_chars:
        return Failure("limits", "output", f"an answer of {length} characters, at most {limits.output_chars}")
    return None


def _broke(final: dict | None, ended: Ended) -> Failure | None:
    if final is None and ended.signal:
        return Failure("harness", "killed", f"ended by {signal.Signals(ended.signal).name}")
    if final is None:
        return Failure("harness", "exited", f"exit code {ended.code} before run() returned")
    if len(final) != 1 or not isinstance(final["answer"], str):
        return Failure("harness", "protocol", "not an answer")
    return None


def _output_pipe(chars: int) -> tuple[int, int]:
    """Our end and the child's. It is read once the child has ended: a pipe that is full swallows the rest."""
    ours, theirs = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    if chars > _PIPE:
        try:
            fcntl.fcntl(theirs, 1031, min(chars, _MOST_PIPE))  # F_SETPIPE_SZ
        except OSError:
            pass
    return ours, theirs


def _read_all(descriptor: int, chars: int) -> str:
    parts = []
    try:
        while part := os.read(descriptor, 1 << 20):
            parts.append(part)
    except BlockingIOError:
        pass
    return b"".join(parts).decode("utf-8", "replace")[:chars]
