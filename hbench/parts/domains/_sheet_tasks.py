"""Tasks of SpreadsheetBench as they lie in a folder: the published layouts, and a slice with an index of its own."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from hbench.core.digest import Json, digest
from hbench.core.failure import HbenchError
from hbench.core.folder_digest import file_digest
from hbench.parts.families import _qa_files

PUBLISHER = "https://github.com/RUCKBReasoning/SpreadsheetBench"
_INDEXES = ("index.jsonl", "dataset.json", "dataset.jsonl")
# 1_ID_input.xlsx, 1_ID_init.xlsx, initial.xlsx and their answers: the numbered cases, and the verified set's one.
_FILE = re.compile(r"(?:(\d+)_(?:.*_)?)?(?:(input|init|initial)|(answer|golden))\.xlsx", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Case:
    """One workbook and its answer. Paths are the source's own."""

    number: int
    input: str
    answer: str


@dataclass(frozen=True, slots=True)
class Task:
    """sort: cell-level or sheet-level, as the benchmark calls it. position: where the answer is read. sheet: the sheet that
    is meant where `position` names none; "" when it isn't said."""

    id: str
    instruction: str
    sort: str
    position: str
    sheet: str
    cases: tuple[Case, ...]


@dataclass(frozen=True)
class TaskFolder:
    """A folder with an index of tasks and their workbooks."""

    path: Path

    @property
    def where(self) -> str:
        return str(self.path)

    @property
    def digest(self) -> str:
        """Of the index and every workbook that it names. A folder is looked at again after a minute."""
        return _folder_digest(self.path, int(time.monotonic() / 60))

    def tasks(self) -> tuple[Task, ...]:
        """Raises HbenchError for a row that is no task, and for a task without a pair of workbooks."""
        return _tasks(self.path, self.digest)

    def read(self, path: str) -> bytes:
        """Raises HbenchError."""
        try:
            return (self.path / path).read_bytes()
        except OSError as bad:
            raise HbenchError(f"{self.path / path} cannot be read: {bad}") from bad


def find_folder(name: str | None) -> TaskFolder:
    """The folder `name`, here or among the data; None: what lies in the data folder itself. Raises HbenchError, saying how
    to get one."""
    places = _qa_files.folders("spreadsheet")
    found = [Path(name), *(place / name for place in places)] if name else places
    folder = next((folder for folder in found if _index(folder) is not None), None)
    if folder is None:
        raise HbenchError(
            f"domain.source: none of {', '.join(_INDEXES)} in {', '.join(map(str, found))}: unpack SpreadsheetBench "
            f"({PUBLISHER}) into $HBENCH_DATA/spreadsheet, or set domain.source: authored"
        )
    return TaskFolder(folder.resolve())


def _index(folder: Path) -> Path | None:
    return next((folder / name for name in _INDEXES if (folder / name).is_file()), None)


@lru_cache(maxsize=8)
def _folder_digest(folder: Path, minute: int) -> str:
    files = sorted({path for task in _read(folder) for case in task.cases for path in (case.input, case.answer)})
    return digest([_qa_files.digest_of(_index(folder)), [[path, file_digest(folder / path)] for path in files]])


@lru_cache(maxsize=8)
def _tasks(folder: Path, contents: str) -> tuple[Task, ...]:
    return tuple(_read(folder))


def _read(folder: Path) -> Iterator[Task]:
    index = _index(folder)
    for number, row in enumerate(_qa_files.rows_of(index), start=1):
        try:
            yield _task(folder, row)
        except (KeyError, TypeError, AttributeError, ValueError) as bad:
            raise HbenchError(f"{index}, row {number}: not a task ({type(bad).__name__}: {bad})") from bad


def _task(folder: Path, row: Json) -> Task:
    number = str(row["id"])
    cases = _listed(row) if "cases" in row else _found(folder, row.get("spreadsheet_path") or f"spreadsheet/{number}")
    paths = [Path(path) for case in cases for path in (case.input, case.answer)]
    if any(path.is_absolute() or ".." in path.parts for path in paths):
        raise HbenchError(f"{folder}: task {number} names a workbook outside of its folder")
    if not paths or any(not (folder / path).is_file() for path in paths):
        raise HbenchError(f"{folder}: task {number} lacks its workbooks")
    sheet, sort = row.get("answer_sheet") or "", row.get("instruction_type") or ""
    return Task(number, row["instruction"].strip(), sort, row["answer_position"].strip(), sheet, cases)


def _listed(row: Json) -> tuple[Case, ...]:
    return tuple(Case(int(case["case"]), case["input"], case["answer"]) for case in row["cases"])


def _found(folder: Path, place: str) -> tuple[Case, ...]:
    """Pairs by their number; a name without one is the first. The id within a name is not looked at: one is misspelt."""
    inputs, answers = {}, {}
    for file in sorted((folder / place).glob("*.xlsx")):
        if match := _FILE.fullmatch(file.name):
            kind = inputs if match.group(2) else answers
            kind.setdefault(int(match.group(1) or 1), file.relative_to(folder).as_posix())
    return tuple(Case(number, inputs[number], answers[number]) for number in sorted(inputs.keys() & answers.keys()))
