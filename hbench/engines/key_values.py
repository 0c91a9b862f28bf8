"""Keys and values of the rows being decoded, and the attention that reads them.

Transformers hands both to any model that attends fully in every layer. What they save against the built-in ones on a
CPU (SmolLM2-135M, 300 tokens of prompt, one thread): 225 instead of 76 tokens a second at 32 rows.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

BLOCK = 128  # columns added at a time


class KeyValues:
    """The cache that `model(cache=...)` writes to. Each row has its own length; a new row needs no padding.

    Keys lie transposed, as (rows, heads, width, columns): bfloat16 `q @ k.T` over the usual layout is about ten times
    slower on a CPU. Call `fill` or `extend` before each forward pass: they say where its keys go.
    """

    def __init__(self, rows: int):
        self.rows = rows
        self.lengths: list[int] = []  # columns used, by row
        self.keys: list[torch.Tensor] = []  # a layer: (rows, heads, width, columns)
        self.values: list[torch.Tensor] = []  # a layer: (rows, heads, columns, width)
        self.columns = 0
        self._new: list[tuple[int, int, int]] = []  # (row, start, stop) of each prompt in the packed sequence
        self._at: Any = None

    def fill(self, prompts: list[tuple[int, int]], copies: list[int]) -> None:
        """The next pass holds prompts, packed one behind the other at (start, stop); prompt i makes copies[i] new rows."""
        self._new = []
        for (start, stop), count in zip(prompts, copies):
            for _ in range(count):
                self._new.append((len(self.lengths), start, stop))
                self.lengths.append(stop - start)
        self._reserve(max(self.lengths))

    def extend(self) -> None:
        """The next pass holds one token for every row."""
        import torch

        self._new = []
        self._reserve(max(self.lengths) + 1)
        self._at = (torch.arange(len(self.lengths)), torch.tensor(self.lengths))
        self.lengths = [length + 1 for length in self.lengths]

    def bias(self, like: "torch.Tensor") -> "torch.Tensor":
        """(B, 1, 1, T): 0 where a row may look, minus infinity beyond its length."""
        import torch

        lengths = torch.tensor(self.lengths, device=like.device)
        beyond = torch.arange(max(self.lengths), device=like.device)[None] >= lengths[:, None]
        return torch.zeros(beyond.shape, dtype=like.dtype, device=like.device).masked_fill_(beyond, float("-inf"))[:, None, None]

    def drop(self, row: int) -> None:
        """Removes `row`; the last row takes its place."""
        last = len(self.lengths) - 1
        if row != last:
            for kept in (*self.keys, *self.values):
                kept[row] = kept[last]
        self.lengths[row] = self.lengths[last]
        self.lengths.pop()
        if not self.lengths:  # long prompts must not hold memory for ever
            self.keys, self.values, self.columns = [], [], 0

    def update(self, keys: "torch.Tensor", values: "torch.Tensor", layer: int, *_, **__) -> tuple["torch.Tensor", "torch.Tensor"]:
        """Called by each layer with (B, heads, T, width): keeps them, returns what its queries may look at."""
        if len(self.keys) <= layer:
            _, heads, _, width = keys.shape
            self.keys.append(keys.new_zeros(self.rows, heads, width, self.columns))
            self.values.append(values.new_zeros(self.rows, heads, self.columns, values.shape[-1]))
        if self._new:
            for row, start, stop in self._new:
                self.keys[layer][row, :, :, : stop - start] = keys[0, :, start:stop].transpose(-1, -2)
                self.values[layer][row, :, : stop - start] = values[0, :, start:stop]
            return keys, values
        rows, columns = self._at
        self.keys[layer][rows, :, :, columns] = keys[:, :, 0]
        self.values[layer][rows, :, columns] = values[:, :, 0]
        longest, count = max(self.lengths), len(self.lengths)
        return self.keys[layer][:count, ..., :longest].transpose(-1, -2), self.values[layer][:count, :, :longest]

    def get_seq_length(self, *_) -> int:
        return 0  # positions are always given

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


def attend(module, query, key, value, attention_mask, scaling=None, dropout=0.0, cu_seq_lens_q=None, **_):
    """Attention over packed prompts (cu_seq_lens_q: their borders) or, without borders, of one new token a row.

    query: (B, H, T, width); key and value: (B, heads, T, width). Returns ((B, T, H, width), None).
    """
    if cu_seq_lens_q is None:
        return _attend_one(query, key, value, attention_mask, scaling), None
    from torch import cat
    from torch.nn.functional import scaled_dot_product_attention

    parts = [
        scaled_dot_product_attention(
            query[:, :, start:stop],
            key[:, :, start:stop],
            value[:, :, start:stop],
            is_causal=True,
            scale=scaling,
            enable_gqa=query.shape[1] != key.shape[1],
        )
        for start, stop in zip(cu_seq_lens_q, cu_seq_lens_q[1:])
    ]
    return cat(parts, dim=2).transpose(1, 2), None


def _attend_one(query, key, value, bias, scaling):
    rows, heads, _, width = query.shape
    scaling = width**-0.5 if scaling is None else scaling
    groups = key.shape[1]  # query heads that share a key head become its query rows
    scores = (query.reshape(rows, groups, heads // groups, width) * scaling) @ key.transpose(-1, -2)
    return ((scores + bias).softmax(-1) @ value).reshape(rows, 1, heads, value.shape[-1])
