"""Pairs of a rejected draft and what was accepted in its place, of the same state; and the step that trains on them."""

import json
from types import SimpleNamespace

import pytest

from hbench.core.failure import StepError
from hbench.core.training import Trained
from hbench.engines.mask import IGNORED
from hbench.steps.pair_rows import pair_rows
from hbench.steps.train_dpo import train_dpo
from tests.engines.test_mask import THINKING, chat
from tests.lived import ANSWER, Say, act_artifact, artifact, bash, lived

pytest.importorskip("transformers")

MODEL = {"role": "student", "identity": {"weights": "tiny"}, "sampling": {"temperature": 1.0, "max_tokens": 64}}
ASIDE = "The draft only prints. I sort in place."
LOOK = Say(bash("cat names.txt"), told="b\na")
FIXED = Say(bash("sort names.txt"), bash("sort -o names.txt names.txt", ASIDE), "(no output)", ((0, len(ASIDE)),), "wq")
TWO = lived(LOOK, FIXED, Say("I am done.", bash("cat names.txt"), "a\nb"), ANSWER)


def pairs(tmp_path, *acted, with_chat=None, keep=None, **changed):
    """(the step's output, its token rows, its texts)."""
    with_chat = with_chat or chat()
    kept = artifact({"kept": keep or [[one.rollout.question_id, 0] for one in acted], "template_tools": None})
    services = SimpleNamespace(
        part=SimpleNamespace(folder=tmp_path), tokenise_turns=lambda model, talks: [with_chat.talk(talk) for talk in talks]
    )
    params = {"model": MODEL, "hide": "voice", "max_length": 4000, **changed}
    output = pair_rows(params, {"acted_0": act_artifact(*acted), "kept_0": kept}, services)
    return output, *([json.loads(line) for line in file.read_text().splitlines()] for file in output.files.values())


def told(row, with_chat=None):
    """(what was read, what is trained)."""
    said = (with_chat or chat()).tokenizer.convert_ids_to_tokens(row["input_ids"])
    trained = [label != IGNORED for label in row["labels"]]
    first = trained.index(True)
    return "".join(said[:first]), "".join(letter for letter, label in zip(said, trained) if label)


def test_a_pair_is_what_was_seen_the_draft_and_what_was_accepted(tmp_path):
    output, rows, texts = pairs(tmp_path, TWO, hide="none")
    assert output.value["pairs"] == len(rows) == len(texts) == 2 and output.value["told"] == ""
    for row, text, turn in zip(rows, texts, (TWO.trajectory.turns[1], TWO.trajectory.turns[2])):
        (seen, accepted), (seen_too, rejected) = told(row["accepted"]), told(row["rejected"])
        assert seen == seen_too == "".join(f"<{m['role']}>{m['content']}<end>" for m in text["messages"]) + "<assistant>"
        assert (accepted, rejected) == (f"{turn.accepted}<end>", f"{turn.proposal}<end>")
        assert (text["accepted"], text["rejected"]) == (turn.accepted, turn.proposal)
    assert texts[1]["messages"][4]["content"] == FIXED.instead, "an earlier draft is not in the history"
    assert "wq" not in json.dumps(texts)


def test_the_end_of_a_draft_that_was_cut_tells_nothing(tmp_path):
    """The student did not say it; what was accepted in its place has one."""
    cut = Say(bash("sort names.txt"), bash("sort -o names.txt names.txt"), "(no output)", cut=True)
    _, rows, _ = pairs(tmp_path, lived(Say(bash("ls"), told="x", cut=True), cut, ANSWER))
    assert told(rows[0]["rejected"])[1] == cut.proposal
    assert told(rows[0]["accepted"])[1] == f"{cut.instead}<end>"


def test_what_the_reviewer_thinks_aloud_is_no_reason_to_prefer(tmp_path):
    _, rows, _ = pairs(tmp_path, TWO)
    assert told(rows[0]["accepted"])[1] == f" I sort in place.\n\n{bash('sort -o names.txt names.txt')}<end>"
    whole = "".join(chat().tokenizer.convert_ids_to_tokens(rows[0]["accepted"]["input_ids"]))
    assert ASIDE in whole and told(rows[0]["rejected"])[1] == f"{FIXED.proposal}<end>"


def test_trajectories_that_were_not_kept_give_none(tmp_path):
    output, _, texts = pairs(tmp_path, TWO, lived(FIXED, ANSWER, question="p"), keep=[["p", 0]])
    assert [text["question_id"] for text in texts] == ["p"] and output.value["asked"] == 1


def test_a_pair_that_is_too_long_or_would_be_shifted_is_left_out_and_stays_a_text(tmp_path):
    long = lived(Say(bash("x" * 300), bash("ls")), ANSWER, question="long")
    shifted = lived(Say("Done<end>.", bash("ls")), ANSWER, question="shifted")
    output, rows, texts = pairs(tmp_path, long, shifted, TWO, max_length=250)
    assert output.value["dropped"] == {"chat_template": 1, "too_long": 1} and len(rows) == 2 and len(texts) == 4
    assert output.value["longest"] == max(len(side["input_ids"]) for row in rows for side in row.values())


def test_the_past_may_be_rewritten_by_the_template(tmp_path):
    """Each state is asked for by itself, so a pair is one row a side."""
    with_chat = chat(THINKING, thinks=False)
    output, rows, _ = pairs(tmp_path, TWO, with_chat=with_chat)
    assert output.value["pairs"] == 2
    assert told(rows[1]["accepted"], with_chat)[0].endswith("<assistant>[think][/think]")


def test_no_pair_stops_the_step_and_says_why(tmp_path):
    with pytest.raises(StepError, match="no turn of a kept trajectory was replaced"):
        pairs(tmp_path, lived(LOOK, ANSWER))
    with pytest.raises(StepError, match="no pair is left of 2: 2 chat_template .*enable_thinking"):
        pairs(tmp_path, TWO, with_chat=chat(THINKING))


def test_the_training_step_hands_over_the_pairs_and_keeps_the_checkpoint(tmp_path):
    checkpoint = {"kind": "adapter", "base": MODEL["identity"], "sha256": "a" * 64}
    updates = [{"update": 1, "name": "loss", "value": 0.69}, {"update": 2, "name": "loss", "value": 0.5}]
    jobs = []

    def train(job):
        jobs.append(job)
        return Trained(tmp_path, checkpoint, 2, {"updates": updates})

    services = SimpleNamespace(train=train, engine=lambda model: "transformers")
    begun = artifact({**checkpoint, "sha256": "b" * 64}, folder=tmp_path)
    inputs = {"rows": artifact({"file": "rows.jsonl"}, folder=tmp_path), "checkpoint": begun}
    made = train_dpo({"model": MODEL, "recipe": {"beta": 0.1}, "seed": 5}, inputs, services)
    (job,) = jobs
    assert (job.method, job.seed, job.rows) == ("dpo", 5, tmp_path / "files" / "rows.jsonl")
    assert job.model.identity["adapter"] == "b" * 64
    assert made.value == {"checkpoint": checkpoint, "updates": 2, "loss_first": 0.69, "loss_last": 0.5}
    assert made.rows["checkpoints"][0]["role"] == "student"
