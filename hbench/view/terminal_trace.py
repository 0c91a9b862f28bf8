"""`hbench trace`: finds out what a word stands for, and prints it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hbench.view.candidate import candidate
from hbench.view.harness import harness
from hbench.view.harness_tree import Tree, tree
from hbench.view.ids import Named, candidate_address, named, rollout_address, spec_names
from hbench.view.overview import Arm, arms, overview, rollouts_of
from hbench.view.page import NotFound
from hbench.view.placed import places
from hbench.view.reading import Asked
from hbench.view.rollout import rollout
from hbench.view.terminal import Cell, Terminal, change, one_line, outcome
from hbench.view.terminal_candidate import show_candidate, show_harness
from hbench.view.terminal_rollout import show_places, show_rollout, show_trajectory
from hbench.view.trajectory import trajectory

TREES = 3  # of a spec that are printed without being asked for
HOW = """
hbench trace SPEC              by name or file: its arms; with one --arm (and --family) their trees of harnesses, round by round
hbench trace STEP              what a step ran: its candidates or rollouts (--failed: only what failed)
hbench trace STEP.CANDIDATE    a candidate: diff against its parent, the report that caused it, reward, failures, rollouts
hbench trace STEP/QUESTION     a rollout, every call; where there are turns, turn by turn (--calls: its calls)
hbench trace HARNESS           a harness: its files, where it came from, what was made of it, how it ran
hbench trace QUESTION          a question and the rollouts on it
hbench diff HARNESS HARNESS    two harnesses, by id, STEP.CANDIDATE, file or folder

A STEP, HARNESS or QUESTION is an id, or how one begins. Texts are cut; --full shows all of them.
"""


@dataclass(frozen=True)
class Wanted:
    """arm, family: only these of a spec. failed: only rollouts with a failure. most: rows of a list. calls: no turns.

    hide: what of a replacement is shown as hidden from the loss; None: what its training hid.
    """

    arm: str | None = None
    family: str | None = None
    failed: bool = False
    most: int = 30
    calls: bool = False
    hide: str | None = None


def trace(reading: Asked, terminal: Terminal, word: str | None, wanted: Wanted) -> None:
    """Prints what `word` stands for; without a word, what there is. Raises NotFound."""
    if word is None:
        _overview(reading, terminal)
        return
    found = named(reading, word)
    if found.sort == "spec":
        _spec(reading, terminal, found.id, wanted)
    elif found.sort == "harness":
        show_harness(terminal, harness(reading, found.id))
    elif found.sort == "candidate":
        show_candidate(terminal, candidate(reading, found.id, found.candidate))
    elif found.sort == "trajectory" and not wanted.calls:
        show_trajectory(terminal, trajectory(reading, found.id, found.question_id, found.repeat), wanted.hide)
    elif found.sort in ("rollout", "trajectory"):
        show_rollout(terminal, rollout(reading, found.id, found.candidate, found.question_id, found.repeat))
    else:
        _rows(reading, terminal, found, wanted)


def _overview(reading: Asked, terminal: Terminal) -> None:
    there = overview(reading)
    terminal.facts([(name, f"{count:,}") for name, count in there.counts.items()])
    if there.specs:
        terminal.line(("specs", "dim"), ", ".join(there.specs[:12]) + (" …" if len(there.specs) > 12 else ""))
    for line in HOW.rstrip("\n").split("\n"):
        terminal.line(line)
    if there.examples:
        terminal.title("For instance")
        for name, address in there.examples.items():
            terminal.line(f"hbench trace {address:<32}", (name, "dim"))


def _spec(reading: Asked, terminal: Terminal, spec: str, wanted: Wanted) -> None:
    names = spec_names(reading, spec)
    found = [arm for arm in arms(reading, names) if wanted.arm in (None, arm.arm) and wanted.family in (None, arm.family)]
    if not found:
        raise NotFound(f"nothing of spec {spec} was run" + (" under that arm and family" if wanted.arm or wanted.family else ""))
    terminal.title("Spec", ", ".join(names))
    rows = [(arm.spec, arm.arm, arm.family, arm.seed, arm.rounds, arm.score, (arm.held_out_key or "–")[:8]) for arm in found]
    head = ("spec", "arm", "family", "#seed", "#rounds", "#held out", "step")
    alone = len(names) == 1  # its name stands above
    terminal.table(head[alone:], [row[alone:] for row in rows])
    grown = [arm for arm in found if arm.rounds]
    if len(grown) > TREES and not wanted.arm:
        terminal.line((f"--arm ARM and --family FAMILY show their trees of harnesses; {len(grown)} have one", "dim"))
        return
    for arm in grown:
        _tree(terminal, arm, tree(reading, arm.of_arm))


def _tree(terminal: Terminal, arm: Arm, found: Tree) -> None:
    terminal.title("Tree of harnesses:", f"{arm.spec}, {arm.arm}, {arm.family}, seed {arm.seed}")
    for each in found.rounds:
        kept = ("kept the parent", "dim") if each.kept_parent else ""
        terminal.line(
            ("●", "bold"),
            f"round {each.number} from {(each.parent_id or 'nothing')[:8]}",
            _score("score", each.score),
            _score("held out", each.held_out),
            kept,
        )
        for leaf in each.leaves:
            mark = ("├─◉" if leaf.chosen else "├─○", "bold green" if leaf.chosen else "")
            score: list[Cell] = [leaf.score, change(leaf.score, each.score)] if leaf.score is not None else []
            address = candidate_address(leaf.step_key, leaf.candidate)
            terminal.line(mark, address, outcome(leaf.outcome), *score, (one_line(leaf.explanation, 80), "dim"))
    if found.last_id:
        terminal.line(("●", "bold"), f"in the end {found.last_id[:8]}", _score("held out", found.last))


def _score(name: str, score: float | None) -> Cell:
    return "" if score is None else (f"{name} {score:.3f}", "bold")


def _rows(reading: Asked, terminal: Terminal, found: Named, wanted: Wanted) -> None:
    """Of a step, or of a question."""
    terminal.title(found.sort.capitalize(), found.id)
    if found.sort == "step":
        kind = reading.query("select kind from steps where step_key = ?", [found.id]).rows[0][0]
        terminal.line(kind)
        show_places(terminal, places(reading, [found.id])[found.id], 8)
        _candidates(reading, terminal, found.id, wanted)
        narrowed = ["step_key = ?"]
    else:
        text, answer = reading.query("select text, answer from questions where question_id = ?", [found.id]).rows[0]
        terminal.text(text)
        terminal.facts([("right answer", one_line(answer))])
        narrowed = ["question_id = ?"]
    narrowed += ["failure is not null"] if wanted.failed else []
    rows = rollouts_of(reading, narrowed, [found.id], wanted.most)
    count = reading.query(f"select count(*), avg(score) from rollouts where {' and '.join(narrowed)}", [found.id]).rows[0]
    if not count[0] and found.sort == "step":
        return
    terminal.title(
        "Rollouts", (f"{count[0]:,}", "dim"), _score("mean", count[1]), ("the lowest scores first" if rows else "", "dim")
    )
    if rows:
        terminal.table(
            ("rollout", "harness", "#score", "", "#calls", "answer" if found.sort == "question" else "asked"),
            map(_rollout_row(found.sort), rows),
        )
    if count[0] > len(rows):
        terminal.line((f"and {count[0] - len(rows):,} more (--last {count[0]} shows all)", "dim"))


def _rollout_row(sort: str) -> Any:
    def row(one: dict[str, Any]) -> Sequence[Cell]:
        address = rollout_address(one["step_key"], one["candidate"], one["question_id"], one["repeat"])
        replaced = f"{one['replaced']} of {one['turns']} replaced" if one["replaced"] else ""
        said = one["answer"] if sort == "question" else one["question"]
        fate = (one["failure"], "red") if one["failure"] else (replaced, "yellow")
        return address, one["harness_id"][:8], one["score"], fate, one["calls"], one_line(said, 90)

    return row


def _candidates(reading: Asked, terminal: Terminal, step_key: str, wanted: Wanted) -> None:
    rows = reading.rows("select * from candidates where step_key = ? order by candidate limit ?", [step_key, wanted.most])
    if not rows:
        return
    count = reading.query("select count(*) from candidates where step_key = ?", [step_key]).rows[0][0]
    terminal.title("Candidates", (f"{count:,}", "dim"))
    told = [
        (
            candidate_address(step_key, r["candidate"]),
            outcome(r["outcome"]),
            (r["harness_id"] or "–")[:8],
            one_line(r["explanation"]),
        )
        for r in rows
    ]
    terminal.table(("candidate", "outcome", "made", "what it says of itself"), told)
    if count > len(rows):
        terminal.line((f"and {count - len(rows):,} more (--last {count} shows all)", "dim"))
