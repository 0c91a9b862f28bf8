"""What a rank reaches: jails and indexes of its own, models by their address."""

import os
from dataclasses import replace

from hbench.core.message import Reply
from hbench.core.model import ModelRef
from hbench.core.protocols import LM
from hbench.core.rollout import Rollout
from hbench.runtime.progress import Progress
from hbench.runtime.serve_models import ServedLM
from hbench.runtime.services import Machine, RunServices
from hbench.runtime.training.job import SERVED


class RankServices(RunServices):
    """A run's services in a process beside it: every model is asked of the driver, which pays, and keeps what is said."""

    def __init__(self, machine: Machine):
        super().__init__(machine, Silent(quiet=True))
        self.zygotes = max(1, len(os.sched_getaffinity(0)) // machine.training["processes"])

    def _open(self, model: ModelRef) -> LM:
        known, reach = self.reached(model)
        return ServedLM(reach[SERVED], replace(known, role=model.role))


class Silent(Progress):
    """Counts nothing: what a rank does shows in its rows."""

    def called(self, reply: Reply) -> None: ...

    def rolled(self, rollout: Rollout) -> None: ...
