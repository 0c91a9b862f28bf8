"""An LM on plain transformers, in this process: whatever arrives is decoded together in one thread."""

import asyncio
import queue
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.message import LMError, Reply, Request
from hbench.engines.decoder import Decoder, Row, row_of
from hbench.engines.local_model import LocalModel, check, load

GATHER_S = 0.004  # an idle engine waits this long for company before it reads the first prompt
LEAVE_S = 10.0  # how long `close` waits for the token being decoded


@dataclass(eq=False)
class _Asked:
    """A request on its way through the decoding thread, and who waits for it."""

    request: Request
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future = field(repr=False)

    def answer(self, result: Reply | LMError | Exception) -> None:
        """Called in the decoding thread; where the loop is closed, nobody waits any more."""
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self._settle, result)

    def _settle(self, result: Reply | LMError | Exception) -> None:
        if self.future.done():
            return
        if isinstance(result, Exception):
            self.future.set_exception(result)
        else:
            self.future.set_result(result)


class TransformersLM:
    """batch: rows decoded together. threads: torch's own; two on two busy cores are many times slower than one.

    The model is loaded on the first request, in the decoding thread; `generate` raises HbenchError where that fails.
    files: where what was trained lies. Knows `sampling.extra` top_k, min_p and chat_template_kwargs. max_tokens is cut
    to what the context leaves.
    """

    def __init__(self, identity: Json, batch: int = 16, threads: int = 1, files: Path | None = None):
        self.identity, self.batch, self.threads, self.files = identity, batch, threads, files
        self._asked: queue.SimpleQueue[_Asked | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._closed = False

    async def generate(self, requests: Sequence[Request]) -> list[Reply | LMError]:
        if self._closed:
            raise HbenchError("this model was closed")
        loop = asyncio.get_running_loop()
        asked = [_Asked(request, loop, loop.create_future()) for request in requests]
        for each in asked:
            self._asked.put(each)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="decode", daemon=True)
            self._thread.start()
        return list(await asyncio.gather(*(each.future for each in asked)))

    async def check(self) -> None:
        """Raises HbenchError when the weights are not here; loads none."""
        await asyncio.to_thread(check, self.identity, self.files)

    async def close(self) -> None:
        """Ends after the token being decoded; what was still waiting gets an LMError."""
        self._closed = True
        self._asked.put(None)
        if self._thread:
            await asyncio.to_thread(self._thread.join, LEAVE_S)

    def _work(self) -> None:
        """The decoding thread. Nothing that happens here may leave a request without an answer."""
        try:
            local = load(self.identity, self.threads, self.files)
        except Exception as trouble:
            known = isinstance(trouble, HbenchError)
            self._refuse(trouble if known else HbenchError(f"the model cannot be loaded: {trouble!r}"))
            return
        self._decode(local)
        self._refuse(HbenchError("this model was closed"))

    def _decode(self, local: LocalModel) -> None:
        """Until closed: lets rows join, grows each by a token, answers those that have finished."""
        decoder = local.decoder(self.batch)
        going: dict[Row, _Asked] = {}
        while not self._closed:
            try:
                new = self._rows(local, self._arrivals(decoder.free, idle=not going))
                going |= new
                for row in _advance(decoder, list(new)):
                    going.pop(row).answer(decoder.reply(row))
                for row in [row for row in decoder.rows if going[row].future.cancelled()]:
                    decoder.remove(row)
                    del going[row]
            except Exception as trouble:  # out of memory, or a bug: the rows going are lost, the engine goes on
                for each in going.values():
                    each.answer(_error(trouble))
                decoder, going = local.decoder(self.batch), {}
        for each in going.values():
            each.answer(LMError("server", "the model was closed"))

    def _arrivals(self, free: int, idle: bool) -> list[_Asked]:
        """At most `free` requests; waits for the first one when there is nothing else to do."""
        taken: list[_Asked | None] = []
        if idle:
            taken.append(self._asked.get())
            time.sleep(GATHER_S)
        while len(taken) < free and not self._asked.empty():
            taken.append(self._asked.get())
        return [asked for asked in taken if asked is not None and not asked.future.cancelled()]

    def _rows(self, local: LocalModel, arrived: list[_Asked]) -> dict[Row, _Asked]:
        """A row for each request that can be one; the others are answered here."""
        rows = {}
        for asked in arrived:
            try:
                prompt = local.encode(asked.request)
                if len(prompt) >= local.context:
                    counts = f"the prompt has {len(prompt)} tokens, the context {local.context}"
                    asked.answer(LMError("too_long", counts))
                else:
                    rows[row_of(asked.request, prompt, local.context)] = asked
            except Exception as trouble:  # a template may refuse the messages, sampling may be unknown
                asked.answer(LMError("bad_request", str(trouble)[:500]))
        return rows

    def _refuse(self, trouble: Exception) -> None:
        """Answers everyone who asks from now on with `trouble`, until closed and nobody is left."""
        while not (self._closed and self._asked.empty()):
            asked = self._asked.get()
            if asked is not None:
                asked.answer(trouble)


def _advance(decoder: Decoder, new: list[Row]) -> list[Row]:
    """Lets `new` join and grows every row by a token; returns those that finished."""
    finished = decoder.admit(new) if new else []
    return finished + (decoder.step() if decoder.rows else [])


def _error(trouble: Exception) -> LMError:
    text = f"{type(trouble).__name__}: {trouble}"[:500]
    short = isinstance(trouble, MemoryError) or "out of memory" in text.lower() or "can't allocate memory" in text
    return LMError("memory" if short else "server", text)
