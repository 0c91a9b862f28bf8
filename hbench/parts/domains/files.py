"""Small shell jobs over generated folders, graded by the state that they leave: what an embedded model can learn."""

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from random import Random
from typing import ClassVar, Literal

from pydantic import Field, field_validator

from hbench.core.digest import derive_seed
from hbench.core.question import Question
from hbench.core.trajectory import Work
from hbench.parts.domains import _files_folder_jobs, _files_text_jobs
from hbench.parts.domains._files_dice import Dice
from hbench.parts.domains._files_words import Share, words_of
from hbench.parts.part import Part

JOBS = {**_files_text_jobs.JOBS, **_files_folder_jobs.JOBS}


class Files(Part):
    """One to three commands make, change or move a file or two; all else in the folder must stay as it is.

    Twenty-four kinds of job in turn, each with two or three wordings. What is drawn is names, words and numbers, from
    words of which no two shares have one in common. The final answer is not graded.
    """

    version: ClassVar[int] = 1
    packages: ClassVar[tuple[str, ...]] = ()
    own_process_per_answer: ClassVar[bool] = False  # grading compares texts

    kind: Literal["files"]
    name: str = Field("files", description="shown as the domain's name; it changes no question but its id")
    jobs: tuple[str, ...] = Field(tuple(JOBS), min_length=1, description="kinds of job, asked in turn; default: every one")
    words: Share = Field(
        "training", description="training, tuning or evaluation: names and contents are drawn from words of its own"
    )

    @field_validator("jobs")
    @classmethod
    def _are_there(cls, jobs: tuple[str, ...]) -> tuple[str, ...]:
        for job in jobs:
            if job not in JOBS:
                near = get_close_matches(job, JOBS, n=1)
                raise ValueError(f"no job {job!r}" + (f" (did you mean {near[0]!r}?)" if near else ""))
        if len(set(jobs)) < len(jobs):
            raise ValueError("a job stands here twice")
        return jobs

    def describe(self) -> str:
        return (
            "A folder holds a few small text files. Shell commands make, change, move or delete some of them as the "
            "instruction says, and leave all others as they are."
        )

    def versions(self) -> Mapping[str, str]:
        return {}

    def questions(self, start: int, stop: int, seed: int) -> list[Question]:
        """The pool has no end. meta: job, files (path -> text before). answer: path -> text after, None: gone.

        Equal jobs have equal content ids whatever the domain is called, so that lists of jobs can be held apart.
        """
        return [self._question(index, seed) for index in range(start, stop)]

    def _question(self, index: int, seed: int) -> Question:
        number, turn = divmod(index, len(self.jobs))
        job = self.jobs[turn]
        random = Random(derive_seed("files", job, self.words, seed, number))
        drawn = JOBS[job].draw(Dice(random, words_of(self.words)))
        text = random.choice(JOBS[job].wordings).format(**drawn.named)
        content = [job, drawn.named, drawn.files]
        meta = {"job": job, "files": dict(drawn.files)}
        asked = Question.of(self.name, text, dict(drawn.changes), content, meta, index)
        return replace(asked, content_id=Question.of(self.kind, "", None, content).content_id)

    def files(self, question: Question) -> Mapping[str, bytes]:
        return {path: text.encode() for path, text in question.meta["files"].items()}

    def collected(self, question: Question) -> tuple[str, ...]:
        return ("*",)

    def grade_names(self) -> tuple[str, ...]:
        return ("score", "made", "kept")

    def grade_work(self, work: Work, question: Question) -> Mapping[str, float]:
        """made: every change that was asked for is there, but for line ends at the end of a file. kept: all other files
        are as they were, byte for byte, and none is new. score: both.
        """
        changes = question.answer
        before = {path: content for path, content in self.files(question).items() if path not in changes}
        after = {path: content for path, content in work.files.items() if path not in changes}
        made = all(_is(work.files.get(path), wanted) for path, wanted in changes.items())
        kept = before == after
        return {"score": float(made and kept), "made": float(made), "kept": float(kept)}


def _is(content: bytes | None, wanted: str | None) -> bool:
    if content is None or wanted is None:
        return content is wanted
    return content.rstrip(b"\n") == wanted.encode().rstrip(b"\n")
