"""From real rollouts in the workspace to training rows: what an act step leaves is what the audits and the masks read."""

import json
from dataclasses import replace

import pytest

from hbench.core.failure import StepError
from hbench.core.harness import Harness
from hbench.core.message import Reply
from hbench.core.prompt import load_prompt
from hbench.engines.mask import IGNORED
from hbench.parts.part import build
from hbench.steps.harness import harness_value
from tests.engines.test_mask import chat
from tests.engines.test_mask_turns import embedded_chat
from tests.runtime.acting import STUDENT, TARGET, bash, params
from tests.runtime.reviewing import verdict
from tests.steps.stage import Stage, value
from tests.steps.test_act import asked, scripted
from tests.steps.test_trajectory_rows import MODEL, text

pytest.importorskip("transformers")

TOOL = '"""Copies a file."""\n\nimport json, shutil, sys\n\nPARAMETERS = {"to": "its new name"}\nshutil.copy("in.txt", json.load(sys.stdin)["to"])\n'
BANK = value(harness_value(Harness({"tools/copy_in.py": TOOL})))


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    made = Stage(tmp_path_factory.mktemp("collect"))
    yield made
    made.close()


def reviewed(stage, verdicts):
    """The `review` of an act step whose reviewer gives these verdicts, a turn each."""
    reviewer = replace(STUDENT, role="reviewer", identity={"kind": "scripted", "name": "collects"})
    scripted(stage, lambda request: verdicts[min(len(request.messages) // 2 - 1, len(verdicts) - 1)], reviewer)
    prompts = {name: load_prompt(f"reviewer/{kind}").to_json() for name, kind in (("prompt", "generic"), ("turn_prompt", "turn"))}
    when = {"kind": "always", "turns": []}
    return {"reviewer": reviewer.to_json(), **prompts, "budget": 5, "tries": 3, "oracle": False, "when": when}


def kept(stage, acted, filters=("succeeded", "no_leak"), **inputs):
    blocks = [build("filters", {"kind": kind}).to_json() for kind in filters]
    return stage.run("keep_trajectories", {"filters": blocks, "target": TARGET}, {"acted": acted, **inputs})


def rows(stage, acted, keep, kind="trajectory_rows", with_chat=None):
    params = {"model": MODEL, "target": TARGET, "hide": "voice", "loss_weights": "session", "rare": 1.0, "max_length": 50_000}
    made = stage.run(
        kind, {**params, "seed": 0}, {"acted_0": acted, "kept_0": keep},
        tokenise_turns=lambda model, talks: [(with_chat or chat()).talk(talk) for talk in talks],
    )  # fmt: skip
    return made, [json.loads(line) for line in (made.folder / "files" / "rows.jsonl").read_text().splitlines()]


def test_no_end_is_taught_of_what_was_cut_at_the_limit_of_tokens(stage):
    """A passed turn that ended at max_tokens was trained with an end of turn that the student never said."""
    copied = bash("cp in.txt out.txt") + "\n\nThis copies the nu"
    said = [Reply(copied, "length"), Reply(bash("cat out.txt"), "stop"), Reply("Done.", "stop")]
    scripted(stage, lambda request: said[min(len(request.messages) // 2 - 1, 2)])
    acted = stage.run("act", params(seed=7), {"questions": asked(1)})
    assert [row["failure"] for row in acted.rows("turns")] == [None, None, None]
    real = embedded_chat()
    _, (row,) = rows(stage, acted, kept(stage, acted), with_chat=real)
    (end,) = set(real.ends.values()) & set(row["input_ids"])
    taught = "".join(real.tokenizer.decode(token) for token in row["labels"] if token != IGNORED)
    mark = real.tokenizer.decode(end)
    assert taught == f"{copied}{bash('cat out.txt')}{mark}Done.{mark}"
    assert row["input_ids"].count(end) == 2 + 2 + 3 and row["labels"].count(end) == 2, "it is read: so the student is asked"
    assert all((weight > 0) == (label != IGNORED) for weight, label in zip(row["weights"], row["labels"], strict=True))


@pytest.mark.parametrize("size", [1, 9000], ids=["inline", "parquet"])
def test_reviewed_rollouts_become_rows_without_their_drafts(stage, size):
    look = bash(f"cat in.txt; echo {'x' * size}")
    turns = [look, bash("echo draft"), "Done."]
    scripted(stage, lambda request: turns[min(len(request.messages) // 2 - 1, 2)])
    reasoning = "The draft does nothing. I copy the file."
    verdicts = [verdict(), verdict("replace", command="cp in.txt out.txt", reasoning=reasoning, reason="It must copy."), verdict()]
    acted = stage.run("act", params(seed=size, review=reviewed(stage, verdicts)), {"questions": asked(2)})
    keep = kept(stage, acted)
    assert keep.value["kept"] == [[question, 0] for question in acted.value["questions"]] and keep.value["replaced"] == 2
    made, found = rows(stage, acted, keep)
    assert made.value["sessions"] == len(found) == 2 and len(made.rows("kept_trajectories")) == 2
    for row in found:
        whole, trained = text(row)
        assert "echo draft" not in whole and "It must copy." not in whole
        assert trained == f"{look}<end> I copy the file.\n\n{bash('cp in.txt out.txt')}<end>Done.<end>"
        assert sum(row["weights"]) == pytest.approx(1.0)
    pairs, found = rows(stage, acted, keep, "pair_rows")
    assert pairs.value["pairs"] == len(found) == 2
    assert text(found[0]["rejected"])[1] == f"{bash('echo draft')}<end>"


def test_rollouts_that_went_wrong_are_dropped_by_what_went_wrong(stage):
    questions = asked(3, first=10)
    goes_on = dict(zip((question["answer"] for question in questions.value), ("Done.", bash("ls"), bash("ls") + "\n" + bash("ls"))))

    def says(request):
        if len(request.messages) == 2:
            return bash("cat in.txt")
        number = request.messages[3].content.strip()
        return goes_on[number]

    scripted(stage, says)
    with pytest.raises(StepError, match="none of 3 trajectories is kept: 1 failed, 1 no_answer, 1 unread_call"):
        kept(stage, stage.run("act", params(seed=7), {"questions": questions}))


def test_what_h_star_calls_is_borne_out_by_its_events_and_dropped_where_h_is_meant(stage):
    turns = ['```copy_in\n{"to": "out.txt"}\n```', bash("cat out.txt"), "Done."]
    scripted(stage, lambda request: turns[min(len(request.messages) // 2 - 1, 2)])
    acted = stage.run("act", params(seed=3), {"questions": asked(2, first=30), "bank": BANK})
    assert acted.value["score"] == 1.0
    assert len(kept(stage, acted, bank=BANK).value["kept"]) == 2
    with pytest.raises(StepError, match="2 tool$"):
        kept(stage, acted, filters=("tool_names",), bank=BANK)
    with pytest.raises(StepError, match="2 forbidden_action$"):
        kept(stage, acted)
