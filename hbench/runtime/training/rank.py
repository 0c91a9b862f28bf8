"""One process of a training step: it trains, judges what its policy proposes in jails of its own, and keeps rows."""

import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.training import Generate, Response, Task
from hbench.runtime.training.job import RankJob, read_job
from hbench.runtime.training.parent import end_with_parent
from hbench.runtime.training.processes import hold, log_name, trouble_file
from hbench.runtime.training.rows import RankRows, rows_file


def main(file: Path) -> None:
    """Trains what the job file says; its exit code is 0 when all of it is done. torch is not loaded before the job is read."""
    end_with_parent()
    folder, rank, processes = file.parent, int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    held = hold(folder)
    if processes > 1:
        _log_to(folder / log_name(rank))
    told = read_job(file)
    code = _trained(told, told.task(folder, rank, processes))
    sys.stdout.flush()
    sys.stderr.flush()
    os.close(held)
    os._exit(code)  # a library that lingers in a thread would keep the process, and with it the step


def _trained(told: RankJob, task: Task) -> int:
    try:
        rows = RankRows(rows_file(task.folder, task.rank))
        _train(told, task, rows)
        if task.rank == 0:
            _finish(task)
        return 0
    except HbenchError as trouble:
        _say(trouble_file(task.folder, task.rank), {"message": str(trouble)})
    except BaseException:
        traceback.print_exc()
    return 1


def _train(told: RankJob, task: Task, rows: RankRows) -> None:
    note = rows.note if task.rank == 0 else _unheard  # what a trainer logs is the same in every process
    if told.job.method == "sft":
        from hbench.engines.sft import train_sft

        return train_sft(task, told.job.rows, note)
    if told.job.method == "dpo":
        from hbench.engines.dpo import train_dpo

        return train_dpo(task, told.job.rows, note)
    from hbench.engines.grpo import train_grpo
    from hbench.runtime.training.reach import RankServices

    services = RankServices(told.machine)
    try:
        train_grpo(task, told.job.prompts, Judge(told, task, services, rows), note)
    finally:
        services.close()


class Judge:
    """core.training.Score: judges this rank's completions and keeps a row of everything about them."""

    def __init__(self, told: RankJob, task: Task, services: Any, rows: RankRows):
        from hbench.steps.edit_reward import EditReward

        self._reward = EditReward(told.job.reward, services.of(None, ""), told.training["reward_timeout_s"])
        self._task, self._rows = task, rows
        self._update = self._judged = 0

    def __call__(
        self, update: int, contexts: Sequence[int], responses: Sequence[Response], generate: Generate
    ) -> list[float | None]:
        judged = self._reward(list(zip(contexts, responses, strict=True)), generate)
        first = self._first(update, len(responses))
        lines: dict[str, list[Json]] = {}
        for index, (one, response) in enumerate(zip(judged, responses, strict=True)):
            tokens = response.completion_tokens
            for table, some in self._reward.rows(one, response, first + index, completion_tokens=tokens).items():
                lines.setdefault(table, []).extend(some)
            row = {
                "candidate": first + index,
                "update": update,
                "rank": self._task.rank,
                "index": first + index - self._number(update),
                "context": one.context,
                "reward": one.reward,
                "further": one.further,
                "same_as": None if one.same_as is None else first + one.same_as,
                "trouble": one.trouble,
                "completion_tokens": tokens,
            }
            lines.setdefault("completions", []).append(row)
        self._rows.append(update, lines)
        return [one.reward for one in judged]

    def _first(self, update: int, count: int) -> int:
        """The candidate number of the first of `count` completions, also where an update judges in several parts."""
        self._update, before = update, self._judged if update == self._update else 0
        self._judged = before + count
        return self._number(update) + before

    def _number(self, update: int) -> int:
        """Of this rank's first completion in `update`: updates, then ranks, number theirs one after another."""
        recipe, task = self._task.recipe, self._task
        whole = recipe["prompts"] * recipe["group"]
        return (update - 1) * whole + task.rank * (whole // task.processes)


def _finish(task: Task) -> None:
    """trained.json, the last thing written: its being there says that the training is whole."""
    from hbench.engines.trainable import checkpoint_json
    from hbench.engines.trainer_log import latest, update_of

    made = checkpoint_json(task.model, task.folder / "final")
    _say(task.folder / "trained.json", {"checkpoint": made, "updates": update_of(latest(task.folder))})


def _say(file: Path, what: Json) -> None:
    fresh = file.with_suffix(".part")
    fresh.write_text(json.dumps(what))
    os.replace(fresh, file)


def _log_to(file: Path) -> None:
    """Everything that this process and its libraries print goes there from now on."""
    descriptor = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o666)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)


_unheard: Callable[..., None] = lambda *_: None  # noqa: E731
