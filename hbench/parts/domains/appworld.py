"""AppWorld: everyday jobs on the apps of a simulated person, done in Python (Harness-Zero, section 4)."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from hbench.core.digest import Json, derive_seed, digest
from hbench.core.failure import HbenchError
from hbench.core.question import Question
from hbench.core.trajectory import Work
from hbench.parts.domains import _appworld_home_made
from hbench.parts.part import Part

EVALUATION = "appworld/evaluation.json"
_ASKED = """{instruction}

I am {first_name} {last_name}; my email address is {email}, my phone number {phone_number}. Do this with my apps. They are
reached from the shell by the program `world`, which runs Python code:

world "print(apis.supervisor.show_account_passwords())"
world <<'CODE'
print(apis.api_docs.show_app_descriptions())
print(apis.api_docs.show_api_descriptions(app_name='supervisor'))
print(apis.api_docs.show_api_doc(app_name='supervisor', api_name='complete_task'))
CODE

`apis` is there, variables stay from call to call, and what is to be seen has to be printed. When all is done call
apis.supervisor.complete_task(), with answer=... where I asked for an answer, and then say in a sentence what you did."""


class Appworld(Part):
    """Tasks of AppWorld, played in its real engine beside the workspace; `make appworld` installs that.

    Three tasks, one behind the other, are a scenario: take splits of a multiple of three. The engine's process runs what the
    student writes, is confined like a jail, and holds nothing that tells the right answer; the tests run in another. The
    paper shows its students a solved task first; ours are told how to begin, and no more.
    """

    version: ClassVar[int] = 2
    packages: ClassVar[tuple[str, ...]] = ()
    own_process_per_answer: ClassVar[bool] = False  # what is read is what our own engine wrote

    kind: Literal["appworld"]
    name: str = Field("appworld", description="shown as the domain's name; it changes no question but its id")
    source: Literal["published", "home_made"] = Field(
        "published", description="home_made: a few easy scenarios of our own on notes, which need no download"
    )
    datasets: tuple[str, ...] = Field(
        ("train", "dev"),
        min_length=1,
        description="lists of published tasks, one behind the other: train, dev, test_normal, test_challenge, or another in "
        "data/datasets",
    )
    root: str | None = Field(
        None, description="folder that holds the published data/; default: $APPWORLD_ROOT, else $HBENCH_DATA/appworld"
    )

    def describe(self) -> str:
        return (
            "Someone asks for an everyday job on their apps (mail, music, payments, notes …). It is done by Python code that "
            "calls the apps' documented interfaces, and judged by the state that they are left in."
        )

    def versions(self) -> Mapping[str, str]:
        """The engine's version and a digest of the tasks, `absent` where they are not there."""
        from hbench.engines.appworld.installation import version

        return {"appworld": version(), "tasks": "home-made" if self.source == "home_made" else self._digest()}

    def _digest(self) -> str:
        try:
            return digest([[task.to_json() for task in listed] for listed in self._published()])[:16]
        except HbenchError:
            return "absent"

    def questions(self, start: int, stop: int, seed: int) -> list[Question]:
        """Questions `start` to `stop`: list by list, in each whole scenarios in the order that `seed` gives; home-made ones
        have no end. Held-out questions are the first of a pool, so [test_normal, train, dev] with 168 of them is the
        published split.

        answer: what an oracle is told, which the tests hold against the world that is left: {"answer": what the job asks for,
        None where it asks for none, "tests": what each requires, "data": what they compare with}. meta: task_id, scenario,
        scenario_size, and of home-made tasks `made`, of which the engine makes them. Raises HbenchError when the published
        data are not there.
        """
        if self.source == "home_made":
            return [self._home_made(index, seed) for index in range(start, stop)]
        tasks = [task for listed in self._published() for task in _in_scenarios(listed, seed)]
        return [self._question(task, start + i, {}) for i, task in enumerate(tasks[start:stop])]

    def _home_made(self, index: int, seed: int) -> Question:
        number, which = divmod(index, _appworld_home_made.SIZE)
        made = _appworld_home_made.scenario(number, seed)[which]
        right = _right(lambda name: made["ground_truth"][name])
        task = _Task(made["task_id"], _appworld_home_made.SIZE, made["instruction"], made["person"], right)
        return self._question(task, index, {"made": made})

    def _question(self, task: "_Task", index: int, more: Json) -> Question:
        text = _ASKED.format(instruction=task.instruction, **task.person)
        meta = {"task_id": task.id, "scenario": task.scenario, "scenario_size": task.scenario_size, **more}
        asked = Question.of(self.name, text, task.right, task.id, meta, index)
        return replace(asked, content_id=Question.of(self.kind, "", None, task.id).content_id)

    def _published(self) -> list[tuple["_Task", ...]]:
        root = self._root()
        if root is None:
            raise HbenchError(
                "no tasks of AppWorld: run `make appworld`, then `.venv-appworld/bin/appworld download data --root FOLDER`, and "
                "name FOLDER in domain.root or $APPWORLD_ROOT; or set domain.source: home_made"
            )
        return [_read(root / "data", name) for name in self.datasets]

    def _root(self) -> Path | None:
        from hbench.engines.appworld.folders import root_of

        return root_of(self.root)

    def files(self, question: Question) -> Mapping[str, bytes]:
        return {}

    def collected(self, question: Question) -> tuple[str, ...]:
        return ()

    async def open_services(self, question: Question) -> Any:
        """The world of the question's task. Raises HbenchError, StepError: see hbench/engines/appworld/worlds.py."""
        from hbench.engines.appworld.worlds import opened

        root = None if self.source == "home_made" else self._root()
        return await opened(root, question.meta["task_id"], question.meta.get("made"))

    def grade_names(self) -> tuple[str, ...]:
        return ("score", "tests")

    def grade_work(self, work: Work, question: Question) -> Mapping[str, float]:
        """score: 1.0 where every test of the task passes (its mean over questions is the published task goal completion).

        tests: the share that passes. Raises ValueError where the tests did not come to their end.
        """
        found = json.loads(work.files[EVALUATION])
        if "trouble" in found:
            raise ValueError(f"the task's tests did not come to their end: {found['trouble']}")
        return {"score": float(found["success"]), "tests": len(found["passes"]) / max(1, found["num_tests"])}


@dataclass(frozen=True)
class _Task:
    """A task as it is asked. right: see `questions`."""

    id: str
    scenario_size: int
    instruction: str
    person: Json
    right: Json

    @property
    def scenario(self) -> str:
        return self.id.split("_")[0]

    def to_json(self) -> Json:
        return [self.id, self.instruction, self.person, self.right]


@lru_cache(maxsize=16)
def _read(data: Path, dataset: str) -> tuple[_Task, ...]:
    """The tasks of a list. Raises HbenchError where the list or one of its tasks is not there."""
    try:
        names = [line.split(":")[0].strip() for line in (data / "datasets" / f"{dataset}.txt").read_text().splitlines()]
        return tuple(_tasks(data / "tasks", [name for name in names if name]))
    except (OSError, ValueError, LookupError) as missing:
        raise HbenchError(f"the tasks {dataset!r} of AppWorld in {data} cannot be read: {missing}") from missing


def _tasks(folder: Path, names: list[str]) -> Iterator[_Task]:
    scenarios = [name.split("_")[0] for name in names]
    for name, scenario in zip(names, scenarios, strict=True):
        told = json.loads((folder / name / "specs.json").read_text())
        right = _right(lambda file: json.loads((folder / name / "ground_truth" / file).read_text()))
        yield _Task(name, scenarios.count(scenario), told["instruction"], told["supervisor"], right)


def _right(truth: Callable[[str], Json]) -> Json:
    """What is right of a task. truth: the content of a file of its ground truth."""
    tests = [test["requirement"] for test in truth("test_data.json")]
    return {"answer": truth("answer.json"), "tests": tests, "data": truth("private_data.json")}


def _in_scenarios(tasks: tuple[_Task, ...], seed: int) -> list[_Task]:
    return sorted(tasks, key=lambda task: (derive_seed("appworld", seed, task.scenario), task.scenario, task.id))
