"""From a review session to training rows: whatever the reviewer says, a row holds none of it but accepted replacements."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines.test_mask import chat
from tests.engines.test_mask_turns import SURVIVE, TEMPLATES, chat_of
from tests.lived import HEAD, Say, lived
from tests.runtime.reviewing import CALL, TOLD, TOOLS, Played
from tests.runtime.test_reviewer_leaks import PROPOSALS, SAYINGS, SECRETS
from tests.steps.test_trajectory_rows import rows, text

pytest.importorskip("transformers")


def played(proposals, sayings, question):
    """The rollout of a student that says `proposals` until one answer was accepted, under a reviewer that says `sayings`."""
    rollout, turns = Played(sayings, guidance=TOLD), []
    for place, (proposal, reviewed) in enumerate(zip(proposals, rollout.play(*proposals), strict=True)):
        instead = reviewed.accepted if reviewed.verdict == "replace" else None
        answer = CALL.parse(reviewed.accepted, TOOLS).tool is None
        told = None if answer else f"observation {place}"
        turns.append(Say(proposal, instead, told, reviewed.hidden, reviewed.reason))
        if answer:
            break
    return lived(*turns, question=question)


@pytest.mark.parametrize("name", ["plain", *(name for name in SURVIVE if name in TEMPLATES)])
@settings(max_examples=5, deadline=None)
@given(PROPOSALS, st.lists(SAYINGS, min_size=18, max_size=18), st.sampled_from(["voice", "reasoning"]))
def test_no_word_of_a_review_reaches_a_row(tmp_path_factory, name, proposals, sayings, hide):
    with_chat = chat() if name == "plain" else chat_of(name)
    acted = played([*proposals, "draft-last- done."], sayings, "one")
    whole = lived(Say("All is done.", told=None), question="whole")
    _, found = rows(tmp_path_factory.mktemp("rows"), acted, whole, with_chat=with_chat, filters=("no_leak",), hide=hide)
    turns = acted.trajectory.turns
    for read, trained in (text(row, with_chat) for row in found):
        assert "reviewer-word" not in read and not any(secret in read for secret in SECRETS)
        assert not any(turn.proposal.strip() in read for turn in turns if turn.verdict == "replace")
        assert "The draft is blind" not in trained and "The proposal fails" not in trained
    assert acted.trajectory.head == HEAD
