"""What models said, found by request: append-only segments, one for each process that writes."""

import asyncio
import copy
import json
import os
import re
import socket
import time
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Self

from hbench.core.budget import REFUSED
from hbench.core.digest import encoder
from hbench.core.failure import StepError
from hbench.core.message import LMError, Reply, Request
from hbench.core.model import ModelRef
from hbench.core.protocols import LM

LOOK_AGAIN_S = 1.0  # how often, at most, other processes' segments are looked for
_ID = re.compile(rb'\{"id":"([0-9a-f]{64})",')
_ENCODE = encoder(sort_keys=False, ascii=True, nan=True)
_KEPT = tuple(field.name for field in fields(Reply) if field.name != "reused")


class ReplyStore:
    """Replies under `folder`, as `<host>-<pid>-<n>.jsonl`; a line is {"id": request id, "reply": …}.

    A line is written with one write() before anyone sees the reply, so it survives a killed process. Other processes'
    segments are read as they grow. Memory holds ids and places, never texts. A line without its end is not there
    (yet): its writer died or is still at it. Of several replies to one request the first one seen holds.
    Not thread-safe: one event loop uses it. It does not fsync: a power cut may cost the last seconds.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self._places: dict[bytes, tuple[Path, int]] = {}  # id -> (segment, offset of the line)
        self._read_to: dict[Path, int] = {}  # bytes of each segment that are indexed
        self._looked_at = float("-inf")
        self._own: Path | None = None
        self._descriptor: int | None = None

    def get(self, request_id: str) -> Reply | None:
        """The stored reply, marked `reused`; None when there is none."""
        place = self._places.get(bytes.fromhex(request_id))
        if place is None and time.monotonic() - self._looked_at >= LOOK_AGAIN_S:
            self.refresh()
            place = self._places.get(bytes.fromhex(request_id))
        if place is None:
            return None
        segment, offset = place
        try:
            with segment.open("rb") as file:
                file.seek(offset)
                return Reply(**json.loads(file.readline())["reply"], reused=True)
        except (OSError, ValueError, KeyError, TypeError):  # deleted or damaged since: it will be asked again
            del self._places[bytes.fromhex(request_id)]
            return None

    def put(self, request_id: str, reply: Reply) -> None:
        """Stores `reply`. When this returns, killing the process does not lose it. Raises StepError on a full disk."""
        row = {"id": request_id, "reply": {name: getattr(reply, name) for name in _KEPT}}
        line = _ENCODE(row).encode() + b"\n"
        try:
            if self._descriptor is None:
                self._start_segment()
            if os.write(self._descriptor, line) != len(line):
                raise OSError("no room for a whole line")
        except OSError as trouble:
            self.close()  # what was written of the line has no end and is never read; the next one starts a segment
            raise StepError(f"a reply cannot be stored in {self.folder}: {trouble}") from None
        self._places.setdefault(bytes.fromhex(request_id), (self._own, self._read_to[self._own]))
        self._read_to[self._own] += len(line)

    def refresh(self) -> None:
        """Takes in what other processes have written since the last time. Costs a look at each segment's size."""
        self._looked_at = time.monotonic()
        if not self.folder.is_dir():
            return
        for entry in sorted(os.scandir(self.folder), key=lambda entry: entry.name):
            path = Path(entry.path)
            if path.suffix == ".jsonl" and path != self._own and entry.stat().st_size > self._read_to.get(path, 0):
                self._index(path)

    def close(self) -> None:
        """Ends this process's segment; a later `put` starts another."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _start_segment(self) -> None:
        """A file of this process's own; a name is never used twice, also when its pid comes round again."""
        self.folder.mkdir(parents=True, exist_ok=True)
        number = 0
        while self._descriptor is None:
            self._own = self.folder / f"{socket.gethostname()}-{os.getpid()}-{number}.jsonl"
            try:
                self._descriptor = os.open(self._own, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
            except FileExistsError:
                number += 1
        self._read_to[self._own] = 0

    def _index(self, path: Path) -> None:
        """Takes in the whole lines behind what was read of `path` before; one that holds no reply is passed over."""
        offset = self._read_to.get(path, 0)
        with path.open("rb") as segment:
            segment.seek(offset)
            for line in segment:
                if not line.endswith(b"\n"):
                    break
                if found := _ID.match(line):
                    self._places.setdefault(bytes.fromhex(found[1].decode()), (path, offset))
                offset += len(line)
        self._read_to[path] = offset


class StoredLM:
    """`lm` with a memory. Equal requests under way are asked once; only whole replies are stored.

    ref: the model; its identity and the request make the id under which a reply is found.
    """

    def __init__(self, lm: LM, store: ReplyStore, ref: ModelRef):
        self.lm, self.store, self.ref = lm, store, ref
        self._under_way: dict[str, asyncio.Future] = {}
        self._payer: Any = None

    def paid_by(self, payer: Any) -> Self:
        """The same for one who pays: `payer` (runtime/budget.py) is asked before each call, and told of what is reused."""
        made = copy.copy(self)
        made._payer = payer
        return made

    async def generate(self, requests: Sequence[Request]) -> list[Reply | LMError]:
        if len(requests) == 1:
            return [await self._one(requests[0])]
        return list(await asyncio.gather(*map(self._one, requests)))

    async def check(self) -> None:
        await self.lm.check()

    async def close(self) -> None:
        await self.lm.close()

    async def _one(self, request: Request) -> Reply | LMError:
        request_id = request.id(self.ref.identity)
        if stored := self.store.get(request_id):
            return self._reused(stored)
        while request_id in self._under_way:
            # Shielded: whoever is cancelled must not take the others' reply along.
            result = await asyncio.shield(self._under_way[request_id])
            if isinstance(result, Reply):
                return self._reused(replace(result, reused=True))
            if result.kind != REFUSED:  # who asked first may not pay: that is nobody else's trouble
                return result
        asking = self._under_way[request_id] = asyncio.create_task(self._ask(request_id, request))
        asking.add_done_callback(lambda asked: self._ended(request_id, asked))
        return await asyncio.shield(asking)

    def _ended(self, request_id: str, asked: asyncio.Future) -> None:
        self._under_way.pop(request_id, None)
        if not asked.cancelled():
            asked.exception()  # whoever waited may have given up: then asyncio would print it as lost

    def _reused(self, reply: Reply) -> Reply:
        return reply if self._payer is None else self._payer.reused(reply)

    async def _ask(self, request_id: str, request: Request) -> Reply | LMError:
        result = await (self._put(request) if self._payer is None else self._payer.pay(request, self._put))
        if isinstance(result, Reply):
            self.store.put(request_id, result)
        return result

    async def _put(self, request: Request) -> Reply | LMError:
        (result,) = await self.lm.generate([request])
        return result
