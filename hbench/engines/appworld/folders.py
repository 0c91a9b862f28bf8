"""The folders that the engine's processes are shown: what a world may read, and what only the evaluation reads."""

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from hbench.core.digest import Json
from hbench.core.failure import StepError

_SHARED = ("api_docs", "base_dbs")
_DIFFERENT = -1  # no count of changes of a table: each table is compared row by row, whatever a world says of it


class Folders:
    """play: a root without any ground truth. judge: a root with it, and with what worlds left. Gone with this object.

    published: the folder that holds `data`; None: tasks are home-made, and laid with `lay`.
    """

    def __init__(self, published: Path | None):
        self._whole = tempfile.TemporaryDirectory(prefix="hbench-appworld-")
        root = Path(self._whole.name)
        root.chmod(0o755)  # the processes that read it are those of another user
        self.home = root / "home"  # the shell of the engine wants folders of its own
        self.data = (published / "data").resolve() if published else root / "made"
        self.play, self.judge = root / "play", root / "judge"
        for folder in (self.home, self.play / "data" / "tasks", self.judge / "experiments" / "outputs", self.data):
            folder.mkdir(parents=True, exist_ok=True)
        for name in ("db", "log", "pid", "security", "startup"):
            (self.home / "profile_default" / name).mkdir(parents=True)
        for name in _SHARED:
            if published is None:
                (self.data / name).mkdir()
            (self.play / "data" / name).symlink_to(self.data / name)
        (self.judge / "data").symlink_to(self.data)

    def readable(self, root: Path) -> tuple[str, ...]:
        """Files and folders that a process with this root is to see."""
        shared = (self.data,) if root == self.judge else tuple(self.data / name for name in _SHARED)
        return tuple(map(str, (root, self.home, *shared)))

    def lay(self, files: Mapping[str, bytes]) -> None:
        """Files of home-made tasks: path in the data folder -> content."""
        for path, content in files.items():
            place = self.data / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        _open_to_all(self.data)

    def show(self, task: str) -> None:
        """Lays what a world of `task` reads where worlds can read it. Raises StepError where there is no such task."""
        there, here = self.data / "tasks" / task, self.play / "data" / "tasks" / task
        if here.exists():
            return
        try:
            shutil.copytree(there / "dbs", here / "dbs")
            shutil.copyfile(there / "specs.json", here / "specs.json")
        except OSError as missing:
            raise StepError(f"AppWorld's task {task} cannot be read: {missing}") from missing
        _open_to_all(here)

    def left(self, name: str, task: str, models: Mapping[str, Sequence[str]], changes: Mapping[str, Sequence[Json]]) -> None:
        """Lays what a world of `task` left, as `evaluate_task` reads experiment `name`.

        models: app -> its tables. changes: app -> statements, in order, beyond those that make the task.
        """
        folder = self.judge / "experiments" / "outputs" / name / "tasks" / task / "dbs"
        folder.mkdir(parents=True)
        for app in models:
            begun = self.data / "tasks" / task / "dbs" / f"{app}.jsonl"
            lines = begun.read_text().split("\n") if begun.exists() else []
            lines += [json.dumps(row) for row in changes.get(app, ())]
            (folder / f"{app}.jsonl").write_text("".join(line + "\n" for line in lines if line))
        counts = {app: dict.fromkeys(tables, _DIFFERENT) for app, tables in models.items()}
        (folder / "model_hashes.json").write_text(json.dumps(counts))
        _open_to_all(self.judge / "experiments" / "outputs" / name)

    def forget(self, name: str) -> None:
        """What was left under this name has been evaluated."""
        shutil.rmtree(self.judge / "experiments" / "outputs" / name, ignore_errors=True)

    def close(self) -> None:
        self._whole.cleanup()


def _open_to_all(folder: Path) -> None:
    """Whatever the user's umask: who reads it may be another user."""
    for place in (folder, *folder.rglob("*")):
        place.chmod(0o755 if place.is_dir() else 0o644)


def root_of(source: str | None) -> Path | None:
    """The folder that holds AppWorld's `data`: `source`, else $APPWORLD_ROOT, else $HBENCH_DATA/appworld; None without."""
    places = (source, os.environ.get("APPWORLD_ROOT"), _beside(os.environ.get("HBENCH_DATA")))
    return next((Path(place) for place in places if place and (Path(place) / "data" / "tasks").is_dir()), None)


def _beside(data: str | None) -> str | None:
    return str(Path(data) / "appworld") if data else None
