"""Plans: what a spec compiles to. `compile(spec) -> Plan`."""

from hbench.plan.check import PlanError
from hbench.plan.compile import compile
from hbench.plan.plan import Plan
from hbench.plan.step import Port, Step

__all__ = ["Plan", "PlanError", "Port", "Step", "compile"]
