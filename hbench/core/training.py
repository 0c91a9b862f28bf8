"""What a training step hands to a trainer, and what comes back."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hbench.core.digest import Json
from hbench.core.model import ModelRef
from hbench.core.output import Row

CHECKPOINT = "checkpoint"  # under this name a training step keeps what it trained, among its files


@dataclass(frozen=True, slots=True)
class Response:
    """What the proposer said, whether it ended by itself, and how many tokens it drew, where that is known."""

    text: str
    finish_reason: str = "stop"
    completion_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation to be trained on. messages: as a chat template takes them, with `tools` beside them, or None.

    trained: places of the assistant's messages that carry loss. hidden: place -> spans of characters there that carry none.
    cut: places of those that ended at a limit of tokens: their end marker, which nobody said, carries none.
    """

    messages: Sequence[Json]
    trained: Sequence[int]
    hidden: Mapping[int, Sequence[tuple[int, int]]] = field(default_factory=dict)
    tools: Json = None
    cut: Collection[int] = ()


@dataclass(frozen=True, slots=True)
class TurnTokens:
    """A training row of a conversation; all three are equally long. labels: the token, or -100 where there is no loss.

    places: of each token, the trained message that it belongs to (its end marker too, and its hidden spans); -1 for the rest.
    """

    ids: list[int]
    labels: list[int]
    places: list[int]


Note = Callable[[int, str, float], None]  # update (from 1), name, value: a row of `updates`
Generate = Callable[[Sequence[Json]], list[Response]]  # one response of the present policy to each list of messages
Score = Callable[[int, Sequence[int], Sequence[Response], Generate], list[float | None]]
# update (from 1), the context of each completion, this rank's completions; None: no reward could be had, no signal


@dataclass(frozen=True)
class TrainingJob:
    """What is to be trained, and on what. recipe: the spec's block, all of it hashed.

    model: with `files` where training goes on from a checkpoint. rows (sft): JSON Lines of {"input_ids", "labels",
    "group"}, and of "weights" in all of them or in none; rows of one group share their prompt. rows (dpo): JSON Lines of
    {"accepted", "rejected"}, each {"input_ids", "labels"}. prompts (grpo): [{"context", "messages"}]. reward (grpo):
    what steps/edit_reward.py takes; holds gold, which therefore stands in no dataset.
    """

    method: str
    model: ModelRef
    recipe: Json
    seed: int
    rows: Path | None = None
    prompts: Sequence[Json] = ()
    reward: Json = None


@dataclass(frozen=True)
class Task:
    """A job as one of its processes sees it. folder: holds checkpoints/ and, at the end, final/.

    machine: `machine.training` as JSON; nothing in it can change what is learned, but for rounding.
    """

    model: ModelRef
    recipe: Json
    seed: int
    folder: Path
    rank: int = 0
    processes: int = 1
    machine: Json = field(default_factory=dict)


@dataclass(frozen=True)
class Trained:
    """folder: what was trained. checkpoint: {"kind": adapter or weights, "base": identity, "sha256"}. updates: optimizer steps."""

    folder: Path
    checkpoint: Json
    updates: int
    rows: Mapping[str, Sequence[Row]] = field(default_factory=dict)
