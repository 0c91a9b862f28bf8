"""One rollout: the harness in its jail, its tools on this side, the answer to the grader's jail."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from hbench.core.digest import Told, derive_seed
from hbench.core.thinking import after_thinking
from hbench.core.failure import Failure, StepError
from hbench.core.harness import Harness
from hbench.core.question import Question
from hbench.core.rollout import Rollout
from hbench.engines.jail import HarnessJob, Jails, Outcome
from hbench.runtime.tool_belt import Reach, ToolBelt


@dataclass(frozen=True)
class Stage:
    """What all rollouts of one harness share. setting: steps/run_setting.py."""

    harness: Harness
    setting: Any
    reach: Reach
    jails: Jails
    family_block: Told


def player(run: Any, harness: Harness, setting: Any) -> Callable[[Question, int], Awaitable[Rollout]]:
    """Plays (question, repeat). run: the RunServices."""
    return partial(roll_out, _stage(run, harness, setting))


def _stage(run: Any, harness: Harness, setting: Any) -> Stage:
    jails = run.jails()
    reach = Reach(run.lm(setting.solver), jails.python, run.corpus(setting.family))
    return Stage(harness, setting, reach, jails, Told(setting.family.to_json()))


async def roll_out(stage: Stage, question: Question, repeat: int) -> Rollout:
    """The graded rollout. Raises StepError for infrastructure; every other trouble is the rollout's Failure."""
    setting, started = stage.setting, time.perf_counter()
    stage.jails.expect(stage.family_block, question)
    outcome, belt = await _run(stage, question, repeat)
    failure, grades = outcome.failure, None
    if failure is None:
        grades, failure = await _graded(stage, outcome.answer, question, belt)
    return Rollout(
        harness_id=stage.harness.id,
        question_id=question.id,
        repeat=repeat,
        answer=outcome.answer,
        grades=grades or dict.fromkeys(setting.family.grade_names(), 0.0),
        completed=outcome.completed,
        failure=failure,
        events=tuple(belt.events),
        usage=belt.usage(time.perf_counter() - started),
        output=outcome.output,
    )


def answerer(run: Any, harness: Harness, setting: Any) -> Callable[[Question, int], Awaitable[tuple[str, int, str]]]:
    """As `player`, for who grades by himself: gives (question id, repeat, answer), the answer "" where there is none."""
    stage = _stage(run, harness, setting)

    async def answer(question: Question, repeat: int) -> tuple[str, int, str]:
        outcome, _ = await _run(stage, question, repeat)
        return question.id, repeat, after_thinking(outcome.answer or "") or ""

    return answer


async def _run(stage: Stage, question: Question, repeat: int) -> tuple[Outcome, ToolBelt]:
    """The harness on the question, in its jail; and its tools, which know what it asked."""
    setting, draw = stage.setting, (stage.setting.seed, question.id, repeat)
    belt = ToolBelt(setting.solver, setting.limits, draw, stage.reach)
    job = HarnessJob(stage.harness.text, question.text, belt.tools(), setting.limits, derive_seed("harness", *draw))
    return await stage.jails.run(job), belt


async def _graded(
    stage: Stage, answer: str, question: Question, belt: ToolBelt
) -> tuple[Mapping[str, float] | None, Failure | None]:
    """Grades of a completed answer; None and a Failure where there is no answer, or the grader broke on it."""
    text = after_thinking(answer)
    if text is None or not text.strip():
        return None, _no_answer(belt)
    found = await stage.jails.grade(stage.family_block, text, question)
    if not isinstance(found, Failure):
        return found, None
    await _grader_takes_gold(stage, question)
    return None, found


def _no_answer(belt: ToolBelt) -> Failure:
    """An empty answer after a reply that was cut is told apart: the model had no room, it did not decline."""
    cut = bool(belt.events) and belt.events[-1].finish_reason == "length"
    kind = "truncated" if cut else "no_answer"
    return Failure("harness", kind, "the answer is empty" + (": the last reply was cut at max_tokens" if cut else ""))


async def _grader_takes_gold(stage: Stage, question: Question) -> None:
    """A grader that fails on the gold answer is broken: an error of the step, not the answer's fault."""
    if not isinstance(question.answer, str):
        return
    gold = await stage.jails.grade(stage.family_block, question.answer, question)
    if isinstance(gold, Failure):
        raise StepError(
            f"the grader of {question.family!r} fails on the gold answer of question {question.id}: "
            f"{gold.kind} {gold.message}"
        )
