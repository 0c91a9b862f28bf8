"""The jail: where harnesses, model-written code, workspaces and graders run. See `Jails`, and `describe` for what it promises."""

from hbench.engines.jail.describe import JailReport, describe
from hbench.engines.jail.jails import Jails
from hbench.engines.jail.job import HarnessJob, Outcome
from hbench.engines.jail.workspace_run import Workspace, WorkspaceLimits

__all__ = ["HarnessJob", "JailReport", "Jails", "Outcome", "Workspace", "WorkspaceLimits", "describe"]
