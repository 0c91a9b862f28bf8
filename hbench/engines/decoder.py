"""Rows of text grown one token at a time; a row joins and leaves whenever it likes."""

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hbench.core.message import Finish, Reply, Request
from hbench.engines.key_values import KeyValues
from hbench.engines.sampler import Draw, pick
from hbench.engines.stops import cut_at_stop, tidy_stops

if TYPE_CHECKING:
    import torch

PACK = 1024  # prompt tokens in one pass: more would only make the rows already going wait


@dataclass(eq=False)
class Row:
    """One request on its way. prompt: token ids. tokens: generated so far, the end token included."""

    request: Request
    prompt: list[int]
    max_tokens: int
    draw: Draw
    stops: list[str] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    finish: Finish | None = None
    started: float = field(default_factory=time.perf_counter)


class Decoder:
    """Greedy or sampled decoding of up to `size` rows with one model. Not thread-safe: one thread uses it.

    Prompts are packed into one sequence instead of padded; equal prompts that arrive together are read once.
    """

    def __init__(self, model: Any, tokenizer: Any, size: int):
        self.model, self.tokenizer, self.size = model, tokenizer, size
        self.ends = _end_tokens(model, tokenizer)
        self.rows: list[Row] = []
        self.cache = KeyValues(size)

    @property
    def free(self) -> int:
        return self.size - len(self.rows)

    def clear(self) -> list[Row]:
        """Drops everything, after an error in the middle of a pass; gives back the rows that were going."""
        dropped, self.rows, self.cache = self.rows, [], KeyValues(self.size)
        return dropped

    def remove(self, row: Row) -> None:
        """Takes `row` out, finished or not."""
        place = self.rows.index(row)
        self.cache.drop(place)
        self.rows[place] = self.rows[-1]
        self.rows.pop()

    def admit(self, rows: list[Row]) -> list[Row]:
        """Reads the prompts of `rows` (at most `free`) and draws their first tokens; returns those already finished."""
        alike: dict[tuple[int, ...], list[Row]] = {}
        for row in sorted(rows, key=lambda row: len(row.prompt)):
            alike.setdefault(tuple(row.prompt), []).append(row)
        finished: list[Row] = []
        pack: list[tuple[int, ...]] = []
        for prompt in alike:
            if pack and sum(map(len, pack)) + len(prompt) > PACK:
                finished += self._read(pack, alike)
                pack = []
            pack.append(prompt)
        return finished + self._read(pack, alike)

    def step(self) -> list[Row]:
        """One more token for every row; returns those that finished with it, already taken out."""
        import torch

        positions = torch.tensor(self.cache.lengths)[:, None]
        self.cache.extend()
        last = torch.tensor([row.tokens[-1] for row in self.rows])[:, None]
        bias = self.cache.bias(self.model.get_input_embeddings().weight)
        logits = self._forward(last, positions, attention_mask=bias)[:, -1]
        return self._append(self.rows, logits)

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

    def _read(self, pack: list[tuple[int, ...]], alike: dict[tuple[int, ...], list[Row]]) -> list[Row]:
        """One pass over packed prompts. The pass gives logits only at each prompt's last token."""
        import torch

        borders = [0]
        for prompt in pack:
            borders.append(borders[-1] + len(prompt))
        self.cache.fill(list(zip(borders, borders[1:])), [len(alike[prompt]) for prompt in pack])
        positions = torch.cat([torch.arange(len(prompt)) for prompt in pack])[None]
        tokens = torch.tensor([token for prompt in pack for token in prompt])[None]
        ends = torch.tensor(borders[1:]) - 1
        logits = self._forward(tokens, positions, logits_to_keep=ends, cu_seq_lens_q=borders)[0]  # (prompts, V)
        new = [row for prompt in pack for row in alike[prompt]]
        which = [place for place, prompt in enumerate(pack) for _ in alike[prompt]]
        self.rows += new
        return self._append(new, logits[which])

    def _forward(self, tokens: "torch.Tensor", positions: "torch.Tensor", **rest: Any) -> "torch.Tensor":
        import torch

        device = self.model.device
        with torch.no_grad():
            said = self.model(
                input_ids=tokens.to(device), position_ids=positions.to(device), cache=self.cache, use_cache=True, **rest
            )
            return said.logits.float()

    def _append(self, rows: list[Row], logits: "torch.Tensor") -> list[Row]:
        finished = []
        for row, token in zip(list(rows), pick(logits, [row.draw for row in rows])):
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
        """Only the tail is looked at: as many tokens as the longest stop string has characters, and some for half characters."""
        tail = row.tokens[-max(map(len, row.stops)) - 8 :]
        return cut_at_stop(self.tokenizer.decode(tail, skip_special_tokens=True), row.stops)[1]


def _end_tokens(model: Any, tokenizer: Any) -> set[int]:
    ends = model.generation_config.eos_token_id
    found = set(ends if isinstance(ends, list) else [ends]) | {tokenizer.eos_token_id}
    return found - {None}


def row_of(request: Request, prompt: list[int], context: int) -> Row:
    """A row for a prompt that leaves room for at least one token of `context`. Raises ValueError for unknown sampling."""
    sampling = request.sampling
    room = min(sampling.max_tokens, context - len(prompt))
    return Row(request, prompt, room, Draw.of(request), tidy_stops(sampling.stop))
