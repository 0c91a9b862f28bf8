"""Somebody else's agent in place of the target harness: a program with the user's rights on a copy of the workspace."""

import asyncio
import re
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from hbench.core.brief_folder import remove
from hbench.core.digest import Json
from hbench.core.failure import Failure, StepError
from hbench.core.message import Message
from hbench.core.outside import Finished
from hbench.core.question import Question
from hbench.core.rollout import Event
from hbench.core.trajectory import Acted, Trajectory, Turn, Work
from hbench.engines.jail import Jails
from hbench.engines.jail.inside.files import regular_files
from hbench.engines.outside import run_outside
from hbench.runtime.acting.patience import Patience
from hbench.runtime.acting.rollout import acted, graded
from hbench.runtime.local import in_thread
from hbench.runtime.loop import Interrupted
from hbench.runtime.recalculating import Recalculator
from hbench.steps.act_setting import ActSetting

_BLANK = re.compile(r"\{(instruction|workspace)\}")


@dataclass(frozen=True)
class OutsideStage:
    """What all rollouts of one act step share. names: environment variables that the program is given. look: as there.

    running: patience with a program that ends with an exit code; one that always does has no key, or no network. grading:
    as there.
    """

    setting: ActSetting
    jails: Jails
    domain: Json
    names: Sequence[str]
    look: Callable[[], None]
    recalculator: Recalculator | None = None
    running: Patience = field(default_factory=Patience)
    grading: Patience = field(default_factory=Patience)


async def act_outside(stage: OutsideStage, question: Question, repeat: int) -> Acted:
    """The graded rollout: one turn, whose answer is what the program printed. Raises StepError for infrastructure."""
    started, domain = time.perf_counter(), stage.setting.domain
    if hasattr(domain, "open_services"):
        raise StepError(f"the domain {domain.name} serves programs of its own, which an agent outside of the jail cannot call")
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="hbench-outside-"))
    try:
        await asyncio.to_thread(_lay, folder, domain.files(question))
        done, event = await _run(stage, question, folder)
        failure = _failure(done, stage)
        answer = None if failure else done.stdout.strip()
        patterns, most = domain.collected(question), stage.setting.target.most_collected
        files = {} if failure else await asyncio.to_thread(_collect, folder, patterns, most)
    finally:
        await asyncio.to_thread(remove, folder)
    grades = None
    if isinstance(files, Failure):
        failure = files
    elif failure is None:
        grades, failure = await graded(stage, Work(answer, files), question)
    turns = () if answer is None else (Turn(answer, "pass", answer),)
    lived = Trajectory(question.id, repeat, (Message("user", question.text),), turns)
    return acted(stage, lived, answer, failure, grades, [event], time.perf_counter() - started)


async def _run(stage: OutsideStage, question: Question, folder: Path) -> tuple[Finished, Event]:
    """The program in a thread of its own, which only waits for it. It ends when this is cancelled."""
    block, started, stopped = stage.setting.outside, time.perf_counter(), threading.Event()
    fills = {"instruction": question.text, "workspace": str(folder)}
    words = [_BLANK.sub(lambda found: fills[found[1]], word) for word in block["command"]]

    def look() -> None:
        stage.look()
        if stopped.is_set():
            raise Interrupted

    ran = asyncio.wrap_future(in_thread(run_outside, words, folder, block["wall_s"], stage.names, look))
    ran.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # seen: nobody may be waiting for it any more
    try:
        done = await asyncio.shield(ran)
    finally:
        stopped.set()
    received = {"code": done.code, "stdout": done.stdout, "stderr": done.stderr}
    seconds = time.perf_counter() - started
    return done, Event("execute", list(block["command"]), received, role="outside", seconds=seconds)


def _failure(done: Finished, stage: OutsideStage) -> Failure | None:
    if done.code is None:
        return Failure("limits", "timeout", f"the agent took more than {stage.setting.outside['wall_s']:g} s")
    if done.code:
        why = f"the agent ended with exit code {done.code}: {done.stderr[-1500:].strip()}"
        stage.running.failed(why)
        return Failure("harness", "exit", why)
    stage.running.worked()
    return None if done.stdout.strip() else Failure("harness", "no_answer", "the agent printed no answer")


def _lay(folder: Path, files: Mapping[str, bytes]) -> None:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def _collect(folder: Path, patterns: Sequence[str], most: int) -> dict[str, bytes] | Failure:
    """Regular files only, never through links, as the workspace gives them back."""
    found, size = {}, 0
    for path in sorted(regular_files(str(folder))):
        if not any(fnmatchcase(path, pattern) for pattern in patterns):
            continue
        try:
            size += (folder / path).stat().st_size
            if size > most:
                return Failure("limits", "collected", f"what is left for grading is more than {most} bytes")
            found[path] = (folder / path).read_bytes()
        except OSError:
            continue  # not readable even to its owner
    return found
