"""Names and documentation hold together: kind, file and class; and every kind, prompt, table and column says what it is."""

import inspect
import typing
from pathlib import Path

import pytest

import hbench
from hbench.core.places import roots
from hbench.exhibits import exhibit
from hbench.parts.part import PACKAGE, find, kinds
from hbench.steps import step_kind
from hbench.store.tables import TABLES
from hbench.store.views import views

SORTS = sorted(folder.name for folder in PACKAGE.iterdir() if (folder / "__init__.py").is_file())
PARTS = [(sort, kind) for sort in SORTS for kind in kinds(sort)]
PROMPTS = sorted(str(f.relative_to(root).with_suffix("")) for root in roots("prompts") for f in root.glob("*/[!_]*.j2"))
AVOIDED = {"manager", "handler", "helper", "helpers", "util", "utils", "common", "base", "data", "info", "pipeline", "agent"}


@pytest.mark.parametrize(("sort", "kind"), PARTS)
def test_a_kind_is_its_file_and_its_class(sort, kind):
    part = find(sort, kind)
    assert typing.get_args(part.model_fields["kind"].annotation) == (kind,)
    assert part.__name__.lower() == kind.replace("_", "")


@pytest.mark.parametrize(("sort", "kind"), PARTS)
def test_every_part_and_each_of_its_fields_is_documented(sort, kind):
    part = find(sort, kind)
    assert part.__doc__ and part.__doc__ != part.__base__.__doc__
    assert [name for name, field in part.model_fields.items() if name != "kind" and not field.description] == []


@pytest.mark.parametrize("kind", step_kind.names())
def test_a_step_kind_is_a_function_of_its_files_name_that_says_what_it_gives(kind):
    run = step_kind.find(kind).run
    assert run.__name__ == kind and run.__doc__
    assert list(inspect.signature(run).parameters) == ["params", "inputs", "services"]


@pytest.mark.parametrize("name", PROMPTS)
def test_every_prompt_declares_its_variables_and_renders(name):
    from hbench.core.prompt import load_prompt

    assert load_prompt(name).name == name


def test_every_table_and_column_has_its_comment():
    silent = [f"{t.name}.{c.name}" for t in TABLES.values() for c in t.columns if not c.comment.strip()]
    assert silent + [t.name for t in TABLES.values() if not t.comment.strip()] == []


def test_every_view_has_its_comment():
    assert [view.name for view in views() if not view.comment.strip()] == []


def test_every_exhibit_has_both_its_files():
    files = {f.stem for root in roots("specs") for f in (root / "exhibits").glob("*.*")}
    assert {name for name in files if exhibit.read(name)} == set(exhibit.names())


def test_every_module_says_what_it_is():
    package = Path(hbench.__file__).parent
    silent = [f for f in package.rglob("*.py") if (text := f.read_text("utf-8").strip()) and not text.startswith(('"""', '#!'))]
    assert [str(file.relative_to(package)) for file in silent] == []


def test_no_file_has_a_name_that_says_nothing():
    package = Path(hbench.__file__).parent
    named = {f.relative_to(package): set(f.stem.split("_")) for f in package.rglob("*.py")}
    assert {str(file): words & AVOIDED for file, words in named.items() if words & AVOIDED} == {}
