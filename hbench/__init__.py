"""hbench: measure, adapt, learn and distil agent harnesses.

From a notebook: `hbench.load(spec)`, `hbench.run(spec)`, `hbench.sql(query)`, `hbench.compare(a, b)`. From a shell: `hbench --help`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas

    from hbench.exhibits.compare import Comparison
    from hbench.runtime.run import RunResult
    from hbench.spec.load import Spec

__version__ = "0.1.0"


def load(spec: str | Path, overrides: Sequence[str] = ()) -> "list[Spec]":
    """The validated specs of a file, one a sweep point. overrides: "a.b=value", laid on last.

    Raises SpecError, whose text has every problem as `file:line:column: what (hint)`.
    """
    from hbench.spec import load as read

    return read(spec, overrides)


def run(
    spec: str | Path,
    overrides: Sequence[str] = (),
    results: str | Path = "results",
    limit: int | None = None,
    quiet: bool = True,
) -> "RunResult":
    """Runs a spec as `hbench run` does; what is finished already is not run again.

    Returns outcome ("finished", "failed", "spent" (machine.budget was used up), "interrupted"), run ids, how many steps ran or were cached, and errors.
    limit: at most so many questions a split, marked as limited. Raises SpecError and PlanError before anything runs.
    """
    from hbench.runtime.run import Options
    from hbench.runtime.run import run as execute

    return execute(load(spec, overrides), Options(Path(results), limit, quiet=quiet))


def sql(query: str, results: str | Path = "results") -> "pandas.DataFrame":
    """The rows of a read-only query over the results folder, finished steps folded in first.

    results: may also be the folder of a bundle, such as results/published/NAME. Raises HbenchError when there are no
    results, or the query is wrong or would write.
    """
    from hbench.store.database import fold
    from hbench.store.query import query_frame

    fold(Path(results), wait_s=2.0)
    return query_frame(Path(results), query)


def compare(a: str, b: str, results: str | Path = "results") -> "Comparison":
    """Arm `a` less arm `b` on the questions that both were asked, as `hbench compare` has it: difference, interval, p.

    Sides are written `SPEC:ARM`, `published/NAME SPEC:ARM`, or `:ARM` for another arm of a's spec. Raises HbenchError
    where a side is not there, or they share no question.
    """
    from hbench.exhibits.compare import compare as set_against

    return set_against(Path(results), a, b)
