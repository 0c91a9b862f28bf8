"""The package as its syntax trees, for tests of what its source says."""

import ast
from functools import cache

from tests.where import REPO


@cache
def trees() -> dict[str, ast.Module]:
    """`hbench/core/edit.py` and so on -> its tree. Read when first asked: reading all of them takes seconds."""
    files = sorted((REPO / "hbench").rglob("*.py"))
    return {file.relative_to(REPO).as_posix(): ast.parse(file.read_text("utf-8")) for file in files}


@cache
def calls() -> list[tuple[str, ast.Call]]:
    """(file, call) of every call in the package."""
    return [(file, node) for file, tree in trees().items() for node in ast.walk(tree) if isinstance(node, ast.Call)]
