"""What the rollouts of one act step share, and how each is played."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from hbench.core.prompt import frozen_prompt
from hbench.core.question import Question
from hbench.core.trajectory import Acted
from hbench.steps.act_setting import ActSetting


def player(run: Any, setting: ActSetting) -> Callable[[Question, int], Awaitable[Acted]]:
    """Plays (question, repeat). run: the services of the step. Raises HbenchError for a prompt that has changed since the plan."""
    from hbench.runtime.acting import sub_speaker
    from hbench.runtime.acting.outside import OutsideStage, act_outside
    from hbench.runtime.acting.rollout import Stage, act_out

    domain = setting.domain.to_json()
    if setting.outside:
        stage = OutsideStage(setting, run.jails(), domain, run.machine.outside_env, run.check, run.recalculator())
        return partial(act_outside, stage)
    reviewer = setting.review.reviewer if setting.review else None
    lms = {"student": run.lm(setting.student), "reviewer": run.lm(reviewer) if reviewer else None}
    if setting.target.agent:
        lms["agent"] = run.lm(setting.student, sub_speaker.ROLE)
    prompt = frozen_prompt(setting.target.prompt)
    return partial(act_out, Stage(setting, run.jails(), prompt=prompt, domain=domain, recalculator=run.recalculator(), **lms))
