"""What an edit's new lines are, and whether two harnesses are the same program written twice."""

import ast
import re
import textwrap
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from itertools import takewhile

from hbench.core.digest import text_digest
from hbench.core.syntax import parse

Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = ast.ClassDef | Function
PIECES = re.compile(r"^(?=[^ \t\r\n])", re.M)  # before each line that is neither indented nor empty


@dataclass(frozen=True)
class Statement:
    """A statement of a module, without docstrings inside. form: equal for two that differ in layout and local names alone."""

    tree: ast.stmt
    form: str

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """As Python writes it, with an empty line before a function or a class."""
        apart = isinstance(self.tree, Documented)
        return (*([""] if apart else []), *ast.unparse(self.tree).splitlines())

    @cached_property
    def locals(self) -> frozenset[str]:
        """Parameters and variables of all functions in it."""
        inside = [node for f in ast.walk(self.tree) if isinstance(f, Function) for node in ast.walk(f)]
        stored = {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        return frozenset(stored | {node.arg for node in inside if isinstance(node, ast.arg)})


def harness_form(source: str) -> str | None:
    """A digest that two sources share when they differ only in layout, comments, docstrings and names of local variables.

    Names are compared by the order in which each function first uses them; parameters, functions, attributes and texts count
    as they are. None for what cannot be read.
    """
    try:
        return text_digest("\n".join(statement.form for statement in _statements(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def edit_marks(before: str, after: str) -> dict[str, bool] | None:
    """bare and hard_coded, by the lines that are new inside functions; None where one of the two cannot be read.

    bare: all that is new is one statement that answers with the question or one function of it, right or wrong, as in
    `answer = numbers(question)`; str() around it changes nothing. hard_coded: something is assigned or returned, and no new
    line reads a parameter or a variable that was there before, so that the answer is the same whatever is asked.
    """
    try:
        old, new = (_statements(source) for source in (before, after))
        body = _read(_added(*([line for each in its for line in each.lines] for its in (old, new))))
        known = set().union(*(each.locals for each in old))
        return {"bare": len(body) == 1 and _dumps(body[0]), "hard_coded": _fixed(body, known)}
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


@lru_cache(maxsize=1 << 12)
def _statements(source: str) -> tuple[Statement, ...]:
    """Those of a module, without its docstring.

    Read in pieces, each from a line that is not indented to the next: thousands of harnesses share most of theirs, and each
    is read once. Pieces of what only makes sense whole (an else, a long text) cannot be read: then it is read whole.
    """
    try:
        found = tuple(each for piece in PIECES.split(source) for each in _piece(piece))
    except SyntaxError:
        found = _piece(source)
    match found:
        case (Statement(tree=ast.Expr(value=ast.Constant(value=str()))), *rest):
            return tuple(rest) or _piece("pass")
    return found


@lru_cache(maxsize=1 << 14)
def _piece(source: str) -> tuple[Statement, ...]:
    return tuple(_statement(tree) for tree in parse(source).body)


def _statement(tree: ast.stmt) -> Statement:
    """Takes the docstrings out of `tree`, and leaves it otherwise as it is."""
    inside = _inside(tree)
    for node in inside:
        if isinstance(node, Documented) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    names = [(node, node.id) for node in inside if isinstance(node, ast.Name)]
    for function in (node for node in inside if isinstance(node, Function)):
        _rename(inside if function is tree else _inside(function))
    form = text_digest(_dumped(tree))
    for node, name in names:
        node.id = name
    return Statement(tree, form)


def _inside(tree: ast.AST) -> list[ast.AST]:
    """As ast.walk, in half the time."""
    found = [tree]
    for node in found:  # grows meanwhile
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                found.append(value)
            elif isinstance(value, list):
                found += [each for each in value if isinstance(each, ast.AST)]
    return found


def _dumped(value: object) -> str:
    """What ast.dump says, without the names of fields, in half the time."""
    if isinstance(value, ast.AST):
        return f"{type(value).__name__}({','.join([_dumped(getattr(value, name, None)) for name in value._fields])})"
    return f"[{','.join(map(_dumped, value))}]" if isinstance(value, list) else repr(value)


def _rename(inside: list[ast.AST]) -> None:
    """Names the variables of a function, of which these are the nodes, by the order in which it first uses them."""
    given = {node.arg for node in inside if isinstance(node, ast.arg)}
    outer = {name for node in inside if isinstance(node, ast.Nonlocal | ast.Global) for name in node.names}
    named = [node for node in inside if isinstance(node, ast.Name)]
    own = {node.id for node in named if isinstance(node.ctx, ast.Store)} - given - outer
    places: dict[str, str] = {}
    for node in named:
        if node.id in own:
            node.id = places.setdefault(node.id, f"_{len(places)}")


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
