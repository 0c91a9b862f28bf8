"""Rows of text grown one token at a time; a row joins and leaves whenever it likes."""

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hbench.core.message import Finish, Reply, Request
from hbench.engines.key_values import Prompt
from hbench.engines.passes import PackedPasses, PaddedPasses
from hbench.engines.sampler import Draw, pick
from hbench.engines.stops import cut_at_stop, tidy_stops

if TYPE_CHECKING:
    import torch

PACK = 1024  # prompt tokens in one pass: more would only make the rows already going wait


@dataclass(eq=False)
class Row:
    """One request on its way. tokens: generated so far, the end token included."""

    request: Request
    prompt: Prompt
    max_tokens: int
    draw: Draw
    stops: list[str] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    finish: Finish | None = None
    started: float = field(default_factory=time.perf_counter)


class Decoder:
    """Greedy or sampled decoding of up to `size` rows. Not thread-safe: one thread uses it.

    Equal prompts that arrive together are read once. ends: the tokens after which a row has finished.
    """

    def __init__(self, passes: PackedPasses | PaddedPasses, tokenizer: Any, ends: set[int], size: int):
        self.passes, self.tokenizer, self.ends, self.size = passes, tokenizer, ends, size
        self.rows: list[Row] = []

    @property
    def free(self) -> int:
        """How many rows may join now."""
        return self.size - len(self.rows) if self.passes.joins or not self.rows else 0

    def remove(self, row: Row) -> None:
        """Takes `row` out, finished or not."""
        place = self.rows.index(row)
        self.passes.drop(place)
        self.rows[place] = self.rows[-1]
        self.rows.pop()

    def admit(self, rows: list[Row]) -> list[Row]:
        """Reads the prompts of `rows` (at most `free`) and draws their first tokens; returns those already finished."""
        alike: dict[Prompt, list[Row]] = {}
        for row in sorted(rows, key=lambda row: len(row.prompt)):
            alike.setdefault(row.prompt, []).append(row)
        finished: list[Row] = []
        for pack in _packs(list(alike), PACK if self.passes.joins else None):
            logits = self.passes.read(pack, [len(alike[prompt]) for prompt in pack])
            new = [row for prompt in pack for row in alike[prompt]]
            self.rows += new
            finished += self._append(new, logits)
        return finished

    def step(self) -> list[Row]:
        """One more token for every row; returns those that finished with it, already taken out."""
        logits = self.passes.step([row.tokens[-1] for row in self.rows])
        return self._append(list(self.rows), logits)

    def reply(self, row: Row) -> Reply:
        """What `row` said, cut at its stop strings."""
        text, cut = cut_at_stop(self.tokenizer.decode(row.tokens, skip_special_tokens=True), row.stops)
        return Reply(
            text=text,
            finish_reason="stop" if cut else row.finish or "unknown",
            prompt_tokens=len(row.prompt),
            completion_tokens=len(row.tokens),
            seconds=time.perf_counter() - row.started,
        )

    def _append(self, rows: list[Row], logits: "torch.Tensor") -> list[Row]:
        finished = []
        for row, token in zip(rows, pick(logits, [row.draw for row in rows])):
            row.tokens.append(token)
            row.finish = self._finish(row)
            if row.finish:
                finished.append(row)
        for row in finished:
            self.remove(row)
        return finished

    def _finish(self, row: Row) -> Finish | None:
        if row.tokens[-1] in self.ends or (row.stops and self._stopped(row)):
            return "stop"
        return "length" if len(row.tokens) >= row.max_tokens else None

    def _stopped(self, row: Row) -> bool:
        """Looks at the tail only: as many tokens as the longest stop has characters, and some for half characters."""
        tail = row.tokens[-max(map(len, row.stops)) - 8 :]
        return cut_at_stop(self.tokenizer.decode(tail, skip_special_tokens=True), row.stops)[1]


def _packs(prompts: list[Prompt], most: int | None) -> list[list[Prompt]]:
    """`prompts` in order, cut so that each part has at most `most` tokens, or one prompt."""
    packs: list[list[Prompt]] = []
    for prompt in prompts:
        if packs and (most is None or sum(map(len, packs[-1])) + len(prompt) <= most):
            packs[-1].append(prompt)
        else:
            packs.append([prompt])
    return packs


def end_tokens(model: Any, tokenizer: Any) -> set[int]:
    """What ends a turn, by the model's generation settings and by its tokenizer."""
    ends = model.generation_config.eos_token_id
    return (set(ends if isinstance(ends, list) else [ends]) | {tokenizer.eos_token_id}) - {None}


def row_of(request: Request, prompt: list[int], context: int) -> Row:
    """A row for a prompt that leaves room in `context`. Raises ValueError for impossible sampling."""
    sampling = request.sampling
    if sampling.max_tokens < 1:
        raise ValueError(f"max_tokens is {sampling.max_tokens}, at least 1 is wanted")
    room = min(sampling.max_tokens, context - len(prompt))
    return Row(request, tuple(prompt), room, Draw.of(request), tidy_stops(sampling.stop))
