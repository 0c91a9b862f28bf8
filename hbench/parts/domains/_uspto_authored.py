"""Reactions of our own, for a machine that has no patents: ten textbook rules, one of each class, laid over substituents.

They are easier than any benchmark, and nothing measured on them stands beside a published number.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from hbench.parts.domains._uspto_rows import Reaction

# Each is written from the atom that it is bound by.
_CHAINS = ("C", "CC", "CCC", "C(C)C", "CCCC", "CC(C)C", "C1CCCC1", "C1CCCCC1", "CCOC", "CC1CC1", "CCC(F)(F)F", "Cc1ccccc1")
_RINGS = (
    "c1ccccc1", "c1ccc(F)cc1", "c1ccc(Cl)cc1", "c1ccc(C)cc1", "c1ccc(OC)cc1", "c1ccc(C#N)cc1",
    "c1cccc(F)c1", "c1cccc(C)c1", "c1ccc(C(F)(F)F)cc1", "c1ccccc1C", "c1cccs1", "c1ccncc1",
)  # fmt: skip


@dataclass(frozen=True)
class _Rule:
    """One reaction with places for a chain and a ring."""

    number: int
    product: str
    reactants: str


_RULES = (
    _Rule(1, "O({chain}){ring}", "Br{chain}.O{ring}"),  # an ether from a phenol and a bromide
    _Rule(2, "O=C({ring})N{chain}", "N{chain}.O=C(Cl){ring}"),  # an amide from an acid chloride and an amine
    _Rule(3, "O({chain})c9ccc({ring})cc9", "O({chain})c9ccc(Br)cc9.OB(O){ring}"),  # a biaryl from a boronic acid
    _Rule(4, "c9({chain})nc({ring})cs9", "NC(=S){chain}.O=C(CBr){ring}"),  # a thiazole from a thioamide and a bromoketone
    _Rule(5, "CC(C)(C)OC(=O)N({chain})C{ring}", "CC(C)(C)OC(=O)OC(=O)OC(C)(C)C.N({chain})C{ring}"),  # Boc goes on
    _Rule(6, "OC(=O)c9cc({ring})ccc9O{chain}", "COC(=O)c9cc({ring})ccc9O{chain}"),  # a methyl ester goes
    _Rule(7, "Nc9cc({ring})ccc9O{chain}", "O=[N+]([O-])c9cc({ring})ccc9O{chain}"),  # a nitro group is reduced
    _Rule(8, "O=C({chain})C{ring}", "OC({chain})C{ring}"),  # an alcohol is oxidised to a ketone
    _Rule(9, "N#Cc9cc({ring})ccc9O{chain}", "NC(=O)c9cc({ring})ccc9O{chain}"),  # an amide loses its water
    _Rule(10, "O({chain})c9ccc(C{ring})cc9Br", "O({chain})c9ccc(C{ring})cc9.O=C1CCC(=O)N1Br"),  # bromine goes on a ring
)


def reactions() -> Iterator[Reaction]:
    """144 of each class, without a split of their own."""
    for rule in _RULES:
        for chain in _CHAINS:
            for ring in _RINGS:
                product = rule.product.format(chain=chain, ring=ring)
                reactants = rule.reactants.format(chain=chain, ring=ring)
                yield Reaction(f"authored {rule.number} {chain} {ring}", rule.number, product, reactants, "")
