"""The origins of all that an expression may hold, and the tools that it calls on the way."""

import ast
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable

from hbench.exhibits.flow_origins import GIVES, NOTHING, Call, Frame, Function, Here, Origin, Origins, State, Walked

ROUNDS = 3  # of a loop that goes on for longer, or for who knows how long
DEEPEST = 12  # calls inside calls
STEPS = 50_000  # statements and expressions; a harness has some hundreds
MUTATORS = frozenset({"append", "appendleft", "extend", "insert", "add", "update", "setdefault"})
TOOLS, QUESTION = Origin("tools"), Origin("question")


class Values(ABC):
    """walked: the calls found so far. functions, classes, constants: what the file defines.

    marked: functions whose results, names and written-out sources carry an origin of their own; see flow_proposal.py.
    """

    def __init__(self, marked: Collection[str] = ()) -> None:
        self.marked = frozenset(marked)
        self.walked = Walked()
        self.module = State()
        self.functions: dict[str, Function] = {}
        self.classes: dict[str, dict[str, Function]] = {}
        self.constants: dict[str, int] = {}
        self._places: dict[tuple[int, ...], int] = {}
        self._steps = 0

    @abstractmethod
    def follow(self, function: Function, given: Here) -> tuple[Origins, State]:
        """What the function may return, and the state at its end. given: its parameters, and how one came here."""

    def value(self, node: ast.expr | None, here: Here) -> Origins:
        self.count()
        match node:
            case None:
                return NOTHING
            case ast.Constant():
                return self._written(node.value) if isinstance(node.value, str) and self.marked else NOTHING
            case ast.Name():
                known = here.state.names.get(node.id, self.module.names.get(node.id, NOTHING))
                return known | self._marks({node.id})
            case ast.Attribute():
                return _attribute(self.value(node.value, here), node.attr)
            case ast.Call():
                return self._call(node, here)
            case ast.NamedExpr():
                told = self.value(node.value, here)
                self.bind(node.target, told, here.state)
                return told
            case ast.IfExp():
                return self._either(node, here)
            case ast.BoolOp():
                found = NOTHING
                for operand in node.values:
                    found |= self.value(operand, here.looking(found))
                return found
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node, here)
            case ast.Lambda():
                return self.value(node.body, here.fork())
            case ast.Yield() | ast.YieldFrom():
                here.frame.leave(self.value(node.value, here), here.state)
                return NOTHING
        return self.all(ast.iter_child_nodes(node), here)

    def told(self, node: ast.expr | None, here: Here) -> Origins:
        """The same; a bare True or False tells what was looked at to come here."""
        bare = isinstance(node, ast.Constant) and isinstance(node.value, bool)
        return here.guards if bare else self.value(node, here)

    def all(self, nodes: Iterable[ast.AST], here: Here) -> Origins:
        """Of every expression in `nodes`."""
        found = NOTHING
        for node in nodes:
            inside = ast.iter_child_nodes(node)
            found |= self.value(node, here) if isinstance(node, ast.expr) else self.all(inside, here)
        return found

    def bind(self, target: ast.AST | None, origins: Origins, state: State) -> None:
        """Assigns. What goes into a part of something is from then on in all of it."""
        match target:
            case ast.Name():
                state.names[target.id] = origins
            case ast.Tuple() | ast.List():
                for each in target.elts:
                    self.bind(each, origins, state)
            case ast.Starred():
                self.bind(target.value, origins, state)
            case ast.Subscript() | ast.Attribute() if root := root_of(target):
                state.add(root, origins)

    def times(self, over: ast.expr) -> int:
        """How often a loop over it goes round, at most ROUNDS."""
        match over:
            case ast.Call(func=ast.Name(id="range"), args=[last]):
                known = self.constants.get(last.id) if isinstance(last, ast.Name) else whole(last)
                return ROUNDS if known is None else max(0, min(known, ROUNDS))
            case ast.Tuple() | ast.List():
                return min(len(over.elts), ROUNDS)
        return ROUNDS

    def count(self) -> None:
        self._steps += 1
        if self._steps > STEPS:
            raise RecursionError("the harness is too winding to follow")

    def _either(self, node: ast.IfExp, here: Here) -> Origins:
        here = here.looking(self.value(node.test, here))
        other = here.fork()
        found = self.value(node.body, here) | self.value(node.orelse, other)
        here.state.join(other.state)
        return found

    def _comprehension(self, node: ast.expr, here: Here) -> Origins:
        inner, found = here.fork(), NOTHING
        for part in node.generators:
            self.bind(part.target, self.value(part.iter, inner), inner.state)
            found |= self.all(part.ifs, inner)
        elements = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        for _ in range(max(self.times(part.iter) for part in node.generators)):
            found |= self.all(elements, inner.looking(found))
        here.state.searches = inner.state.searches
        return found

    def _call(self, node: ast.Call, here: Here) -> Origins:
        named = node.func.id if isinstance(node.func, ast.Name) else ""
        if named in ("getattr", "hasattr") and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
            of = self.value(node.args[0], here)
            return _attribute(of, str(node.args[1].value)) if named == "getattr" else NOTHING
        on = self.value(node.func, here)
        given = [self.value(argument, here) for argument in node.args]
        words = {word.arg or "": self.value(word.value, here) for word in node.keywords}
        takes = NOTHING.union(*given, *words.values())
        self.walked.given |= {each.id for each in node.args if isinstance(each, ast.Name)} & self.marked
        tools = sorted(str(origin.at) for origin in on | takes if origin.kind == "tool")
        if tools:  # also where a tool is handed to somebody who calls it: map(tools.lm, prompts)
            return NOTHING.union(*(self._tool(tool, node, takes, here) for tool in tools))
        if named in self.classes:
            return self._construct(named, node, (given, words), here)
        function = self.functions.get(named)
        if function is None and isinstance(node.func, ast.Attribute):
            function, given = self._method(node.func.attr), [on, *given]
        if function is not None and len(here.frame.path) < DEEPEST:
            self.walked.given |= {function.name} & self.marked if QUESTION in takes else set()
            return self._enter(function, node, (given, words), here)[0] | self._marks({function.name})
        if isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS and (root := root_of(node.func)):
            here.state.add(root, takes)
        return _plain(on | takes)

    def _written(self, text: str) -> Origins:
        """Of a text that holds the source of marked functions: it is handed on, to be run elsewhere."""
        names = defined_in(text)
        self.walked.given |= names & self.marked
        return self._marks(names)

    def _marks(self, names: Collection[str]) -> Origins:
        return frozenset(Origin("helper", name) for name in self.marked & set(names))

    def _tool(self, tool: str, node: ast.Call, takes: Origins, here: Here) -> Origins:
        place = (*here.frame.path, id(node), sorted(GIVES).index(tool))
        if place not in self._places:
            self._places[place] = len(self.walked.calls)
            self.walked.calls.append(Call(tool, node.lineno))
        at = self._places[place]
        call = self.walked.calls[at]
        call.takes |= _plain(takes)
        call.guards |= _plain(here.guards)
        call.before = max(call.before, here.state.searches)
        here.state.searches += tool == "search"
        return frozenset({Origin(GIVES[tool], at)})

    def _construct(self, named: str, node: ast.Call, given: tuple[list, dict], here: Here) -> Origins:
        """A new object holds all that it is made of."""
        takes = NOTHING.union(*given[0], *given[1].values())
        made = self.classes[named].get("__init__")
        if made is None or len(here.frame.path) >= DEEPEST:
            return takes
        _, end = self._enter(made, node, ([takes, *given[0]], given[1]), here)
        return end.names.get(made.parameters[0], takes)

    def _method(self, name: str) -> Function | None:
        """Of whatever class of the file has one of that name."""
        return next((methods[name] for methods in self.classes.values() if name in methods), None)

    def _enter(self, function: Function, node: ast.Call, given: tuple[list, dict], here: Here) -> tuple[Origins, State]:
        """Follows a function of the file; what it puts into its arguments is in the caller's names afterwards."""
        names = function.parameters
        bound = dict.fromkeys(names, NOTHING)
        for at, origins in enumerate(given[0] if names else ()):
            bound[names[min(at, len(names) - 1)]] |= origins  # *rest
        for word, origins in given[1].items() if names else ():
            bound[word if word in bound else names[-1]] |= origins  # **rest
        inner = Frame((*here.frame.path, id(node)))
        told, end = self.follow(function, Here(State(bound, here.state.searches), here.guards, inner))
        here.state.searches = end.searches
        method = isinstance(node.func, ast.Attribute)
        for name, argument in zip(names, [node.func, *node.args] if method else node.args, strict=False):
            if root := root_of(argument):
                here.state.add(root, end.names.get(name, NOTHING))
        return told, end


def defined_in(text: str) -> set[str]:
    """The functions that a text defines, where it is Python or holds some."""
    return set(re.findall(r"^[ \t]*(?:async )?def[ \t]+(\w+)[ \t]*\(", text, re.MULTILINE))


def _attribute(of: Origins, name: str) -> Origins:
    """A tool, where it is one of the tools; else all that the object holds."""
    return of - {TOOLS} | {Origin("tool", name)} if TOOLS in of and name in GIVES else of


def _plain(origins: Origins) -> Origins:
    return frozenset(origin for origin in origins if origin.kind not in ("tools", "tool"))


def root_of(node: ast.AST) -> str | None:
    """The name in `name[…].attribute…`."""
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def whole(node: ast.expr) -> int | None:
    """The whole number that is written there."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
