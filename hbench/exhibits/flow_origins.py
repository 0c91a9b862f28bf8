"""Where values may come from, as a walk through a harness keeps it."""

import ast
from dataclasses import dataclass, field, replace
from typing import NamedTuple

GIVES = {"lm": "reply", "search": "passages", "python": "output"}  # tool -> kind of what comes back


class Origin(NamedTuple):
    """kind: question, tools, tool (at: its name, not yet called), or reply, passages, output (at: of which call).

    Also helper (at: its name), for functions that a walk was asked to mark.
    """

    kind: str
    at: int | str = ""


Origins = frozenset[Origin]
NOTHING: Origins = frozenset()


@dataclass
class Call:
    """A place where a tool is called, together over all the times that it is reached.

    takes: what goes into it. guards: what the conditions on the way looked at. before: most searches made before it.
    """

    tool: str
    line: int
    takes: Origins = NOTHING
    guards: Origins = NOTHING
    before: int = 0


@dataclass
class Walked:
    """calls: in the order in which they are first reached. returned: what may become the answer.

    given: of the functions that were to be marked, those that get the question or are handed on themselves.
    """

    calls: list[Call] = field(default_factory=list)
    returned: Origins = NOTHING
    given: set[str] = field(default_factory=set)


@dataclass
class State:
    """What names may hold here, and how many searches at most were made on the way."""

    names: dict[str, Origins] = field(default_factory=dict)
    searches: int = 0

    def copy(self) -> "State":
        return State(dict(self.names), self.searches)

    def add(self, name: str, origins: Origins) -> None:
        self.names[name] = self.names.get(name, NOTHING) | origins

    def join(self, other: "State") -> None:
        """Either way here."""
        for name, origins in other.names.items():
            self.add(name, origins)
        self.searches = max(self.searches, other.searches)


@dataclass(frozen=True)
class Function:
    """A function of the file. home: where it was defined; its free names are looked up there."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    home: State

    @property
    def name(self) -> str:
        return "" if isinstance(self.node, ast.Lambda) else self.node.name

    @property
    def parameters(self) -> list[str]:
        """Their names; *rest and **rest come last."""
        given = self.node.args
        named = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
        return [each.arg for each in named if each is not None]

    @property
    def own(self) -> set[str]:
        """Names that belong to the function: parameters, and what it assigns but for nonlocal names."""
        inside = list(ast.walk(self.node))
        assigned = {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        outer = {name for node in inside if isinstance(node, ast.Nonlocal | ast.Global) for name in node.names}
        return (assigned - outer) | set(self.parameters)


@dataclass
class Frame:
    """One call of a function that is being walked. path: the calls that led here, which tell apart its own calls."""

    path: tuple[int, ...] = ()
    returned: Origins = NOTHING
    left: State | None = None  # at any return, joined

    def leave(self, origins: Origins, state: State) -> None:
        self.returned |= origins
        self.left = self.left or State()
        self.left.join(state)


@dataclass(frozen=True)
class Here:
    """Where the walk is. guards: what the conditions on the way here looked at."""

    state: State
    guards: Origins = NOTHING
    frame: Frame = field(default_factory=Frame)

    def looking(self, at: Origins) -> "Here":
        """The same place, past a condition."""
        return replace(self, guards=self.guards | at)

    def fork(self) -> "Here":
        """One of several ways on from here."""
        return replace(self, state=self.state.copy())
