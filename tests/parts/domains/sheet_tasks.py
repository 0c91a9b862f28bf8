"""Small spreadsheet tasks laid out in a folder as they are published, and the domain that reads them."""

import json

from hbench.core.failure import StepError
from hbench.core.trajectory import Work
from hbench.parts.part import build
from hbench.steps.split import split
from tests.parts.domains.workbooks import made

BEFORE, AFTER, COMPUTED = made({"A1": 2}), made({"A1": 2, "B1": 4}), made({"A1": 2, "B1": "=A1*2"})


def spreadsheet(**fields):
    return build("domains", {"kind": "spreadsheet", **fields})


def graded(question, files, **fields):
    return spreadsheet(**fields).grade_work(Work("Done.", files), question)


def lay(folder, files, *rows):
    """A task, or these, whose workbooks are `files`: name -> content. The first doubles A1 into B1."""
    task = {"id": 7, "instruction": "Double A1 into B1. ", "answer_position": "B1", "spreadsheet_path": "spreadsheet/7"}
    (folder / "dataset.json").write_text(json.dumps([{**task, **row} for row in rows or ({},)]))
    (folder / "spreadsheet" / "7").mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / "spreadsheet" / "7" / name).write_bytes(content)


class Formulas:
    """Services of a machine without LibreOffice."""

    def recalculate(self, workbooks):
        raise StepError("formulas without values need LibreOffice")


def cut(domain, **sizes):
    params = {"domain": domain.to_json(), "role": "training", "sizes": sizes, "seed": 1}
    return split(params, {}, Formulas()).value["questions"]
