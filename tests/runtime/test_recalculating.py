"""Spreadsheets from a student's command to a grade: real workspace, grader jail, and LibreOffice where it is there."""

import asyncio
from dataclasses import replace
from functools import cache
from io import BytesIO
from types import SimpleNamespace
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

pytest.importorskip("openpyxl", reason="the extra `sheets` is not installed")

from hbench.core.failure import Failure, StepError
from hbench.core.recalculation import FOLDER
from hbench.core.trajectory import Work
from hbench.engines import recalculate
from hbench.parts.domains._sheet_authored import AuthoredTasks
from hbench.parts.part import build
from hbench.runtime.loop import LoopThread
from hbench.runtime.recalculating import Recalculator, graded_work
from tests.engines.jail.lab import jails_of, loop
from tests.parts.domains.workbooks import made
from tests.runtime.acting import Played, bash, told
from tests.where import libreoffice

BLOCK = {"kind": "spreadsheet", "source": "authored"}
RIGHT = {"score": 1.0, "soft": 1.0}


class Copies:
    """Gives what a test says in place of LibreOffice, and notes what it was asked."""

    def __init__(self, *made):
        self.made, self.asked = list(made), []

    async def workbooks(self, files):
        self.asked.append(sorted(files))
        return self.made.pop(0)


@cache
def question():
    """line_totals: D2 and below are quantity times price plus a fee."""
    return build("domains", BLOCK).questions(0, 1, 0)[0]


def answers():
    source = AuthoredTasks()
    return {f"{case.number}_output.xlsx": source.read(case.answer) for case in source.task(0, 0).cases}


FORMULAS = """
import glob, openpyxl, re
fee = int(re.search("fee of (\\\\d+)", '''{asked}''')[1])
for n in (1, 2, 3):
    book = openpyxl.load_workbook(f"{{n}}_input.xlsx")
    page = book["Orders"]
    for row in range(2, page.max_row + 1):
        page.cell(row, 4, {cell})
    book.save(f"{{n}}_output.xlsx")
"""
AS_FORMULA = 'f"=B{row}*C{row}+{fee}"'
AS_VALUE = "page.cell(row, 2).value * page.cell(row, 3).value + fee"


def script(cell: str) -> str:
    return "python3 - <<'END'\n" + FORMULAS.format(asked=question().text.splitlines()[0], cell=cell) + "END"


def graded(files, recalculator=None, **fields):
    domain = build("domains", {**BLOCK, **fields})
    stage = SimpleNamespace(
        setting=SimpleNamespace(domain=domain), jails=jails_of("auto"), domain=domain.to_json(), recalculator=recalculator
    )
    return loop().run_until_complete(graded_work(stage, Work("Done.", files), question()))


def computing():
    """Outputs whose answers are formulas without values."""
    return {f"{n}_output.xlsx": made({f"D{row}": "=1+1" for row in range(2, 14)}, sheet="Orders") for n in (1, 2, 3)}


def test_outputs_are_graded_in_the_jail():
    assert graded(answers()) == RIGHT
    assert graded({**answers(), "2_output.xlsx": b"no workbook"})["soft"] == pytest.approx(2 / 3)


def test_formulas_are_graded_with_the_values_of_the_recalculated_copies():
    copies = Copies(answers())
    assert graded(computing(), copies) == RIGHT
    assert copies.asked == [["1_output.xlsx", "2_output.xlsx", "3_output.xlsx"]]
    assert graded(answers(), Copies()) == RIGHT  # nothing to compute, nobody is asked


def test_where_formulas_are_not_recalculated_they_are_a_named_failure():
    for found in (graded(computing(), Copies(answers()), recalculate="never"), graded(computing(), None)):
        assert isinstance(found, Failure) and (found.boundary, found.kind) == ("grader", "uncached_formula")
        assert "1_output.xlsx: " in found.message and "the first in 'Orders'!D10" in found.message


def test_a_failed_recalculation_is_the_rollouts_failure():
    broken = Failure("grader", "recalculation", "no")
    assert graded(computing(), Copies(broken, broken, broken, broken)) == broken
    assert graded(computing(), Copies(computing())).kind == "uncached_formula"


def test_an_output_that_libreoffice_makes_nothing_of_costs_its_own_case():
    """All cases were lost with it, though only the first had formulas."""
    broken, right = Failure("grader", "recalculation", "no"), answers()
    left = {**right, "1_output.xlsx": computing()["1_output.xlsx"], "3_output.xlsx": b"no workbook"}
    copies = Copies(broken, *({path: right[path]} for path in ("1_output.xlsx", "2_output.xlsx")), broken)
    assert graded(left, copies) == {"score": 0.0, "soft": pytest.approx(2 / 3)}


def test_a_file_of_the_students_own_is_no_recalculated_copy():
    """Only the outputs are collected, by their whole names; what lies elsewhere in the workspace does not reach the grader."""
    assert not any(name.startswith(FOLDER) for name in build("domains", BLOCK).collected(question()))


@pytest.mark.attack
def test_an_archive_that_would_fill_the_grader_costs_its_own_case():
    bomb = BytesIO()
    with ZipFile(bomb, "w", ZIP_DEFLATED) as archive:
        for part in range(5):
            archive.writestr(f"xl/{part}", bytes(64 << 20))
    assert graded({**answers(), "3_output.xlsx": bomb.getvalue()})["soft"] == pytest.approx(2 / 3)


def test_a_student_does_a_job_with_python_in_the_workspace():
    acted = Played([bash("ls *.xlsx; python3 -c 'import pandas; print(pandas.read_excel(\"1_input.xlsx\").columns[0])'"),
                    bash(script(AS_VALUE)), "Done."], BLOCK, target={"memory_mb": 1024, "command_s": 240.0}).play()  # fmt: skip
    assert told(acted)[0].split() == ["1_input.xlsx", "2_input.xlsx", "3_input.xlsx", "Item"], told(acted)
    assert acted.rollout.grades == RIGHT, (told(acted), acted.rollout.failure)


def test_a_stopped_run_ends_libreoffice(tmp_path, monkeypatch):
    (tmp_path / "program").mkdir()
    (tmp_path / "program" / "soffice.bin").write_text("#!/bin/sh\nsleep 600\n")
    (tmp_path / "program" / "soffice.bin").chmod(0o755)
    monkeypatch.setattr(recalculate, "program_folder", lambda: tmp_path / "program")
    running = LoopThread()
    recalculator = Recalculator("auto", running.check)

    async def stopped_soon():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(recalculator.workbooks({"a": b"1"}), 0.5)
        return "stopped"

    assert running.run(stopped_soon()) == "stopped"
    running.stop()


def test_a_machine_without_libreoffice_stops_the_step(monkeypatch):
    monkeypatch.setattr(recalculate, "program_folder", lambda: None)
    with pytest.raises(StepError, match="formulas without values need LibreOffice"):
        graded(computing(), Recalculator("auto", lambda: None))


@pytest.mark.slow
def test_a_student_leaves_formulas_and_libreoffice_computes_them():
    libreoffice()
    played = Played([bash(script(AS_FORMULA)), "Done."], BLOCK, target={"memory_mb": 1024, "command_s": 240.0})
    played.stage = replace(played.stage, recalculator=Recalculator("auto", lambda: None))
    acted = played.play()
    assert acted.rollout.grades == RIGHT, (told(acted), acted.rollout.failure)
