"""A component bank: what makes the target harness h into the evolved harness h* (Harness-Zero, section 3)."""

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from hbench.core.action import EXECUTE, Tool
from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.harness import Harness
from hbench.core.syntax import parse

MANIFEST = "manifest.json"  # {path: false} switches a component off; what it does not name is on
MEMORY = "memory.md"
MOST_COMPONENTS = 40
MOST_CHARS = 20_000  # of one file: a component is one idea
MOST_IN_ALL = 200_000  # characters: an evolver reads them all at once

Sort = Literal["tool", "middleware", "skill", "memory"]
_PATHS: Mapping[str, str] = {
    "tool": r"tools/([a-z][a-z0-9_]{0,39})\.py",
    "middleware": r"middlewares/([a-z][a-z0-9_]{0,39})\.py",
    "skill": r"skills/([a-z][a-z0-9_-]{0,39})/SKILL\.md",
    "memory": r"(memory)\.md",
}
# What fenced blocks are called anyway: a tool of that name would be called by mistake.
_TAKEN = frozenset({EXECUTE, "bash", "sh", "shell", "console", "python", "python3", "py", "json", "yaml", "text", "csv", "diff"})
_HOOKS = {"before": ("call", "history"), "after": ("call", "observation", "history")}


class BrokenBank(HbenchError):
    """Files that are no bank. The message names every trouble, one a line."""


@dataclass(frozen=True, slots=True)
class Component:
    """One file of a bank. enabled: the manifest does not switch it off."""

    path: str
    sort: Sort
    name: str
    text: str
    enabled: bool = True


def components(bank: Harness) -> tuple[Component, ...]:
    """Those of `bank`, sorted by path. Raises BrokenBank where `problems` has something to say."""
    check(bank.files)
    switches = manifest(bank.files)
    made = ((path, _sort_of(path)) for path in sorted(bank.files) if path != MANIFEST)
    return tuple(Component(p, sort, name, bank.files[p], switches.get(p, True)) for p, (sort, name) in made)


def manifest(files: Mapping[str, str]) -> dict[str, bool]:
    """path -> whether it is switched on, as manifest.json says. Raises BrokenBank."""
    try:
        read = json.loads(files.get(MANIFEST, "{}"))
    except ValueError as bad:
        raise BrokenBank(f"{MANIFEST} is no JSON: {bad}") from None
    if not isinstance(read, dict) or any(type(value) is not bool for value in read.values()):
        raise BrokenBank(f"{MANIFEST} must be an object of path: true or false")
    return read


def check(files: Mapping[str, str]) -> None:
    """Raises BrokenBank where `problems` has something to say."""
    if found := problems(files):
        raise BrokenBank("\n".join(found))


def problems(files: Mapping[str, str]) -> list[str]:
    """What is wrong with `files` as a bank, a sentence each, naming the path. An empty bank is a bank."""
    found = [told for path in sorted(files) for told in file_problems(path, files[path])]
    try:
        unknown = sorted(set(manifest(files)) - set(files))
        found += [f"{MANIFEST} names {path}, which is not there" for path in unknown]
    except BrokenBank as bad:
        found.append(str(bad))
    if len(files) > MOST_COMPONENTS + 1:
        found.append(f"{len(files)} files: a bank has at most {MOST_COMPONENTS} components")
    if (chars := sum(map(len, files.values()))) > MOST_IN_ALL:
        found.append(f"{chars:,} characters in all; {MOST_IN_ALL:,} are allowed")
    return found


def is_path(path: str) -> bool:
    """Whether a bank can hold a file of that path."""
    return path == MANIFEST or _sort_of(path) is not None


def without(files: Mapping[str, str], path: str) -> dict[str, str]:
    """`files` less one component, which its manifest no longer names either."""
    left = {name: text for name, text in files.items() if name != path}
    try:
        switches = manifest(left)
    except BrokenBank:
        return left
    if path in switches:
        left[MANIFEST] = json.dumps({name: on for name, on in switches.items() if name != path}, indent=2) + "\n"
    return left


def file_problems(path: str, text: str) -> list[str]:
    """What is wrong with one file; nothing of it is run."""
    if path == MANIFEST:
        return []
    known = _sort_of(path)
    if known is None:
        return [f"{path}: a bank has tools/NAME.py, middlewares/NAME.py, skills/NAME/SKILL.md, memory.md and {MANIFEST}"]
    if len(text) > MOST_CHARS:
        return [f"{path} has {len(text):,} characters; {MOST_CHARS:,} are allowed"]
    if not text.strip():
        return [f"{path} is empty"]
    if not is_text(text):
        return [f"{path} holds half a character (a lone surrogate)"]
    checks = {"tool": _tool_problems, "middleware": _middleware_problems}
    return [f"{path}: {told}" for told in checks[known[0]](known[1], text)] if known[0] in checks else []


def tool_of(component: Component) -> Tool:
    """The tool as a student is told of it: its docstring, and its PARAMETERS."""
    tree = parse(component.text)
    return Tool(component.name, ast.get_docstring(tree) or "", _parameters(tree))


def hooks_of(component: Component) -> frozenset[str]:
    """Which of `before` and `after` a middleware defines."""
    return frozenset(node.name for node in parse(component.text).body if _is_hook(node))


def description(component: Component) -> str:
    """What a skill is for, in one line: `description:` of its front matter, else its first line of text."""
    lines = [line.strip() for line in component.text.splitlines()]
    named = [line.removeprefix("description:").strip() for line in lines if line.startswith("description:")]
    plain = [line for line in lines if line and not line.startswith(("#", "---", "name:"))]
    return (named or plain or [""])[0].strip("\"'")[:300]


def _sort_of(path: str) -> tuple[Sort, str] | None:
    for sort, pattern in _PATHS.items():
        if found := re.fullmatch(pattern, path):
            return sort, found[1]
    return None


def is_text(text: str) -> bool:
    """Whether UTF-8 can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def python_problems(text: str) -> list[str]:
    """[] for Python that compiles, else one sentence."""
    try:
        compile(parse(text), "component.py", "exec", dont_inherit=True)
    except SyntaxError as bad:
        return [f"line {bad.lineno}: {bad.msg}"]
    except (ValueError, RecursionError, MemoryError, OverflowError) as bad:
        return [f"no valid Python: {bad}"]
    return []


def _tool_problems(name: str, text: str) -> list[str]:
    if broken := python_problems(text):
        return broken
    tree, found = parse(text), []
    if name in _TAKEN:
        found.append(f"a tool cannot be called {name}: that is what calls and blocks of the target harness are called")
    if not (ast.get_docstring(tree) or "").strip():
        found.append("a tool's docstring says what it does; there is none")
    if _parameters(tree) is None:
        found.append('a tool has a line PARAMETERS = {"name": "what it takes"}, a literal')
    return found


def _parameters(tree: ast.Module) -> Json:
    for node in tree.body:
        named = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        if [ast.unparse(target) for target in named] == ["PARAMETERS"] and node.value is not None:
            try:
                value = ast.literal_eval(node.value)
            except ValueError:
                return None
            plain = isinstance(value, dict) and all(isinstance(text, str) for pair in value.items() for text in pair)
            return value if plain else None
    return None


def _is_hook(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name in _HOOKS


def _middleware_problems(_: str, text: str) -> list[str]:
    if broken := python_problems(text):
        return broken
    hooks = [node for node in parse(text).body if _is_hook(node)]
    if not hooks:
        return ["a middleware defines before(call, history) or after(call, observation, history)"]
    wrong = [node for node in hooks if tuple(arg.arg for arg in node.args.args) != _HOOKS[node.name]]
    return [f"line {node.lineno}: {node.name} takes ({', '.join(_HOOKS[node.name])})" for node in wrong]
