"""The jail: where harnesses, model-written code and graders run. See `Jails`, and `describe` for what it promises."""

from hbench.engines.jail.describe import JailReport, describe
from hbench.engines.jail.jails import Jails
from hbench.engines.jail.job import HarnessJob, Outcome

__all__ = ["HarnessJob", "JailReport", "Jails", "Outcome", "describe"]
