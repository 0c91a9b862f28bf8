"""Kept trajectories as training rows: what was accepted carries loss, and every session weighs the same."""

import json
import math
from types import SimpleNamespace

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from hbench.core.failure import StepError
from hbench.core.training import TurnTokens
from hbench.core.voice import voice_spans
from hbench.engines.mask import IGNORED
from hbench.parts.part import build
from hbench.steps.harness import harness_value
from hbench.steps.keep_trajectories import keep_trajectories
from hbench.steps.trajectory_rows import trajectory_rows
from tests.engines.test_mask import THINKING, TURN, chat
from tests.engines.test_mask_turns import SURVIVE, TEMPLATES, chat_of
from tests.lived import ANSWER, HEAD, TARGET, Say, act_artifact, artifact, bash, lived
from tests.runtime.reviewing import K

pytest.importorskip("transformers")

MODEL = {"role": "student", "identity": {"weights": "tiny"}, "sampling": {"temperature": 1.0, "max_tokens": 64}}
PARAMS = {"model": MODEL, "hide": "voice", "loss_weights": "session", "rare": 1.0, "max_length": 4000, "seed": 0}
ASIDE = "The draft only prints. I sort in place."
LOOK = Say(bash("cat names.txt"), told="b\na")
FIXED = Say(bash("sort names.txt"), bash("sort -o names.txt names.txt", ASIDE), "(no output)", ((0, len(ASIDE)),))


def rows(tmp_path, *acted, with_chat=None, filters=(), **changed):
    """(the step's output, its rows) of what keep_trajectories lets through."""
    made = act_artifact(*acted)
    blocks = [build("filters", {"kind": kind}).to_json() for kind in filters]
    inputs = {"acted": made, "guidance": artifact(harness_value(K))}
    kept = artifact(keep_trajectories({"filters": blocks, "target": TARGET}, inputs, None).value)
    with_chat = with_chat or chat()
    services = SimpleNamespace(
        part=SimpleNamespace(folder=tmp_path), tokenise_turns=lambda model, talks: [with_chat.talk(talk) for talk in talks]
    )
    output = trajectory_rows({**PARAMS, **changed}, {"acted_0": made, "kept_0": kept}, services)
    return output, [json.loads(line) for line in output.files["rows.jsonl"].read_text().splitlines()]


def text(row, with_chat=None):
    """(all of a row, what of it is trained), a letter a token."""
    said = (with_chat or chat()).tokenizer.convert_ids_to_tokens(row["input_ids"])
    return "".join(said), "".join(letter for letter, label in zip(said, row["labels"]) if label != IGNORED)


def test_every_accepted_response_is_trained_and_no_draft_is_there(tmp_path):
    output, (row,) = rows(tmp_path, lived(LOOK, FIXED, ANSWER), hide="none")
    whole, trained = text(row)
    assert trained == f"{LOOK.proposal}<end>{FIXED.instead}<end>Sorted.<end>"
    assert whole.startswith("<system>You work in a shell.<end><user>Sort names.txt.<end>") and FIXED.proposal not in whole
    assert output.value["trained_tokens"] == sum(label != IGNORED for label in row["labels"])
    assert output.value["tokens"] == output.value["longest"] == len(row["input_ids"])


@pytest.mark.parametrize(
    ("hide", "seen"),
    [("none", ASIDE), ("voice", " I sort in place."), ("reasoning", "")],
)
def test_what_the_reviewer_thinks_aloud_is_read_and_not_trained(tmp_path, hide, seen):
    _, (row,) = rows(tmp_path, lived(LOOK, FIXED, ANSWER), hide=hide)
    whole, trained = text(row)
    assert ASIDE in whole
    assert trained == f"{LOOK.proposal}<end>{seen}\n\n{bash('sort -o names.txt names.txt')}<end>Sorted.<end>"


def test_no_end_is_taught_where_the_student_was_cut(tmp_path):
    """It was taught wherever a turn was passed, also where the limit of tokens had ended it."""
    long, replaced = Say(bash("cat a"), told="b", cut=True), Say(bash("cat c"), bash("cat d"), cut=True)
    _, (row,) = rows(tmp_path, lived(long, replaced, LOOK, ANSWER))
    whole, trained = text(row)
    assert trained == f"{long.proposal}{replaced.instead}<end>{LOOK.proposal}<end>Sorted.<end>"
    assert f"{long.proposal}<end>" in whole, "what the student read later has it"
    assert math.fsum(row["weights"]) == pytest.approx(1.0)


def test_voice_outside_of_reasoning_is_the_students_own(tmp_path):
    """A command may well say `the draft`."""
    own = Say(bash("ls"), bash("cp the draft.txt final.txt", "The draft is short."), hidden=((0, 19),))
    _, (row,) = rows(tmp_path, lived(own, ANSWER))
    assert text(row)[1].strip().startswith("```bash\ncp the draft.txt")


def test_weights_of_a_session_sum_to_one(tmp_path):
    _, found = rows(tmp_path, lived(LOOK, FIXED, ANSWER), lived(LOOK, ANSWER, question="p"))
    for row in found:
        assert math.fsum(row["weights"]) == pytest.approx(1.0, abs=1e-12)
        assert all((weight > 0) == (label != IGNORED) for weight, label in zip(row["weights"], row["labels"], strict=True))
        assert len(set(row["weights"])) == 2
    assert sorted(row["group"] for row in found) == [0, 1]


def test_replaced_turns_may_weigh_more(tmp_path):
    _, (row,) = rows(tmp_path, lived(LOOK, FIXED, ANSWER), rare=3.0)
    common, rare = sorted(set(row["weights"]) - {0.0})
    assert rare == pytest.approx(3 * common) and math.fsum(row["weights"]) == pytest.approx(1.0)
    letters = chat().tokenizer.convert_ids_to_tokens(row["input_ids"])
    heavy = "".join(letter for letter, weight in zip(letters, row["weights"]) if weight == rare)
    assert heavy == f" I sort in place.\n\n{bash('sort -o names.txt names.txt')}<end>"


def test_tokens_may_all_weigh_the_same(tmp_path):
    _, found = rows(tmp_path, lived(LOOK, FIXED, ANSWER), lived(LOOK, ANSWER, question="p"), loss_weights="token")
    assert {weight for row in found for weight in row["weights"]} == {0.0, 1.0}


def test_a_session_that_is_too_long_is_left_out_and_counted(tmp_path):
    long = lived(LOOK, Say(bash("cat long.txt"), told="x" * 500), ANSWER, question="long")
    output, found = rows(tmp_path, lived(LOOK, ANSWER), long, max_length=400)
    assert len(found) == 1 and output.value["dropped"] == {"too_long": 1} and output.value["told"] == "1 too_long"
    kept, left = sorted(output.rows["kept_trajectories"], key=lambda row: row["drop_reason"] or "")
    assert kept["kept"] and kept["tokens_trained"] + kept["tokens_masked"] == len(found[0]["input_ids"])
    assert not left["kept"] and left["question_id"] == "long" and left["tokens_trained"] > 0


def test_a_session_that_the_template_shifts_is_left_out_alone(tmp_path):
    own_end = lived(LOOK, Say("Done<end>or not.", told=None), question="bad")
    output, found = rows(tmp_path, lived(LOOK, ANSWER), own_end)
    assert len(found) == 1 and output.value["dropped"] == {"chat_template": 1} and "its own end marker" in output.value["told"]


def test_a_template_that_shifts_most_sessions_stops_the_step_and_says_why(tmp_path):
    """Thoughts are the student's: what is left would be the sessions that nobody corrected."""
    thinks = "<assistant>[think]{% if 'now' in m.content %}{{ m.content }}{% else %}[/think]{{ m.content }}{% endif %}<end>"
    template = "{% for m in messages %}{% if m.role == 'assistant' %}" + thinks + "{% else %}" + TURN + "{% endif %}{% endfor %}"
    template += "{% if add_generation_prompt %}<assistant>[think]{% endif %}"
    thought = lived(Say("I am done now.[/think]Sorted.", told=None), question="thought")
    shifted = [lived(LOOK, FIXED, ANSWER, question=f"q{at}") for at in range(2)]
    with pytest.raises(StepError, match="2 of 3 trajectories cannot be trained on: .*enable_thinking"):
        rows(tmp_path, thought, *shifted, with_chat=chat(template))


def test_nothing_left_stops_the_step_and_says_why(tmp_path):
    with pytest.raises(StepError, match="no training row is left of 1 trajectories: 1 chat_template .*enable_thinking"):
        rows(tmp_path, lived(LOOK, ANSWER), with_chat=chat(THINKING))


def test_a_template_that_rewrites_the_past_gives_rows_of_turns_that_share_the_weight(tmp_path):
    output, found = rows(tmp_path, lived(LOOK, FIXED, ANSWER), with_chat=chat(THINKING, thinks=False))
    assert len(found) == 3 and output.value["turn_by_turn"] == output.value["sessions"] == 1
    assert math.fsum(weight for row in found for weight in row["weights"]) == pytest.approx(1.0)
    assert sorted(row["group"] for row in found) == [0, 1, 2]


def test_the_order_of_sessions_is_drawn_by_the_seed(tmp_path):
    acted = [lived(Say(bash("ls " + "a" * i)), ANSWER, question=f"q{i}") for i in range(8)]
    orders = [[len(row["input_ids"]) for row in rows(tmp_path, *acted, seed=seed)[1]] for seed in (0, 1, 0)]
    assert orders[0] == orders[2] != orders[1] and sorted(orders[0]) == sorted(orders[1])


def test_domains_stand_side_by_side(tmp_path):
    one, two = act_artifact(lived(LOOK, ANSWER)), act_artifact(lived(FIXED, ANSWER, question="p"))
    keep = [artifact({"kept": kept, "template_tools": None}) for kept in ([["q", 0]], [["p", 0]])]
    services = SimpleNamespace(
        part=SimpleNamespace(folder=tmp_path), tokenise_turns=lambda model, talks: [chat().talk(talk) for talk in talks]
    )
    inputs = {"acted_0": one, "kept_0": keep[0], "acted_1": two, "kept_1": keep[1]}
    assert trajectory_rows(PARAMS, inputs, services).value["sessions"] == 2


def test_the_template_is_given_the_tools_that_the_student_was_told_of(tmp_path):
    tools, talks = [{"type": "function"}], []

    def tokenise(model, given):
        talks.extend(given)
        return [[TurnTokens([1, 2], [IGNORED, 2], [-1, 2])] for _ in given]

    services = SimpleNamespace(part=SimpleNamespace(folder=tmp_path), tokenise_turns=tokenise)
    kept = artifact({"kept": [["q", 0]], "template_tools": tools})
    trajectory_rows(PARAMS, {"acted_0": act_artifact(lived(LOOK, ANSWER)), "kept_0": kept}, services)
    assert talks[0].tools == tools and list(talks[0].trained) == [2, 4]
    assert [message["role"] for message in talks[0].messages] == ["system", "user", "assistant", "user", "assistant"]


# What may be anywhere, and what may be nowhere in a row.
PLAIN = st.text([chr(code) for code in range(32, 127) if chr(code) not in "`<>{}[]|"] + ["\n"], max_size=20)
VOICE = "The proposal is wrong because zq{}."
SECRETS = ("as recipes/safe_sort.md has it", "Blank lines at the end of a list are to be dropped before it is counted.", "<verdict>")


@st.composite
def trajectories(draw, question):
    """A rollout of some turns, some replaced, some of those thinking aloud; drafts and reasons hold words of their own."""
    turns, leaks = [], draw(st.integers(0, 3)) == 0
    for place in range(draw(st.integers(1, 4))):
        said, command = draw(PLAIN), f"echo {draw(st.integers(0, 99))}"
        if not draw(st.booleans()):
            turns.append(Say(bash(command, said.strip()), told=draw(PLAIN)))
            continue
        voice = VOICE.format(place) if draw(st.booleans()) else ""
        thought = " ".join(filter(None, [voice, draw(st.sampled_from(["I look again.", ""]))]))
        secret = draw(st.sampled_from(SECRETS)) if leaks else ""
        instead = bash(command, " ".join(filter(None, [thought, secret])))
        hidden = ((0, len(thought)),) if thought else ()
        turns.append(Say(bash(f"xq draft {place}"), instead, draw(PLAIN), hidden, reason=f"wq reason {place}"))
    return lived(*turns, Say("Done " + draw(PLAIN), told=None), question=question)


@pytest.mark.parametrize("name", ["plain", *(name for name in SURVIVE if name in TEMPLATES)])
@settings(max_examples=10, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(one=trajectories("one"), two=trajectories("two"), hide=st.sampled_from(["voice", "reasoning", "none"]))
def test_no_draft_no_word_of_the_reviewer_and_nothing_of_the_guidance_reaches_a_row(tmp_path_factory, name, one, two, hide):
    """And labels cover exactly the accepted tokens, and the weights of a session sum to 1, under every such template."""
    with_chat = chat() if name == "plain" else chat_of(name)
    acted, clean = [one, two], lived(LOOK, ANSWER, question="clean")
    output, found = rows(tmp_path_factory.mktemp("rows"), *acted, clean, with_chat=with_chat, filters=("no_leak",), hide=hide)
    told = [text(row, with_chat) for row in found]
    for whole, trained in told:
        assert "xq draft" not in whole and "wq reason" not in whole
        assert not [secret for secret in SECRETS[:2] if secret in whole]
        assert hide == "none" or "The proposal is wrong" not in trained
    kept = [each for each in (*acted, clean) if not any(s in t.accepted for s in SECRETS[:2] for t in each.trajectory.turns)]
    assert output.value["sessions"] == len(kept)
    wanted = sorted(sum((_trained(turn, hide) for turn in each.trajectory.turns), []) for each in kept)
    assert sorted(letter for each in wanted for letter in each) == sorted(_letters("".join(t for _, t in told), with_chat))
    assert math.fsum(weight for row in found for weight in row["weights"]) == pytest.approx(len(kept))


def _trained(turn, hide):
    """The letters of a turn that carry loss, blanks left out: a template may strip what was said."""
    hidden = {"none": (), "reasoning": turn.hidden}.get(hide)
    if hidden is None:
        hidden = [(a, b) for a, b in voice_spans(turn.accepted) if turn.hidden and b <= turn.hidden[0][1]]
    spans = hidden if turn.verdict == "replace" else ()
    seen = [letter for at, letter in enumerate(turn.accepted) if not any(start <= at < stop for start, stop in spans)]
    return [letter for letter in seen if not letter.isspace()]


def _letters(trained, with_chat):
    for end in with_chat.ends:
        trained = trained.replace(end, "")
    return [letter for letter in trained if not letter.isspace()]


def test_the_head_carries_no_loss(tmp_path):
    _, (row,) = rows(tmp_path, lived(LOOK, ANSWER))
    first = next(at for at, label in enumerate(row["labels"]) if label != IGNORED)
    said = "".join(chat().tokenizer.convert_ids_to_tokens(row["input_ids"][:first]))
    assert said == "".join(f"<{m.role}>{m.content}<end>" for m in HEAD) + "<assistant>"
