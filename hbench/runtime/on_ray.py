"""Ready steps on a Ray cluster whose machines share the results folder. This process, the driver, asks models for all of them.

It holds nothing that the next driver could not find again: finished steps and rollouts lie in the results folder, and a step
whose machine was lost is started again elsewhere and goes on from there.
"""

import os
import secrets
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

from hbench.core.failure import HbenchError, StepError
from hbench.core.output import Artifact
from hbench.runtime.local import ReadyStep, in_thread
from hbench.runtime.loop import Interrupted
from hbench.runtime.model_servers import shares
from hbench.runtime.progress import Told
from hbench.runtime.ray_batches import MOST_LOST, lost_errors, telling_losses
from hbench.runtime.ray_cluster import RayNodes, connect
from hbench.runtime.ray_node import SERVED_BY, Session
from hbench.steps.trained import trained


class OnRay:
    """Runs ready steps on the cluster at `address`, or the one that this machine is part of, or one that it starts here."""

    def __init__(self, store: Any, services: Any, block: Any):
        """services: RunServices. block: the RayBlock. Raises HbenchError."""
        _check_no_turns(services.machine)
        self._services, self._progress = services, services.progress
        self._disconnect = connect(block.address)
        self._proof = _proof(store.folder)
        self._nodes = RayNodes(self._session(store.folder, block.batch))
        self._stopping = False
        self._progress.say(self._nodes.described())
        in_thread(self._nodes.keep_looking)

    def start(self, ready: ReadyStep) -> Future:
        """What `run_step` gives or raises."""
        self._services.servers.forgive()
        if "checkpoint" in ready.inputs:
            for known, _ in [*self._services.machine.models.values()]:
                self._services.also_serve(trained(known, ready.inputs))
        return in_thread(self._made, ready)

    def close(self) -> None:
        """Stops what is under way; finished work is kept."""
        self._stopping = True
        self._nodes.stop()
        self._proof.unlink(missing_ok=True)
        self._disconnect()

    def _session(self, results: Path, batch: int) -> Session:
        import ray

        services = self._services
        services.host = ray.util.get_node_ip_address()
        models = {name: (ref, {SERVED_BY: services.engine(ref)}) for name, (ref, _) in services.machine.models.items()}
        machine = replace(services.machine, results=results.absolute(), models=models)
        ours = {name: value for name, value in os.environ.items() if name.startswith("HBENCH_")}
        return Session(secrets.token_hex(8), Path.cwd(), self._proof.absolute(), machine, services.serve("").rstrip("/"), batch, ours)

    def _made(self, ready: ReadyStep) -> tuple[Artifact, bool]:
        for _ in range(MOST_LOST):
            with self._nodes.one_for(ready.kind) as (place, node):
                try:
                    with telling_losses():
                        return self._followed(node.step.options(num_returns="streaming").remote(ready))
                except lost_errors():
                    if self._stopping:
                        raise Interrupted from None
                    self._nodes.lost(place)
            self._progress.say(f"the machine that ran step {ready.label!r} was lost: it goes on elsewhere")
        raise StepError(f"{MOST_LOST} machines in a row were lost at this step: see Ray's logs")

    def _followed(self, stream: Any) -> tuple[Artifact, bool]:
        import ray

        for ref in stream:
            told = ray.get(ref)
            if isinstance(told, Exception):
                raise told
            if not isinstance(told, Told):
                return told
            self._progress.take_over(told)
        raise Interrupted  # a step that was stopped tells nothing more


def _check_no_turns(machine: Any) -> None:
    """Raises HbenchError for models that take turns on this machine's device: steps elsewhere could not wait for them."""
    for ref, settings in machine.models.values():
        if shares(settings.get("serve") or {}):
            raise HbenchError(f"machine.models.{ref.name}.serve.hand_over: models take no turns under executor ray; leave it at never")


def _proof(results: Path) -> Path:
    """A file by which other machines can tell that they see the same results folder."""
    results.mkdir(parents=True, exist_ok=True)
    proof = results / f".driver-{secrets.token_hex(8)}"
    proof.touch()
    return proof
