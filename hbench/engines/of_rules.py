"""What language models made of rules have in common: a reply is a function of its request."""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Self

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.message import LMError, Reply, Request
from hbench.engines.scripted import spoken

CONTEXT = 120_000  # characters of a request; every model has such a limit


class OfRules(ABC):
    """name, version: as in spec/model_block.py; the version is raised when the same request gets another reply."""

    name: ClassVar[str]
    version: ClassVar[int]

    @classmethod
    def of(cls, identity: Json) -> Self:
        """The model that a spec names. Raises HbenchError for one made of other rules than those here."""
        wanted = identity.get("name"), identity.get("version")
        if wanted != (cls.name, cls.version):
            raise HbenchError(f"no rule-based model {wanted[0]} of version {wanted[1]}: {cls.name} {cls.version} is here")
        return cls()

    @abstractmethod
    def said(self, request: Request) -> str:
        """The whole reply, before limits and stop texts cut it."""

    async def generate(self, requests: Sequence[Request]) -> list[Reply | LMError]:
        return [self._reply(request) for request in requests]

    async def check(self) -> None: ...

    async def close(self) -> None: ...

    def _reply(self, request: Request) -> Reply | LMError:
        length = sum(len(message.content) for message in request.messages)
        if length > CONTEXT:
            return LMError("too_long", f"the request has {length} characters, the rule-based model takes {CONTEXT}")
        text = self.said(request)
        for stop in request.sampling.stop:
            text = text.split(stop, 1)[0]
        tokens = list(re.finditer(r"\S+", text))
        if len(tokens) > request.sampling.max_tokens:  # a word counts as a token
            return spoken(request, text[: tokens[request.sampling.max_tokens - 1].end()], "length")
        return spoken(request, text)
