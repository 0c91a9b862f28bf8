"""A walk through a harness as it would run, with origins in place of values. Nothing is executed.

Calls of functions in the file are followed, both branches of an `if` are taken, loops go round up to three times. What
is not known is the union of all that goes into it: a flow found here may happen, one not found here hardly can.
"""

import ast
from collections.abc import Collection, Sequence

from hbench.core.syntax import parse
from hbench.exhibits.flow_origins import NOTHING, Function, Here, Origin, Origins, State, Walked
from hbench.exhibits.flow_values import ROUNDS, TOOLS, Values, root_of, whole

Passed = tuple[bool, Origins]  # whether it always leaves the block, and what was looked at to come past it


def walk(source: str, marked: Collection[str] = ()) -> Walked | None:
    """The tool calls of `run(question, tools)` and what flows between them. marked: functions that are origins, too.

    None for what cannot be read, has no such function, or is too winding to follow.
    """
    try:
        walker = _Walk(marked)
        walker.block(parse(source).body, Here(walker.module))
        run = walker.functions.get("run")
        if run is None:
            return None
        given = dict(zip(run.parameters, (frozenset({Origin("question")}), frozenset({TOOLS})), strict=False))
        walker.walked.returned, _ = walker.follow(run, Here(State(given)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return walker.walked


class _Walk(Values):
    """The statements."""

    def follow(self, function: Function, given: Here) -> tuple[Origins, State]:
        names = {**function.home.names, **given.state.names}
        here = Here(State(names, given.state.searches), given.guards, given.frame)
        if isinstance(function.node, ast.Lambda):
            return self.value(function.node.body, here), here.state
        ended, _ = self.block(function.node.body, here)
        if not ended or here.frame.left is None:
            here.frame.leave(NOTHING, here.state)
        end = here.frame.left or here.state
        for name in function.home.names.keys() - function.own:  # what it put into names of the place around it
            function.home.add(name, end.names.get(name, NOTHING))
        return here.frame.returned, end

    def block(self, body: Sequence[ast.stmt], here: Here) -> Passed:
        passed = NOTHING
        for statement in body:
            self.count()
            ended, looked = self._statement(statement, here.looking(passed))
            passed |= looked
            if ended:
                return True, passed
        return False, passed

    def _statement(self, node: ast.stmt, here: Here) -> Passed:
        match node:
            case ast.Return():
                here.frame.leave(self.told(node.value, here), here.state)
                return True, NOTHING
            case ast.Raise() | ast.Break() | ast.Continue():
                self.all(ast.iter_child_nodes(node), here)
                return True, NOTHING
            case ast.If():
                return self._branches([node.body, node.orelse], self.value(node.test, here), here)
            case ast.Match():
                return self._match(node, here)
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(node, here)
            case ast.Try():
                return self._try(node, here)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    self.bind(item.optional_vars, self.value(item.context_expr, here), here.state)
                return self.block(node.body, here)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.functions[node.name] = Function(node, here.state)
            case ast.ClassDef():
                methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
                self.classes[node.name] = {each.name: Function(each, here.state) for each in methods}
            case _:
                self._assign(node, here)
        return False, NOTHING

    def _assign(self, node: ast.stmt, here: Here) -> None:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as made):
                self.functions[name] = Function(made, here.state)
            case ast.Assign():
                told = self.told(node.value, here)
                for target in node.targets:
                    self.bind(target, told, here.state)
                    self._constant(target, whole(node.value), here)
            case ast.AugAssign():
                before = here.state.names.get(root_of(node.target) or "", NOTHING)
                self.bind(node.target, before | self.value(node.value, here), here.state)
            case ast.AnnAssign():
                self.bind(node.target, self.told(node.value, here), here.state)
                self._constant(node.target, whole(node.value) if node.value else None, here)
            case _:
                self.all(ast.iter_child_nodes(node), here)

    def _constant(self, target: ast.expr, value: int | None, here: Here) -> None:
        if here.state is self.module and isinstance(target, ast.Name) and value is not None:
            self.constants[target.id] = value

    def _match(self, node: ast.Match, here: Here) -> Passed:
        looked = self.value(node.subject, here)
        for inside in (each for case in node.cases for each in ast.walk(case.pattern)):
            if name := getattr(inside, "name", None) or getattr(inside, "rest", None):
                here.state.add(name, looked)
        return self._branches([*(case.body for case in node.cases), []], looked, here)

    def _branches(self, bodies: Sequence[Sequence[ast.stmt]], looked: Origins, here: Here) -> Passed:
        """Each from here, joined where they come out again. Past a branch that leaves, its condition was looked at."""
        before, out, passed = here.fork(), [], NOTHING
        for body in bodies:
            way = before.fork().looking(looked)
            ended, inner = self.block(body, way)
            passed |= inner
            out += [] if ended else [way.state]
        if out:
            here.state.names, here.state.searches = out[0].names, out[0].searches
        for state in out[1:]:
            here.state.join(state)
        return not out, passed | (looked if len(out) < len(bodies) else NOTHING)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, here: Here) -> Passed:
        over = None if isinstance(node, ast.While) else node.iter
        holds, passed = self.value(over, here), NOTHING
        for _ in range(ROUNDS if over is None else self.times(over)):
            before = here.state.copy()
            if over is None:
                passed |= self.value(node.test, here.looking(passed))
            else:
                self.bind(node.target, holds, here.state)
            _, inner = self.block(node.body, here.looking(passed))
            passed |= inner
            here.state.join(before)
        _, inner = self.block(node.orelse, here.looking(passed))
        return _endless(node), passed | inner

    def _try(self, node: ast.Try, here: Here) -> Passed:
        before = here.state.copy()
        ended, passed = self.block([*node.body, *node.orelse], here)
        for handler in node.handlers:
            way = here.fork()
            way.state.join(before)  # it may have come from anywhere in the body
            left, inner = self.block(handler.body, way)
            passed |= inner
            if not left:
                here.state.join(way.state)
                ended = False
        left, inner = self.block(node.finalbody, here)
        return ended or left, passed | inner


def _endless(node: ast.For | ast.AsyncFor | ast.While) -> bool:
    """`while True` without a break."""
    always = isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
    return always and not any(isinstance(inside, ast.Break) for inside in ast.walk(node))
