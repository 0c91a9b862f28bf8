"""Rollouts and trajectories on a terminal."""

import json
from collections.abc import Sequence

from hbench.core.message import Message
from hbench.view.ids import rollout_address
from hbench.view.page import span
from hbench.view.placed import Place
from hbench.view.rollout import Call, RolloutRecord
from hbench.view.terminal import Cell, Terminal
from hbench.view.trajectory import TrajectoryRecord, TurnRecord

FATES: dict[str, Cell] = {
    "replaced": ("REPLACED by the reviewer", "bold yellow"),
    "passed": ("passed by the reviewer", "green"),
    "unreviewed": ("the reviewer had no say", "dim"),
    "alone": ("no reviewer", "dim"),
}
HIDDEN = "magenta underline"


def show_rollout(terminal: Terminal, record: RolloutRecord) -> None:
    """Everything that is recorded of it, call by call."""
    _about(terminal, record, "Rollout")
    if record.is_trajectory:
        terminal.line(("It has turns: without --calls it is shown turn by turn.", "dim"))
    _question(terminal, record)
    if record.output:
        terminal.title("What it printed")
        terminal.text(record.output)
    terminal.title("Calls", (f"{len(record.calls)}", "dim"))
    if record.unrecorded:
        terminal.text(None, absent=f"({record.unrecorded} calls have no rows here: the bundle was exported without them)")
    if record.is_silent:
        terminal.text(None, absent="(what was sent and what came back is not here: the bundle was exported without event_texts)")
    for call in record.calls:
        show_call(terminal, call, record.is_silent)


def _about(terminal: Terminal, record: RolloutRecord, sort: str) -> None:
    row = record.row
    terminal.title(sort, rollout_address(row["step_key"], row["candidate"], row["question_id"], row["repeat"]))
    show_places(terminal, record.places)
    terminal.facts(
        [
            ("score", (f"{row['score']:.3f}", "bold")),
            *((name, f"{value:.3f}") for name, value in record.grades if name != "score"),
            ("family", row["family"]),
            ("harness", row["harness_id"][:8]),
            ("question", row["question_id"][:8]),
            ("calls", row["calls"]),
            ("tokens", f"{row['prompt_tokens']} → {row['completion_tokens']}"),
            ("time", span(row["seconds"])),
        ]
    )
    if row["failure"]:
        boundary = f"at the boundary {row['boundary']}: " if row["boundary"] else ""
        terminal.line((row["failure"], "bold red"), boundary + (row["error"] or ""))


def _question(terminal: Terminal, record: RolloutRecord) -> None:
    row = record.row
    terminal.title("What it was asked")
    terminal.text(row["question"], absent="(the question is not here)")
    terminal.title("What it answered")
    terminal.text(row["answer"], "bold", absent="(nothing: it did not complete)")
    if row["gold"] is not None:
        terminal.title("Right answer")
        terminal.text(row["gold"])


def show_places(terminal: Terminal, places: Sequence[Place], most: int = 3) -> None:
    """What a step was for."""
    for place in places[:most]:
        terminal.line((f"{place.where}:", "dim"), place.label)
    if len(places) > most:
        terminal.line((f"and {len(places) - most} more", "dim"))


def show_call(terminal: Terminal, call: Call, silent: bool = False) -> None:
    """What was sent, and what came back. silent: neither, only what it cost."""
    row = call.row
    cost = f"{row['prompt_tokens']} → {row['completion_tokens']} tokens, " if row["kind"] == "lm" else ""
    ended = (row["finish_reason"], "yellow") if row["finish_reason"] not in ("", "stop", None) else ""
    time = "reused" if row["reused"] else span(row["seconds"])
    told = (f"{row['position']} {row['kind']}", (row["role"] or "", "cyan"), (cost + time, "dim"), ended)
    if silent:
        terminal.line(*told)
        return
    terminal.title(*told)
    if row["kind"] == "lm" and call.sent is not None:
        if call.known:
            terminal.line((f"{call.known} messages as in the call before, then", "dim"))
        show_messages(terminal, call.new)
    else:
        terminal.text(call.query or call.sent)
    terminal.line(("said" if row["kind"] == "lm" else "came back", "cyan"))
    terminal.text(_received(call), "bold" if row["kind"] == "lm" else "")


def _received(call: Call) -> str | None:
    """What came back, a value laid out."""
    value = call.received_json
    if isinstance(value, list) and call.row["kind"] == "search":
        return "\n".join(f"{p.get('id')}  {p.get('title')}" if isinstance(p, dict) else str(p) for p in value)
    if isinstance(value, dict):
        told = {name: each for name, each in value.items() if each not in ("", None)}
        return "\n".join(
            f"{name}: {each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)}" for name, each in told.items()
        )
    return call.received


def show_messages(terminal: Terminal, messages: Sequence[Message]) -> None:
    """A conversation."""
    for message in messages:
        if message.role:
            terminal.line((message.role, "cyan"))
        terminal.text(message.content)


def show_trajectory(terminal: Terminal, record: TrajectoryRecord, hide: str | None = None) -> None:
    """Turn by turn: what the student wanted, what its reviewer did and why, what ran, what came back, what is trained."""
    _about(terminal, record.rollout, "Trajectory")
    row, hide = record.row, hide or record.hide
    terminal.facts(
        [("domain", row["domain"]), ("turns", row["turns"]), ("replaced", row["replaced"]), ("unreviewed", row["unreviewed"])]
    )
    _uses(terminal, record, hide)
    terminal.title("What the student was told")
    if record.head is None:
        terminal.text(None)
    else:
        show_messages(terminal, record.head)
    for turn in record.turns:
        _turn(terminal, turn, hide)
    terminal.title("What it answered")
    terminal.text(record.rollout.row["answer"], "bold", absent="(nothing)")


def _uses(terminal: Terminal, record: TrajectoryRecord, hide: str) -> None:
    for use in record.uses:
        fate = {True: ("kept", "green"), False: (f"dropped: {use.drop_reason}", "red"), None: ("unknown", "dim")}[use.kept]
        tokens = f"{use.tokens_trained} tokens carry loss, {use.tokens_masked} do not" if use.tokens_trained is not None else ""
        arms = ", ".join(dict.fromkeys(f"{place.spec} · {place.arm}" for place in use.places))
        terminal.line((use.kind, "dim"), fate, tokens, (arms, "dim"))
    if not record.uses:
        terminal.line(("No training read it.", "dim"))
    if record.has_hidden:
        terminal.line(("Underlined:", "dim"), ("hidden from the loss", HIDDEN), (f"(hide: {hide})", "dim"))


def _turn(terminal: Terminal, each: TurnRecord, hide: str) -> None:
    turn = each.turn
    does = f"calls {turn.tool}" if turn.tool else "" if turn.observation else "the answer"
    terminal.title(f"Turn {each.number}", FATES[each.fate], (does, "dim"), (each.failure or "", "red"))
    terminal.line(("the student wanted" if each.fate == "replaced" else "the student said", "cyan"))
    terminal.text(turn.proposal, "red" if each.fate == "replaced" else "")
    for name, told in _review(each):
        terminal.line((name, "yellow"), told)
    if each.fate == "replaced":
        terminal.line(("the reviewer made it say", "cyan"))
        terminal.pieces([(text, HIDDEN if hidden else "green") for text, hidden in each.pieces(hide)])
    if turn.observation:
        terminal.line((f"came back, told as {turn.observation.role}", "cyan"))
        terminal.text(turn.observation.content)


def _review(each: TurnRecord) -> list[tuple[str, str]]:
    """What is known of the review, or of a bank's part in the turn."""
    turn = each.turn
    by = "had a part in it:" if each.fate == "alone" else "by:"
    told = [
        ("no say:", turn.trouble),
        ("why:", turn.reason),
        ("checks that found something:", ", ".join(turn.checks)),
        (by, ", ".join(turn.components)),
        ("asked for a verdict:", f"{turn.tries} times" if turn.tries > 1 else ""),
    ]
    return [(name, text) for name, text in told if text]
