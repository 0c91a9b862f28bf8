"""Answers that the library's scorer calls right and that are not: four families, found by giving every family wrong answers.

countdown and puzzle24 follow sympy, and puzzle24 takes any four numbers from 1 to 10 and drops fractions (6*4*1*1 solves
every puzzle); game_of_life_halting calls every non-empty answer right; coin_flip every beginning of the gold, as `0`.
Such a score would teach a proposer to cheat, so an answer with full score is looked at again here. Lenience that keeps
the answer right (case, repeated answers, words around it) is left as the library has it.
"""

import ast
import builtins
import re
import sys
from fractions import Fraction

from hbench.core.digest import Json
from hbench.parts.families._arithmetic import makes
from hbench.parts.families._library import modules

# What a wrong answer gets instead: what the library gives wrong answers in that family.
WRONG = {"countdown": 0.05, "puzzle24": 0.01, "game_of_life_halting": 0.0, "coin_flip": 0.0}
CLOSE = 1e-4  # the library's own tolerance for a probability


# Scorers that hand the answer to eval(), and those that hand it to sympy's parser, which does the same.
READ_AS_LIST = ("binary_matrix", "spiral_matrix", "string_insertion", "n_queens")
READ_BY_SYMPY = ("countdown", "puzzle24", "simple_integration", "intermediate_integration", "polynomial_multiplication")
_HARMLESS = {"abs", "max", "min", "pow", "round", "sum", "divmod"}
_PROGRAM = re.compile(r"""__|["'`:;@\[\]{}]|[\w)]\s*\.\s*[A-Za-z_]|\b(lambda|import|yield|await)\b""")


def only_literals() -> None:
    """Makes the scorers that call eval() on the answer read literals instead: an answer is no program.

    A list still counts as the library counts it; what is no literal raises inside the scorer, which scores it 0.
    Concerns the modules that are loaded by now; in a composite they come with it.
    """
    for family in READ_AS_LIST:
        module = sys.modules.get(modules()[family])
        if module is not None:
            vars(module)["eval"] = ast.literal_eval


def is_formula(family: str, answer: str) -> bool:
    """Whether an answer bound for sympy's parser is a formula and no program: no strings, attributes or functions of Python."""
    if family not in READ_BY_SYMPY:
        return True
    names = set(re.findall(r"[A-Za-z_]\w*", answer)) - _HARMLESS
    return _PROGRAM.search(answer) is None and not any(hasattr(builtins, name) for name in names)


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
