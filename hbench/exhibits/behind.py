"""What is behind a cell: rows of the exhibit's SQL, as a query over the table `units` that holds them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hbench.exhibits.block import PAIRED, ExhibitBlock
from hbench.exhibits.cells import Line, Unit


@dataclass(frozen=True)
class Behind:
    """What a row of an exhibit is made of.

    spec: whose arm it is; "" for a row of the paper alone. where: a condition on `units` that holds for its rows alone, or ""
    where nothing was run. paired: for them, and for those of the baseline that they are compared with.
    """

    spec: str
    where: str = ""
    paired: str = ""


def behind(block: ExhibitBlock, line: Line, units: Sequence[Unit]) -> Behind:
    """units: all rows of the exhibit's SQL."""
    if not line.units:
        return Behind(line.source)
    named = {name: line.units[0][name] for name in block.rows if name != "arm"}
    arms = dict.fromkeys(unit["arm"] for unit in line.units)
    base = dict.fromkeys(block.pool.get(block.baseline, [block.baseline])) if block.baseline else {}
    alike = [unit for unit in units if unit["arm"] in arms and all(unit[name] == value for name, value in named.items())]
    parts = [_is(name, value) for name, value in named.items()]
    if len(alike) > len(line.units):  # specs, or points of a sweep, that are told apart in no column of the SQL
        parts.append(_among("spec_digest", dict.fromkeys(unit["spec_digest"] for unit in line.units)))
    where, paired = (" and ".join([*parts, _among("arm", which)]) for which in (arms, arms | base))
    return Behind(line.source, where, paired)


def cell_sql(block: ExhibitBlock, column: str, row: Behind) -> str:
    """The query for what a cell is made of; `hbench sql --exhibit NAME` runs it. "" where nothing was run."""
    where = row.paired if block.columns[column].statistic in PAIRED else row.where
    return f"{select(block, column)} where {where} order by all" if where else ""


def select(block: ExhibitBlock, column: str) -> str:
    """How the query of a cell in this column begins."""
    made = block.columns[column]
    wanted = ("arm", block.unit, made.over, "seed", made.of or column, made.per)
    return f"select {', '.join(dict.fromkeys(name for name in wanted if name))} from units"


def _is(name: str, value: Any) -> str:
    return f"{name} is null" if value is None else f"{name} = {_literal(value)}"


def _among(name: str, values: Sequence[Any]) -> str:
    listed = ", ".join(map(_literal, values))
    return f"{name} in ({listed})" if len(values) > 1 else f"{name} = {listed}"


def _literal(value: Any) -> str:
    return str(value) if isinstance(value, int | float) else "'" + str(value).replace("'", "''") + "'"
