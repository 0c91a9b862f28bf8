"""A model as evolver: notes on each failed question, then one edit of several files that rests on all of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from hbench.core.digest import Json, derive_seed
from hbench.core.failure import Failure
from hbench.core.message import Reply, Request
from hbench.core.prompt import frozen_prompt, render
from hbench.core.protocols import Services
from hbench.core.thinking import after_thinking
from hbench.parts.edits._files import Change
from hbench.parts.edits.bank import Bank, Edit
from hbench.steps._evolve_traces import Trace
from hbench.steps._well_formed import Asking, ask_until_read, call_rows
from hbench.steps.run_setting import model_ref

_MOST_NOTE = 1_500  # characters of one note


@dataclass(frozen=True)
class Proposed:
    """What an evolver wants. notes: [{"question_id", "text"}]. failure: of an answer that could not be read, or of files."""

    changes: tuple[Change, ...] = ()
    notes: tuple[Json, ...] = ()
    failure: Failure | None = None
    said: str = ""
    rows: Json = None


def proposed_by_model(params: Json, bank: Json, traces: Sequence[Trace], services: Services) -> Proposed:
    """bank: as prompts are told. An edit that cannot be read in three tries is a failure. Raises StepError without a reply."""
    model = model_ref(params["evolver"])
    known = {"domain": params["domain"], "bank": bank}
    prompt, seed = frozen_prompt(params["notes"]), derive_seed(params["seed"], "notes")
    requests = []
    for trace in traces:
        values = {**known, "question_id": trace.question_id, "score": trace.score, "trace": trace.text}
        requests.append(Request(tuple(render(prompt, values)), model.sampling, seed))
    replies = services.ask(model, requests)
    notes = [_note(trace, reply) for trace, reply in zip(traces, replies, strict=True)]
    rows: dict[str, list] = {"events": [], "texts": []}
    for trace, request, reply in zip(traces, requests, replies, strict=True):
        _add(rows, call_rows([(request, reply)], model, question_id=trace.question_id))

    edits = Bank()
    values = {**known, "notes": [note for note in notes if note["text"]], "folder": False, "most": edits.most}
    messages = tuple(render(frozen_prompt(params["prompt"]), values))
    asking = Asking(messages, lambda reply: edits.parse(reply.text, reply.finish_reason))
    answered = ask_until_read(model, [asking], derive_seed(params["seed"], "edit"), services)[0]
    _add(rows, call_rows(answered.calls, model))
    edit: Edit = answered.value or Edit((), "")
    return Proposed(edit.changes, tuple(notes), answered.failure, answered.calls[-1][1].text, rows)


def _note(trace: Trace, reply: Reply) -> Json:
    return {"question_id": trace.question_id, "text": (after_thinking(reply.text) or "").strip()[:_MOST_NOTE]}


def _add(rows: dict[str, list], more: dict[str, list]) -> None:
    for table, some in more.items():
        rows[table] += some
