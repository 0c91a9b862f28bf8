"""The model servers that a run starts: one for each weights, whoever asks for them."""

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from hbench.core.digest import Json, digest
from hbench.core.model import ModelRef

MOST_ADAPTERS, TRAINED_HERE = 8, 2  # of one batch, where the spec says nothing


class ModelServers:
    """Knows every server of this run; none is started before it is asked. Use it from any thread.

    machine: runtime.services.Machine. check, say: as engines/vllm_server.py takes them.
    """

    def __init__(self, machine: Any, check: Callable[[], None], say: Callable[[str], None]):
        self._machine, self._check, self._say = machine, check, say
        self._lock = threading.Lock()
        self._servers: dict[str, Any] = {}

    def lm(self, model: ModelRef, settings: Json) -> Any:
        """The LM of `model`, an adapter or the weights that its server holds. Raises HbenchError."""
        from hbench.engines.open_lm import reach_of
        from hbench.engines.openai_lm import OpenAILM
        from hbench.engines.started_lm import StartedLM

        server, reach = self.of(model, settings), reach_of(model, settings)

        def opened() -> OpenAILM:
            here = replace(reach, base_url=server.base_url, key=server.key)
            return OpenAILM(here, model.files if model.identity.get("adapter") else None, partial(server.is_over, server.lives))

        return StartedLM(server, opened)

    def of(self, model: ModelRef, settings: Json) -> Any:
        """The server that holds the model's weights."""
        from hbench.engines.vllm_server import VLLMServer

        user = device_user(model, settings)
        with self._lock:
            if user not in self._servers:
                log = self._machine.results / "servers" / f"{_log_name(model)}.log"
                self._servers[user] = VLLMServer(self._to_serve(model, settings), log.absolute(), self._check, self._say)
            return self._servers[user]

    def engine(self, model: ModelRef, settings: Json) -> str:
        """What serves the model, for the record; with its version once it was up."""
        dtype = (settings["serve"].get("arguments") or {}).get("dtype")
        return f"vllm {self.of(model, settings).version}".strip() + (f" in {dtype}" if dtype else "")

    def hand_over(self, users: frozenset[str]) -> None:
        """Whoever else shares the device gives it back to `users`. Raises HbenchError when one does not."""
        for user, server in list(self._servers.items()):
            if user not in users and shares(server.what.serve):
                server.rest()

    def forgive(self) -> None:
        """A server that died may be started again by whoever asks next."""
        for server in list(self._servers.values()):
            server.forgive()

    def end(self) -> None:
        """Ends all of them, side by side."""
        ending = [threading.Thread(target=server.end) for server in list(self._servers.values())]
        for each in ending:
            each.start()
        for each in ending:
            each.join()

    def _to_serve(self, model: ModelRef, settings: Json) -> Any:
        from hbench.engines.open_lm import reach_of, trained_name
        from hbench.engines.vllm_command import ToServe

        whole = model.identity.get("trained") and model.files
        weights = str(Path(model.files).absolute()) if whole else model.identity["weights"]
        name = trained_name(model) if whole else reach_of(replace(model, files=None), settings).model
        return ToServe(weights, name, model.base, settings["serve"], self._adapters(model, settings["serve"]))

    def _adapters(self, model: ModelRef, serve: Json) -> int:
        if serve.get("adapters") is not None:
            return serve["adapters"]
        others = [ref for ref, _ in self._machine.models.values() if ref.identity.get("adapter") and ref.base == model.base]
        found = len(others) + (TRAINED_HERE if self._machine.trains else 0)
        return min(MOST_ADAPTERS, found)


def device_user(model: ModelRef, settings: Json) -> str:
    """What the model's server is called among those who share the device: its adapters are the same user."""
    trained = model.identity.get("trained")
    return digest([model.base, trained] if trained else model.base)


def shares(serve: Json) -> bool:
    """Whether the server gives the device to others."""
    return serve.get("hand_over", "never") != "never"


def _log_name(model: ModelRef) -> str:
    name = model.name + (f"-{trained[:8]}" if (trained := model.identity.get("trained")) else "")
    return "".join(each if each.isalnum() or each in "-_." else "_" for each in name)
