"""Python source as a syntax tree, from any thread."""

import ast
import threading

# CPython 3.11 counts how deep it is in a tree in one place for all threads: two that parse at once now and then get
# "SystemError: AST constructor recursion depth mismatch".
_parsing = threading.Lock()


def parse(source: str, filename: str = "<unknown>", mode: str = "exec") -> ast.Module | ast.Expression:
    """As ast.parse: raises SyntaxError, ValueError, RecursionError or MemoryError for what is no Python."""
    with _parsing:
        return ast.parse(source, filename, mode)
