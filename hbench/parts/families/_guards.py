"""Answers that the library's scorer calls right and that are not: four families, found by giving every family wrong answers.

countdown and puzzle24 follow sympy, and puzzle24 takes any four numbers from 1 to 10 and drops fractions (6*4*1*1 solves
every puzzle); game_of_life_halting calls every non-empty answer right; coin_flip every beginning of the gold, as `0`.
Such a score would teach a proposer to cheat, so an answer with full score is looked at again here. Lenience that keeps
the answer right (case, repeated answers, words around it) is left as the library has it.
"""

from fractions import Fraction

from hbench.core.digest import Json
from hbench.parts.families._arithmetic import makes

# What a wrong answer gets instead: what the library gives wrong answers in that family.
WRONG = {"countdown": 0.05, "puzzle24": 0.01, "game_of_life_halting": 0.0, "coin_flip": 0.0}
CLOSE = 1e-4  # the library's own tolerance for a probability


def is_right(family: str, answer: str, gold: Json, metadata: Json) -> bool:
    """Whether an answer that got the full score may keep it."""
    if family == "countdown":
        return makes(answer, metadata["target"], metadata["numbers"])
    if family == "puzzle24":
        return makes(answer, 24, metadata["numbers"])
    if family == "game_of_life_halting":
        return answer.strip(" .'\"`*").casefold() == gold.casefold()
    if family == "coin_flip":
        return abs(Fraction(answer.replace(",", "")) - Fraction(gold)) <= CLOSE
    return True
