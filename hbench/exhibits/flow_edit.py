"""What an edit's new lines are, and whether two harnesses are the same program written twice."""

import ast
import textwrap
from difflib import SequenceMatcher
from itertools import takewhile

from hbench.core.digest import text_digest
from hbench.core.syntax import parse

Function = ast.FunctionDef | ast.AsyncFunctionDef


def harness_form(source: str) -> str | None:
    """A digest that two sources share when they differ only in layout, comments, docstrings and names of local variables.

    Names are compared by the order in which each function first uses them; parameters, functions, attributes and texts count
    as they are. None for what cannot be read.
    """
    try:
        tree = _bare(source)
        for node in ast.walk(tree):
            if isinstance(node, Function):
                _rename(node)
        return text_digest(ast.dump(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def edit_marks(before: str, after: str) -> dict[str, bool] | None:
    """bare and hard_coded, by the lines that are new inside functions; None where one of the two cannot be read.

    bare: all that is new is one statement that answers with the question or one function of it, right or wrong, as in
    `answer = numbers(question)`; str() around it changes nothing. hard_coded: something is assigned or returned, and no new
    line reads a parameter or a variable that was there before, so that the answer is the same whatever is asked.
    """
    try:
        old, new = (_bare(source) for source in (before, after))
        body = _read(_added(ast.unparse(old).splitlines(), ast.unparse(new).splitlines()))
        return {"bare": len(body) == 1 and _dumps(body[0]), "hard_coded": _fixed(body, _locals(old))}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _added(old: list[str], new: list[str]) -> list[str]:
    """The new lines that stand in functions of old: not those of functions and constants that are themselves new."""
    found: list[str] = []
    for how, _, _, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if how in ("insert", "replace"):
            found += takewhile(lambda line: line.startswith(" "), new[start:end])
    return found


def _read(lines: list[str]) -> list[ast.stmt]:
    """Their statements; where they hold parts of some, each line as far as it can be read alone."""
    try:
        return parse(textwrap.dedent("\n".join(lines))).body
    except SyntaxError:
        return [statement for line in lines for statement in _alone(line.strip())]


def _bare(source: str) -> ast.Module:
    """Without docstrings."""
    tree = parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | Function) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return tree


def _rename(function: Function) -> None:
    inside = list(ast.walk(function))
    given = {node.arg for node in inside if isinstance(node, ast.arg)}
    outer = {name for node in inside if isinstance(node, ast.Nonlocal | ast.Global) for name in node.names}
    assigned = {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    places: dict[str, str] = {}
    for node in inside:
        if isinstance(node, ast.Name) and node.id in assigned - given - outer:
            node.id = places.setdefault(node.id, f"_{len(places)}")


def _locals(tree: ast.Module) -> set[str]:
    """Parameters and variables of all functions."""
    found: set[str] = set()
    for function in (node for node in ast.walk(tree) if isinstance(node, Function)):
        for node in ast.walk(function):
            if isinstance(node, ast.arg):
                found.add(node.arg)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
    return found


def _alone(line: str) -> list[ast.stmt]:
    for written in (line, f"{line}\n    pass", f"if True:\n    pass\n{line}\n    pass"):
        try:
            return parse(written).body
        except SyntaxError:
            continue
    return []


def _dumps(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign | ast.Return) else None
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "str" and value.args:
        value = value.args[0]
    match value:
        case ast.Name(id="question") | ast.Call(func=ast.Name(), args=[ast.Name(id="question")], keywords=[]):
            return True
    return False


def _fixed(body: list[ast.stmt], known: set[str]) -> bool:
    """Whether it assigns or returns something, and reads no variable of `known` that it has not set itself before."""
    makes, own = False, set()
    for statement in body:
        inside = list(ast.walk(statement))
        names = [node for node in inside if isinstance(node, ast.Name)]
        if {node.id for node in names if isinstance(node.ctx, ast.Load)} & (known - own):
            return False
        makes |= any(isinstance(node, ast.Assign | ast.AnnAssign | ast.Return) for node in inside)
        own |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return makes
