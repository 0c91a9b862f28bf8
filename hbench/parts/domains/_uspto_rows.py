"""Reactions as files hold them: JSON Lines or CSV, molecules apart or one mapped reaction."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hbench.core.failure import HbenchError
from hbench.parts.families import _qa_files

CLASSES = (
    "heteroatom alkylation and arylation",
    "acylation and related processes",
    "C-C bond formation",
    "heterocycle formation",
    "protections",
    "deprotections",
    "reductions",
    "oxidations",
    "functional group interconversion",
    "functional group addition",
)
_WHOLE = ("reactants>reagents>production", "rxn_smiles", "reaction_smiles", "mapped_rxn")  # columns of a whole reaction


@dataclass(frozen=True, slots=True)
class Reaction:
    """number: its class, 1 to 10. product, reactants: SMILES as the file has them. split: "" where rows name none."""

    id: str
    number: int
    product: str
    reactants: str
    split: str


def read(path: Path) -> Iterator[Reaction]:
    """Every reaction of a file. Raises HbenchError, naming the row, where one lacks its product, reactants or class."""
    for number, row in enumerate(_rows(path), 1):
        try:
            yield _reaction(row, number)
        except (ValueError, LookupError, TypeError, AttributeError) as bad:
            raise HbenchError(f"{path}, row {number}: {bad if isinstance(bad, ValueError) else 'not a reaction'}") from bad


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    if path.suffix != ".csv":
        yield from _qa_files.rows_of(path)
        return
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            yield from csv.DictReader(stream)
    except (OSError, ValueError, csv.Error) as broken:
        raise HbenchError(f"{path} cannot be read: {broken}") from broken


def _reaction(row: Mapping[str, Any], place: int) -> Reaction:
    product, reactants = row.get("product") or "", row.get("reactants") or ""
    if not product and not reactants:
        whole = next((row[name] for name in _WHOLE if row.get(name)), ">>")
        reactants, _, product = whole.split(">")
    if not product.strip() or not reactants.strip():
        raise ValueError(f"no {'reactants' if product.strip() else 'product'}: a reaction without them has no right answer")
    number = int(row["class"])
    if not 1 <= number <= len(CLASSES):
        raise ValueError(f"class {number} is not one of 1 to {len(CLASSES)}")
    return Reaction(str(row.get("id") or place), number, product.strip(), reactants.strip(), row.get("split") or "")
