"""Keys and values of the rows being decoded, and the attention that reads them.

Transformers hands both to any model that attends fully in every layer. What they save against the built-in ones on a
CPU (SmolLM2-135M, 300 tokens of prompt, one thread): 225 instead of 76 tokens a second at 32 rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hbench.engines.beginnings import Beginning, Beginnings

if TYPE_CHECKING:
    import torch

    Pair = tuple[torch.Tensor, torch.Tensor]

BLOCK = 128  # columns added at a time
Prompt = tuple[int, ...]  # token ids


@dataclass(frozen=True, slots=True)
class Segment:
    """What a prompt adds to the packed sequence: its tokens from `shared` on, at [start, stop).

    They go to the rows [row, row + copies), behind the first `shared` tokens of `beginning`.
    """

    start: int
    stop: int
    row: int
    copies: int
    beginning: Beginning | None = None
    shared: int = 0


class KeyValues:
    """The cache that `model(cache=...)` writes to. Each row has its own length; a new row needs no padding.

    Keys lie transposed, as (rows, heads, width, columns): bfloat16 `q @ k.T` over the usual layout is about ten times
    slower on a CPU. Call `place` or `extend` before each forward pass: they say where its keys go.
    """

    def __init__(self, rows: int):
        self.rows = rows
        self.tokens: list[list[int]] = []  # by row: those whose keys are here
        self.keys: list[torch.Tensor] = []  # by layer: (rows, heads, width, columns)
        self.values: list[torch.Tensor] = []  # by layer: (rows, heads, columns, width)
        self.columns = 0
        self.beginnings = Beginnings()
        self.segments: list[Segment] = []
        self._at: Any = None

    @property
    def lengths(self) -> list[int]:
        return list(map(len, self.tokens))

    def place(self, prompts: Sequence[Prompt], copies: Sequence[int]) -> list[Segment]:
        """The next pass holds what is new of `prompts`, packed; prompt i makes copies[i] rows, behind the others."""
        found = [self.beginnings.find(prompt, self.tokens) for prompt in prompts]
        self._reserve(max(map(len, prompts)))
        self.segments, start, row = [], 0, len(self.tokens)
        for prompt, count, (beginning, shared) in zip(prompts, copies, found):
            if isinstance(beginning, int):  # a row that is still going
                beginning = self._beginning(beginning)
            stop = start + len(prompt) - shared
            self.segments.append(Segment(start, stop, row, count, beginning, shared))
            start, row = stop, row + count
            self.tokens += [list(prompt) for _ in range(count)]
        return self.segments

    def extend(self, tokens: Sequence[int]) -> None:
        """The next pass holds one token for every row."""
        import torch

        self.segments = []
        self._at = (torch.arange(len(self.tokens)), torch.tensor(self.lengths))
        for row, token in zip(self.tokens, tokens):
            row.append(token)
        self._reserve(max(self.lengths))

    def bias(self, like: "torch.Tensor") -> "torch.Tensor":
        """(B, 1, 1, T): 0 where a row may look, minus infinity beyond its length."""
        import torch

        lengths = torch.tensor(self.lengths, device=like.device)
        beyond = torch.arange(max(self.lengths), device=like.device)[None] >= lengths[:, None]
        zeros = torch.zeros(beyond.shape, dtype=like.dtype, device=like.device)
        return zeros.masked_fill_(beyond, float("-inf"))[:, None, None]

    def drop(self, row: int) -> None:
        """Removes `row`, keeping a copy of it as a beginning; the last row takes its place."""
        self.beginnings.keep(self._beginning(row))
        last = len(self.tokens) - 1
        if row != last:
            for kept in (*self.keys, *self.values):
                kept[row] = kept[last]
        self.tokens[row] = self.tokens[last]
        self.tokens.pop()
        if not self.tokens:  # long prompts must not hold memory for ever
            self.keys, self.values, self.columns = [], [], 0

    def update(self, keys: "torch.Tensor", values: "torch.Tensor", layer: int, *_, **__) -> "Pair":
        """Called by each layer with (B, heads, T, width): keeps them, returns what its queries may look at."""
        if len(self.keys) <= layer:
            _, heads, _, width = keys.shape
            self.keys.append(keys.new_zeros(self.rows, heads, width, self.columns))
            self.values.append(values.new_zeros(self.rows, heads, self.columns, values.shape[-1]))
        for segment in self.segments:
            self._fill(layer, segment, keys[0], values[0])
        if self.segments:
            return keys, values
        rows, columns = self._at
        self.keys[layer][rows, :, :, columns] = keys[:, :, 0]
        self.values[layer][rows, :, columns] = values[:, :, 0]
        longest, count = max(self.lengths), len(self.tokens)
        return self.keys[layer][:count, ..., :longest].transpose(-1, -2), self.values[layer][:count, :, :longest]

    def row(self, layer: int, row: int) -> "Pair":
        """All keys and values of `row`: (1, heads, T, width) each."""
        length, this = len(self.tokens[row]), slice(row, row + 1)
        return self.keys[layer][this, ..., :length].transpose(-1, -2), self.values[layer][this, :, :length]

    def get_seq_length(self, *_) -> int:
        return 0  # positions are always given

    def _fill(self, layer: int, segment: Segment, keys: "torch.Tensor", values: "torch.Tensor") -> None:
        """keys, values: (heads, T, width) of the packed sequence."""
        shared, stop = segment.shared, segment.shared + segment.stop - segment.start
        for row in range(segment.row, segment.row + segment.copies):
            if segment.beginning:
                self.keys[layer][row, ..., :shared] = segment.beginning.keys[layer][..., :shared]
                self.values[layer][row, :, :shared] = segment.beginning.values[layer][:, :shared]
            self.keys[layer][row, ..., shared:stop] = keys[:, segment.start : segment.stop].transpose(-1, -2)
            self.values[layer][row, :, shared:stop] = values[:, segment.start : segment.stop]

    def _beginning(self, row: int) -> Beginning:
        """A view of `row`."""
        length = len(self.tokens[row])
        keys = tuple(kept[row, ..., :length] for kept in self.keys)
        return Beginning(tuple(self.tokens[row]), keys, tuple(kept[row, :, :length] for kept in self.values))

    def _reserve(self, columns: int) -> None:
        if columns <= self.columns:
            return
        used, self.columns = self.columns, max(columns + BLOCK, self.columns * 3 // 2)
        for layer, (keys, values) in enumerate(zip(self.keys, self.values)):
            wider = keys.new_zeros(*keys.shape[:-1], self.columns)
            wider[..., :used] = keys
            taller = values.new_zeros(*values.shape[:-2], self.columns, values.shape[-1])
            taller[..., :used, :] = values
            self.keys[layer], self.values[layer] = wider, taller


def attend(module, query, key, value, attention_mask, scaling=None, dropout=0.0, packed: KeyValues | None = None, **_):
    """Attention over packed prompts (packed: the cache, which knows their borders), else of one new token a row.

    query: (B, H, T, width); key and value: (B, heads, T, width). Returns ((B, T, H, width), None).
    """
    if packed is None:
        return _attend_one(query, key, value, attention_mask, scaling), None
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    parts = []
    for segment in packed.segments:
        keys, values, mask = key[:, :, segment.start : segment.stop], value[:, :, segment.start : segment.stop], None
        if segment.shared:  # the new tokens see all of the beginning, and each other causally
            keys, values = packed.row(module.layer_idx, segment.row)
            new = segment.stop - segment.start
            mask = torch.ones(new, segment.shared + new, dtype=torch.bool, device=query.device).tril(segment.shared)
        queries = query[:, :, segment.start : segment.stop]
        grouped = query.shape[1] != key.shape[1]
        parts.append(
            scaled_dot_product_attention(
                queries, keys, values, attn_mask=mask, is_causal=mask is None, scale=scaling, enable_gqa=grouped
            )
        )
    return torch.cat(parts, dim=2).transpose(1, 2), None


def _attend_one(query, key, value, bias, scaling):
    rows, heads, _, width = query.shape
    scaling = width**-0.5 if scaling is None else scaling
    groups = key.shape[1]  # query heads that share a key head become its query rows
    scores = (query.reshape(rows, groups, heads // groups, width) * scaling) @ key.transpose(-1, -2)
    return ((scores + bias).softmax(-1) @ value).reshape(rows, 1, heads, value.shape[-1])
