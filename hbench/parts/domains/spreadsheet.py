"""SpreadsheetBench: what a workbook's owner wants done, graded by some of its cells (Harness-Zero, section 4)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar, Literal

from pydantic import Field

from hbench.core import libreoffice, recalculation
from hbench.core.digest import Json, derive_seed
from hbench.core.failure import Failure, GradeFailure, HbenchError
from hbench.core.installed import installed_version
from hbench.core.question import Question
from hbench.core.trajectory import Work
from hbench.parts.domains import _sheet_cells, _sheet_questions
from hbench.parts.domains._sheet_areas import Area
from hbench.parts.domains._sheet_authored import AuthoredTasks
from hbench.parts.domains._sheet_cells import Book, Unreadable
from hbench.parts.domains._sheet_questions import input_name, output_name
from hbench.parts.domains._sheet_tasks import Task, TaskFolder, find_folder
from hbench.parts.part import Part

AUTHORED = "authored"
UNSETTLED_ANSWER = "unsettled_answer"  # kind of the grader's Failure: the right answer's own formulas have no values
Recalculate = Callable[[Mapping[str, bytes]], Mapping[str, bytes] | Failure]


class Spreadsheet(Part):
    """Change workbooks as an instruction says. Graded: the answer's cells alone, by value, in the output workbook.

    The student leaves workbooks, not a program: the benchmark runs a program once more on cases that its author has not
    seen, and the paper's verified tasks have one case. Here all inputs of a task lie in the workspace, no answer does, and
    an output is due for each, so that what was done has to hold for other data too.
    """

    version: ClassVar[int] = 2
    packages: ClassVar[tuple[str, ...]] = ("openpyxl", "pandas")
    own_process_per_answer: ClassVar[bool] = True  # a workbook is unpacked, and read by somebody else's library
    failure_kinds: ClassVar[tuple[str, ...]] = (UNSETTLED_ANSWER, recalculation.UNCACHED)

    kind: Literal["spreadsheet"]
    name: str = Field("spreadsheet", description="shown as the domain's name; it changes no question but its id")
    source: str | None = Field(
        None,
        description="folder of SpreadsheetBench (dataset.json or index.jsonl and workbooks), looked up here and in "
        "$HBENCH_DATA/spreadsheet; authored: nine kinds of small job of our own; default: $HBENCH_DATA/spreadsheet",
    )
    cases: Literal["all", "first"] = Field(
        "all", description="first: one workbook a task, as the verified tasks of the paper have"
    )
    untouched: Literal["leave_out", "keep"] = Field(
        "leave_out", description="tasks whose input passes as it is in every case; flagged in questions.meta either way"
    )
    recalculate: Literal["libreoffice", "never"] = Field(
        "libreoffice",
        description="formulas without a stored value are computed by LibreOffice; never: they are a failure, and tasks whose "
        "right answer has some are left out",
    )

    def describe(self) -> str:
        return (
            "A workbook, or several with different data, and what their owner wants done with them, in plain words. The "
            "finished workbooks are saved with Python (openpyxl, pandas); only the values of some named cells count."
        )

    def versions(self) -> Mapping[str, str]:
        """`absent` where the tasks are not there: a plan can be made without them, not run."""
        computed = {"libreoffice": libreoffice.version()} if self.recalculate == "libreoffice" else {}
        return {"openpyxl": installed_version("openpyxl"), "tasks": self._digest(), **computed}

    def questions(self, start: int, stop: int, seed: int) -> list[Question]:
        """Questions `start` to `stop` in the order that `seed` gives, fewer where they end; the authored have no end.

        answer: {"cases": [{"case", "areas", "cells": place -> right value}]}. meta: task, sort, inputs (case, path, digest),
        untouched, unsettled, left_out (see `_sheet_questions.look_at`). Raises HbenchError without tasks or openpyxl.
        """
        if installed_version("openpyxl") == "absent":
            raise HbenchError("the domain spreadsheet needs openpyxl: pip install 'hbench[sheets]'")
        source = self._source()
        if isinstance(source, AuthoredTasks):
            tasks = [source.task(index, seed) for index in range(start, stop)]
        else:
            tasks = _ordered(source, source.digest, seed)[start:stop]
        return [self._question(source, self._cut(task), start + i) for i, task in enumerate(tasks)]

    def settled(self, questions: Sequence[Question], recalculate: Recalculate) -> list[Question]:
        """The same questions, with values for formulas of their right answers. Raises what `recalculate` raises.

        recalculate: path -> workbook to path -> workbook with values. A question whose workbooks it makes nothing of stays
        left out.
        """
        waiting = [question for question in questions if question.meta["unsettled"]]
        if not waiting or self.recalculate == "never":
            return list(questions)
        source = self._source()
        tasks = {task.id: self._cut(task) for task in source.tasks()}
        files = {q.id: {path: source.read(path) for path in _paths(tasks[q.meta["task"]])} for q in waiting}
        made = recalculate({path: content for paths in files.values() for path, content in paths.items()})
        if isinstance(made, Failure):  # one of them spoils it for all
            alone = {question: recalculate(paths) for question, paths in files.items()}
            made = {path: copy for one in alone.values() if not isinstance(one, Failure) for path, copy in one.items()}
        return [self._question(source, tasks[q.meta["task"]], q.pool_index, made) if q.id in files else q for q in questions]

    def _question(self, source: Any, task: Task, index: int, recalculated: Mapping[str, bytes] = {}) -> Question:
        looked = _looked_at(source, source.digest, task) if not recalculated else None
        answer, found, inputs = looked or _sheet_questions.look_at(task, source.read, recalculated)
        if found.get("left_out") == _sheet_questions.UNTOUCHED and self.untouched == "keep":
            found = {name: value for name, value in found.items() if name != "left_out"}
        text = _sheet_questions.text_of(task, answer, self.recalculate == "libreoffice")
        content = [task.instruction, task.position, [digest for *_, digest in inputs]]
        meta = {"task": task.id, "sort": task.sort, "inputs": inputs, **found}
        asked = Question.of(self.name, text, answer, content, meta, index)
        return replace(asked, content_id=Question.of(self.kind, "", None, content).content_id)

    def _cut(self, task: Task) -> Task:
        return replace(task, cases=task.cases[:1]) if self.cases == "first" else task

    def _source(self) -> TaskFolder | AuthoredTasks:
        return AuthoredTasks() if self.source == AUTHORED else find_folder(self.source)

    def _digest(self) -> str:
        try:
            return self._source().digest[:16]
        except HbenchError:
            return "absent"

    def files(self, question: Question) -> Mapping[str, bytes]:
        """The inputs. Raises HbenchError for one that is not what it was when the question was made."""
        source = self._source()
        found = {number: source.read(path) for number, path, _ in question.meta["inputs"]}
        for number, path, digest in question.meta["inputs"]:
            if _sheet_questions.content_digest(found[number]) != digest:
                raise HbenchError(f"{source.where}: {path} has changed since the questions were cut")
        return {input_name(number): content for number, content in found.items()}

    def collected(self, question: Question) -> tuple[str, ...]:
        return tuple(output_name(number) for number, *_ in question.meta["inputs"])

    def grade_names(self) -> tuple[str, ...]:
        return ("score", "soft")

    def grade_work(self, work: Work, question: Question) -> Mapping[str, float]:
        """soft: the share of cases whose output is right. score: 1.0 where all are (the benchmark's hard score).

        An output that is missing, or no workbook, is wrong. Raises GradeFailure where a formula without a value decides.
        """
        import openpyxl  # noqa: F401  # loaded once, before there is a workbook: the grader forks what is loaded by then

        passed = [_passes(work, case) for case in question.answer["cases"]]
        return {"score": float(all(passed)), "soft": sum(passed) / len(passed)}


def _passes(work: Work, case: Json) -> bool:
    name, areas = output_name(case["case"]), [Area(*area) for area in case["areas"]]
    if _sheet_cells.formulas(case["cells"]):
        raise GradeFailure(UNSETTLED_ANSWER, f"case {case['case']}: the right answer has formulas without values")
    found = _cells(work.files.get(name), areas)
    if found is None:
        return False
    verdict = _sheet_cells.compare(case["cells"], found)
    if verdict == "unknown":
        found = _sheet_cells.filled(found, _cells(work.files.get(recalculation.FOLDER + name), areas) or found)
        verdict = _sheet_cells.compare(case["cells"], found)
    if verdict == "unknown":
        places = _sheet_cells.formulas(found)
        raise GradeFailure(recalculation.UNCACHED, f"{name}: {len(places)} formulas without a value, the first in {places[0]}")
    return verdict == "same"


def _cells(content: bytes | None, areas: Sequence[Area]) -> _sheet_cells.Cells | None:
    try:
        return None if content is None else Book(content).cells(areas)
    except Unreadable:
        return None


def _paths(task: Task) -> list[str]:
    return [path for case in task.cases for path in (case.input, case.answer)]


@lru_cache(maxsize=4096)
def _looked_at(source: TaskFolder | AuthoredTasks, contents: str, task: Task) -> tuple[Json, Json, Json]:
    """Workbooks are slow to read, and splits of other sizes and fields ask for the same ones."""
    return _sheet_questions.look_at(task, source.read)


@lru_cache(maxsize=8)
def _ordered(source: TaskFolder, contents: str, seed: int) -> tuple[Task, ...]:
    """By a digest of seed and task, so that the order of the file does not count."""
    return tuple(sorted(source.tasks(), key=lambda task: (derive_seed("spreadsheet", seed, task.id), task.id)))
