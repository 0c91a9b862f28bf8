"""Every shared case has its tests, and they are there: tests/cases.yaml is the table."""

import ast

import pytest

from tests.shared_cases import COLLECTED, names, table
from tests.where import REPO, cases

pytestmark = pytest.mark.truth


def test_every_shared_case_has_its_tests(tried):
    numbers = {int(folder.name.split("-")[0]) for folder in cases().iterdir() if folder.is_dir()}
    assert sorted(numbers - set(table())) == []
    assert all(table().values())
    tried(f"{len(numbers)} shared cases have tests")


def test_every_test_of_the_table_is_there(tried):
    written: dict[str, set[str]] = {}
    for entry in (entry for entries in table().values() for entry in entries):
        file, function = entry.split("[")[0].split("::")
        if file not in written:
            tree = ast.parse((REPO / file).read_text())
            written[file] = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert function in written[file], entry
        found = [test for test in COLLECTED if test.split("[")[0] == f"{file}::{function}"]
        assert not found or any(names(entry, test) for test in found), f"{entry}: none of {found}"
    tried("every test that the table names is there")


def test_a_name_stands_for_its_parameters_and_for_no_other_test():
    assert names("a.py::test_x", "a.py::test_x") and names("a.py::test_x", "a.py::test_x[1]")
    assert not names("a.py::test_x", "a.py::test_xy")
    assert names("a.py::test_x[01-", "a.py::test_x[01-one/a]") and not names("a.py::test_x[01-", "a.py::test_x[101-one]")
