"""Which tokens of a conversation are trained: what the assistant said, with its end marker if it said that, and nothing else.

The chat template itself is asked, once without and once with an answer; markers for training in it are not needed.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hbench.core.digest import Json
from hbench.core.failure import StepError
from hbench.core.model import ModelRef
from hbench.core.training import Talk, TurnTokens
from hbench.engines import embedded
from hbench.engines.local_model import source, told_plainly

IGNORED = -100  # the label of a token that is not trained
Tokens = tuple[list[int], list[int]]  # input_ids and labels, equally long


def tokenise(model: ModelRef, conversations: Sequence[tuple[Json, str]]) -> list[Tokens]:
    """(input_ids, labels) of each (messages, completion): the prompt as the model is asked, then what it should say.

    Raises StepError for a chat template under which the labels would be wrong; HbenchError without the tokenizer.
    """
    chat = Chat.of(model)
    said = [[*messages, {"role": "assistant", "content": completion}] for messages, completion in conversations]
    return [chat.tokens(messages, [len(messages) - 1]) for messages in said]


def tokenise_turns(model: ModelRef, talks: Sequence[Talk]) -> list[list[TurnTokens] | str]:
    """See core.protocols.Services. Raises HbenchError without the tokenizer, StepError without a chat template."""
    chat = Chat.of(model)
    if not chat.tokenizer.chat_template:
        raise StepError("this model has no chat template")
    return [chat.talk(talk) for talk in talks]


@dataclass(frozen=True)
class Chat:
    """A tokenizer with its chat template. ends: end marker -> its token. arguments: further ones of the template."""

    tokenizer: Any
    ends: Mapping[str, int]
    arguments: Json

    @classmethod
    def of(cls, model: ModelRef) -> "Chat":
        """The chat of a model that runs in this process. Loads no weights. Raises HbenchError."""
        found = source(model.identity, model.files)
        from transformers import AutoTokenizer, GenerationConfig

        with told_plainly(model.identity), embedded.quiet_transformers():
            tokenizer = AutoTokenizer.from_pretrained(**found)
            place = found.pop("pretrained_model_name_or_path")
            try:
                ends = GenerationConfig.from_pretrained(place, **found).eos_token_id
            except OSError:  # not every model comes with one
                ends = None
        return cls.with_ends(tokenizer, ends, (model.sampling.extra or {}).get("chat_template_kwargs"))

    @classmethod
    def with_ends(cls, tokenizer: Any, ends: int | list[int] | None = None, arguments: Json = None) -> "Chat":
        """ends: tokens that end a turn, besides the tokenizer's own."""
        tokens = sorted({tokenizer.eos_token_id, *(ends if isinstance(ends, list) else [ends])} - {None})
        return cls(tokenizer, dict(zip(tokenizer.convert_ids_to_tokens(tokens), tokens)), arguments or {})

    def talk(self, talk: Talk) -> list[TurnTokens] | str:
        """The rows of a conversation, or why it cannot be trained.

        One row where the template writes what was said before as it was said. Else one row a turn: what the model was asked
        with, and what it said. Templates do so that leave out earlier thoughts.
        """
        try:
            return [self._row(talk, len(talk.messages), talk.trained)]
        except StepError:
            pass
        try:
            return [self._row(talk, place + 1, [place]) for place in sorted(talk.trained)]
        except StepError as refused:
            return str(refused)

    def tokens(
        self,
        messages: Sequence[Json],
        trained: Collection[int],
        hidden: Mapping[int, Sequence[tuple[int, int]]] | None = None,
    ) -> Tokens:
        """Tokens of `messages` up to the last trained end marker. trained: places of assistant messages.

        hidden: place -> spans of characters in that message that are read but not trained. Raises StepError when the
        template shifts what the assistant said, and when no token would be trained.
        """
        row = self._row(Talk(messages, trained, hidden or {}), len(messages), trained)
        return row.ids, row.labels

    def _row(self, talk: Talk, stop: int, trained: Collection[int]) -> TurnTokens:
        """The row of the first `stop` messages of `talk`."""
        messages = [{**message, "content": _clean(message["content"])} for message in talk.messages[:stop]]
        whole, row, at = self._render(messages, talk.tools), TurnTokens([], [], []), 0
        for place in sorted(trained):
            start, said, end = self._find(messages, place, whole, talk.tools)
            read = self._encode(whole[at:start])
            spoken, taught = self._said(said, messages[place]["content"], talk.hidden.get(place, ()))
            row.ids.extend([*read, *spoken, self.ends[end]])
            row.labels.extend([*[IGNORED] * len(read), *taught, IGNORED if place in talk.cut else self.ends[end]])
            row.places.extend([-1] * len(read) + [place] * (len(spoken) + 1))
            at = start + len(said) + len(end)
        if all(label == IGNORED for label in row.labels):
            raise StepError("a conversation without a token to train")
        return row

    def _find(self, messages: Sequence[Json], place: int, whole: str, tools: Json) -> tuple[int, str, str]:
        """(where the assistant's turn begins in `whole`, what it says, its end marker)."""
        asked = self._render(messages[:place], tools, add_generation_prompt=True)
        if not whole.startswith(asked):
            written, wanted = _around(whole, asked), _around(asked, whole)
            raise StepError(f"the chat template writes {written} where the model is asked with {wanted}")
        rest, content = whole[len(asked) :], messages[place]["content"].strip()
        before = len(rest) - len(rest.lstrip())  # a template may write a blank first, or strip what was said
        if not rest[before:].startswith(content):
            raise StepError(
                f"the chat template writes {rest[:60]!r} where the assistant says {content[:60]!r}: "
                "see sampling.extra.chat_template_kwargs, e.g. enable_thinking: false"
            )
        after = rest[before + len(content) :]
        end = next((end for end in self.ends if after.lstrip().startswith(end)), None)
        if end is None:
            wanted = " or ".join(self.ends)
            raise StepError(f"the chat template writes {after[:30]!r} after what the assistant said, and not {wanted}")
        return len(asked), rest[: rest.index(end, before + len(content))], end

    def _said(self, said: str, content: str, hidden: Sequence[tuple[int, int]]) -> Tokens:
        """Tokens and labels of a turn without its end. hidden: spans in `content`, whose edges `said` may lack."""
        found = self.tokenizer(said, add_special_tokens=False, return_offsets_mapping=True)
        ids, shift = found["input_ids"], len(said) - len(said.lstrip()) - (len(content) - len(content.lstrip()))
        if set(ids) & set(self.ends.values()):
            raise StepError(f"the assistant says its own end marker: {said[:60]!r}")
        covered = [
            any(start < to + shift and begin + shift < stop for begin, to in hidden)
            for start, stop in found["offset_mapping"]
        ]
        return ids, [IGNORED if hide else token for token, hide in zip(ids, covered)]

    def _encode(self, text: str) -> list[int]:
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]

    def _render(self, messages: Sequence[Json], tools: Json, **more: bool) -> str:
        if not self.tokenizer.chat_template:
            raise StepError("this model has no chat template")
        given = {**self.arguments, **more, **({"tools": tools} if tools else {})}
        try:
            return self.tokenizer.apply_chat_template(list(messages), tokenize=False, **given)
        except Exception as trouble:  # whatever the template raises for messages that it refuses
            raise StepError(f"the chat template refuses the messages: {trouble}") from None


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()  # a lone surrogate would be refused


def _around(text: str, other: str) -> str:
    """A few characters of `text` from where it leaves `other`."""
    place = next((at for at, (one, two) in enumerate(zip(text, other)) if one != two), min(len(text), len(other)))
    return repr(text[max(0, place - 10) : place + 20])
