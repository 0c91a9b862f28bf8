"""A walk through a harness as it would run, with origins in place of values. Nothing is executed.

Calls of functions in the file are followed, both branches of an `if` are taken, loops go round up to three times. What
is not known is the union of all that goes into it: a flow found here may happen, one not found here hardly can.
"""

import ast
from collections.abc import Iterable, Sequence

from hbench.exhibits.flow_origins import GIVES, NOTHING, Call, Frame, Function, Origin, Origins, State, Walked

ROUNDS = 3  # of a loop that goes on for longer, or for who knows how long
DEEPEST = 12  # calls inside calls
STEPS = 50_000  # statements and expressions; a harness has some hundreds
MUTATORS = frozenset({"append", "appendleft", "extend", "insert", "add", "update", "setdefault"})
TOOLS = Origin("tools")


def walk(source: str) -> Walked | None:
    """The tool calls of `run(question, tools)` and what flows between them; None for what has no such function."""
    try:
        tree = ast.parse(source)
        walker = _Walk(tree)
        run = walker.functions.get("run")
        if run is None:
            return None
        given = dict(zip(run.parameters, (frozenset({Origin("question")}), frozenset({TOOLS})), strict=False))
        walker.walked.returned, _ = walker.follow(run, State(given), Frame())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return walker.walked


class _Walk:
    """walked: what has been found so far. Method arguments: s, the state here; g, what the conditions looked at."""

    def __init__(self, tree: ast.Module):
        self.walked = Walked()
        self.functions: dict[str, Function] = {}
        self.methods: dict[str, Function] = {}
        self.constants: dict[str, int] = {}
        self._places: dict[tuple[int, ...], int] = {}
        self._steps = 0
        self._module = State()
        self.block(tree.body, self._module, NOTHING, Frame())

    def follow(self, function: Function, given: State, frame: Frame) -> tuple[Origins, State]:
        """What the function may return, and the names at its end. given: its parameters, and the searches so far.

        What it puts into names of the place where it was defined is there afterwards.
        """
        state = State({**function.home.names, **given.names}, given.searches)
        node = function.node
        if isinstance(node, ast.Lambda):
            return self.value(node.body, state, frame.guards, frame), state
        ended, _ = self.block(node.body, state, frame.guards, frame)
        if not ended:
            frame.leave(NOTHING, state)
        end = frame.left or state
        end.searches = max(frame.searches, given.searches)
        for name in function.home.names.keys() - function.own:
            function.home.add(name, end.names.get(name, NOTHING))
        return frame.returned, end

    # Statements. Each gives (whether it always leaves the block, what was looked at to come past it).

    def block(self, body: Sequence[ast.stmt], s: State, g: Origins, frame: Frame) -> tuple[bool, Origins]:
        passed = NOTHING
        for statement in body:
            self._count()
            ended, looked = self.statement(statement, s, g | passed, frame)
            passed |= looked
            if ended:
                return True, passed
        return False, passed

    def statement(self, node: ast.stmt, s: State, g: Origins, frame: Frame) -> tuple[bool, Origins]:
        match node:
            case ast.Return():
                frame.leave(self._told(node.value, s, g, frame), s)
                return True, NOTHING
            case ast.Raise() | ast.Break() | ast.Continue():
                self._all(ast.iter_child_nodes(node), s, g, frame)
                return True, NOTHING
            case ast.If():
                return self._branches([node.body, node.orelse], self.value(node.test, s, g, frame), s, g, frame)
            case ast.Match():
                looked = self.value(node.subject, s, g, frame)
                return self._branches([*(case.body for case in node.cases), []], looked, s, g, frame)
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(node, s, g, frame)
            case ast.Try():
                return self._try(node, s, g, frame)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    self._bind(item.optional_vars, self.value(item.context_expr, s, g, frame), s)
                return self.block(node.body, s, g, frame)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.functions[node.name] = Function(node, s)
            case ast.ClassDef():
                self.methods |= {f.name: Function(f, s) for f in node.body if isinstance(f, ast.FunctionDef)}
            case _:
                self._assign(node, s, g, frame)
        return False, NOTHING

    def _assign(self, node: ast.stmt, s: State, g: Origins, frame: Frame) -> None:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda()):
                self.functions[name] = Function(node.value, s)
            case ast.Assign():
                told = self._told(node.value, s, g, frame)
                for target in node.targets:
                    self._bind(target, told, s)
                    if s is self._module and isinstance(target, ast.Name) and _whole(node.value) is not None:
                        self.constants[target.id] = _whole(node.value) or 0
            case ast.AugAssign():
                before = self.value(ast.Name(_root(node.target) or ""), s, g, frame)
                self._bind(node.target, before | self.value(node.value, s, g, frame), s)
            case ast.AnnAssign(value=ast.expr()):
                self._bind(node.target, self._told(node.value, s, g, frame), s)
            case _:
                self._all(ast.iter_child_nodes(node), s, g, frame)

    def _branches(
        self, bodies: Sequence[Sequence[ast.stmt]], looked: Origins, s: State, g: Origins, frame: Frame
    ) -> tuple[bool, Origins]:
        """Each from here, joined where they come out again. Past a branch that leaves, its condition was looked at."""
        ends, passed = [], NOTHING
        before = s.copy()
        came_out: list[State] = []
        for body in bodies:
            state = before.copy()
            ended, inner = self.block(body, state, g | looked, frame)
            ends.append(ended)
            passed |= inner
            if not ended:
                came_out.append(state)
        if came_out:
            s.names, s.searches = came_out[0].names, came_out[0].searches
            for state in came_out[1:]:
                s.join(state)
        return all(ends), passed | (looked if any(ends) else NOTHING)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, s: State, g: Origins, frame: Frame) -> tuple[bool, Origins]:
        passed = NOTHING
        looped = not isinstance(node, ast.While)
        over = self.value(node.iter if looped else node.test, s, g, frame)
        for _ in range(self._times(node.iter) if looped else ROUNDS):
            before = s.copy()
            if looped:
                self._bind(node.target, over, s)
            else:
                passed |= self.value(node.test, s, g | passed, frame)
            _, inner = self.block(node.body, s, g | passed, frame)
            passed |= inner
            s.join(before)
        _, inner = self.block(node.orelse, s, g | passed, frame)
        endless = not looped and isinstance(node.test, ast.Constant) and node.test.value
        leaves = any(isinstance(inside, ast.Break) for inside in ast.walk(node))
        return bool(endless and not leaves), passed | inner

    def _try(self, node: ast.Try, s: State, g: Origins, frame: Frame) -> tuple[bool, Origins]:
        before = s.copy()
        ended, passed = self.block([*node.body, *node.orelse], s, g, frame)
        for handler in node.handlers:
            state = before.copy()
            state.join(s)
            left, inner = self.block(handler.body, state, g, frame)
            passed |= inner
            if not left:
                s.join(state)
                ended = False
        left, inner = self.block(node.finalbody, s, g, frame)
        return ended or left, passed | inner

    # Values.

    def value(self, node: ast.expr | None, s: State, g: Origins, frame: Frame) -> Origins:
        """The origins of all that may be in it."""
        self._count()
        match node:
            case None | ast.Constant():
                return NOTHING
            case ast.Name():
                return s.names.get(node.id, self._module.names.get(node.id, NOTHING))
            case ast.Attribute():
                return self._attribute(self.value(node.value, s, g, frame), node.attr)
            case ast.Call():
                return self._call(node, s, g, frame)
            case ast.NamedExpr():
                told = self.value(node.value, s, g, frame)
                self._bind(node.target, told, s)
                return told
            case ast.IfExp():
                looked = self.value(node.test, s, g, frame)
                return self._all((node.body, node.orelse), s, g | looked, frame)
            case ast.BoolOp():
                found = NOTHING
                for operand in node.values:
                    found |= self.value(operand, s, g | found, frame)
                return found
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node, s, g, frame)
            case ast.Lambda():
                return self.value(node.body, s.copy(), g, frame)
            case ast.Yield() | ast.YieldFrom():
                frame.leave(self.value(node.value, s, g, frame), s)
                return NOTHING
        return self._all(ast.iter_child_nodes(node), s, g, frame)

    def _told(self, node: ast.expr | None, s: State, g: Origins, frame: Frame) -> Origins:
        """The same; a bare True or False tells what was looked at to come here."""
        bare = isinstance(node, ast.Constant) and isinstance(node.value, bool)
        return g if bare else self.value(node, s, g, frame)

    def _all(self, nodes: Iterable[ast.AST], s: State, g: Origins, frame: Frame) -> Origins:
        found = NOTHING
        for node in nodes:
            if isinstance(node, ast.expr):
                found |= self.value(node, s, g, frame)
            elif not isinstance(node, ast.expr_context | ast.operator | ast.cmpop | ast.boolop | ast.unaryop):
                found |= self._all(ast.iter_child_nodes(node), s, g, frame)
        return found

    def _comprehension(self, node: ast.expr, s: State, g: Origins, frame: Frame) -> Origins:
        inner, found = s.copy(), NOTHING
        times = max(self._times(part.iter) for part in node.generators)
        for part in node.generators:
            self._bind(part.target, self.value(part.iter, inner, g, frame), inner)
            found |= self._all(part.ifs, inner, g, frame)
        elements = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        for _ in range(times):
            found |= self._all(elements, inner, g | found, frame)
        s.searches = inner.searches
        return found

    def _attribute(self, of: Origins, name: str) -> Origins:
        """A tool, where it is one of the tools; else all that the object holds."""
        found = {origin for origin in of if origin != TOOLS}
        return frozenset(found | {Origin("tool", name)} if TOOLS in of and name in GIVES else found)

    def _call(self, node: ast.Call, s: State, g: Origins, frame: Frame) -> Origins:
        named = node.func.id if isinstance(node.func, ast.Name) else ""
        if named in ("getattr", "hasattr") and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
            of = self.value(node.args[0], s, g, frame)
            return self._attribute(of, str(node.args[1].value)) if named == "getattr" else NOTHING
        on = self.value(node.func, s, g, frame)
        given = [self.value(arg, s, g, frame) for arg in node.args]
        by_name = {word.arg or "": self.value(word.value, s, g, frame) for word in node.keywords}
        takes = NOTHING.union(*given, *by_name.values())
        tools = sorted(str(origin.at) for origin in on | takes if origin.kind == "tool")
        if tools:  # also where a tool is handed to somebody who calls it: map(tools.lm, prompts)
            return NOTHING.union(*(self._tool(tool, node, takes, s, g, frame) for tool in tools))
        function = self.functions.get(named)
        if function is None and isinstance(node.func, ast.Attribute):
            function, given = self.methods.get(node.func.attr), [on, *given]
        if function is not None and len(frame.path) < DEEPEST:
            return self._enter(function, node, (given, by_name), s, g, frame)
        if isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS and (root := _root(node.func)):
            s.add(root, takes)
        return _plain(on | takes)

    def _tool(self, tool: str, node: ast.Call, takes: Origins, s: State, g: Origins, frame: Frame) -> Origins:
        place = (*frame.path, id(node), sorted(GIVES).index(tool))
        if place not in self._places:
            self._places[place] = len(self.walked.calls)
            self.walked.calls.append(Call(tool, node.lineno))
        at = self._places[place]
        call = self.walked.calls[at]
        call.takes |= _plain(takes)
        call.guards |= _plain(g)
        call.before = max(call.before, s.searches)
        s.searches += tool == "search"
        return frozenset({Origin(GIVES[tool], at)})

    def _enter(
        self, function: Function, node: ast.Call, given: tuple[list, dict], s: State, g: Origins, frame: Frame
    ) -> Origins:
        """Follows a function of the file; what it puts into its arguments is in the caller's names afterwards."""
        names = function.parameters
        bound = dict.fromkeys(names, NOTHING)
        for at, origins in enumerate(given[0]):
            if names:
                bound[names[min(at, len(names) - 1)]] |= origins  # *rest
        for word, origins in given[1].items():
            spare = word if word in bound or not names else names[-1]  # **rest
            bound[spare] = bound.get(spare, NOTHING) | origins
        told, end = self.follow(function, State(bound, s.searches), Frame((*frame.path, id(node)), g))
        s.searches = end.searches
        method = isinstance(node.func, ast.Attribute)
        passed = ([node.func] if method else []) + list(node.args)
        for name, argument in zip(names, passed, strict=False):
            if root := _root(argument):
                s.add(root, end.names.get(name, NOTHING))
        return told

    def _bind(self, target: ast.AST | None, origins: Origins, s: State) -> None:
        match target:
            case ast.Name():
                s.names[target.id] = origins
            case ast.Tuple() | ast.List():
                for each in target.elts:
                    self._bind(each, origins, s)
            case ast.Starred():
                self._bind(target.value, origins, s)
            case ast.Subscript() | ast.Attribute() if root := _root(target):
                s.add(root, origins)

    def _times(self, over: ast.expr) -> int:
        """How often a loop goes round, at most ROUNDS."""
        match over:
            case ast.Call(func=ast.Name(id="range"), args=[*_, ast.expr() as last]) if len(over.args) == 1:
                known = self.constants.get(last.id) if isinstance(last, ast.Name) else _whole(last)
                return ROUNDS if known is None else max(0, min(known, ROUNDS))
            case ast.Tuple() | ast.List():
                return min(len(over.elts), ROUNDS)
        return ROUNDS

    def _count(self) -> None:
        self._steps += 1
        if self._steps > STEPS:
            raise RecursionError("the harness is too winding to follow")


def _plain(origins: Origins) -> Origins:
    return frozenset(origin for origin in origins if origin.kind not in ("tools", "tool"))


def _root(node: ast.AST) -> str | None:
    """The name in `name[…].attribute…`."""
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _whole(node: ast.expr) -> int | None:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
