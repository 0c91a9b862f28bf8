"""Spreadsheet jobs of our own: the same every time and everywhere, right when they are done."""

from functools import cache
from io import BytesIO
from zipfile import ZIP_STORED, ZipFile

import pytest

pytest.importorskip("openpyxl", reason="the extra `sheets` is not installed")

from hbench.parts.domains._sheet_jobs import JOBS
from tests.parts.domains.sheet_tasks import graded, spreadsheet

AUTHORED = spreadsheet(source="authored")


@cache
def jobs():
    return AUTHORED.questions(0, 2 * len(JOBS), seed=4)


def test_authored_jobs_come_in_turn_with_three_cases_each_and_are_the_same_every_time():
    assert [q.meta["task"].split("-")[0] for q in jobs()] == list(JOBS) * 2
    assert all(len(q.answer["cases"]) == 3 and not q.meta["unsettled"] for q in jobs())
    assert AUTHORED.questions(3, 5, seed=4) == jobs()[3:5] != AUTHORED.questions(3, 5, seed=5)
    assert AUTHORED.files(jobs()[2]) == AUTHORED.files(jobs()[2])


def test_what_packs_does_not_count():
    """A workbook's digest is part of what is asked, and zlib and what stands in for it pack the same text differently."""
    for content in AUTHORED.files(jobs()[0]).values():
        with ZipFile(BytesIO(content)) as archive:
            assert {part.compress_type for part in archive.infolist()} == {ZIP_STORED}


def test_an_authored_job_is_right_when_it_is_done_and_nothing_is_right_without_work():
    source = AUTHORED._source()
    for place, question in enumerate(jobs()):
        task = source.task(place, 4)
        done = {f"{case.number}_output.xlsx": source.read(case.answer) for case in task.cases}
        undone = {name.replace("input", "output"): content for name, content in AUTHORED.files(question).items()}
        assert graded(question, done) == {"score": 1.0, "soft": 1.0}, question.text
        assert graded(question, undone)["score"] == 0.0 or question.meta["untouched"] == [1, 2, 3], question.text
        assert graded(question, {})["soft"] == 0.0
