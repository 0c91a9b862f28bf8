"""Forward passes of a model over rows that come and go: in rows of their own length, or padded to one length."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hbench.engines.key_values import KeyValues, Prompt

if TYPE_CHECKING:
    import torch


class PackedPasses:
    """For models that attend fully in every layer. Prompts are packed into one sequence: none is padded, and what
    was read before is not read again.

    Rows join while others are going. Both methods give logits (rows, V) in float32, of the rows' last tokens.
    """

    joins = True

    def __init__(self, model: Any, size: int):
        self.model, self.kept = model, KeyValues(size)

    def read(self, prompts: Sequence[Prompt], copies: Sequence[int]) -> "torch.Tensor":
        """New rows, behind the others: copies[i] equal ones for prompt i, which is read once, from where it is new."""
        import torch

        segments = self.kept.place(prompts, copies)
        new = [prompt[segment.shared :] for prompt, segment in zip(prompts, segments)]
        logits = _forward(
            self.model,
            torch.tensor([[token for tokens in new for token in tokens]]),
            torch.cat([torch.arange(segment.shared, len(prompt)) for prompt, segment in zip(prompts, segments)])[None],
            self.kept,
            logits_to_keep=torch.tensor([segment.stop for segment in segments], device=self.model.device) - 1,
            packed=self.kept,
        )[0]
        return logits[[place for place, count in enumerate(copies) for _ in range(count)]]

    def step(self, tokens: Sequence[int]) -> "torch.Tensor":
        """One more token for every row."""
        import torch

        positions = torch.tensor(self.kept.lengths)[:, None]
        self.kept.extend(tokens)
        bias = self.kept.bias(self.model.get_input_embeddings().weight)
        return _forward(self.model, torch.tensor(tokens)[:, None], positions, self.kept, attention_mask=bias)[:, -1]

    def drop(self, row: int) -> None:
        """Removes `row`; the last row takes its place."""
        self.kept.drop(row)


class PaddedPasses:
    """For every other model (sliding windows, linear attention …): padded on the left, transformers' own cache.

    A batch starts together. A row that is dropped stays in the tensors until the last one has gone.
    """

    joins = False

    def __init__(self, model: Any, pad: int):
        self.model, self.pad = model, pad
        self._cache: Any = None
        self._mask: Any = None
        self._places: list[int] = []  # row -> its place in the tensors

    def read(self, prompts: Sequence[Prompt], copies: Sequence[int]) -> "torch.Tensor":
        import torch
        from transformers import DynamicCache

        rows = [prompt for prompt, count in zip(prompts, copies) for _ in range(count)]
        longest = max(map(len, rows))
        tokens = torch.tensor([[self.pad] * (longest - len(row)) + list(row) for row in rows])
        self._mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
        self._places = list(range(len(rows)))
        self._cache = DynamicCache(config=self.model.config)
        positions = (self._mask.cumsum(-1) - 1).clamp(min=0)
        return self._run(tokens, positions)

    def step(self, tokens: Sequence[int]) -> "torch.Tensor":
        import torch

        column = torch.full((len(self._mask), 1), self.pad)
        column[self._places, 0] = torch.tensor(tokens)
        positions = self._mask.sum(-1, keepdim=True)
        self._mask = torch.cat([self._mask, torch.ones_like(column)], dim=1)
        return self._run(column, positions)[self._places]

    def drop(self, row: int) -> None:
        self._places[row] = self._places[-1]
        self._places.pop()
        if not self._places:
            self._cache = self._mask = None

    def _run(self, tokens: "torch.Tensor", positions: "torch.Tensor") -> "torch.Tensor":
        mask = self._mask.to(self.model.device)
        return _forward(self.model, tokens, positions, self._cache, attention_mask=mask, logits_to_keep=1)[:, -1]


def passes_for(model: Any, size: int, pad: int) -> PackedPasses | PaddedPasses:
    """The faster passes where the model allows them; then its attention is replaced by `attend`."""
    if not attends_fully(model):
        return PaddedPasses(model, pad)
    from transformers import AttentionInterface

    from hbench.engines.key_values import attend

    AttentionInterface.register("hbench_rows", attend)
    model.set_attn_implementation("hbench_rows")
    return PackedPasses(model, size)


def attends_fully(model: Any) -> bool:
    """Whether each layer attends to all that came before, by nothing but a scaled softmax."""
    config = model.config.get_text_config()
    layers = set(getattr(config, "layer_types", None) or ["full_attention"])
    special = ("sliding_window", "attn_logit_softcapping", "attention_chunk_size", "alibi")
    return (
        bool(getattr(model, "_supports_attention_backend", False))
        and layers == {"full_attention"}
        and not any(getattr(config, name, None) for name in special)
    )


def _forward(model: Any, tokens: "torch.Tensor", positions: "torch.Tensor", cache: Any, **rest: Any) -> "torch.Tensor":
    """Logits in float32. tokens, positions: (B, T)."""
    import torch

    there = {"input_ids": tokens.to(model.device), "position_ids": positions.to(model.device)}
    with torch.no_grad():
        said = model(**there, cache=cache, use_cache=True, **rest)
    return said.logits.float()
