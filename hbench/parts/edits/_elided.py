"""Lines that stand for code left out: `# ... rest unchanged`, or a bare `...` among other statements."""

import ast
import io
import re
import tokenize

from hbench.core.syntax import parse
from hbench.parts.edits._lines import source_lines

_DOTS = r"(?:\.{3,}|…)"
_CODE = r"(?:code|program|file|functions?|methods?|logic|body|implementation|harness|script)"
_STATE = r"(?:\s+(?:is|are|stays?|remains?|goes|here|the|same|unchanged|as|before|above|omitted|for|brevity))"
_COMMENT = re.compile(
    rf"""\#+\s*[\[(<]*\s*(?:
      {_DOTS}
    | {_DOTS}?\s*(?:keep\s+)?(?:the\s+)?(?:rest|remainder)
      (?:\s+of\s+(?:(?:the|this|your)\s+)?{_CODE}{_STATE}*|{_STATE}+)
    | {_DOTS}?\s*(?:keep\s+)?(?:the\s+)?(?:existing|remaining|previous|original|unchanged)\s+{_CODE}{_STATE}*
    | {_DOTS}?\s*(?:{_CODE}\s+)?(?:unchanged|omitted)
    | {_DOTS}.*\b(?:unchanged|omitted|existing|remaining|rest\s+of|same\s+as|as\s+before)\b.*
    | .*\b(?:unchanged|omitted|(?:existing|remaining|other|rest\s+of\s+the)\s+{_CODE})\b.*{_DOTS}
    )\s*{_DOTS}?\s*[\])>.]*\s*""",
    re.VERBOSE | re.IGNORECASE,
)


def elided_line(text: str, parent: str, tree: ast.Module | None) -> int | None:
    """The first line (from 1) of `text` that stands for code left out, or None. What `parent` already holds is fine.

    tree: of `text`, None when it does not parse. Only comments that have a line to themselves count.
    """
    known = {line.strip() for line in source_lines(parent)}
    comments = _loose_comments(text) if tree is None else _comments(text)
    found = [n for n, comment in comments if comment not in known and _COMMENT.fullmatch(comment[:200])]
    return min(found + (_new_dots(tree, parent) if tree and "..." in text else []), default=None)


def _comments(text: str) -> list[tuple[int, str]]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    try:
        comments = [token for token in tokens if token.type == tokenize.COMMENT]
        return [(token.start[0], token.string.strip()) for token in comments if token.line.lstrip().startswith("#")]
    except (tokenize.TokenError, SyntaxError):  # the tokenizer is stricter than the parser in odd corners
        return _loose_comments(text)


def _loose_comments(text: str) -> list[tuple[int, str]]:
    return [(n, line.strip()) for n, line in enumerate(source_lines(text), 1) if line.lstrip().startswith("#")]


def _new_dots(tree: ast.Module, parent: str) -> list[int]:
    """Lines of `...` statements, where there are more of them than in `parent`."""
    found = _dots(tree)
    try:
        known = len(_dots(parse(parent)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        known = 0
    return found if len(found) > known else []


def _dots(tree: ast.Module) -> list[int]:
    """`...` beside other statements, or as the whole body of a function. `except ValueError: ...` is fine."""
    lines: list[int] = []
    for node in ast.walk(tree):
        for body in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            if not isinstance(body, list):
                continue
            others = [stmt for stmt in body if not _holds(stmt, type(...)) and not _holds(stmt, str)]
            if others or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
                lines += [stmt.lineno for stmt in body if _holds(stmt, type(...))]
    return sorted(lines)


def _holds(stmt: ast.stmt, sort: type) -> bool:
    """Whether the statement is nothing but a constant of that type."""
    return isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant) and isinstance(stmt.value.value, sort)
