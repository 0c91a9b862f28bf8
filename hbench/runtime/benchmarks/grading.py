"""Answers that a model generated, graded in the grader's jail in the place of lm-eval's own scoring."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from hbench.core.digest import Json
from hbench.core.failure import Failure, HbenchError
from hbench.core.question import Question
from hbench.engines.jail import Jails
from hbench.parts.families.lm_eval import LmEval

AT_ONCE = 16


class JailedScoring:
    """Lays itself on tasks: from then on what they make of an answer is made in the jail. Close it when done.

    ungraded: answers on which the grader broke.
    """

    def __init__(self, sandbox: str):
        self._sandbox, self.ungraded = sandbox, 0
        self._runner, self._jails = asyncio.Runner(), None

    def close(self) -> None:
        if self._jails is not None:
            self._runner.run(self._jails.close())
        self._runner.close()

    def lay_on(self, name: str, task: Any) -> None:
        """Nothing for a task that generates no text: numbers run no code. Raises HbenchError where there is no safe way."""
        if task.OUTPUT_TYPE != "generate_until":
            return
        try:
            block = LmEval(kind="lm_eval", name=name, check_gold=False).to_json()
        except ValidationError:
            if _runs_own_code(task):
                what = "a score of all answers together, made by code of its own, which would run on what a model says"
                raise HbenchError(f"the task {name} gives {what}: no jail can hold that") from None
            return  # BLEU and its like: the library's own arithmetic on two texts
        graded: dict[int, dict[str, float]] = {}

        def apply_filters() -> None:
            self._runner.run(self._grade(block, task.instances, graded))
            for instance in task.instances:
                instance.filtered_resps = {each.name: (each.name, instance.doc_id) for each in task._filters}

        def process_results(_: Json, results: Sequence[tuple[str, int]]) -> dict[str, float]:
            ((chosen, doc_id),) = results
            return {key.rpartition(",")[0]: value for key, value in graded[doc_id].items() if key.endswith(f",{chosen}")}

        task.apply_filters, task.process_results = apply_filters, process_results

    async def _grade(self, block: Json, instances: Sequence[Any], graded: dict[int, dict[str, float]]) -> None:
        self._jails, slots = self._jails or Jails(self._sandbox, 1), asyncio.Semaphore(AT_ONCE)

        async def one(instance: Any) -> None:
            question = Question.of(block["name"], "", "", instance.doc, {"doc": instance.doc, "several": True})
            async with slots:
                found = await self._jails.grade(block, json.dumps(instance.resps), question)
            graded[instance.doc_id] = self._counted(found, block)

        await asyncio.gather(*map(one, instances))

    def _counted(self, found: Mapping[str, float] | Failure, block: Json) -> dict[str, float]:
        """A grader that breaks on an answer gives it 0: an answer may be made to break it."""
        if isinstance(found, Failure):
            self.ungraded += 1
            return dict.fromkeys(LmEval(kind="lm_eval", name=block["name"], check_gold=False).grade_names(), 0.0)
        return dict(found)


def _runs_own_code(task: Any) -> bool:
    """Whether code that came with the task sees what a model says."""
    metrics = task.get_config("metric_list") or []
    filters = [step["function"] for each in task.get_config("filter_list") or [] for step in each["filter"]]
    seen = [task.get_config("process_results"), *filters, *(each.get(key) for each in metrics for key in ("metric", "aggregation"))]
    return any(map(callable, seen)) or "custom" in filters
