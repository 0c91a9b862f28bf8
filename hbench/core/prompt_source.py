"""Reads a prompt with all it includes, and renders its message blocks. Imports Jinja only when used (45 ms)."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from hbench.core.places import find_file, roots

MESSAGE_ROLES = ("system", "user", "assistant")


@dataclass(frozen=True, order=True)
class Problem:
    """Something wrong in a template. line and column count from 1."""

    file: str
    line: int
    column: int
    what: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.what}" + (f" ({self.hint})" if self.hint else "")


def read(name: str) -> tuple[dict[str, str], list[str]]:
    """File name -> text of prompts/<name>.j2 and of every file it includes or imports; and what is wrong."""
    sources: dict[str, str] = {}
    problems: list[Problem] = []
    waiting = [(f"{name}.j2", None)]
    while waiting:
        key, asked_by = waiting.pop()
        if key in sources:
            continue
        text = _read_file(key, asked_by, problems)
        if text is not None:
            sources[key] = text
            waiting += _referenced(key, text, problems)
    return dict(sorted(sources.items())), [str(problem) for problem in sorted(problems)]


def shown_path(key: str) -> str:
    """The path of a prompt file as a user would type it here."""
    path = find_file("prompts", key)
    if path is None:
        return f"prompts/{key}"
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def environment(sources: Mapping[str, str]) -> Any:
    """A Jinja environment over exactly these sources. What draws at random is taken out."""
    from jinja2 import FunctionLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    made = ImmutableSandboxedEnvironment(
        loader=FunctionLoader(lambda key: (sources[key], shown_path(key), lambda: True) if key in sources else None),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_printable,
    )
    del made.globals["lipsum"], made.filters["random"]
    # Jinja's own tojson writes < as \\u003c, for HTML.
    made.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False, sort_keys=True)
    return made


@lru_cache(maxsize=256)
def parsed(text: str) -> Any:
    """The tree of a template, to look at: what many prompts include is parsed once. Raises TemplateSyntaxError."""
    return environment({}).parse(text)


@lru_cache(maxsize=64)
def _compiled(sources: tuple[tuple[str, str], ...], _: Path) -> Any:
    """An environment that keeps its compiled templates; files are shown as seen from this working folder."""
    return environment(dict(sources))


def render_blocks(
    sources: Mapping[str, str], key: str, values: Mapping[str, Any]
) -> tuple[list[tuple[str, str]], list[Problem]]:
    """(role, text) of each message block, or of the whole file as a user message; and what went wrong."""
    made = _compiled(tuple(sources.items()), Path.cwd())
    template = made.get_template(key)
    if not template.blocks:
        parts = {"user": template.root_render_func}
    else:
        parts = {role: template.blocks[role] for role in MESSAGE_ROLES if role in template.blocks}
    texts, problems = [], []
    for role, write in parts.items():
        try:
            texts.append((role, "".join(write(template.new_context(dict(values))))))
        except Exception:  # whatever a template raises is a problem of the template
            problems.append(_failed(made, key))
    return texts, problems


def column_of(line: str, word: str) -> int:
    """Where `word` stands in `line`, from 1; else where the first tag stands."""
    found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", line) if word else None
    found = found or re.search(r"\{[{%]", line)
    return found.start() + 1 if found else 1


def known_prompts() -> list[str]:
    """Names of every prompt file, without .j2."""
    found = {p.relative_to(root).with_suffix("").as_posix() for root in roots("prompts") for p in root.rglob("*.j2")}
    return sorted(found)


def near(word: str, known: Any) -> str:
    """`did you mean 'x'?`, or nothing."""
    import difflib

    found = difflib.get_close_matches(word, list(known), n=1)
    return f"did you mean {found[0]!r}?" if found else ""


def _read_file(key: str, asked_by: Problem | None, problems: list[Problem]) -> str | None:
    path = find_file("prompts", key)
    if path is None:
        at = asked_by or Problem(f"prompts/{key}", 1, 1, "")
        hint = near(key.removesuffix(".j2"), known_prompts())
        problems.append(Problem(at.file, at.line, at.column, f"no prompt {key.removesuffix('.j2')!r}", hint))
        return None
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as bad:
        problems.append(Problem(shown_path(key), 1, 1, f"not UTF-8 text: {bad.reason} at byte {bad.start}"))
        return None


def _referenced(key: str, text: str, problems: list[Problem]) -> list[tuple[str, Problem]]:
    """Files that this one includes or imports, each with the place that asks for it."""
    from jinja2 import TemplateSyntaxError, nodes

    lines, file = text.split("\n"), shown_path(key)
    try:
        tree = parsed(text)
    except TemplateSyntaxError as bad:
        line = lines[bad.lineno - 1] if bad.lineno <= len(lines) else ""
        hint = "write literal braces inside {% raw %} … {% endraw %}" if "{{" in line or "{%" in line else ""
        problems.append(Problem(file, bad.lineno, column_of(line, ""), f"not a valid template: {bad.message}", hint))
        return []
    found = []
    for node in tree.find_all((nodes.Extends, nodes.Include, nodes.Import, nodes.FromImport)):
        at = Problem(file, node.lineno, column_of(lines[node.lineno - 1], ""), "")
        names = getattr(node.template, "value", None)
        if isinstance(node, nodes.Extends) or not isinstance(names, str):
            extends = isinstance(node, nodes.Extends)
            what = "extends is not used in prompts" if extends else "the file's name must be fixed"
            problems.append(Problem(at.file, at.line, at.column, what, "include the shared part by its name"))
        else:
            found.append((names, at))
    return found


def _printable(value: Any) -> Any:
    # {{ case.items }} is a method of dict: a hole that StrictUndefined does not see.
    if callable(value) and not hasattr(value, "_undefined_message"):
        raise TypeError(f"{getattr(value, '__name__', 'this')!r} is a function, not a value")
    return value


def _failed(made: Any, key: str) -> Problem:
    """The exception being handled, as a problem at the template's own line."""
    import traceback

    try:
        made.handle_exception()
    except Exception as bad:
        frames = traceback.extract_tb(bad.__traceback__)
        frame = next((f for f in reversed(frames) if f.filename.endswith(".j2")), None)
        file, number = (frame.filename, frame.lineno) if frame else (shown_path(key), 1)
        return Problem(file, number, 1, str(bad) or type(bad).__name__)
    raise AssertionError("handle_exception always raises")
