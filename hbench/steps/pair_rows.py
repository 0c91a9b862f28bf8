"""Rejected and accepted responses of the same state, as token rows and as texts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hbench.core.digest import Json
from hbench.core.failure import StepError
from hbench.core.output import Artifact, Output
from hbench.core.protocols import Services
from hbench.core.training import Talk, TurnTokens
from hbench.core.trajectory import Span, conversation_json
from hbench.core.voice import without_loss
from hbench.steps._kept import kept_acted, row_fault, told, write_lines
from hbench.steps.run_setting import model_ref

VERSION = 3  # 3: the end of a draft that was cut tells nothing
FILE, TEXTS = "rows.jsonl", "pairs.jsonl"


def pair_rows(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """params: model (the student), hide, max_length. inputs: `acted_…` and `kept_…`, of one domain each.

    One pair a replaced turn of a kept trajectory: what the student had seen, its draft, what was accepted in its place.
    File rows.jsonl: {"accepted", "rejected"}, each {"input_ids", "labels"}, labels -100 off the response, on what is hidden
    of it, and on the end of a draft that ended at the limit of tokens; what longer than max_length is dropped, never cut
    (too_long), and so is what the chat template would shift (chat_template). File pairs.jsonl: {"question_id", "repeat",
    "turn", "messages", "rejected", "accepted"}, all of them, for other trainers. Value: pairs, asked, dropped (reason -> how
    many), told, longest, file, texts. Raises StepError when
    no pair is left.
    """
    pairs = _pairs(inputs, params["hide"])
    if not pairs:
        raise StepError("no turn of a kept trajectory was replaced: there are no pairs to learn from")
    talks = [talk for pair in pairs for talk in (pair["accepted_talk"], pair["rejected_talk"])]
    found = services.tokenise_turns(model_ref(params["model"]), talks)
    rows, dropped = [], Counter()
    for accepted, rejected in zip(found[::2], found[1::2], strict=True):
        if reason := row_fault(accepted, params["max_length"]) or row_fault(rejected, params["max_length"]):
            dropped[reason] += 1
        else:
            rows.append({"accepted": _row(accepted[0]), "rejected": _row(rejected[0])})
    if not rows:
        refused = next((each for each in found if isinstance(each, str)), "")
        raise StepError(f"no pair is left of {len(pairs)}: {told(dropped)}" + (f" ({refused})" if refused else ""))
    folder = services.part.folder / "pairs"
    files = {FILE: folder / FILE, TEXTS: folder / TEXTS}
    write_lines(files[FILE], rows)
    write_lines(files[TEXTS], [{name: each for name, each in pair.items() if name not in _TALKS} for pair in pairs])
    value = {
        "pairs": len(rows),
        "asked": len(pairs),
        "dropped": dict(sorted(dropped.items())),
        "told": told(dropped),
        "longest": max(len(side["input_ids"]) for row in rows for side in row.values()),
        "file": FILE,
        "texts": TEXTS,
    }
    return Output(value, files=files)


_TALKS = ("accepted_talk", "rejected_talk")


def _pairs(inputs: Mapping[str, Artifact], hide: str) -> list[Json]:
    found = []
    for one in kept_acted(inputs):
        lived = one.acted.trajectory
        for place, turn in enumerate(lived.turns):
            if turn.verdict != "replace":
                continue
            seen = conversation_json(lived.seen(place))
            found.append(
                {
                    "question_id": lived.question_id,
                    "repeat": lived.repeat,
                    "turn": place,
                    "messages": seen,
                    "rejected": turn.proposal,
                    "accepted": turn.accepted,
                    "accepted_talk": _talk(seen, turn.accepted, one.tools, without_loss(turn, hide)),
                    "rejected_talk": replace(_talk(seen, turn.proposal, one.tools), cut=[len(seen)] if place in one.cut else []),
                }
            )
    return found


def _talk(seen: Sequence[Json], said: str, tools: Json, hidden: Sequence[Span] = ()) -> Talk:
    place = len(seen)
    return Talk([*seen, {"role": "assistant", "content": said}], [place], {place: hidden}, tools)


def _row(row: TurnTokens) -> Json:
    return {"input_ids": row.ids, "labels": row.labels}
