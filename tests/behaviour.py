"""Digests of what step kinds and parts do, so that a change of behaviour without a new version is noticed.

The digest of a kind covers the syntax trees, without docstrings, of its own definition and of every hbench definition
that it reaches by name. `python -m tests.behaviour` locks anew; do so only when results stay the same, else raise the version.
"""

import ast
import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from hbench.core.digest import digest
from hbench.parts.part import SORTS, find, kinds
from hbench.steps import step_kind

LOCKS = Path(__file__).parent / "locks" / "behaviour.json"
# Contracts and plumbing: they say how hbench is built, not what comes out.
NOT_BEHAVIOUR = ("hbench.core.protocols", "hbench.parts.part")


def current() -> dict[str, dict]:
    """name -> {"version", "digest"} for every step kind and every part."""
    found = {f"steps/{kind}": _entry(f"hbench.steps.{kind}", kind, step_kind.find(kind).version) for kind in step_kind.names()}
    for sort in SORTS:
        for kind in kinds(sort):
            part = find(sort, kind)
            found[f"{sort}/{kind}"] = _entry(part.__module__, part.__name__, part.version)
    return dict(sorted(found.items()))


def _entry(module: str, name: str, version: int) -> dict:
    return {"version": version, "digest": digest(sorted(_reached(module, name, {}).values()))[:16]}


def _reached(module: str, name: str, seen: dict[tuple[str, str], str]) -> dict[tuple[str, str], str]:
    definitions, imports = _read(module)
    if (module, name) in seen or name not in definitions or module.startswith(NOT_BEHAVIOUR):
        return seen
    node = definitions[name]
    seen[module, name] = f"{name}: {ast.dump(node)}"
    for used in ast.walk(node):
        if isinstance(used, ast.Name):
            _follow(used.id, module, imports, seen)
        elif isinstance(used, ast.Attribute) and isinstance(used.value, ast.Name) and used.value.id in imports:
            source, what = imports[used.value.id]
            _reached(f"{source}.{what}" if what else source, used.attr, seen)
        elif isinstance(used, ast.ImportFrom) and used.module and used.module.startswith("hbench"):
            for alias in used.names:  # an import inside a function
                _reached(used.module, alias.name, seen)
    return seen


def _follow(name: str, module: str, imports: dict, seen: dict) -> None:
    if name in imports:
        source, what = imports[name]
        _reached(source, what, seen)
    else:
        _reached(module, name, seen)


@cache
def _read(module: str) -> tuple[dict[str, ast.AST], dict[str, tuple[str, str]]]:
    """Top-level definitions of a module, docstrings taken out, and the hbench names it imports."""
    try:
        spec = find_spec(module)
    except ModuleNotFoundError:  # a name that is no module
        spec = None
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        return {}, {}
    definitions, imports = {}, {}
    for node in _without_docstrings(ast.parse(Path(spec.origin).read_text())).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            definitions[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    definitions[target.id] = node
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("hbench"):
            imports |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
    return definitions, imports


def _without_docstrings(tree: ast.AST) -> ast.AST:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [n for n in body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))] or [ast.Pass()]
    return tree


if __name__ == "__main__":
    LOCKS.parent.mkdir(exist_ok=True)
    LOCKS.write_text(json.dumps(current(), indent=1) + "\n")
