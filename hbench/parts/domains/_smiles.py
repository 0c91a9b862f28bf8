"""Molecules that are compared: the canonical form of a SMILES, whatever way it was written. RDKit, so in the jail only
where the text is a student's."""

from typing import Any

_ROUNDS = 3
_LONGEST = 4000  # characters; the longest of USPTO-50k has some 200


def molecules(smiles: str) -> frozenset[str]:
    """The canonical SMILES of each molecule in `smiles`; empty where it is none that RDKit can read.

    Atom maps are removed first; order, Kekulé form, explicit hydrogens and how often a molecule is named do not count,
    stereochemistry, isotopes and charges do. What stands behind a blank is no name, as it is in a file: it is an error.
    """
    from rdkit import Chem, rdBase

    if not smiles or len(smiles) > _LONGEST or not smiles.isascii():
        return frozenset()
    with rdBase.BlockLogs():
        mixture = _read(smiles)
        if mixture is None:
            return frozenset()
        for atom in mixture.GetAtoms():
            atom.SetAtomMapNum(0)
        return frozenset(map(_settled, Chem.GetMolFrags(mixture, asMols=True)))


def one_line(smiles: str) -> str:
    """`smiles` with its molecules in canonical form and order, dots between them; "" where it cannot be read."""
    return ".".join(sorted(molecules(smiles)))


def _settled(molecule: Any) -> str:
    """The canonical form of the canonical form, until it stays: for some molecules writing once is not enough."""
    from rdkit import Chem

    text = Chem.MolToSmiles(molecule)
    for _ in range(_ROUNDS):
        again = _read(text)
        if again is None or (settled := Chem.MolToSmiles(again)) == text:
            break
        text = settled
    return text


def _read(smiles: str) -> Any:
    from rdkit import Chem

    reading = Chem.SmilesParserParams()
    reading.parseName = reading.allowCXSMILES = False
    return Chem.MolFromSmiles(smiles, reading)
