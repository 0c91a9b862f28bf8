"""Which tokens are trained, under templates that help and templates that do not."""

import json

import pytest

from hbench.core.failure import StepError
from hbench.core.model import ModelRef
from hbench.engines.mask import IGNORED, Chat, tokenise
from tests.engines.tiny_model import save_tiny
from tests.engines.tiny_model import tokenizer as tiny_tokenizer
from tests.where import cases

pytest.importorskip("transformers")

TURN = "<{{ m.role }}>{{ m.content }}<end>"
CLOSED = "{% for m in messages %}" + TURN + "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"


def tokenizer(template=CLOSED, marks=("<end>", "<user>", "<assistant>", "<tool>")):
    """Single characters are tokens, and so are `marks`; the first one ends a turn."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = [chr(code) for code in range(32, 127)] + ["\n"]
    inner = Tokenizer(models.WordLevel({word: place for place, word in enumerate([*marks, *letters])}, unk_token="?"))
    inner.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    inner.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token=marks[0], additional_special_tokens=list(marks[1:]), chat_template=template
    )


def chat(template=CLOSED, **arguments):
    return Chat.with_ends(tokenizer(template), arguments=arguments)


def turns(*texts):
    """User and assistant in turn."""
    return [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts)]


def told(chat, messages, trained, hidden=None):
    """(all the text, the trained stretches of it)."""
    ids, labels = chat.tokens(messages, trained, hidden)
    assert all(label in (IGNORED, token) for token, label in zip(ids, labels, strict=True))
    parts, last = [], IGNORED
    for label in labels:
        if label != IGNORED:
            parts = [*parts, []] if last == IGNORED else parts
            parts[-1].append(label)
        last = label
    return chat.tokenizer.decode(ids), [chat.tokenizer.decode(part) for part in parts]


def test_the_answer_and_its_end_are_trained_and_nothing_else():
    text, trained = told(chat(), turns("2+2?", "4"), [1])
    assert text == "<user>2+2?<end><assistant>4<end>" and trained == ["4<end>"]


def test_the_prompt_is_what_the_model_is_asked_with():
    ids, labels = chat().tokens(turns("a", "b"), [1])
    asked = tokenizer().apply_chat_template(turns("a"), add_generation_prompt=True)["input_ids"]
    assert ids[: len(asked)] == asked and labels[: len(asked)] == [IGNORED] * len(asked)


def test_a_template_without_markers_trains_every_answer():
    case = cases() / "107-no-generation-markers"
    messages, expected = (json.loads((case / f"{name}.json").read_text()) for name in ("messages", "expected"))
    marks = ("<|end|>", "<|user|>", "<|assistant|>")
    with_case = Chat.with_ends(tokenizer((case / "template.jinja").read_text().strip(), marks))
    assert told(with_case, messages, [1, 3]) == (expected["rendered"], expected["trained_spans"])


def test_a_replaced_action_is_not_there_and_what_tools_say_is_not_trained():
    case = cases() / "114-replaced-action-masking"
    dialogue, expected = (json.loads((case / f"{name}.json").read_text()) for name in ("dialogue", "expected"))
    said = [(m["role"].replace("student", "assistant"), m.get("replacement", m["content"])) for m in dialogue]
    messages = [{"role": role, "content": content} for role, content in said]
    text, trained = told(chat(), messages, [1, 3])
    assert trained == expected["trained"]
    assert not [hidden for hidden in expected["must_not_appear_anywhere"] if hidden in text]


def test_an_earlier_answer_can_be_read_and_not_trained():
    assert told(chat(), turns("a", "b", "c", "d"), [3])[1] == ["d<end>"]


def test_hidden_spans_are_read_and_not_trained():
    text, trained = told(chat(), turns("a", "say secret now"), [1], {1: [(4, 10)]})
    assert "secret" in text and trained == ["say ", " now<end>"]


def test_hidden_spans_move_with_what_a_template_strips():
    trimmed = CLOSED.replace("m.content", "m.content | trim")
    assert told(chat(trimmed), turns("a", "  b secret\n"), [1], {1: [(4, 10)]})[1] == ["b ", "<end>"]


def test_blanks_at_the_edges_are_trained_as_the_template_writes_them():
    assert told(chat(), turns("a", " b\n"), [1])[1] == [" b\n<end>"]
    assert told(chat(CLOSED.replace("m.content", "m.content | trim")), turns("a", " b\n"), [1])[1] == ["b<end>"]


def test_what_follows_the_end_is_left_out():
    assert told(chat(CLOSED.replace("<end>", "<end>\n")), turns("a", "b"), [1])[0].endswith("b<end>")


def test_an_empty_answer_trains_its_end():
    assert told(chat(), turns("a", ""), [1])[1] == ["<end>"]


THINKING = (
    "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' and loop.last %}[think][/think]{% endif %}"
    "{{ m.content }}<end>{% endfor %}{% if add_generation_prompt %}<assistant>"
    "{% if not thinks|default(true) %}[think][/think]{% endif %}{% endif %}"
)


def test_a_template_that_writes_something_before_the_answer_is_refused():
    with pytest.raises(StepError, match=r"writes '\[think\].*enable_thinking"):
        chat(THINKING).tokens(turns("a", "b"), [1])


def test_arguments_of_the_template_count():
    text, trained = told(chat(THINKING, thinks=False), turns("a", "b"), [1])
    assert text.endswith("[think][/think]b<end>") and trained == ["b<end>"]


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (CLOSED.replace("{% if add_generation_prompt %}<assistant>{% endif %}", ""), "writes '<assistant>b<end>'"),
        ("{{ messages|length }}" + CLOSED, "writes '2<user>"),
        (CLOSED.replace("<end>", ""), "writes '' after what the assistant said, and not <end>"),
        (CLOSED.replace("m.content", "m.content | upper"), "where the assistant says 'b'"),
        ("{{ raise_exception('no user may speak') }}", "no user may speak"),
    ],
)
def test_a_template_that_would_shift_the_labels_is_refused(template, message):
    with pytest.raises(StepError, match=message.replace("'", ".")):
        chat(template).tokens(turns("a", "b"), [1])


def test_an_end_marker_in_the_middle_is_refused():
    with pytest.raises(StepError, match="its own end marker"):
        chat().tokens(turns("a", "b<end>c"), [1])


def test_nothing_to_train_is_refused():
    with pytest.raises(StepError, match="without a token"):
        chat().tokens(turns("a", "b"), [])


def test_odd_text_is_taken():
    assert told(chat(), turns("\ud800", "b\ud800"), [1])[1] == ["b?<end>"]


def test_a_models_own_files_are_enough(tmp_path):
    save_tiny(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    ((ids, labels),) = tokenise(ModelRef("proposer", "tiny", {"weights": str(tmp_path)}), [(turns("ab"), "cd")])
    assert tiny_tokenizer().decode(ids) == "<user>ab<assistant>cd<end>" and labels == [*[IGNORED] * 4, *ids[4:]]
