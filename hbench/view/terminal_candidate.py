"""Candidates, harnesses and diffs on a terminal."""

from collections.abc import Iterable, Sequence

from hbench.view.candidate import CandidateRecord
from hbench.view.file_diffs import FileDiff, Line
from hbench.view.harness import Edge, HarnessRecord
from hbench.view.ids import candidate_address, rollout_address
from hbench.view.measured import Measured
from hbench.view.terminal import Cell, Terminal, change, one_line, outcome
from hbench.view.terminal_rollout import show_messages, show_places

TRIED = 12  # rollouts of a step that are listed
STYLES = {"+": ("green", "black on green"), "-": ("red", "black on red"), " ": ("", "")}


def show_candidate(terminal: Terminal, record: CandidateRecord) -> None:
    """Its diff, the report that caused it, its reward, and how it ran."""
    row = record.row
    chosen = {True: ("chosen", "bold green"), False: ("not chosen", "dim"), None: ""}[record.chosen]
    terminal.title("Candidate", candidate_address(row["step_key"], row["candidate"]), outcome(row["outcome"]), chosen)
    show_places(terminal, record.places)
    if row["explanation"]:
        terminal.text(row["explanation"], "italic")
    terminal.facts(
        [
            ("reward", record.reward),
            *(
                fact
                for each in record.measured
                for fact in ((_named(each), each.score), ("", change(each.score, each.parent_score)))
            ),
            ("parent", (row["parent_id"] or "none")[:8]),
            ("made", (row["harness_id"] or "nothing")[:8]),
            ("family", record.caused.family),
            ("tokens", _tokens(row["prompt_tokens"], row["completion_tokens"])),
            ("ended", row["finish_reason"] if row["finish_reason"] != "stop" else None),
        ]
    )
    if row["error"] and not row["harness_id"]:
        terminal.line((f"{row['boundary']}:", "bold red"), row["error"])
    _changed(terminal, record)
    _caused(terminal, record)
    _reward(terminal, record)
    for each in record.measured:
        _measured(terminal, each)
    if terminal.whole:
        for call in record.calls:
            terminal.title("All that the", call.row["role"], "read")
            show_messages(terminal, call.messages)


def _tokens(asked: int | None, answered: int | None) -> str | None:
    return None if answered is None else f"{'?' if asked is None else asked} → {answered}"


def _named(each: Measured) -> str:
    return {"candidate_scoring": "scoring", "held_out_candidate": "held out"}.get(each.purpose, each.purpose)


def _changed(terminal: Terminal, record: CandidateRecord) -> None:
    if record.after is not None:
        terminal.title("What it changed")
        show_diffs(terminal, record.diffs)
        if record.caused.path:
            terminal.line(
                (f"One change of its round; all: hbench diff {record.row['parent_id'][:8]} {record.row['harness_id'][:8]}", "dim")
            )
        return
    terminal.title("What the proposer said", ("and could not be laid on the parent", "dim"))
    terminal.text(record.response)


def _caused(terminal: Terminal, record: CandidateRecord) -> None:
    """The report, or the rollouts that a change of an evolver cites."""
    if record.caused.cites:
        terminal.title("It rests on what happened in")
        terminal.table(
            ("rollout", "#score"), [(rollout_address(key, 0, *found), score) for key, *found, score in record.caused.cites]
        )
        return
    terminal.title(
        "The report that it answers",
        (
            f"from hbench trace {record.caused.report.ran_key[:8]}"
            if record.caused.report and record.caused.report.ran_key
            else "",
            "dim",
        ),
    )
    terminal.text(
        record.caused.report.text if record.caused.report else None, absent="(no report led to it, or its text is not here)"
    )


def _reward(terminal: Terminal, record: CandidateRecord) -> None:
    if not record.terms:
        return
    terminal.title("Reward")
    rows: list[Sequence[Cell]] = [(term.name, term.value, f"× {term.weight:g}", term.part) for term in record.terms]
    rows += [("further revisions", None, "", record.drawn["further"])] if record.drawn and record.drawn["further"] else []
    terminal.table(("term", "#value", "#weight", "#part"), [*rows, (("sum", "bold"), "", "", record.reward)])


def _measured(terminal: Terminal, each: Measured) -> None:
    failures = ", ".join(f"{count} {kind}" for kind, count in each.failures.items())
    terminal.title("How it ran:", (each.label, "dim"), each.score, change(each.score, each.parent_score), (failures, "red"))
    shown = each.tried if terminal.whole else each.tried[:TRIED]
    rows = [
        (
            rollout_address(each.step_key, each.candidate, one.question_id, one.repeat),
            one.before,
            one.score,
            (one.failure, "red")
            if one.failure
            else ("gained", "green")
            if one.change > 0
            else ("lost", "red")
            if one.change < 0
            else "",
            one_line(one.error if one.failure else one.question, 90),
        )
        for one in shown
    ]
    terminal.table(("rollout", "#parent", "#score", "", "asked, or what went wrong"), rows)
    if len(each.tried) > len(shown):
        terminal.line(
            (f"and {len(each.tried) - len(shown)} more: hbench trace {candidate_address(each.step_key, each.candidate)}", "dim")
        )


def show_diffs(terminal: Terminal, diffs: Iterable[FileDiff]) -> None:
    """Changed places of each file, as `diff -u` has them."""
    found = list(diffs)
    for each in found:
        terminal.line(
            (f"{each.path}", "bold"), (each.fate, "dim"), (f"+{each.count('+')}", "green"), (f"-{each.count('-')}", "red")
        )
        for hunk in each.hunks:
            terminal.line((_place(hunk), "cyan"))
            for line in hunk:
                plain, strong = STYLES[line.sort]
                terminal.pieces([(line.sort, plain), *((text, strong if changed else plain) for text, changed in line.pieces)])
    if not found:
        terminal.line(("The two are the same.", "dim"))


def _place(hunk: Sequence[Line]) -> str:
    old = next((line.old for line in hunk if line.old is not None), 0)
    new = next((line.new for line in hunk if line.new is not None), 0)
    return f"@@ -{old} +{new} @@"


def show_harness(terminal: Terminal, record: HarnessRecord) -> None:
    """Its files, where it came from, what was made of it, and how it ran."""
    terminal.title("Harness", record.id)
    for path, text in record.files.items():
        terminal.title(path)
        terminal.text(text)
    if not record.files:
        terminal.text(None, absent="(its files are not here)")
    _edges(terminal, "Where it came from", record.made_by, record.counts["made_by"])
    _edges(terminal, "What was made of it", record.made_of_it, record.counts["made_of_it"])
    terminal.title("How it ran", (f"{record.counts['ran']} steps and candidates", "dim"))
    rows = [
        (candidate_address(ran.step_key, ran.candidate), ran.questions, ran.score, ran.completion_rate, _for(ran.places))
        for ran in (record.ran if terminal.whole else record.ran[:TRIED])
    ]
    terminal.table(("step", "#questions", "#score", "#completed", "what for"), rows)


def _for(places: Sequence) -> str:
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return f"{places[0].where}: {places[0].label}{more}" if places else ""


def _edges(terminal: Terminal, title: str, found: Sequence[Edge], count: int) -> None:
    terminal.title(title, (f"{count} candidates" if count else "nothing", "dim"))
    if found:
        rows = [
            (
                candidate_address(edge.step_key, edge.candidate),
                outcome(edge.outcome),
                (edge.other_id or "–")[:8],
                one_line(edge.explanation),
            )
            for edge in (found if terminal.whole else found[:TRIED])
        ]
        terminal.table(("candidate", "outcome", "other", "what it says of itself"), rows)
