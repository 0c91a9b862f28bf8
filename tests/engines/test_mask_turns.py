"""Conversations of many turns: every accepted response is trained and nothing else, under real chat templates, or refused."""

import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hbench.core.model import ModelRef
from hbench.core.training import Talk
from hbench.engines.mask import IGNORED, Chat, tokenise_turns
from tests.engines.test_mask import THINKING, chat, tokenizer, turns
from tests.engines.tiny_model import save_tiny

trl = pytest.importorskip("trl")

FOLDER = Path(trl.__file__).parent / "chat_templates"
TEMPLATES = sorted(file.stem for file in FOLDER.glob("*.jinja") if not file.stem.endswith("_training"))
# Those of models that students are likely to be; what is told to the template is `enable_thinking: false`.
SURVIVE = ("gemma3", "lfm2", "llama3", "llama3_1", "llama3_2", "phi3", "qwen2_5", "qwen3", "qwen3_5_nothink", "qwen3_5_think",
           "qwen3_8", "qwen3_instruct_2507")  # fmt: skip
ENDS = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|end|>", "<|END_OF_TURN_TOKEN|>", "<turn|>", "<|eot|>", "<|return|>",
        "<｜end▁of▁sentence｜>", "<end_of_utterance>", "</s>")  # fmt: skip
EXECUTE = {"name": "execute", "description": "Runs a command.", "parameters": {"type": "object", "properties": {}}}
TOOLS = [{"type": "function", "function": EXECUTE}]

texts = st.text([chr(code) for code in range(32, 127)] + ["\n"], max_size=12)


def chat_of(name):
    """The chat of a template that ships with TRL; every character is a token, and so is every marker."""
    template = (FOLDER / f"{name}.jinja").read_text()
    ends = [end for end in ENDS if end in template] or ["<end>"]
    marks = re.findall(r"<\|[^|>]+\|>|<｜[^｜]+｜>|<start_of_turn>", template)
    made = tokenizer(template, tuple(dict.fromkeys([*ends, *marks])))
    made.add_special_tokens({"bos_token": "<bos>"})  # some templates refuse all messages without one
    return Chat.with_ends(made, made.convert_tokens_to_ids(ends), {"enable_thinking": False})


@st.composite
def talks(draw, replies=("user",)):
    """A conversation with responses that carry loss, some of which are partly hidden."""
    role, messages, hidden = draw(st.sampled_from(replies)), [], {}
    messages.append({"role": "system", "content": "Be brief."})
    messages.append({"role": "user", "content": "Sum." + draw(texts)})
    for _ in range(draw(st.integers(1, 4))):
        said, place = draw(texts), len(messages)
        edges = sorted(draw(st.lists(st.integers(0, len(said)), max_size=4)))
        hidden[place] = [span for span in zip(edges[::2], edges[1::2]) if span[0] < span[1]]
        messages += [{"role": "assistant", "content": said}, {"role": role, "content": draw(texts)}]
    trained = [place for place, message in enumerate(messages) if message["role"] == "assistant"]
    return Talk(messages[:-1], trained, hidden, TOOLS if role == "tool" else None)


def check(chat, talk):
    """Whether `talk` can be trained; asserts that its rows are what the model is asked with and says."""
    rows = chat.talk(talk)
    if isinstance(rows, str):
        return False
    places = [sorted(set(row.places) - {-1}) for row in rows]
    assert places in ([list(talk.trained)], [[place] for place in talk.trained])
    for row, trained in zip(rows, places):
        letters = chat.tokenizer.convert_ids_to_tokens(row.ids)
        assert all(label in (IGNORED, token) for token, label in zip(row.ids, row.labels, strict=True))
        assert all(label == IGNORED for label, place in zip(row.labels, row.places, strict=True) if place < 0)
        for place in trained:
            first = row.places.index(place)
            asked = chat._render(talk.messages[:place], talk.tools, add_generation_prompt=True)
            assert "".join(letters[:first]) == asked
            taught = [letter for letter, label, at in zip(letters, row.labels, row.places) if at == place and label != IGNORED]
            assert taught[-1] in chat.ends
            said, spans = talk.messages[place]["content"], talk.hidden.get(place, ())
            seen = "".join(c for at, c in enumerate(said) if not any(start <= at < stop for start, stop in spans))
            assert "".join(taught[:-1]).strip() == seen.strip()
    return True


@pytest.mark.parametrize("name", TEMPLATES)
@settings(max_examples=15, deadline=None)
@given(talk=talks(("user", "tool")))
def test_what_is_trained_is_what_was_said_under_every_template_or_it_is_refused(name, talk):
    check(chat_of(name), talk)


@pytest.mark.parametrize("name", [name for name in SURVIVE if name in TEMPLATES])
@settings(max_examples=15, deadline=None)
@given(talk=talks())
def test_the_templates_of_likely_students_survive(name, talk):
    assert check(chat_of(name), talk)


@settings(deadline=None)
@given(talks())
def test_a_template_that_writes_turns_one_by_one_gives_one_row(talk):
    assert check(chat(), talk) and len(chat().talk(talk)) == 1


@cache
def embedded_chat():
    return Chat.of(ModelRef("student", "small", {"weights": "embedded/smollm2-135m-instruct"}))


WIDE = st.text("ab \n\t`.é漢🙂\u200d", max_size=20)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(WIDE, WIDE, st.tuples(st.integers(0, 20), st.integers(0, 20))), min_size=1, max_size=3))
def test_a_real_tokenizer_trains_every_letter_but_those_that_are_hidden(drawn):
    """The embedded model's: letters of several tokens, and tokens of several letters, of which a span may hide some."""
    real = embedded_chat()
    messages, hidden = turns("Sum."), {}
    for said, told, span in drawn:
        hidden[len(messages)] = [tuple(sorted(span))] if span[0] != span[1] else []
        messages += [{"role": "assistant", "content": said}, {"role": "user", "content": told}]
    trained = list(range(1, len(messages), 2))
    (row,) = real.talk(Talk(messages[:-1], trained, hidden))
    for place in trained:
        labels = [label for label, at in zip(row.labels, row.places) if at == place]
        read = real.tokenizer.decode([label for label in labels[:-1] if label != IGNORED], errors="ignore")
        said, spans = messages[place]["content"], hidden[place]
        seen = "".join(letter for at, letter in enumerate(said) if not any(start <= at < stop for start, stop in spans))
        rest = iter(seen)
        assert labels[-1] in real.ends.values() and (spans or read == said)
        assert all(letter in rest for letter in read.replace("\ufffd", ""))


@pytest.mark.parametrize("name", SURVIVE)
def test_the_end_of_a_response_that_was_cut_carries_no_loss(name):
    made, messages = chat_of(name), [{"role": "system", "content": "s"}, *turns("a", "bc", "d", "e")]
    whole, cut = (made.talk(Talk(messages, [2, 4], cut=places)) for places in ((), (2,)))
    assert [row.ids for row in whole] == [row.ids for row in cut], "it is read all the same"
    changed = [(one, two, at) for a, b in zip(whole, cut) for one, two, at in zip(a.labels, b.labels, a.places) if one != two]
    assert [(one in made.ends.values(), two, at) for one, two, at in changed] == [(True, IGNORED, 2)]


def test_all_responses_are_trained_in_one_row():
    (row,) = chat().talk(Talk(turns("a", "bc", "d", "e"), [1, 3]))
    assert "".join(chat().tokenizer.convert_ids_to_tokens(row.ids)) == "<user>a<end><assistant>bc<end><user>d<end><assistant>e<end>"
    assert [place for place in row.places if place >= 0] == [1, 1, 1, 3, 3]


def test_hidden_spans_of_each_turn_carry_no_loss():
    (row,) = chat().talk(Talk(turns("a", "bcd", "e", "fgh"), [1, 3], {1: [(0, 1)], 3: [(1, 3)]}))
    assert chat().tokenizer.decode([label for label in row.labels if label != IGNORED]) == "cd<end>f<end>"


def test_a_template_that_rewrites_the_past_gives_a_row_a_turn():
    rows = chat(THINKING, thinks=False).talk(Talk(turns("a", "b", "c", "d"), [1, 3]))
    told = ["".join(chat(THINKING).tokenizer.convert_ids_to_tokens(row.ids)) for row in rows]
    assert told == [
        "<user>a<end><assistant>[think][/think]b<end>",
        "<user>a<end><assistant>b<end><user>c<end><assistant>[think][/think]d<end>",
    ]


def test_a_conversation_that_cannot_be_trained_is_refused_alone(tmp_path):
    save_tiny(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    ref = ModelRef("student", "tiny", {"weights": str(tmp_path)})
    good, bad = tokenise_turns(ref, [Talk(turns("a", "b"), [1]), Talk(turns("a", "b<end>c"), [1])])
    assert len(good) == 1 and "its own end marker" in bad


def test_tools_are_told_by_the_template_and_not_trained():
    with_tools = "{% if tools %}<tool>{{ tools[0].function.name }}<end>{% endif %}" + chat().tokenizer.chat_template
    (row,) = chat(with_tools).talk(Talk(turns("a", "b"), [1], {}, TOOLS))
    assert "".join(chat().tokenizer.convert_ids_to_tokens(row.ids)).startswith("<tool>execute<end><user>a")
    assert row.places.index(1) == row.labels.index(next(label for label in row.labels if label != IGNORED))
