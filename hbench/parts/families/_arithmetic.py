"""Exact value of a sum written out, for the two families whose scorers look away too early."""

import ast
import operator
from collections.abc import Sequence
from fractions import Fraction

_TWO = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
_ONE = {ast.UAdd: operator.pos, ast.USub: operator.neg}


def makes(expression: str, target: int, numbers: Sequence[int]) -> bool:
    """Whether `expression` is built from exactly these numbers, each once, by + - * / and equals `target`.

    Pure arithmetic over the syntax tree: nothing is evaluated as code.
    """
    used: list[int] = []
    try:
        value = _value(ast.parse(expression.strip(), mode="eval").body, used)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return False
    return value == target and sorted(used) == sorted(numbers)


def _value(node: ast.expr, used: list[int]) -> Fraction:
    match node:
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            used.append(number)
            return Fraction(number)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _TWO:
            return _TWO[type(op)](_value(left, used), _value(right, used))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _ONE:
            return _ONE[type(op)](_value(operand, used))
    raise ValueError("not plain arithmetic")
