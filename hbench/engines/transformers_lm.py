"""An LM on plain transformers, in this process: whatever arrives is decoded together in one thread."""

import asyncio
import queue
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.message import LMError, Reply, Request
from hbench.engines import embedded
from hbench.engines.decoder import Decoder, Row, row_of

GATHER_S = 0.004  # an idle engine waits this long for company before it reads the first prompt


@dataclass(eq=False)
class _Asked:
    request: Request
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future = field(repr=False)

    def answer(self, result: Reply | LMError | Exception) -> None:
        self.loop.call_soon_threadsafe(self._settle, result)

    def _settle(self, result: Reply | LMError | Exception) -> None:
        if self.future.done():
            return
        if isinstance(result, Exception):
            self.future.set_exception(result)
        else:
            self.future.set_result(result)


class TransformersLM:
    """batch: rows decoded together. threads: torch's own; one is best while other processes want the cores.

    The model is loaded on the first request, in the decoding thread; HbenchError from `generate` where that fails.
    Knows `sampling.extra` top_k, min_p and chat_template_kwargs.
    """

    def __init__(self, identity: Json, batch: int = 16, threads: int | None = None):
        self.identity, self.batch, self.threads = identity, batch, threads
        self._asked: queue.SimpleQueue[_Asked | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._closed = False

    async def generate(self, requests: Sequence[Request]) -> list[Reply | LMError]:
        if self._closed:
            raise HbenchError("this model was closed")
        loop = asyncio.get_running_loop()
        futures = [loop.create_future() for _ in requests]
        for request, future in zip(requests, futures):
            self._asked.put(_Asked(request, loop, future))
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="decode", daemon=True)
            self._thread.start()
        return list(await asyncio.gather(*futures))

    async def check(self) -> None:
        """Loads the model; raises HbenchError where that fails."""
        await asyncio.to_thread(load, self.identity)

    async def close(self) -> None:
        """Ends after the token being decoded; what was still waiting gets an LMError."""
        self._closed = True
        self._asked.put(None)
        if self._thread:
            await asyncio.to_thread(self._thread.join, 10)

    def _work(self) -> None:
        """The decoding thread. Nothing that happens here may leave a request without an answer."""
        try:
            decoder, context = self._open()
        except Exception as trouble:  # told to everyone who asks
            self._refuse(trouble if isinstance(trouble, HbenchError) else HbenchError(f"the model cannot be loaded: {trouble}"))
            return
        going: dict[Row, _Asked] = {}
        while not self._closed:
            asked = self._arrivals(decoder.free, idle=not going)
            try:
                new = self._rows(decoder, context, asked)
                going |= new
                finished = decoder.admit(list(new)) if new else []
                finished += decoder.step() if decoder.rows else []
                for row in finished:
                    going.pop(row).answer(decoder.reply(row))
                for row in [row for row in decoder.rows if going[row].future.cancelled()]:
                    decoder.remove(row)
                    del going[row]
            except Exception as trouble:
                decoder.clear()
                for each in going.values():
                    each.answer(_error(trouble))
                going = {}
        for each in going.values():
            each.answer(LMError("server", "the model was closed"))
        self._refuse(HbenchError("the model was closed"))

    def _open(self) -> tuple[Decoder, int]:
        import torch

        if self.threads:
            torch.set_num_threads(self.threads)  # holds for the thread that calls it
        model, tokenizer = load(self.identity)
        context = self.identity.get("context") or getattr(model.config, "max_position_embeddings", 2048)
        return Decoder(model, tokenizer, self.batch), context

    def _arrivals(self, free: int, idle: bool) -> list[_Asked]:
        """At most `free` requests; waits for the first one when there is nothing else to do."""
        taken: list[_Asked | None] = []
        if idle and free:
            taken.append(self._asked.get())
            time.sleep(GATHER_S)
        while len(taken) < free and not self._asked.empty():
            taken.append(self._asked.get())
        return [asked for asked in taken if asked is not None and not asked.future.cancelled()]

    def _rows(self, decoder: Decoder, context: int, arrived: list[_Asked]) -> dict[Row, _Asked]:
        """A row for each request that can be one; the others are answered here."""
        rows = {}
        for asked in arrived:
            try:
                prompt = encode(decoder.tokenizer, asked.request)
                if len(prompt) >= context:
                    asked.answer(LMError("too_long", f"the prompt has {len(prompt)} tokens, the context {context}"))
                else:
                    rows[row_of(asked.request, prompt, context)] = asked
            except Exception as trouble:  # a template may refuse the messages, sampling may be unknown
                asked.answer(LMError("bad_request", str(trouble)[:500]))
        return rows

    def _refuse(self, trouble: Exception) -> None:
        """Answers everyone who asks from now on, until closed and nobody is left."""
        while not (self._closed and self._asked.empty()):
            asked = self._asked.get()
            if asked is not None:
                asked.answer(trouble)


def encode(tokenizer: Any, request: Request) -> list[int]:
    """The token ids of the messages in the model's own chat template, ready for the assistant's turn."""
    if not tokenizer.chat_template:
        raise ValueError("this model has no chat template")
    arguments = (request.sampling.extra or {}).get("chat_template_kwargs") or {}
    text = tokenizer.apply_chat_template(
        [message.to_json() for message in request.messages],
        tools=request.tools or None,
        add_generation_prompt=True,
        tokenize=False,
        **arguments,
    )
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def load(identity: Json) -> tuple[Any, Any]:
    """(model, tokenizer) of `identity`: weights, and optionally revision and dtype. A LoRA adapter would be merged here.

    dtype: when absent, bfloat16 on a GPU and on CPUs with AVX512-BF16, else float32.
    """
    for key in ("adapter", "quantisation", "chat_template"):
        if identity.get(key):
            raise HbenchError(f"a model in this process cannot have {key} yet: serve it, and set base_url")
    try:
        import torch
        from transformers import AttentionInterface, AutoModelForCausalLM, AutoTokenizer
    except ImportError as missing:
        raise HbenchError(f"a model in this process needs the extra 'local' ({missing}): pip install 'hbench[local]'") from None
    from hbench.engines.key_values import attend

    weights, revision = identity["weights"], identity.get("revision")
    folder = str(embedded.unpack(weights)) if weights.startswith(embedded.PREFIX) else weights
    AttentionInterface.register("hbench_rows", attend)
    dtype = getattr(torch, identity["dtype"]) if identity.get("dtype") else _best_dtype()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        with embedded.quiet_transformers():
            tokenizer = AutoTokenizer.from_pretrained(folder, revision=revision)
            model = AutoModelForCausalLM.from_pretrained(
                folder, revision=revision, dtype=dtype, attn_implementation="hbench_rows"
            )
    except (OSError, ValueError) as trouble:
        raise HbenchError(f"the model {weights} cannot be loaded: {str(trouble).splitlines()[0]}") from None
    return model.eval().to(device), tokenizer


def _best_dtype() -> Any:
    import torch

    fast = torch.cuda.is_available() or torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return torch.bfloat16 if fast else torch.float32


def _error(trouble: Exception) -> LMError:
    text = str(trouble)
    short = isinstance(trouble, MemoryError) or "out of memory" in text.lower() or "can't allocate memory" in text
    return LMError("memory" if short else "server", f"{type(trouble).__name__}: {text}"[:500])
