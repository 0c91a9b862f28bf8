"""An LM behind any OpenAI-compatible server: vLLM, llama.cpp, SGLang, hosted."""

import asyncio
import os
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.message import LMError, Reply, Request
from hbench.engines.local_model import is_adapter
from hbench.engines.openai_wire import body_of, read_reply, refusal, served_names
from hbench.engines.rate_limit import RateLimit

RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 60.0  # a server's Retry-After is obeyed up to the longest wait


@dataclass(frozen=True)
class Reach:
    """How the server is reached; nothing here can change a reply.

    retries: tries after the first. timeout_s: of one try, to the last byte. key: never logged, never stored.
    """

    base_url: str
    model: str  # the name the server knows it by
    key: str | None = field(default=None, repr=False)
    max_in_flight: int = 256
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    timeout_s: float = 600.0
    retries: int = 5

    @classmethod
    def of(cls, model: str, machine: Json) -> "Reach":
        """From machine.models.<name>. Raises HbenchError when api_key_env names a variable that is not set."""
        url = machine.get("base_url") or f"http://127.0.0.1:{machine.get('port', 8000)}/v1"
        variable = machine.get("api_key_env")
        key = os.environ.get(variable) if variable else None
        if variable and not key:
            raise HbenchError(f"the key for {url} should be in the environment variable {variable}, which is not set")
        chosen = {name: machine[name] for name in cls.__dataclass_fields__ if machine.get(name) is not None}
        return cls(**{**chosen, "base_url": _tidy_url(url), "model": machine.get("served_name") or model, "key": key})


class OpenAILM:
    """Many requests in flight over kept-alive connections. After its tries a request gets an LMError, never a reply.

    files: where what was trained lies. An adapter that the server does not list is given to it first, under the name
    in `reach`, as vLLM takes it. gone: whether the server is known to be no more, so that nothing is tried again.
    """

    def __init__(self, reach: Reach, files: Path | None = None, gone: Callable[[], Any] = lambda: False):
        self.reach, self.files, self._gone = reach, files, gone
        threading.Thread(target=import_module, args=("aiohttp",), daemon=True).start()  # takes a while, as jails do meanwhile
        self._limit = RateLimit(reach.requests_per_minute, reach.tokens_per_minute)
        self._slots = asyncio.Semaphore(reach.max_in_flight)
        self._session: Any = None
        self._ready: asyncio.Task[LMError | None] | None = None

    async def generate(self, requests: Sequence[Request]) -> list[Reply | LMError]:
        if self._ready is None:
            self._ready = asyncio.ensure_future(self._find_trouble())
        if trouble := await asyncio.shield(self._ready):
            self._ready = None  # who asks again may find it mended
            return [trouble] * len(requests)
        if len(requests) == 1:
            return [await self._ask(requests[0])]
        return list(await asyncio.gather(*map(self._ask, requests)))

    async def check(self) -> None:
        """One small request. Raises HbenchError when the server cannot be reached or does not know the model."""
        status, raw = await self._get_models()
        url = self.reach.base_url
        if status == 0:
            raise HbenchError(f"no model server answers at {url} ({raw.decode()}): start it, or correct base_url")
        if status in (401, 403):
            raise HbenchError(f"{url} refuses the key ({self._hide(refusal(status, raw).message)}): see api_key_env")
        if trouble := await self._find_trouble():
            raise HbenchError(trouble.message)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _ask(self, request: Request) -> Reply | LMError:
        """Tries until there is a reply, the trouble is the request's own, or the tries are used up."""
        body = body_of(request, self.reach.model)
        most = len(body) // 4 + request.sampling.max_tokens  # tokens it may use; corrected afterwards
        for attempt in range(self.reach.retries + 1):
            taken = await self._limit.take(most)
            async with self._slots:
                result, wait = await self._try(request, body)
            if isinstance(result, Reply):
                self._limit.settle(taken, result.prompt_tokens + result.completion_tokens or most)
                return result
            self._limit.settle(taken, 0)
            if wait is None or self._gone():
                return result
            if attempt < self.reach.retries:
                await asyncio.sleep(max(wait, _backoff(attempt)))
        tried = f"{self.reach.base_url}, {self.reach.retries + 1} tries: {result.message}"
        return replace(result, message=tried)

    async def _try(self, request: Request, body: bytes) -> tuple[Reply | LMError, float | None]:
        """(result, seconds the server wants us to wait before the next try). None: trying again cannot help."""
        import aiohttp

        started = time.perf_counter()
        try:
            async with self._open().post(self._url("/chat/completions"), data=body) as answer:
                status, raw = answer.status, await answer.read()
                wait = _retry_after(answer.headers.get("Retry-After"))
        except TimeoutError:
            return LMError("timeout", f"no reply within {self.reach.timeout_s:g} s"), 0.0
        except aiohttp.ClientPayloadError as trouble:
            return LMError("bad_reply", f"the body broke off: {trouble}"[:200]), 0.0
        except (aiohttp.ClientError, OSError) as trouble:
            return LMError("connection", f"{type(trouble).__name__}: {trouble}"[:200]), 0.0
        if status == 200:
            return read_reply(raw, request, time.perf_counter() - started), 0.0
        error = refusal(status, raw, request)
        error = replace(error, message=self._hide(error.message))
        if status == 429 and wait:
            self._limit.hold(wait)  # the others would only be refused too
        return error, (wait if status in RETRIED and error.kind != "too_long" else None)

    def _open(self) -> Any:
        """The one session, opened on the loop that uses it."""
        if self._session is None:
            import aiohttp

            headers = {"Content-Type": "application/json", "Accept": "application/json"}
            if self.reach.key:
                headers["Authorization"] = f"Bearer {self.reach.key}"
            self._session = aiohttp.ClientSession(
                headers=headers,
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=75),  # `_slots` is the limit
                timeout=aiohttp.ClientTimeout(total=self.reach.timeout_s, sock_connect=30),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session

    def _url(self, path: str) -> Any:
        from yarl import URL

        return URL(self.reach.base_url + path)

    async def _get_models(self) -> tuple[int, bytes]:
        """Status and body of GET /models; status 0 and the reason when there is no answer."""
        import aiohttp

        try:
            async with self._open().get(self._url("/models"), timeout=aiohttp.ClientTimeout(total=10)) as answer:
                return answer.status, await answer.read()
        except (TimeoutError, aiohttp.ClientError, OSError) as trouble:
            return 0, f"{type(trouble).__name__}: {trouble}"[:200].encode()

    async def _find_trouble(self) -> LMError | None:
        """Why nothing can be asked of the model. A server without a list of models is believed to have it."""
        names, url = served_names(*await self._get_models()), self.reach.base_url
        if self.reach.model in names:
            return None
        if is_adapter(self.files):
            return await self._give_adapter()
        if self.files is not None:
            hint = f"serve the folder {self.files} there, as {self.reach.model}"
            return LMError("bad_request", f"{url} cannot be given whole weights: {hint}")
        if not names:
            return None
        served, hint = ", ".join(sorted(names)[:8]), "correct the model's name, or set served_name"
        return LMError("bad_request", f"{url} serves {served}, not {self.reach.model!r}: {hint}")

    async def _give_adapter(self) -> LMError | None:
        """Asks the server to load the adapter from where it lies; tries again while it does not answer."""
        import aiohttp

        url, body = self.reach.base_url, {"lora_name": self.reach.model, "lora_path": str(self.files.resolve())}
        for attempt in range(self.reach.retries + 1):
            try:
                async with self._open().post(self._url("/load_lora_adapter"), json=body) as answer:
                    status, raw = answer.status, await answer.read()
            except (TimeoutError, aiohttp.ClientError, OSError) as trouble:
                status, raw = 503, f"{type(trouble).__name__}: {trouble}".encode()
            if status == 200 or b"already been loaded" in raw:
                return None
            if status not in RETRIED or attempt == self.reach.retries or self._gone():
                break
            await asyncio.sleep(_backoff(attempt))
        error = refusal(status, raw)
        hint = "it must see that folder, and be started with --enable-lora and VLLM_ALLOW_RUNTIME_LORA_UPDATING=True"
        said = self._hide(error.message)
        return replace(error, message=f"{url} does not load the adapter {self.files} ({said}): {hint}")

    def _hide(self, text: str) -> str:
        return text.replace(self.reach.key, "***") if self.reach.key else text


def _tidy_url(url: str) -> str:
    """Without a slash at the end; `/v1` is added where there is no path at all."""
    url = url.rstrip("/")
    return url if urlsplit(url).path else url + "/v1"


def _backoff(attempt: int) -> float:
    """0.5, 1, 2 … seconds, at most 60, times a random number from 0.5 to 1.5: callers must not come back in step."""
    return min(FIRST_WAIT_S * 2**attempt, LONGEST_WAIT_S) * random.uniform(0.5, 1.5)


def _retry_after(value: str | None) -> float:
    """Seconds that a Retry-After header asks for (a number or an HTTP date), at most 60; 0.0 where it says nothing."""
    if not value:
        return 0.0
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        except (TypeError, ValueError):
            return 0.0
    return min(max(seconds, 0.0), LONGEST_WAIT_S) if seconds == seconds else 0.0
