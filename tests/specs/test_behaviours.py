"""Patterns of behaviour: each is shown by commands that do so, and by nothing that does not."""

import pytest
import yaml

from hbench.parts.part import build
from hbench.spec import check_files
from hbench.spec.source import read
from tests.lived import ANSWER, Say, bash, lived
from tests.where import REPO

FOLDER = REPO / "specs" / "behaviours"
LOAD, SAVE = "python3 -c \"b = openpyxl.load_workbook('in.xlsx')\"", "python3 fill.py && python3 -c \"b.save('out.xlsx')\""
SHOWN = {
    "spreadsheet": {
        "lists_workspace": ["ls -l"],
        "reads_before_saving": [LOAD, SAVE],
        "prints_dimensions": ["python3 -c 'print(s.max_row)'"],
        "lists_sheets": ["python3 -c 'print(b.sheetnames)'"],
        "shows_rows": ["python3 - <<'E'\nfor row in s.iter_rows(max_row=5):\n    print(row)\nE"],
        "reads_stored_values": ["python3 -c \"load_workbook('a.xlsx', data_only=True)\""],
        "looks_for_formulas": ["python3 -c \"print(str(c.value).startswith('='))\""],
        "minds_merged_cells": ["python3 -c 'print(s.merged_cells.ranges)'"],
        "minds_number_formats": ["python3 -c 'c.number_format = d.number_format'"],
        "parses_dates": ["python3 -c 'import datetime'"],
        "minds_empty_cells": ["python3 -c 'print([c for c in r if c.value is not None])'"],
        "edits_in_place": ["python3 - <<'E'\nb = load_workbook('a.xlsx')\nb.save('a.xlsx')\nE"],
        "recalculates": ["soffice --headless --convert-to xlsx a.xlsx"],
        "output_readback": [SAVE, LOAD],
        "compares_workbooks": ["python3 - <<'E'\na = load_workbook('a')\nb = load_workbook('b')\nprint(a['A1'] == b['A1'])\nE"],
        "repairs_after_error": [("python3 a.py", "Traceback (most recent call last):\nKeyError: 'x'"), "python3 b.py"],
        "every_workbook": ["for f in *_input.xlsx; do python3 fill.py $f; done"],
        "keeps_a_script": ["cat > fill.py <<'E'\nprint(1)\nE", "python3 fill.py"],
    },
    "uspto": {
        "rdkit_validation": ["python3 -c \"Chem.MolFromSmiles('CCO')\""],
        "canonical_form": ["python3 -c \"Chem.CanonSmiles('OCC')\""],
        "atom_balance": ["python3 -c 'print(CalcMolFormula(m))'"],
        "substructure_search": ["python3 -c 'print(m.HasSubstructMatch(p))'"],
        "forward_reaction": ["python3 -c 'print(r.RunReactants((a, b)))'"],
        "several_candidates": ["python3 -c \"Chem.MolFromSmiles('CCO')\"", "python3 -c \"Chem.MolFromSmiles('CCN')\""],
    },
    "appworld": {
        "complete_pages": ["world <<'E'\nwhile True:\n    found = apis.gmail.show_inbox(page_index=page)\nE"],
        "mutation_readback": ["world 'apis.todo.create_task(x=1)'", "world 'print(apis.todo.show_task(1))'"],
        "documentation_first": ["world 'print(apis.api_docs.show_api_doc(1))'", "world 'apis.todo.create_task(x=1)'"],
        "asks_for_credentials": ["world 'print(apis.supervisor.show_account_passwords())'", "world 'apis.gmail.login(a)'"],
    },
    "files": {
        "looks_first": ["cat a.txt", "sort a.txt > b.txt"],
        "read_back": ["sort a.txt > b.txt", "cat b.txt"],
        "bare_counts": ["wc -l < a.txt"],
        "one_step_at_a_time": ["pwd", "date", "id"],
    },
}
EACH = [(domain, pattern) for domain, patterns in SHOWN.items() for pattern in patterns]


def detectors(domain):
    source = read(FOLDER / f"{domain}.yaml")
    assert not source.problems
    return {name: build("detectors", block) for name, block in source.tree.values["behaviours"].items()}


def ran(commands):
    told = [each if isinstance(each, tuple) else (each, "done") for each in commands]
    return lived(*(Say(bash(command), told=output) for command, output in told), ANSWER)


@pytest.mark.parametrize("domain", SHOWN)
def test_every_pattern_has_an_example_here(domain):
    assert set(detectors(domain)) == set(SHOWN[domain])
    assert check_files([FOLDER / f"{domain}.yaml"]).problems == ()


def test_there_are_as_many_as_in_the_paper():
    assert {domain: len(patterns) for domain, patterns in SHOWN.items() if domain != "files"} == {
        "spreadsheet": 18, "uspto": 6, "appworld": 4,
    }  # fmt: skip


@pytest.mark.parametrize(("domain", "pattern"), EACH)
def test_a_pattern_is_shown_where_it_is_executed_and_not_where_it_is_said(domain, pattern):
    detector, commands = detectors(domain)[pattern], SHOWN[domain][pattern]
    assert detector.shown(ran(commands))
    words = " ".join(each[0] if isinstance(each, tuple) else each for each in commands).replace("`", "")
    assert not detector.shown(lived(Say(bash("true", f"I might do: {words}")), Say(words, told=None)))


@pytest.mark.parametrize("pattern", ["reads_before_saving", "output_readback"])
def test_order_counts(pattern):
    assert not detectors("spreadsheet")[pattern].shown(ran(SHOWN["spreadsheet"][pattern][::-1]))


@pytest.mark.parametrize(
    ("domain", "pattern", "commands"),
    [
        ("appworld", "mutation_readback", ["world 'apis.todo.create_task(x=1)'", "world 'print(apis.api_docs.show_api_doc(1))'"]),
        ("appworld", "complete_pages", ["world 'for t in apis.todo.show_tasks(page_index=0): print(t)'"]),
        ("spreadsheet", "every_workbook", ["python3 - <<'E'\nfor row in s.iter_rows():\n    print(row)\nb.save('out.xlsx')\nE"]),
        ("files", "looks_first", ["ls", "cat a.txt 2>/dev/null", "wc -l a.txt 2>&1"]),
    ],
)
def test_what_only_looks_like_a_pattern_shows_none(domain, pattern, commands):
    """Documentation is no readback, one page is not all of them, a loop over rows is none over workbooks, 2> writes no file."""
    assert not detectors(domain)[pattern].shown(ran(commands))


def test_tools_of_a_bank_count_by_the_names_of_their_files():
    acted = ran(['printf %s {} | python3 "$BANK/tools/smiles_check.py"'])
    assert detectors("uspto")["rdkit_validation"].shown(acted)


def test_the_names_of_patterns_are_those_of_which_the_paper_tells():
    named = {tuple(row.split(" / ")[:2]) for row in yaml.safe_load((REPO / "specs/exhibits/distil_recovery.yaml").read_text())["paper"]}
    assert {(d, p) for d, p in named if p != "mean of patterns"} <= set(EACH)
