"""What every edited program must be: changed, whole, short enough, valid Python, with its entry point."""

import ast

from hbench.core.failure import EditFailure
from hbench.core.harness import ENTRY, Harness
from hbench.core.syntax import parse
from hbench.parts.edits._elided import elided_line
from hbench.parts.edits._lines import source_lines


def edited(parent: Harness, text: str, max_lines: int) -> Harness:
    """`parent` with `text` as its program. Raises EditFailure("apply", …): no_change, elided_code, too_many_lines,
    syntax_error, missing_entry_point or bad_signature. Nothing of `text` is run.
    """
    harness = Harness({**parent.files, ENTRY: text})
    if harness.id == parent.id:
        raise EditFailure("apply", "no_change", "the edited harness equals its parent")
    _check_length(text, max_lines)
    tree = _parse(text, parent.text)
    if line := elided_line(text, parent.text, tree):
        raise _elided(line)
    _check_entry(tree)
    return harness


def _check_length(text: str, max_lines: int) -> None:
    lines = len(source_lines(text))
    if lines > max_lines:
        raise EditFailure("apply", "too_many_lines", f"the program has {lines} lines; {max_lines} are allowed")


def _parse(text: str, parent: str) -> ast.Module:
    """The syntax tree of a program that also compiles (`return` outside a function parses, but does not)."""
    try:
        tree = parse(text, ENTRY)
        compile(tree, ENTRY, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as bad:
        # Skipped lines are the likelier cause of broken code, and the better thing to say.
        if line := elided_line(text, parent, None):
            raise _elided(line) from bad
        raise EditFailure("apply", "syntax_error", _syntax_message(bad, text)) from bad
    return tree


def _elided(line: int) -> EditFailure:
    message = f"line {line} of the result stands for lines left out; write them in full"
    return EditFailure("apply", "elided_code", message)


def _syntax_message(bad: Exception, text: str) -> str:
    if not isinstance(bad, SyntaxError) or not bad.lineno:
        return f"the result is not valid Python: {type(bad).__name__}: {bad}"
    lines = source_lines(text)
    shown = lines[bad.lineno - 1].strip()[:200] if bad.lineno <= len(lines) else ""
    return f"line {bad.lineno} of the result: {bad.msg}: {shown}"


def _check_entry(tree: ast.Module) -> None:
    """The last thing bound to `run` at top level must take (question, tools) by position."""
    found = [node for node in tree.body if _binds_run(node)]
    if not found:
        raise EditFailure("apply", "missing_entry_point", "the program has no top-level function run(question, tools)")
    last = found[-1]
    if isinstance(last, (ast.AsyncFunctionDef, ast.ClassDef)):
        raise EditFailure("apply", "bad_signature", f"line {last.lineno}: run must be an ordinary function (def run)")
    made = last if isinstance(last, ast.FunctionDef) else getattr(last, "value", None)
    if isinstance(made, (ast.FunctionDef, ast.Lambda)) and not _takes_two(made.args):
        names = ", ".join(arg.arg for arg in (*made.args.posonlyargs, *made.args.args, *made.args.kwonlyargs))
        message = f"line {last.lineno}: run takes ({names}); it must be callable as run(question, tools)"
        raise EditFailure("apply", "bad_signature", message)


def _binds_run(node: ast.stmt) -> bool:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return node.name == "run"
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return any(isinstance(target, ast.Name) and target.id == "run" for target in targets)


def _takes_two(args: ast.arguments) -> bool:
    """Whether a call with exactly two positional arguments fits."""
    positional = len(args.posonlyargs) + len(args.args)
    required = positional - len(args.defaults)
    keywords_required = any(default is None for default in args.kw_defaults)
    return required <= 2 and (positional >= 2 or args.vararg is not None) and not keywords_required
