"""A tiny family for tests and benchmarks: questions cost nothing, grading is comparison."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from hbench.core.digest import derive_seed
from hbench.core.question import Question
from hbench.parts.part import Part


class Toy(Part):
    """copy: repeat a number. sum: add two numbers."""

    version: ClassVar[int] = 1
    own_process_per_answer: ClassVar[bool] = False  # grading is our own comparison of two strings

    kind: Literal["toy"]
    name: str = Field("toy", description="shown as the family's name; another name is another pool")
    ask: Literal["copy", "sum"] = Field("copy", description="copy: repeat a number; sum: add two numbers")
    pool: int = Field(1_000_000, ge=1, description="questions in the pool")
    distinct: int | None = Field(None, ge=1, description="different questions in the pool; the rest repeat them")

    def describe(self) -> str:
        if self.ask == "copy":
            return "A number stands in the text; the answer is that number and nothing else."
        return "Two whole numbers are to be added; the answer is the sum and nothing else."

    def versions(self) -> Mapping[str, str]:
        return {}

    def questions(self, start: int, stop: int, seed: int) -> list[Question]:
        return [self._question(i, seed) for i in range(start, min(stop, self.pool))]

    def _question(self, index: int, seed: int) -> Question:
        place = index % self.distinct if self.distinct else index
        draw = derive_seed("toy", self.name, seed, place)
        if self.ask == "copy":
            number = draw % 10**12
            text, gold, content = f"Reply with the number between the Qs: Q{number}Q", number, number
        else:
            left, right = draw % 10**6, draw // 10**6 % 10**6
            text, gold, content = f"What is {left} + {right}? Reply with the sum alone.", left + right, [left, right]
        return Question.of(self.name, text, str(gold), content, None, index)

    def grade_names(self) -> tuple[str, ...]:
        return ("score", "exact")

    def grade(self, answer: str, question: Question) -> Mapping[str, float]:
        """1.0 where the answer, without the blanks around it, is the number; else 0.0."""
        right = float(answer.strip() == question.answer)
        return {"score": right, "exact": right}
