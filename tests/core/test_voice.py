"""Sentences in a reviewer's voice are found; what a student says of its own work is left."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.core.voice import voice_spans


def heard(text):
    return [text[start:end] for start, end in voice_spans(text)]


@pytest.mark.parametrize(
    "sentence",
    [
        "The draft skips the header.",
        "The proposal would overwrite the file!",
        "Student response is wrong here.",
        "The student's command reads no file.",
        "The student should look first.",
        "The proposed command is fine.",
        "My replacement reads the file first.",
        "As a reviewer I would pass this.",
        "The reviewer wants a check.",
        "This guidance says so.",
        "A review check fired.",
        "The model's answer is unchecked.",
        "I should replace the command.",
        "THE DRAFT IS WRONG.",
        "Draft only prints.",
        "The **draft** only prints.",
        'The "proposal" only prints.',
        "Both drafts print.",
        "As reviewer I pass.",
        "The reviewed response prints.",
        "This response should be replaced.",
    ],
)
def test_a_reviewers_sentence_is_heard_and_its_neighbours_are_not(sentence):
    assert heard(f"I read the file. {sentence} Then I count.") == [sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "I should look at the file before I change it.",
        "The header has 3.14 columns, e.g. none.",
        "I replace every comma by a blank.",
        "The names in students.csv are not sorted.",
        "I pass the file to sort.",
        "Let me check the answer once more.",
        "I move draft.txt into old/drafts and call it my-draft.",
        "The comma must be replaced.",
        "",
    ],
)
def test_a_students_sentence_is_not(sentence):
    assert heard(sentence) == []


def test_what_is_said_over_a_line_break_is_heard_in_both_lines():
    assert heard("I read it. I think the\ndraft only prints. So I sort.") == ["I think the\ndraft only prints."]


def test_neighbours_are_one_span_and_a_line_ends_a_sentence():
    text = "The draft fails. The proposal too.\nI count\nthe student guesses\n\nI go on"
    assert heard(text) == ["The draft fails. The proposal too.", "the student guesses"]


@given(st.lists(st.sampled_from(["The draft fails.", "I go on", "the proposal", "\n", " ", "e.g.", "ok?", "x" * 30])).map(" ".join))
def test_spans_are_ascending_apart_and_inside(text):
    spans = voice_spans(text)
    places = [place for span in spans for place in span]
    assert places == sorted(set(places)) and all(0 <= place <= len(text) for place in places)
    hidden = "".join(text[start:end] for start, end in spans)
    assert ("draft" in hidden) == ("draft" in text) and "proposal" not in text or "proposal" in hidden


def test_long_text_takes_no_long_time():
    assert heard("the " * 200_000) == []
    assert heard("." * 200_000) == []
    assert heard("the " + "*" * 200_000) == [] and heard("student " * 50_000) == []
