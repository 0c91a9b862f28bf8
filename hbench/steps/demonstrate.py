"""A teacher edits each context's harness some times; every edit is tried beside its parent on scoring questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hbench.core.candidate import Candidate
from hbench.core.digest import Json, derive_seed
from hbench.core.failure import StepError
from hbench.core.harness import Harness
from hbench.core.message import Reply, Request
from hbench.core.model import ModelRef
from hbench.core.output import Artifact, Output
from hbench.core.protocols import Services
from hbench.parts.part import build
from hbench.parts.rewards._total import NoChange, reward_terms, stands_for_parent
from hbench.steps._candidate_rows import Rows, proposal_rows, term_rows
from hbench.steps._edit_prompt import context_messages
from hbench.steps._trials import Trials
from hbench.steps.run_setting import model_ref, model_row
from hbench.steps.trial import Response, revise

VERSION = 1


@dataclass(frozen=True)
class _Shown:
    """One demonstration. number: its candidate number. context: as in a contexts step's value. prompt: which was asked."""

    number: int
    context: Json
    prompt: int
    request: Request
    reply: Reply
    candidate: Candidate


def demonstrate(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """params: teacher, prompts (asked in turn), per_context, edit, seed; families (name -> how its harnesses are run), terms
    and no_change, as in adaptation. inputs: `contexts`; `questions_<family>`, each family's scoring questions.

    Candidate number: position of the context x per_context + which of its edits. Equal harnesses of a family are run once,
    under the first number; parents under numbers past the last. Value: demonstrations, each with candidate, context, prompt
    (its place among prompts), response, finish_reason, applied, score and parent_score (means over scoring questions; null
    when nothing ran), completion_rate and harness_id.

    A try after a kill asks for no reply again that is stored, and runs only missing rollouts.
    """
    teacher = model_ref(params["teacher"])
    shown = _shown(params, inputs["contexts"].value["contexts"], teacher, services)
    trials = Trials(params["families"], inputs, services)
    for one in shown:
        if one.candidate.harness:
            trials.add(one.context["family"], one.candidate.harness, one.number)
    for one in shown:
        trials.add(one.context["family"], one.candidate.parent, shown[-1].number + 1 + len(trials))
    trials.run()
    judged = [_with_rollouts(one, trials, params["no_change"]) for one in shown]
    terms = {name: build("rewards", block) for name, block in params["terms"].items()}
    rows = trials.rows()
    rows["models"].append(model_row(teacher, services.engine(teacher)))
    for one in judged:
        _add(rows, proposal_rows(one.candidate, one.reply, one.request, teacher, one.number))
        values = reward_terms(one.candidate, terms, params["no_change"])
        _add(rows, {"reward_terms": term_rows(values, terms, one.number)})
    return Output({"demonstrations": [_told(one, trials) for one in judged]}, rows)


def _shown(params: Json, contexts: Sequence[Json], teacher: ModelRef, services: Services) -> list[_Shown]:
    edit, prompts, asked = build("edits", params["edit"]), params["prompts"], []
    for context in contexts:
        for j in range(params["per_context"]):
            messages = context_messages(prompts[j % len(prompts)], context, params["edit"])
            seed = derive_seed(params["seed"], context["position"], j)
            asked.append((context, j, Request(messages, teacher.sampling, seed)))
    if not asked:
        raise StepError("there are no edit contexts to demonstrate in")
    shown = []
    replies = services.ask(teacher, [request for _, _, request in asked])
    for (context, j, request), reply in zip(asked, replies, strict=True):
        parent = Harness(context["harness"]["files"])
        candidate = revise(parent, Response(reply.text, reply.finish_reason), edit)
        number = context["position"] * params["per_context"] + j
        shown.append(_Shown(number, context, j % len(prompts), request, reply, candidate))
    return shown


def _with_rollouts(one: _Shown, trials: Trials, no_change: NoChange) -> _Shown:
    candidate, family = one.candidate, one.context["family"]
    ran = candidate.parent if stands_for_parent(candidate, no_change) else candidate.harness
    rollouts = trials.rollouts(family, ran) if ran else ()
    return replace(one, candidate=replace(candidate, rollouts=rollouts, grade=trials.grade(family)))


def _told(one: _Shown, trials: Trials) -> Json:
    candidate = one.candidate
    parent = trials.rollouts(one.context["family"], candidate.parent)
    return {
        "candidate": one.number,
        "context": one.context["position"],
        "prompt": one.prompt,
        "response": candidate.response,
        "finish_reason": one.reply.finish_reason,
        "applied": candidate.applied,
        "score": candidate.task_score if candidate.applied else None,
        "parent_score": replace(candidate, rollouts=parent).task_score,
        "completion_rate": candidate.completion_rate if candidate.applied else 0.0,
        "harness_id": candidate.harness.id if candidate.harness else None,
    }


def _add(rows: Rows, more: Rows) -> None:
    for table, some in more.items():
        rows.setdefault(table, []).extend(some)
