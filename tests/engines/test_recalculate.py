"""LibreOffice as the engine that gives formulas their values: what it is asked, what goes wrong, how it is confined.

A small script stands in for LibreOffice where the question is how it is run; `real` tests are LibreOffice's own.
"""

import json
import socket
import subprocess
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("openpyxl", reason="the extra `sheets` is not installed")

from openpyxl import Workbook
from openpyxl.worksheet.formula import ArrayFormula

from hbench.core import libreoffice
from hbench.core.failure import Failure, StepError
from hbench.core.question import Question
from hbench.core.recalculation import FOLDER
from hbench.core.trajectory import Work
from hbench.engines import recalculate
from hbench.engines.recalculate import Recalculation, confined
from hbench.parts.part import build
from hbench.runtime.loop import Interrupted
from tests.parts.domains.workbooks import cells, made, saved, written
from tests.where import cases, data
from tests.where import libreoffice as needs_libreoffice

real = pytest.mark.slow


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Puts a script in LibreOffice's place. It starts where the workbooks lie in in/, and should leave them in out/."""

    def put(script: str) -> None:
        folder = tmp_path / "office" / "program"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "soffice.bin").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "soffice.bin").chmod(0o755)
        monkeypatch.setattr(recalculate, "program_folder", lambda: folder)

    confined.cache_clear()
    yield put
    confined.cache_clear()


COPY = "cp in/*.xlsx out/"


def test_workbooks_come_back_under_their_own_names(stand_in):
    stand_in(COPY)
    assert Recalculation().workbooks({"b/one.xlsx": b"1", "a.xlsx": b"2"}) == {"b/one.xlsx": b"1", "a.xlsx": b"2"}
    assert Recalculation().workbooks({}) == {}


def test_a_first_start_that_only_lays_out_its_settings_is_followed_by_another(stand_in):
    stand_in(f"[ -f profile/started ] || {{ touch profile/started; exit 81; }}\n{COPY}")
    assert Recalculation().workbooks({"a": b"1"}) == {"a": b"1"}


def test_without_libreoffice_the_step_stops_and_says_what_to_do(monkeypatch):
    monkeypatch.setattr(recalculate, "program_folder", lambda: None)
    with pytest.raises(StepError, match="LibreOffice, which is not here: install LibreOffice .*apt-get install"):
        Recalculation().workbooks({"a": b"1"})


def test_a_workbook_of_which_nothing_is_made_is_a_failure_that_names_it(stand_in):
    stand_in('for f in in/*; do grep -q bad "$f" || cp "$f" out/; done; echo "could not be loaded" >&2')
    found = Recalculation().workbooks({"good.xlsx": b"1", "worse.xlsx": b"bad"})
    assert isinstance(found, Failure) and (found.boundary, found.kind) == ("grader", "recalculation")
    assert found.message == "LibreOffice makes nothing of worse.xlsx: exit code 0, could not be loaded"


def test_a_libreoffice_that_makes_nothing_of_any_workbook_stops_the_step(stand_in):
    """It is the machine's fault then, and no student's."""
    stand_in("echo no display >&2; exit 7")
    with pytest.raises(StepError, match="LibreOffice does not recalculate here: exit code 7, no display"):
        Recalculation().workbooks({"a": b"1"})


def test_it_ends_when_the_run_is_stopped(stand_in, tmp_path):
    stand_in("sleep 600")

    def stop():
        raise Interrupted

    with pytest.raises(Interrupted):
        Recalculation(look=stop).workbooks({"a": b"1"})
    assert not [p for p in Path("/proc").glob("[0-9]*/cmdline") if str(tmp_path).encode() in p.read_bytes()]


SPOILT = {
    "it never ends": "while :; do :; done",
    "it writes without end": "cat /dev/urandom > out/0.xlsx",
    "it leaves a link": "ln -s {folder}/secret out/0.xlsx",
}


@pytest.mark.parametrize("what", SPOILT)
@pytest.mark.attack
def test_what_takes_libreoffice_over_costs_its_own_workbook_alone(what, stand_in, tmp_path, monkeypatch):
    """Time and files are limited, and links are not followed. A sound workbook, the only long one, is still made."""
    monkeypatch.setattr(recalculate, "_CPU_S", 0)
    monkeypatch.setattr(recalculate, "_EACH_CPU_S", 2)
    (tmp_path / "secret").write_bytes(b"canary")
    stand_in(f"[ $(stat -c %s in/0.xlsx) -gt 100 ] && {{ {COPY}; exit; }}\n{SPOILT[what].format(folder=tmp_path)}")
    found = Recalculation("none" if "link" in what else "auto").workbooks({"a": b"short"})
    assert isinstance(found, Failure) and found.kind == "recalculation"


@pytest.mark.attack
@pytest.mark.control
def test_control_what_it_leaves_is_taken_and_what_the_link_leads_to_was_in_reach(stand_in, tmp_path):
    (tmp_path / "secret").write_bytes(b"canary")
    stand_in(f"cp {tmp_path}/secret out/0.xlsx")
    assert Recalculation("none").workbooks({"a": b"short"}) == {"a": b"canary"}


PROBES = {
    "read a file": "cat {folder}/secret",
    "see a variable": 'echo "$HBENCH_TEST_KEY"',
    "see the driver": "cat /proc/{pid}/cmdline | tr '\\0' '\\n' | grep -o canary",
}


@pytest.mark.parametrize("what", PROBES)
@pytest.mark.attack
def test_what_runs_in_its_place_sees_nothing_of_the_machine(what, tmp_path, monkeypatch):
    (tmp_path / "secret").write_text("canary")
    monkeypatch.setenv("HBENCH_TEST_KEY", "canary")
    (tmp_path / "office").mkdir()
    sleeper = subprocess.Popen(["sh", "-c", "sleep 60", "canary"])
    probe = ["/bin/sh", "-c", PROBES[what].format(folder=tmp_path, pid=sleeper.pid)]
    try:
        inside = subprocess.run([*confined(tmp_path / "office" / "program", "auto"), "--", *probe], capture_output=True, text=True)
        outside = subprocess.run(probe, capture_output=True, text=True)
    finally:
        sleeper.kill()
        sleeper.wait()
    assert "canary" in outside.stdout and "canary" not in inside.stdout + inside.stderr


@pytest.mark.attack
def test_what_runs_in_its_place_has_no_network_and_no_rights(tmp_path):
    """It reaches no server of this machine, which the same program reaches from outside."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        reach = f"exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]} && echo reached; grep CapEff /proc/self/status"
        probe, wrap = ["/bin/bash", "-c", reach], [*confined(tmp_path / "program", "auto"), "--"]
        inside, outside = (subprocess.run([*w, *probe], capture_output=True, text=True).stdout for w in (wrap, []))
    assert "reached" in outside and "reached" not in inside
    assert inside.split() == ["CapEff:", "0000000000000000"]


def test_without_namespaces_it_is_refused_and_no_confinement_has_to_be_asked_for():
    with pytest.raises(StepError, match="can only be confined by namespaces.*domain.recalculate: never"):
        confined(Path("/nowhere/x"), "landlock")
    assert confined(Path("/nowhere/x"), "none") == []


def functions() -> bytes:
    """Formulas of many sorts, none with a value."""
    book = Workbook()
    page = book.active
    for row in ((1, "a", 10.5), (2, "b", 20), (3, "a", 30)):
        page.append(row)
    formulas = {
        "E1": "=SUM(A1:A3)", "E2": '=SUMIF(B1:B3,"a",C1:C3)', "E3": "=VLOOKUP(2,A1:C3,3,FALSE)", "E4": '=IF(A1>5,"big","")',
        "E5": '=B1&"-"&B2', "E6": "=1/0", "E7": "=DATE(2024,3,5)", "E8": "=A1>0", "E9": "=ROUND(C1/3,4)", "E10": "=Other!A1+1",
        "E11": "=SUMPRODUCT(A1:A3,C1:C3)", "E12": '=INDEX(B1:B3,MATCH(30,C1:C3,0))', "E13": "=NOSUCHFUNCTION(1)",
    }  # fmt: skip
    for place, formula in formulas.items():
        page[place] = formula
    page["G1"] = ArrayFormula("G1:G3", "=A1:A3*2")
    book.create_sheet("Other")["A1"] = 41
    return saved(book)


STALE = '<row r="1"><c r="A1"><v>2</v></c><c r="B1"><f>A1*2</f><v>99</v></c><c r="C1"><f>B1+1</f></c></row>'


@cache
def computed() -> dict[str, bytes]:
    """What LibreOffice makes of some workbooks, in one go."""
    needs_libreoffice()
    folder = cases() / "121-formula-without-cached-value"
    files = {name: (folder / name).read_bytes() for name in ("gold.xlsx", "out_formula.xlsx")}
    found = Recalculation().workbooks({**files, "functions": functions(), "stale": written(STALE), "empty": made()})
    assert isinstance(found, dict), found
    return found


@real
def test_formulas_get_their_values():
    assert cells(computed()["gold.xlsx"], "'Sum'!C1") == cells(computed()["out_formula.xlsx"], "'Sum'!C1") == {"C1": 3.0}
    found = cells(computed()["functions"], "E1:G13")
    assert found == {
        "E1": 6.0, "E2": 40.5, "E3": 20.0, "E5": "a-b", "E6": "#DIV/0!", "E7": 45356.0, "E8": 1.0, "E9": 3.5, "E10": 42.0,
        "E11": 140.5, "E12": "a", "E13": "#NAME?", "G1": 2.0, "G2": 4.0, "G3": 6.0,
    }  # fmt: skip
    assert cells(computed()["empty"]) == {}


@real
@pytest.mark.parametrize("output", ["out_value.xlsx", "out_empty.xlsx", "out_formula.xlsx"])
def test_shared_case_of_formulas_without_values(output):
    """Gold and one of the outputs are formulas without values: they count as what they compute, never as empty."""
    folder = cases() / "121-formula-without-cached-value"
    expected = json.loads((folder / "expected.json").read_text())
    left = {"1_output.xlsx": (folder / output).read_bytes(), FOLDER + "1_output.xlsx": computed().get(output)}
    right = cells(computed()["gold.xlsx"], expected["range"])
    case = {"case": 1, "areas": [["Sum", 3, 1, 3, 1]], "cells": {f"'Sum'!{place}": cell for place, cell in right.items()}}
    question = Question.of("spreadsheet", "?", {"cases": [case]}, "?")
    domain = build("domains", {"kind": "spreadsheet"})
    files = {path: content for path, content in left.items() if content is not None}
    assert domain.grade_work(Work("", files), question)["score"] == expected[output]


@real
def test_stored_values_stay_and_what_is_missing_is_computed_from_them():
    assert cells(computed()["stale"]) == {"A1": 2.0, "B1": 99.0, "C1": 100.0}


@real
def test_a_workbook_that_is_none_is_the_students_failure():
    needs_libreoffice()
    found = Recalculation().workbooks({"1_output.xlsx": b"no workbook"})
    assert isinstance(found, Failure) and found.kind == "recalculation" and "1_output.xlsx" in found.message


@real
@pytest.mark.long
def test_gold_against_gold_passes_in_all_150_cases_of_the_real_tasks():
    """Three of them have formulas without values in their answers, which count once they are computed."""
    needs_libreoffice()
    domain = build("domains", {"kind": "spreadsheet", "source": str(data() / "spreadsheet")})
    questions = domain.settled(domain.questions(0, 99, 0), Recalculation().workbooks)
    assert [q.meta["unsettled"] for q in questions] == [[]] * 50
    assert passes(domain, questions) == 150
    assert sum(len(q.meta["untouched"]) for q in questions) == 12


def passes(domain, questions) -> int:
    """Cases in which the answer's own workbook is right; formulas in it count as computed."""
    source, count = domain._source(), 0
    tasks = {task.id: task for task in source.tasks()}
    for question in questions:
        files = {f"{case.number}_output.xlsx": source.read(case.answer) for case in tasks[question.meta["task"]].cases}
        if question.meta["task"] == "208-20":
            files |= {FOLDER + path: copy for path, copy in Recalculation().workbooks(files).items()}
        count += round(3 * domain.grade_work(Work("", files), question)["soft"])
    return count


def test_where_libreoffice_lies_is_found_by_its_program_and_its_version_is_part_of_what_is_hashed(tmp_path, monkeypatch):
    folder = tmp_path / "office" / "program"
    folder.mkdir(parents=True)
    for name, text in {"soffice": "", "soffice.bin": "", "bootstraprc": "ProductKey=LibreOffice 9.1\n", "versionrc": "buildid=7\n"}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "soffice").symlink_to(folder / "soffice")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for found in (libreoffice.program_folder, libreoffice.version):
        found.cache_clear()
    try:
        assert libreoffice.program_folder() == folder
        assert libreoffice.version().startswith("LibreOffice 9.1 (")
    finally:
        for found in (libreoffice.program_folder, libreoffice.version):
            found.cache_clear()
