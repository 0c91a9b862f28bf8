"""Sixty small skills of our own, asked as Reasoning Gym asks: what a proposer is shown before it meets unseen families."""

from collections.abc import Mapping
from difflib import get_close_matches
from random import Random
from typing import ClassVar, Literal

from pydantic import Field, field_validator

from hbench.core.digest import derive_seed
from hbench.core.question import Question
from hbench.parts.families import _practice_lists, _practice_numbers, _practice_words
from hbench.parts.families._practice_skill import written
from hbench.parts.part import Part

SKILLS = {**_practice_lists.SKILLS, **_practice_numbers.SKILLS, **_practice_words.SKILLS}
POOL = 2000
FRAMES = (
    "{ask}",
    "Solve the following problem. Give only the answer.\n\n{ask}",
    "Your task is to {clause}.\n\nYour output should be the answer alone.\n\n{ask}",
)


class Practice(Part):
    """One small skill: an exact answer that one to three lines of Python compute from the question.

    Three or more wordings of each skill in three frames, drawn with the question; a question's content is what was
    drawn, without its wording.
    """

    version: ClassVar[int] = 1
    own_process_per_answer: ClassVar[bool] = False  # grading is our own comparison of two strings

    kind: Literal["practice"]
    name: str = Field(description="the skill, e.g. sum_list")

    @staticmethod
    def names() -> list[str]:
        """Every skill."""
        return sorted(SKILLS)

    @field_validator("name")
    @classmethod
    def _is_a_skill(cls, name: str) -> str:
        if name not in SKILLS:
            near = get_close_matches(name, SKILLS, n=1)
            raise ValueError(f"no skill {name!r}" + (f" (did you mean {near[0]!r}?)" if near else ""))
        return name

    def describe(self) -> str:
        clause = SKILLS[self.name].clause
        return f"{clause[0].upper()}{clause[1:]}."

    def versions(self) -> Mapping[str, str]:
        return {}

    def questions(self, start: int, stop: int, seed: int) -> list[Question]:
        """The pool ends after 2,000; a skill on single words has about 130 different questions."""
        return [self._question(index, seed) for index in range(start, min(stop, POOL))]

    def _question(self, index: int, seed: int) -> Question:
        skill = SKILLS[self.name]
        dice = Random(derive_seed("practice", self.name, seed, index))
        drawn = skill.draw(dice)
        ask = dice.choice(skill.wordings).format(**{name: written(value) for name, value in drawn.items()})
        text = dice.choice(FRAMES).format(ask=ask, clause=skill.clause)
        return Question.of(self.name, text, written(skill.solve(**drawn)), drawn, None, index)

    def grade_names(self) -> tuple[str, ...]:
        return ("score", "exact")

    def grade(self, answer: str, question: Question) -> Mapping[str, float]:
        """1.0 where the answer, without the blanks around it, is the gold one; else 0.0."""
        right = float(answer.strip() == question.answer)
        return {"score": right, "exact": right}
