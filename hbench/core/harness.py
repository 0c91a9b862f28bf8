"""The program that decides what the solver sees and does: a set of named text files."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from hbench.core.digest import digest
from hbench.core.syntax import parse

ENTRY = "harness.py"  # adaptation: this one file, with `run(question, tools) -> str`


@dataclass(frozen=True)
class Harness:
    """files: path -> text. Two harnesses that differ only in line ends and trailing blanks have one id."""

    files: Mapping[str, str]

    @classmethod
    def of(cls, text: str) -> Self:
        """The harness of one file."""
        return cls({ENTRY: text})

    @property
    def text(self) -> str:
        """The source of a one-file harness."""
        return self.files[ENTRY]

    @cached_property
    def id(self) -> str:
        """16 hex digits of the tidied files."""
        return digest({path: tidy_source(text) for path, text in self.files.items()})[:16]

    def tidied(self) -> "Harness":
        """The same harness in the form in which it is stored and run."""
        return Harness({path: tidy_source(text) for path, text in self.files.items()})


def no_entry(source: str) -> str:
    """Why a file cannot be called as a harness, or "". source: Python that parses. Nothing of it is run."""
    body = parse(source).body
    entry = next((node for node in reversed(body) if isinstance(node, ast.FunctionDef) and node.name == "run"), None)
    if entry is not None:
        given = entry.args
        taken = len(given.posonlyargs) + len(given.args)
        fits = taken - len(given.defaults) <= 2 and (taken >= 2 or given.vararg)
        return "" if fits else f"line {entry.lineno}: run is called with two values, question and tools"
    bound = any(_binds_run(node) for node in ast.walk(ast.Module(body, [])))
    return "" if bound else "it has no function run(question, tools)"


def _binds_run(node: ast.AST) -> bool:
    """Also inside an `if`, by an import, or by an assignment."""
    names = {getattr(node, "name", None), getattr(node, "asname", None), getattr(node, "id", None)}
    return "run" in names or (isinstance(node, ast.alias) and node.name == "*")


def tidy_source(text: str) -> str:
    """`text` with LF line ends, no trailing blanks and one final newline, where that changes no meaning.

    Blanks inside a multi-line string mean something: if stripping alters the syntax tree, only line ends are changed.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    stripped = "\n".join(line.rstrip(" \t") for line in lines.split("\n")).rstrip("\n") + "\n"
    if stripped == lines:
        return lines
    try:
        same = ast.dump(parse(lines)) == ast.dump(parse(stripped))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        same = False
    return stripped if same else lines
