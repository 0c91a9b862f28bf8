"""A tiny domain for tests and benchmarks: a number to copy into a file, or to find in files and say."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from hbench.core.digest import derive_seed
from hbench.core.question import Question
from hbench.core.trajectory import Work
from hbench.parts.part import Part

FOUND, LEFT = "in.txt", "out.txt"  # what lies there before the first turn, and what a copy is read back from


class Toy(Part):
    """copy: the number in one file goes into another. sum: add the numbers in a file, and answer with the sum."""

    version: ClassVar[int] = 1
    packages: ClassVar[tuple[str, ...]] = ()
    own_process_per_answer: ClassVar[bool] = False  # grading is our own comparison of two strings

    kind: Literal["toy"]
    name: str = Field("toy", description="shown as the domain's name; another name is another pool")
    ask: Literal["copy", "sum"] = Field("copy", description="copy a number to a file; or sum numbers, and say the sum")
    pool: int = Field(1_000_000, ge=1, description="questions in the pool")

    def describe(self) -> str:
        if self.ask == "copy":
            return "A number stands in one file and is to be written to another."
        return "Whole numbers stand in a file, one a line; the final answer is their sum and nothing else."

    def versions(self) -> Mapping[str, str]:
        return {}

    def questions(self, start: int, stop: int, seed: int) -> list[Question]:
        return [self._question(i, seed) for i in range(start, min(stop, self.pool))]

    def _question(self, index: int, seed: int) -> Question:
        draw = derive_seed("toy domain", self.name, seed, index)
        if self.ask == "copy":
            numbers, text = [draw % 10**12], f"{FOUND} holds a number. Write it to {LEFT}."
        else:
            numbers, text = [draw % 1000, draw // 1000 % 1000, draw // 10**6 % 1000], f"Add the numbers in {FOUND}."
        return Question.of(self.name, text, str(sum(numbers)), numbers, {"numbers": numbers}, index)

    def files(self, question: Question) -> Mapping[str, bytes]:
        return {FOUND: "".join(f"{number}\n" for number in question.meta["numbers"]).encode()}

    def collected(self, question: Question) -> tuple[str, ...]:
        return (LEFT,) if self.ask == "copy" else ()

    def grade_names(self) -> tuple[str, ...]:
        return ("score", "exact")

    def grade_work(self, work: Work, question: Question) -> Mapping[str, float]:
        """1.0 where the file, or for a sum the answer, is the number without the blanks around it; else 0.0."""
        left = work.files.get(LEFT, b"").decode("utf-8", "replace") if self.ask == "copy" else work.answer or ""
        right = float(left.strip() == question.answer)
        return {"score": right, "exact": right}
