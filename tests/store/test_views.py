"""What the views say, on rows made here."""

import csv
import json

import pytest

from hbench.core.digest import text_digest
from hbench.store.artifacts import Store
from hbench.store.database import fold
from hbench.store.query import query
from tests.store.made import RUN, SPEC, contents, key, label, plan, put, put_run, rollout, rollouts
from tests.where import cases


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def finish(store, labels, **run) -> None:
    """Puts a plan and a finished run of it, and folds."""
    store.put_plan(SPEC, plan(labels))
    put_run(store, list(labels), **run)
    assert fold(store.folder).messages == ()


def candidates(store, scores, purpose: str = "candidate_scoring") -> None:
    """One evaluate step a candidate; None is a failed edit, which ran nothing."""
    for slot, score in enumerate(scores):
        put(store, f"c{slot}", rollouts([] if score is None else [score], f"h{slot}"), {"slot": slot})
    finish(store, {f"c{slot}": [label(purpose, round=0, slot=slot)] for slot in range(len(scores))})


def test_a_harness_has_its_mean_over_the_held_out_questions(store):
    put(store, "end", rollouts([1.0, 0.5, 0.0], "last"))
    put(store, "start", rollouts([0.5, 0.0, 0.0], "seed"))
    finish(store, {"end": [label("held_out")], "start": [label("held_out_seed"), label("held_out", arm="b")]})
    found = query(
        store.folder, "select arm, purpose, harness_id, questions, score, exact from held_out order by arm, purpose"
    )
    assert found.rows == [
        ("a", "held_out", "last", 3, 0.5, pytest.approx(1 / 3)),
        ("a", "held_out_seed", "seed", 3, pytest.approx(1 / 6), 0.0),
        ("b", "held_out", "seed", 3, pytest.approx(1 / 6), 0.0),
    ]


def test_a_failed_edit_has_a_held_out_row_without_a_score(store):
    candidates(store, [None, 0.5], "held_out_candidate")
    found = query(store.folder, "select slot, questions, score from held_out order by slot")
    assert found.rows == [(0, 0, None), (1, 1, 0.5)]


def test_a_round_shows_what_was_selected(store):
    selection = {"rule": "strict_improvement", "parent_id": "p", "chosen_id": "c", "slot": 2}
    put(store, "s", {"selections": [selection | {"parent_score": 0.25, "chosen_score": 0.5, "kept_parent": False}]})
    finish(store, {"s": [label("select", round=3)]})
    found = query(store.folder, "select round, rule, parent_score, chosen_score, kept_parent, chosen_slot from rounds")
    assert found.rows == [(3, "strict_improvement", 0.25, 0.5, False, 2)]


def test_ties_go_to_the_earlier_and_what_was_not_scored_has_no_place(store):
    """Case 97."""
    folder = cases() / "97-null-and-ties-in-ranking"
    rows = sorted(csv.DictReader((folder / "rows.csv").open()), key=lambda row: int(row["created"]))
    wanted = json.loads((folder / "expected.json").read_text())
    candidates(store, [float(row["score"]) if row["score"] else None for row in rows])
    found = query(store.folder, "select slot, place from candidate_scores order by place, slot").rows
    assert [rows[slot]["candidate"] for slot, place in found if place] == wanted["ranking"]
    assert [rows[slot]["candidate"] for slot, place in found if place is None] == wanted["not_scored"]


def test_failed_edits_are_left_out_or_count_as_zero(store):
    candidates(store, [None, 0.0, 0.5, 1.0])
    found = query(
        store.folder,
        "select split, proposals, mean_score, mean_failed_zero, best_score, failed_share, zero_share "
        "from proposal_scores",
    )
    assert found.rows == [("scoring", 4, 0.5, 0.375, 1.0, 0.25, 0.5)]


def test_only_the_newest_finished_run_counts(store):
    put(store, "x", rollouts([1.0], "x"))
    put(store, "old", rollouts([0.0], "old"))
    store.put_plan(SPEC, plan({"x": [label("held_out")]}))
    put_run(store, ["x"], run="newest")
    for run, ended_at, outcome in (("earlier", "2025-01-01", "finished"), ("broken", "2027-01-01", "failed")):
        row = {"run_id": run, "spec_digest": SPEC, "ended_at": ended_at, "outcome": outcome}
        step = {"run_id": run, "step_id": "x", "step_key": key("old"), "status": "ran"}
        with store.open_run(run) as journal:
            journal.append({"runs": [row], "run_steps": [step]})
    put_run(store, ["x"], run="going on", outcome=None)
    fold(store.folder)
    assert query(store.folder, "select run_id from labelled_steps").rows == [("newest",)]
    assert query(store.folder, "select harness_id, score from held_out").rows == [("x", 1.0)]


def test_an_event_is_shown_with_its_texts(store):
    put(store, "a", rollout(7))
    fold(store.folder)
    assert query(store.folder, "select sent, received from event_texts").rows == [("what is 7?", "it is 7")]
    found = query(store.folder, "select text from texts where digest = ?", [text_digest("it is 7")])
    assert found.rows == [("it is 7",)]


def test_the_ledger_tells_reuse_from_spend_and_counts_a_shared_step_once_an_arm(store):
    put(store, "e", {table: rollout(1)[table] + rollout(2, reused=True)[table] for table in rollout(1)})
    put(store, "p", {"candidates": [{"outcome": "applied", "prompt_tokens": 100, "completion_tokens": 50}]})
    finish(
        store,
        {
            "e": [label("feedback", round=0), label("parent_scoring", round=0), label("held_out_seed", arm="b")],
            "p": [label("propose", round=0, slot=0)],
        },
    )
    found = query(
        store.folder,
        "select arm, round, role, calls, prompt_tokens, completion_tokens, reused_calls, reused_tokens "
        "from ledger order by all",
    )
    assert found.rows == [
        ("a", 0, "proposer", 1, 100, 50, 0, 0),
        ("a", 0, "solver", 1, 10, 5, 1, 15),
        ("b", None, "solver", 1, 10, 5, 1, 15),
    ]


def spent(step, run=RUN, role="solver", **counts):
    """A row of `spend`."""
    return {"run_id": run, "step_id": step, "step_key": key(step), "role": role, "model": "m", **counts}


def test_the_ledger_tells_what_all_runs_spent_on_a_step_also_those_that_did_not_finish(store):
    """A resumed step finds the replies that a killed run had paid for: its events say reused, and yet they were paid."""
    put(store, "e", {table: rollout(1)[table] + rollout(2, reused=True)[table] for table in rollout(1)})
    used = {"prompt_tokens": 10, "completion_tokens": 5, "seconds": 1.0}
    for run, outcome, rows in (
        ("killed", None, [spent("e", "killed", calls=1, cost=0.5, **used)]),
        (RUN, "finished", [spent("e", calls=1, cost=0.25, reused_calls=1, reused_tokens=15, **used)]),
    ):
        put_run(store, ["e"], run=run, outcome=outcome)
        with store.open_run(run) as journal:
            journal.append({"spend": [{**rows[0], "calls": 0}]})
            journal.append({"spend": rows})  # what is told later counts
    store.put_plan(SPEC, plan({"e": [label("feedback", round=0), label("held_out_seed", arm="b")]}))
    assert fold(store.folder).messages == ()
    found = query(store.folder, "select arm, role, calls, prompt_tokens, cost, reused_calls, reused_tokens from ledger order by all")
    assert found.rows == [("a", "solver", 2, 20, 0.75, 1, 15), ("b", "solver", 2, 20, 0.75, 1, 15)]
    each = query(store.folder, "select run_id, arm, round, calls, cost from run_spend order by all")
    assert each.rows == [("killed", "a", 0, 1, 0.5), ("killed", "b", None, 1, 0.5), (RUN, "a", 0, 1, 0.25), (RUN, "b", None, 1, 0.25)]


def test_the_review_rate_is_replaced_turns_of_all_turns(store):
    assert put(store, "none") and fold(store.folder) and query(store.folder, "from review_rate").rows == []
    row = {"domain": "files", "turns": 4}
    rows = [row | {"question_id": "a", "replaced": 1}, row | {"question_id": "b", "replaced": 2}]
    put(store, "a", {"trajectories": rows})
    fold(store.folder)
    assert query(store.folder, "select trajectories, turns, replaced_share from review_rate").rows == [(2, 8, 0.375)]


# One query a link; in a folder with one row at every end, each finds one.
LINKS = {
    "runs -> specs": "select count(*) from runs join specs using (spec_digest)",
    "plan_steps -> specs": "select count(*) from plan_steps join specs using (spec_digest)",
    "plan_labels -> plan_steps": "select count(*) from plan_labels join plan_steps using (spec_digest, step_id)",
    "plan_edges -> plan_steps": "select count(*) from plan_edges e join plan_steps s "
    "on s.spec_digest = e.spec_digest and s.step_id = e.from_step_id",
    "run_steps -> runs": "select count(*) from run_steps join runs using (run_id)",
    "run_steps -> plan_steps": "select count(*) from run_steps join runs using (run_id) "
    "join plan_steps using (spec_digest, step_id)",
    "spend -> run_steps": "select count(*) from spend join run_steps using (run_id, step_id)",
    "races -> steps": "select count(*) from races join steps using (step_key)",
    "run_steps -> steps": "select count(*) from run_steps join steps using (step_key)",
    "models -> steps": "select count(*) from models join steps using (step_key)",
    "split_questions -> questions": "select count(*) from split_questions join questions using (question_id)",
    "rollouts -> steps": "select count(*) from rollouts join steps using (step_key)",
    "rollouts -> questions": "select count(*) from rollouts join questions using (question_id)",
    "rollouts -> harnesses": "select count(*) from rollouts join harnesses using (harness_id)",
    "rollouts -> texts": "select count(*) from rollouts join texts on digest = output_digest",
    "grades -> rollouts": "select count(*) from grades join rollouts using (step_key, candidate, question_id, repeat)",
    "events -> rollouts": "select count(*) from events join rollouts using (step_key, candidate, question_id, repeat)",
    "events -> texts, sent": "select count(*) from events join texts on digest = sent_digest",
    "events -> texts, received": "select count(*) from events join texts on digest = received_digest",
    "reports -> harnesses": "select count(*) from reports join harnesses using (harness_id)",
    "reports -> texts": "select count(*) from reports join texts on digest = text_digest",
    "candidates -> steps": "select count(*) from candidates join steps using (step_key)",
    "candidates -> harnesses": "select count(*) from candidates join harnesses using (harness_id)",
    "candidates -> parents": "select count(*) from candidates join harnesses on harnesses.harness_id = parent_id",
    "candidates -> texts": "select count(*) from candidates join texts on digest = response_digest",
    "reward_terms -> steps": "select count(*) from reward_terms join steps using (step_key)",
    "selections -> chosen": "select count(*) from selections join harnesses on harness_id = chosen_id",
    "selections -> parent": "select count(*) from selections join harnesses on harness_id = parent_id",
    "edit_contexts -> harnesses": "select count(*) from edit_contexts join harnesses using (harness_id)",
    "edit_contexts -> reports": "select count(*) from edit_contexts c join reports r on r.step_key = c.report_key",
    "edit_contexts -> candidates": "select count(*) from edit_contexts x join candidates c "
    "on c.step_key = x.from_step_key and c.candidate = x.from_candidate",
    "completions -> candidates": "select count(*) from completions join candidates using (step_key, candidate)",
    "completions -> updates": "select count(*) from completions join updates using (step_key, update)",
    "updates -> checkpoints": "select count(*) from updates join checkpoints using (step_key)",
    "trajectories -> questions": "select count(*) from trajectories join questions using (question_id)",
    "turns -> trajectories": "select count(*) from turns join trajectories using (step_key, question_id, repeat)",
    "kept_trajectories -> questions": "select count(*) from kept_trajectories join questions using (question_id)",
    "bank_components -> steps": "select count(*) from bank_components join steps using (step_key)",
    "behaviours -> questions": "select count(*) from behaviours join questions using (question_id)",
    "turns -> texts": "select count(*) from turns join texts on digest = accepted",
    "benchmark_scores -> steps": "select count(*) from benchmark_scores join steps using (step_key)",
}  # fmt: skip


@pytest.fixture(scope="module")
def linked(tmp_path_factory):
    """One row at every end of every link."""
    store = Store(tmp_path_factory.mktemp("linked"))
    said = text_digest("said")
    rows = {
        "models": [{"role": "solver", "model": "m"}],
        "questions": [{"question_id": "q1", "text": "?"}],
        "split_questions": [{"position": 0, "role": "feedback", "question_id": "q1"}],
        "harnesses": [{"harness_id": "h", "path": "harness.py", "text": ""}],
        "reports": [{"harness_id": "h", "text_digest": said}],
        "candidates": [{"parent_id": "h", "harness_id": "h", "response_digest": said}],
        "reward_terms": [{"term": "parsed", "value": 1.0}],
        "selections": [{"parent_id": "h", "chosen_id": "h"}],
        "edit_contexts": [
            {"position": 0, "harness_id": "h", "report_key": key("a"), "from_step_key": key("a"), "from_candidate": 0}
        ],
        "updates": [{"update": 1, "name": "loss", "value": 1.0}],
        "completions": [{"candidate": 0, "update": 1, "rank": 0, "index": 0, "context": 0, "reward": 1.0}],
        "checkpoints": [{"role": "proposer"}],
        "trajectories": [{"question_id": "q1"}],
        "turns": [{"question_id": "q1", "turn": 0, "accepted": said}],
        "kept_trajectories": [{"question_id": "q1", "kept": True}],
        "bank_components": [{"path": "memory.md", "action": "added"}],
        "behaviours": [{"question_id": "q1", "pattern": "reads", "shown": True}],
        "benchmark_scores": [{"benchmark": "b", "metric": "m", "value": 1.0}],
        "races": [{"slot": 0, "candidate": 0, "harness_id": "h"}],
    }
    one = rollout(1)
    one["rollouts"][0]["output_digest"] = said
    one["grades"].pop()
    one["texts"].append({"digest": said, "text": "said"})
    put(store, "a", rows | one)
    labels = plan({"a": [label("feedback")]})
    labels["plan_edges"] = [{"spec_digest": SPEC, "step_id": "a", "input": "questions", "from_step_id": "a"}]
    store.put_plan(SPEC, labels)
    put_run(store, ["a"])
    with store.open_run(RUN) as journal:
        journal.append({"spend": [spent("a", calls=1)]})
    assert fold(store.folder).messages == ()
    return store


@pytest.mark.parametrize("link", LINKS)
def test_the_two_ends_of_a_link_meet(linked, link):
    assert query(linked.folder, LINKS[link]).rows == [(1,)]


def test_every_table_of_the_linked_folder_but_exhibit_cells_has_rows(linked):
    assert [table for table, rows in contents(linked.folder).items() if not rows] == ["exhibit_cells"]
