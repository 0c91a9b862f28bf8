"""Who may import whom, read from the source: packages, third-party libraries, and what an import may load."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.sources import trees

# core <- parts, engines, store <- spec, steps <- plan, exhibits <- runtime, view <- cli
MAY_IMPORT = {
    "core": set(),
    "parts": {"core"},
    "engines": {"core"},
    "store": {"core"},
    "spec": {"core", "parts"},
    "steps": {"core", "parts"},
    "exhibits": {"core", "store", "spec"},
    "view": {"core", "store", "exhibits"},
    "plan": {"core", "parts", "spec", "steps"},  # steps: a step's id holds its kind's version
    "runtime": {"core", "parts", "spec", "plan", "steps", "engines", "store"},
    "cli": {"core", "parts", "spec", "plan", "steps", "engines", "runtime", "exhibits", "view", "store"},
}
# The grader runs in a jail of its own, where it builds the family that it grades for. A domain whose questions are worked
# on in an engine of its own is what opens that engine.
EXCEPT = {"engines/jail/inside/grade.py imports parts", "parts/domains/appworld.py imports engines"}
LIGHT = {"pydantic", "pydantic_core", "typer"}  # all others are imported where they are used


def package_of(file: str) -> str:
    first = file.split("/")[1].removesuffix(".py")
    return first if first in MAY_IMPORT else "cli"  # hbench/__init__.py and __main__.py stand before everything


def imports(tree: ast.AST) -> Iterator[str]:
    """Dotted names of what is imported anywhere below `tree`; `from hbench import store` is hbench.store."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level < 2, "a relative import stays in its folder (the jail's inside runs without the package)"
            inside = [f"{node.module}.{name.name}" for name in node.names]
            yield from inside if node.module == "hbench" else [node.module] if node.level == 0 else []


def at_import(tree: ast.Module) -> Iterator[str]:
    """The imports that run when the module is imported: not in functions, not for type checkers."""
    todo: list[ast.AST] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from imports(node)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            todo += node.orelse
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            todo += ast.iter_child_nodes(node)


def third_party(names: Iterator[str]) -> set[str]:
    return {name.split(".")[0] for name in names} - {"hbench", "__future__"} - set(sys.stdlib_module_names)


def test_imports_point_to_the_left():
    wrong = []
    for file, tree in trees().items():
        mine = package_of(file)
        found = {name.split(".")[1] for name in imports(tree) if name.startswith("hbench.")} & set(MAY_IMPORT)
        wrong += [f"{file.removeprefix('hbench/')} imports {other}" for other in found - MAY_IMPORT[mine] - {mine}]
    assert sorted(set(wrong) - EXCEPT) == []


def test_heavy_libraries_are_imported_where_they_are_used():
    found = {file: third_party(at_import(tree)) - LIGHT for file, tree in trees().items()}
    assert {file: libraries for file, libraries in found.items() if libraries} == {}


def test_the_core_is_the_standard_library_alone_and_jinja2_in_prompts():
    for file, tree in trees().items():
        if package_of(file) == "core":
            assert third_party(imports(tree)) <= ({"jinja2"} if Path(file).stem.startswith("prompt") else set()), file


def test_specs_and_plans_load_nothing_heavy():
    heavy = {"torch", "transformers", "vllm", "trl", "duckdb", "reasoning_gym", "aiohttp", "scipy", "pandas", "matplotlib"}
    code = f"import sys, hbench.spec, hbench.plan, hbench.cli; print(*sorted({heavy} & {{*sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
