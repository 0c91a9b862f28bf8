"""All families of the installed reasoning-gym, in the library's wording or in varied ones."""

import contextlib
import io
import json
import math
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from hbench.core.digest import Json, derive_seed
from hbench.core.question import Question
from hbench.parts.families import _library, _pool
from hbench.parts.families._descriptions import describe
from hbench.parts.families._framing import reword
from hbench.parts.families._guards import WRONG, is_formula, is_right, only_literals
from hbench.parts.part import Part

EXACT = 1.0 - 1e-9  # a score from here on is exact: room for floating-point noise only


class ReasoningGym(Part):
    """A Reasoning Gym family. One pool per (name, settings, seed): indices of one dataset, its seed derived by hash."""

    version: ClassVar[int] = 1
    own_process_per_answer: ClassVar[bool] = True  # some scorers evaluate the answer

    kind: Literal["reasoning_gym"]
    name: str = Field(description="the library's name of the family, e.g. maze")
    format: Literal["canonical", "varied"] = Field(
        "canonical", description="varied: other framing prose around the same puzzle data"
    )
    settings: dict[str, Any] = Field(default_factory=dict, description="passed to create_dataset; not seed, not size")

    @staticmethod
    def names() -> list[str]:
        """Every family of the library."""
        return sorted(_library.modules())

    @field_validator("name")
    @classmethod
    def _is_installed(cls, name: str) -> str:
        known = _library.modules()
        if name not in known:
            near = get_close_matches(name, known, n=1)
            raise ValueError(f"no family {name!r}" + (f" (did you mean {near[0]!r}?)" if near else ""))
        return name

    @model_validator(mode="after")
    def _settings_fit(self) -> Self:
        if {"seed", "size"} & set(self.settings):
            raise ValueError("settings: seed and size are hbench's to choose")
        if self.settings or self.name == "composite":
            try:
                _library.config(self.name, self.settings)
            except Exception as wrong:  # whatever the library raises is about the author's settings
                raise ValueError(f"settings of {self.name}: {wrong or type(wrong).__name__}") from wrong
        return self

    def describe(self) -> str:
        """What is asked in this family, in one or two sentences of our own; holds no question."""
        return describe(self.name)

    def versions(self) -> Mapping[str, str]:
        return {"reasoning-gym": _pool.library_version()}

    def questions(self, start: int, stop: int, seed: int) -> list[Question]:
        """Questions `start` to `stop` of the pool, fewer where it ends; both wordings share their content_ids.

        meta: entry (the library's metadata, for the scorer), wording (0: the library's own), gold_score (what the
        library's own answer scores; below 1 the question must not be used; None where there is no such answer).
        """
        pool_seed = derive_seed("reasoning_gym", self.name, self.settings, seed) % 2**31  # numpy takes 32 bits
        drawn = _pool.entries(self.name, self.settings, pool_seed, start, stop)
        return [self._question(entry, start + i) for i, entry in enumerate(drawn)]

    def _question(self, entry: Json, index: int) -> Question:
        text, wording = entry["question"], 0
        if self.format == "varied":
            text, wording = reword(self.name, text)
        meta = {"entry": entry["metadata"], "wording": wording, "gold_score": entry["gold_score"]}
        return Question.of(self.name, text, entry["answer"], entry["question"], meta, index)

    def grade_names(self) -> tuple[str, ...]:
        return ("score", "exact")

    def grade(self, answer: str, question: Question) -> Mapping[str, float]:
        """score: the library's (but see _guards.py), partial credit included; exact: 1.0 where score is at least 1 - 1e-9, else 0.0.

        Blanks around the answer do not count, an empty answer scores 0, and so does one that the scorer cannot read
        (it raises). Runs the library's scorer, which may evaluate the answer: jail only.
        """
        stripped = answer.strip()
        score = self._score(stripped, question)  # an empty answer too: that is how a jail loads the libraries
        score = score if stripped else 0.0
        return {"score": score, "exact": 1.0 if score >= EXACT else 0.0}

    def _score(self, answer: str, question: Question) -> float:
        metadata = question.meta["entry"]
        family = metadata.get("source_dataset", self.name)  # of a composite: the family this question is from
        entry = _pool.revive({"question": question.text, "answer": question.answer, "metadata": metadata})
        scorer = _scorer(self.name, json.dumps(self.settings, sort_keys=True))  # outside try: no fault of the answer
        if not is_formula(family, answer):
            return 0.0
        try:
            with contextlib.redirect_stdout(io.StringIO()):  # tower_of_hanoi prints what it does not like
                score = float(scorer.score_answer(answer, entry))
        except MemoryError:
            raise  # the grader's limit, which the jail reports
        except Exception:
            return 0.0
        if score >= EXACT and not is_right(family, answer, question.answer, metadata):
            score = WRONG[family]
        return min(1.0, max(0.0, score)) if math.isfinite(score) else 0.0


@cache
def _scorer(name: str, settings: str) -> Any:
    made = _library.dataset(name, json.loads(settings), seed=0, size=1)
    only_literals()
    return made
