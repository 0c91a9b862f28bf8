"""Another family whose answers must be written in another grammar: what is asked and what is right stay the same."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from pydantic import Field, SerializeAsAny, model_validator

from hbench.core.digest import Json
from hbench.core.question import Question
from hbench.parts.part import Part, build, kinds

# form -> (what a question adds, how a right answer is written)
FORMS = {
    "json": ('Give the answer as a JSON object with one key: {"answer": "..."}', lambda text: json.dumps({"answer": text})),
    "boxed": ("Write the answer inside \\boxed{...} and nothing else.", lambda text: f"\\boxed{{{text}}}"),
    "named": ("Write one line: RESULT = answer", lambda text: f"RESULT = {text}"),
}


class OutputGrammar(Part):
    """Harnesses that write answers as before score 0: what a proposer learned of a form, or of finding one out, shows.

    An answer in the grammar is graded as the family grades what stands in it; any other answer has 0 under each grade.
    Families with documents to search are not taken.
    """

    kind: Literal["output_grammar"]
    name: str = Field("", description="as reports and tables call it; default: the family's name and the form")
    family: SerializeAsAny[Part] = Field(description="the family whose questions are asked: a block with its kind")
    form: Literal["json", "boxed", "named"] = Field("json", description="how answers must be written")

    @model_validator(mode="before")
    @classmethod
    def _built_and_named(cls, values: Any) -> Any:
        block = values.get("family") if isinstance(values, dict) else None
        if isinstance(block, dict) and "kind" in block:
            if not isinstance(block["kind"], str) or block["kind"] not in kinds("families"):
                raise ValueError(f"there is no kind of family '{block['kind']}'")
            values = {**values, "family": build("families", block)}
        if isinstance(inner := values.get("family"), Part) and not values.get("name"):
            values = {**values, "name": f"{inner.name}_{values.get('form', 'json')}"}
        return values

    @model_validator(mode="after")
    def _has_no_documents(self) -> "OutputGrammar":
        if hasattr(self.family, "corpus"):
            raise ValueError(f"family {self.family.kind} has documents to search: it cannot be asked in another grammar")
        return self

    @property
    def own_process_per_answer(self) -> bool:
        """As the family needs it."""
        return bool(getattr(self.family, "own_process_per_answer", True))

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "family": self.family.to_json()}

    def describe(self) -> str:
        return f"{self.family.describe()} {FORMS[self.form][0]}"

    def versions(self) -> Mapping[str, str]:
        return self.family.versions()

    def questions(self, start: int, stop: int, seed: int) -> list[Question]:
        """The family's, with the form asked for; they share its content_ids. meta: the family's, and `inner`, its question."""
        return [self._question(one) for one in self.family.questions(start, stop, seed)]

    def _question(self, inner: Question) -> Question:
        ask, write = FORMS[self.form]
        answer = write(inner.answer) if isinstance(inner.answer, str) else inner.answer
        meta = {**(inner.meta or {}), "inner": inner.to_json()}
        made = Question.of(self.name, f"{inner.text}\n\n{ask}", answer, None, meta, inner.pool_index)
        return replace(made, content_id=inner.content_id)

    def grade_names(self) -> tuple[str, ...]:
        return self.family.grade_names()

    def grade(self, answer: str, question: Question) -> Mapping[str, float]:
        """As the family grades what stands in the form; 0 under each name where the answer is not of that form."""
        found = read(answer, self.form)
        if found is None:
            return dict.fromkeys(self.grade_names(), 0.0)
        return self.family.grade(found, Question.from_json(question.meta["inner"]))


def read(answer: str, form: str) -> str | None:
    """What stands in an answer of that form; None where it is of another."""
    text = answer.strip()
    if form == "json":
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return None
        alone = isinstance(found, dict) and list(found) == ["answer"]
        return str(found["answer"]) if alone and isinstance(found["answer"], str | int | float) else None
    pattern = {"boxed": r"\\boxed\{(.*)\}", "named": r"RESULT = (.*)"}[form]
    found = re.fullmatch(pattern, text, re.DOTALL)
    return found[1] if found else None
