"""What is wrong with a prompt: found before any model is called."""

import re
from collections.abc import Mapping, Sequence, Set
from typing import Any

from hbench.core.prompt_source import MESSAGE_ROLES, Problem, column_of, environment, near, parsed, render_blocks, shown_path


def problems_of(prompt: Any, examples: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every problem of a prompt whose files parse, by file and line; [] when it is sound.

    Undeclared or misspelt variables, variables its role does not have, text outside message blocks; and the first
    thing that a dry render of each block with each of `examples` meets.
    """
    key = f"{prompt.name}.j2"
    found = _blocks(key, prompt.text) + _names(prompt, examples)
    given = [{n: values[n] for n in prompt.variables if n in values} for values in examples]
    found += [_explained(p, prompt, examples) for v in given for p in render_blocks(prompt.sources, key, v)[1]]
    first: dict[tuple, Problem] = {}
    for problem in sorted(found):  # a misspelt name is seen both by its declaration and by the dry render
        first.setdefault((problem.file, problem.line, problem.column), problem)
    return [str(problem) for problem in first.values()]


def _blocks(key: str, text: str) -> list[Problem]:
    """Blocks have the names of message roles, and where there are blocks nothing stands outside them."""
    from jinja2 import nodes

    tree = parsed(text)
    blocks = list(tree.find_all(nodes.Block))
    lines, file = text.split("\n"), shown_path(key)
    places = [(b.name, (file, b.lineno, column_of(lines[b.lineno - 1], b.name))) for b in blocks]
    roles = ", ".join(MESSAGE_ROLES)
    found = [Problem(*at, f"no message role {name!r}", roles) for name, at in places if name not in MESSAGE_ROLES]
    outside = [node for node in tree.body if not isinstance(node, nodes.Block) and not _is_blank(node)]
    if blocks and outside:
        line = _first_line(outside[0], lines)
        found.append(Problem(file, line, 1, "what stands outside the message blocks is never sent", "move it into one"))
    return found


def _names(prompt: Any, examples: Sequence[Mapping[str, Any]]) -> list[Problem]:
    """Variables used but not declared, declared but not used, or not given by the role."""
    from jinja2 import meta

    used: set[str] = set()
    found: list[Problem] = []
    known = set(environment({}).globals)
    for key, text in prompt.sources.items():
        tree = parsed(text)
        names = meta.find_undeclared_variables(tree) - known
        used |= names
        for name in sorted(names - set(prompt.variables) - _optional(tree)):
            line, column = _place(tree, text, name)
            hint = near(name, prompt.variables) or "declare it in the first line"
            found.append(Problem(shown_path(key), line, column, f"{name!r} is not declared", hint))
    file, first = shown_path(f"{prompt.name}.j2"), prompt.text.split("\n")[0]
    given = set.intersection(*(set(values) for values in examples)) if examples else set()
    for name in prompt.variables:
        at = (file, 1, column_of(first, name))
        if name not in used:
            found.append(Problem(*at, f"{name!r} is declared but not used"))
        elif name not in given:
            hint = near(name, given) or f"there are {', '.join(sorted(given)) or 'none'}"
            found.append(Problem(*at, f"this role has no variable {name!r}", hint))
    return found


def _optional(tree: Any) -> Set[str]:
    """Names that the template itself allows to be undefined: `x | default(…)`, `x is defined`."""
    from jinja2 import nodes

    allowed = [f.node for f in tree.find_all(nodes.Filter) if f.name in ("default", "d")]
    allowed += [t.node for t in tree.find_all(nodes.Test) if t.name in ("defined", "undefined")]
    return {node.name for node in allowed if isinstance(node, nodes.Name)}


def _place(tree: Any, text: str, name: str) -> tuple[int, int]:
    from jinja2 import nodes

    line = min((n.lineno for n in tree.find_all(nodes.Name) if n.name == name), default=1)
    return line, column_of(text.split("\n")[line - 1], name)


def _explained(problem: Problem, prompt: Any, examples: Sequence[Mapping[str, Any]]) -> Problem:
    """The problem with its column, and a hint where a name is misspelt."""
    words = re.findall(r"'([^']+)'", problem.what)
    if not words:
        return problem
    text = next((t for key, t in prompt.sources.items() if shown_path(key) == problem.file), "")
    lines = text.split("\n")
    column = column_of(lines[problem.line - 1] if problem.line <= len(lines) else "", words[-1])
    known = set(prompt.variables) | {name for values in examples for name in _all_keys(values)}
    return Problem(problem.file, problem.line, column, problem.what, near(words[-1], known - {words[-1]}))


def _all_keys(value: Any) -> Set[str]:
    if isinstance(value, Mapping):
        return {str(key) for key in value}.union(*(_all_keys(inner) for inner in value.values()))
    if isinstance(value, (list, tuple)):
        return set().union(*(_all_keys(inner) for inner in value))
    return set()


def _is_blank(node: Any) -> bool:
    from jinja2 import nodes

    if not isinstance(node, nodes.Output):
        return False
    return all(isinstance(part, nodes.TemplateData) and not part.data.strip() for part in node.nodes)


def _first_line(node: Any, lines: Sequence[str]) -> int:
    """The line of the first word of `node`; a run of text starts at the line break before it."""
    start = node.lineno
    while start < len(lines) and not lines[start - 1].strip():
        start += 1
    return start
