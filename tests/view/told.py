"""A results folder made by hand, with hostile texts: a round of adaptation, and a reviewed trajectory that is trained on."""

import json
from pathlib import Path
from typing import Any

from hbench.core.digest import text_digest
from hbench.core.harness import Harness
from hbench.core.message import Message
from hbench.core.output import Output
from hbench.core.rollout import Event, Rollout
from hbench.core.trajectory import Acted, Trajectory, Turn
from hbench.steps._acted_rows import acted_rows
from hbench.steps._rollout_rows import rollout_rows
from hbench.steps.harness import harness_rows
from hbench.store.artifacts import Store
from hbench.store.database import fold
from hbench.store.part import StepRecord
from tests.store.made import SPEC, key, put_run

# What a page or a terminal would obey: a script, an image that fails, a colour, a title, a turned word, a backspace.
SCRIPT = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
HOSTILE = SCRIPT + "\x1b[31mred\x1b]0;owned\x07 \u202egnp.exe \b&lt;b&gt;"
SHOWN = "⟨ESC⟩[31mred⟨ESC⟩]0;owned⟨BEL⟩ ⟨U+202E⟩gnp.exe ⟨BS⟩"  # the same, as it is to be seen
LONG = "x" * 1_000_000

ASKED, OTHER, JOB, JOB_2 = ("a1" * 8, "a2" * 8, "b1" * 8, "b2" * 8)  # question ids
PARENT = Harness.of("def run(question, tools):\n    return tools.lm(question)\n")
MADE = Harness.of("def run(question, tools):\n    # <script>\n    return tools.lm(question, temperature=1)\n")
SAID = f"Ask warmly. {HOSTILE}"
REPORT = f"0 of 2 questions right.\n{HOSTILE}"

HEAD = (Message("system", "You work in a shell."), Message("user", f"Sort names.txt. {HOSTILE}"))
REASONING = "The draft would delete the file. Reading comes first."
INSTEAD = f"{REASONING}\n\n```bash\ncat names.txt\n```"
TURNS = (
    Turn(
        proposal=f"```bash\nrm names.txt\n```\n{HOSTILE}",
        verdict="replace",
        accepted=INSTEAD,
        observation=Message("user", f"zoe\nadam\n{HOSTILE}"),
        tool="execute",
        hidden=((0, len(REASONING)),),
        reason="it deletes what it should sort",
        components=("checks/no_delete.py",),
        tries=2,
        checks=("no_delete",),
    ),
    Turn("```bash\nsort names.txt\n```", "pass", "```bash\nsort names.txt\n```", Message("user", LONG), "execute", tries=1),
    Turn("Sorted.", "pass", "Sorted.", trouble="budget"),
)


def put_told(folder: Path) -> Path:
    """The results folder, folded."""
    store = Store(folder)
    plan = {
        "specs": [{"spec_digest": SPEC, "name": "told", "plan": "adaptation", "file": "specs/told.yaml", "point": {}, "text": ""}]
    }
    plan |= {table: [{"spec_digest": SPEC, **row} for row in rows] for table, rows in _plan().items()}
    store.put_plan(SPEC, plan)
    for name, (kind, rows, params, value) in _steps().items():
        with store.open(key(name)) as part:
            part.commit(Output(value, rows), StepRecord(kind, 1, params, 1.0, {"host": "here"}))
    put_run(store, list(_steps()))
    assert fold(folder, wait_s=10.0).how == "folded"
    return folder


def _plan() -> dict[str, list[dict[str, Any]]]:
    labels = {
        "report": ("report", 0, None),
        "propose": ("propose", 0, 0),
        "propose_1": ("propose", 0, 1),
        "parent": ("parent_scoring", 0, None),
        "score": ("candidate_scoring", 0, 0),
        "reward": ("reward", 0, 0),
        "select": ("select", 0, None),
        "act": ("collect", None, None),
        "keep": ("keep_trajectories", None, None),
        "rows": ("trajectory_rows", None, None),
    }
    reads = {
        "propose": ["report"],
        "score": ["propose"],
        "reward": ["propose", "score", "parent"],
        "keep": ["act"],
        "rows": ["act", "keep"],
    }
    common = {"arm": "arm", "family": "names", "seed": 0}
    return {
        "plan_steps": [{"step_id": name, "kind": _steps()[name][0]} for name in labels],
        "plan_labels": [
            {"step_id": name, "purpose": purpose, "round": t, "slot": slot, "label": f"the {name} of it", **common}
            for name, (purpose, t, slot) in labels.items()
        ],
        "plan_edges": [
            {"step_id": name, "input": f"from_{other}", "from_step_id": other}
            for name, others in reads.items()
            for other in others
        ],
    }


def _steps() -> dict[str, tuple[str, dict, dict, Any]]:
    """name -> kind, rows, params, value."""
    report = {"reports": [{"harness_id": PARENT.id, "text_digest": text_digest(REPORT)}], "texts": [_text(REPORT)]}
    terms = [("task_score", 0.5, 1.0), ("parsed", 1.0, 0.1)]
    kept = {"question_id": JOB, "repeat": 0, "kept": True, "drop_reason": None}
    dropped = {"question_id": JOB_2, "repeat": 0, "kept": False, "drop_reason": "failed"}
    return {
        "report": ("report", report, {}, None),
        "propose": ("propose", _candidate(MADE, SAID, "applied"), {}, None),
        "propose_1": ("propose", _candidate(None, f"no edit {HOSTILE}", "no_edit_blocks"), {}, None),
        "parent": ("evaluate", _rollouts(PARENT, [0.0, 1.0]), {}, None),
        "score": ("evaluate", _rollouts(MADE, [1.0, 0.0], HOSTILE), {}, None),
        "reward": ("reward", {"reward_terms": [dict(zip(("term", "value", "weight"), term)) for term in terms]}, {}, None),
        "select": (
            "select",
            {"selections": [{"rule": "best_candidate", "parent_id": PARENT.id, "chosen_id": MADE.id}]},
            {},
            {"slot": 0},
        ),
        "act": ("act", _acted(), {}, None),
        "keep": ("keep_trajectories", {"kept_trajectories": [kept, dropped]}, {}, None),
        "rows": (
            "trajectory_rows",
            {"kept_trajectories": [kept | {"tokens_trained": 31, "tokens_masked": 222}]},
            {"hide": "voice"},
            None,
        ),
    }


def _text(text: str) -> dict[str, str]:
    return {"digest": text_digest(text), "text": text}


def _candidate(made: Harness | None, said: str, outcome: str) -> dict[str, list[dict]]:
    row = {
        "parent_id": PARENT.id,
        "harness_id": made.id if made else None,
        "response_digest": text_digest(said),
        "outcome": outcome,
    }
    row |= {"explanation": said if made else "", "parsed": bool(made), "applied": bool(made), "finish_reason": "stop"}
    row |= {} if made else {"boundary": "parse", "error": f"no block in {HOSTILE}"}
    harnesses = harness_rows(PARENT) + (harness_rows(made) if made else [])
    event = {"position": 0, "kind": "lm", "role": "proposer", "finish_reason": "stop", "prompt_tokens": 9, "completion_tokens": 4}
    event |= {"sent_digest": text_digest("[user]\nEdit it."), "received_digest": text_digest(said)}
    texts = [_text(said), _text("[user]\nEdit it.")]
    return {"candidates": [row], "harnesses": harnesses, "texts": texts, "events": [event]}


def _rollouts(harness: Harness, scores: list[float], error: str = "") -> dict[str, list[dict]]:
    """On both questions; `error`: what the one that scored nothing failed with."""
    rows: dict[str, list[dict]] = {"questions": []}
    for question, score in zip((ASKED, OTHER), scores, strict=True):
        asked = [{"role": "user", "content": f"What is it? {HOSTILE}"}]
        call = Event("lm", asked, f"It is {HOSTILE}", role="solver", finish_reason="stop", prompt_tokens=5, completion_tokens=3)
        rollout = Rollout(harness.id, question, 0, f"It is {HOSTILE}", {"score": score}, True, events=(call,))
        for table, some in rollout_rows(rollout, "score").items():
            rows.setdefault(table, []).extend(some)
        rows["questions"].append(
            {
                "question_id": question,
                "content_id": question,
                "family": "names",
                "text": f"What is it? {HOSTILE}",
                "answer": HOSTILE,
            }
        )
        if error and not score:
            rows["rollouts"][-1] |= {"failure": "error", "boundary": "harness", "error": error}
    rows["texts"] = list({row["digest"]: row for row in rows["texts"]}.values())
    return rows


def _acted() -> dict[str, list[dict]]:
    """One trajectory with a reviewer, whose conversation grows; another that its student alone made."""
    lived = Trajectory(JOB, 0, HEAD, TURNS)
    reviewer = [{"role": "system", "content": "You review."}, {"role": "user", "content": "Turn 0"}]
    talk = Event("lm", reviewer, '{"decision": "replace"}', role="reviewer")
    later = Event(
        "lm", {"after": 3, "messages": [{"role": "user", "content": "Turn 1"}]}, '{"decision": "pass"}', role="reviewer"
    )
    events = []
    for number, turn in enumerate(TURNS):
        events.append(Event("lm", [m.to_json() for m in lived.seen(number)], turn.proposal, role="student", finish_reason="stop"))
        events += [[talk], [later], []][number]
        if turn.tool:
            events.append(Event("execute", "cat names.txt", {"output": turn.observation.content, "code": 0}, role="student"))
    whole = Acted(Rollout(PARENT.id, JOB, 0, "Sorted.", {"score": 1.0}, True, events=tuple(events)), lived)
    alone = Trajectory(JOB_2, 0, HEAD, (Turn("Done.", "pass", "Done."),))
    short = Acted(Rollout(PARENT.id, JOB_2, 0, "Done.", {"score": 0.0}, True), alone)
    rows: dict[str, list[dict]] = {
        "questions": [{"question_id": JOB, "content_id": JOB, "family": "names", "text": "Sort names.txt."}]
    }
    for acted in (whole, short):
        for table, some in acted_rows(acted, "score", "files").items():
            rows.setdefault(table, []).extend(some)
    rows["texts"] = list({row["digest"]: row for row in rows["texts"]}.values())
    return json.loads(json.dumps(rows))
