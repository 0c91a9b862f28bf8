"""Any generate_until task of lm-eval as a family: lm-eval's documents, prompts, filters and metrics, with hbench's splits."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from hbench.core.digest import Json, canonical_json, derive_seed
from hbench.core.failure import HbenchError
from hbench.core.installed import installed_version
from hbench.core.question import Question
from hbench.parts.families import _lm_eval_files as files
from hbench.parts.families import _lm_eval_task as tasks
from hbench.parts.part import Part


class LmEval(Part):
    """A task of lm-eval: one of its own, or a YAML file under parts/lm_eval. Its scorer runs in the grader's jail."""

    version: ClassVar[int] = 1
    own_process_per_answer: ClassVar[bool] = True  # filters and metrics may run code on the answer

    kind: Literal["lm_eval"]
    name: str = Field(description="the task's name in lm-eval, e.g. gsm8k")
    docs: Literal["test", "training", "all"] = Field(
        "test",
        description="test: the documents that lm-eval evaluates; training; all: those of test first, so that held-out "
        "questions are lm-eval's own while splits.evaluation is no larger than they are many",
    )
    shots: int = Field(0, ge=0, description="solved examples before each question, drawn as the task says; 0: none")
    stops: tuple[str, ...] = Field(
        (), description="texts at which an answer is cut before it is graded; the task's own are made for base models, and "
        "would cut an answer that restates the question"
    )
    metric: str | None = Field(
        None, description="which grade is `score`, as METRIC,FILTER, e.g. exact_match,strict-match; default: the task's first"
    )
    check_gold: bool = Field(True, description="whether questions are passed over whose own answer the task's scorer rejects")

    @model_validator(mode="after")
    def _can_be_adapted(self) -> Self:
        """Where lm-eval is not installed, that is said when it is needed: a plan can be made without it."""
        if installed_version("lm-eval") == "absent":
            return self
        try:
            config = self._config()
        except HbenchError as wrong:
            raise ValueError(str(wrong)) from None
        if "group" in config or "class" in config:
            what = "a group of tasks" if "group" in config else "a task written in Python"
            raise ValueError(f"{self.name} is {what}: a family is one task in YAML")
        if (sort := config.get("output_type", "generate_until")) != "generate_until":
            raise ValueError(f"the task {self.name} is of the sort {sort}: only generate_until has answers to adapt for")
        if not (grades := files.grades_in(config)):
            raise ValueError(f"the task {self.name} gives no grade of one answer: its metrics are of all answers together")
        if self.metric and self.metric not in grades:
            raise ValueError(f"the task {self.name} gives no {self.metric} (it gives {', '.join(grades)})")
        if self.shots and self.docs != "test":
            raise ValueError("shots are drawn from the training documents, so those cannot be asked: docs: test")
        return self

    def _config(self) -> Json:
        return files.config_of(files.task_file(self.name))

    def describe(self) -> str:
        """The task's own description, if it has a fixed one, and how it is graded; holds no question."""
        told = str(self._config().get("description") or "").strip()
        told = "" if "{{" in told else f"{told} "
        return f"{told}Questions of the benchmark {self.name}; an answer is graded by {self.metric or self.grade_names()[1]}."

    def versions(self) -> Mapping[str, str]:
        """lm-eval's, and digests of the files of a task of one's own; `absent` for what is not here."""
        version = installed_version("lm-eval")
        return {"lm-eval": version, **({} if version == "absent" else files.digests_of(files.task_file(self.name)))}

    def questions(self, start: int, stop: int, seed: int) -> list[Question]:
        """Questions `start` to `stop` in the order that `seed` gives, fewer where they end.

        meta: doc (lm-eval's document), split, gold_score (what the task's scorer makes of its own answer; None where it is
        not looked at). Raises HbenchError where the task or its data cannot be had.
        """
        task, docs = _ordered(self.name, canonical_json(self.versions()), self.docs, seed)
        return [self._question(task, split, doc, start + i) for i, (split, doc) in enumerate(docs[start:stop])]

    def _question(self, task: Any, split: str, doc: Json, index: int) -> Question:
        text = tasks.asked(task, doc, self.shots, derive_seed("lm_eval", self.name, doc))
        bare = text if not self.shots else tasks.asked(task, doc, 0, 0)
        gold, graded = tasks.gold_of(task, doc), None
        if self.check_gold and isinstance(gold, str):
            graded = self._grades(task, doc, [gold])["score"]
        meta = {"doc": doc, "split": split, "gold_score": graded}
        return Question.of(self.name, text, gold, " ".join(bare.split()).casefold(), meta, index)

    def grade_names(self) -> tuple[str, ...]:
        """score, then `METRIC,FILTER` as lm-eval calls them."""
        if installed_version("lm-eval") == "absent":
            return ("score",)
        return ("score", *files.grades_in(self._config()))

    def grade(self, answer: str, question: Question) -> Mapping[str, float]:
        """What lm-eval's filters and metrics make of one answer, each in [0, 1]. Runs the task's own code: jail only.

        meta.several: the answer is a JSON list of responses, as tasks with repeats take them.
        """
        said = json.loads(answer or "[]") if question.meta.get("several") else [answer]
        doc = question.meta["doc"]
        return self._grades(_scorer(self.name, canonical_json(self.versions()), doc), doc, said)

    def _grades(self, task: Any, doc: Json, said: Sequence[str]) -> Mapping[str, float]:
        made = tasks.metrics_of(task, doc, [tasks.cut_at(text, self.stops) for text in said])
        grades = {name: float(made[name]) for name in self.grade_names()[1:] if name in made}
        return {"score": grades[self.metric or next(iter(grades))], **grades}


@lru_cache(maxsize=4)
def _ordered(name: str, versions: bytes, docs: str, seed: int) -> tuple[Any, list[tuple[str, Json]]]:
    """The task, and (split, document) in order. versions: so that a changed file is read again."""
    task = tasks.open_task(files.task_file(name))
    found = []
    for split in tasks.SPLITS if docs == "all" else (docs,):
        keyed = sorted((derive_seed("lm_eval", name, seed, doc), i, doc) for i, doc in enumerate(tasks.docs_of(task, split)))
        found += [(split, doc) for _, _, doc in keyed]
    return task, found


_scorers: dict[tuple[str, bytes], Any] = {}


def _scorer(name: str, versions: bytes, doc: Json) -> Any:
    """The task without its data, made once of the first document that is graded."""
    if (name, versions) not in _scorers:
        _scorers[name, versions] = tasks.scorer(files.task_file(name), doc)
    return _scorers[name, versions]
