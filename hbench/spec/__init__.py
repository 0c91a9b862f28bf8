"""From YAML to specs: `load(path, overrides) -> list[Spec]`, or `SpecError` with every problem at once."""

from hbench.spec.check import CheckResult, check_all, check_files
from hbench.spec.load import Spec, load
from hbench.spec.problems import Mark, Problem, SpecError

__all__ = ["CheckResult", "Mark", "Problem", "Spec", "SpecError", "check_all", "check_files", "load"]
