"""Attention over packed groups of rows that share a beginning: no score is computed that nobody may look at."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from hbench.engines.shared_prompt import Group, Packed

LONG = 1024  # columns from which the fused attention is faster than plain products on a CPU


def attend(module, query, key, value, attention_mask, scaling=None, dropout=0.0, packed: "Packed | None" = None, **_):
    """query: (1, H, T, width); key and value: (1, heads, T, width). Returns ((1, T, H, width), None).

    Transformers hands them to every layer, with `packed` as the caller gave it.
    """
    import torch

    if packed is None:
        raise ValueError("this model reads packed sequences only")
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    apart = [each[0].split(packed.sizes, dim=1) for each in (query * scaling, key, value)]
    parts = [_attend(*parts, group) for *parts, group in zip(*apart, packed.groups)]
    return torch.cat(parts, dim=1).transpose(0, 1)[None], None


def _attend(query: "torch.Tensor", key: "torch.Tensor", value: "torch.Tensor", group: "Group") -> "torch.Tensor":
    """One group. query: (H, T, width), scaled; key and value: (heads, T, width). Returns (H, T, width)."""
    import torch

    if not group.rows:  # nothing is shared: the fused attention keeps no scores for the gradient
        short = query.device.type == "cpu" and len(group.beginning) <= LONG // 2
        return (_causal_plain if short else _causal_fused)(query, key, value)
    sizes = [len(group.beginning), sum(group.lengths)]
    (first, asked), (old, keys), (old_values, values) = (each.split(sizes, dim=1) for each in (query, key, value))
    padded = len(set(group.lengths)) > 1
    places = group.padded.flatten().to(query.device)
    rows = [each[:, places] if padded else each for each in (asked, keys, values)]
    own = [each.unflatten(1, group.padded.shape) for each in rows]  # (heads, rows, C, width)
    many = _rows_plain if query.device.type == "cpu" else _rows_fused
    said = many(*own, old, old_values).flatten(1, 2)
    said = said[:, group.unpadded.to(query.device)] if padded else said
    if not group.beginning:
        return said
    plain = query.device.type == "cpu" and sizes[0] <= LONG
    return torch.cat([(_causal_plain if plain else _causal_fused)(first, old, old_values), said], dim=1)


def _causal_plain(query: "torch.Tensor", key: "torch.Tensor", value: "torch.Tensor") -> "torch.Tensor":
    """query: (H, T, width). Query heads that share a key head become its query rows: twice as fast on a CPU."""
    count, length = len(key), query.shape[1]
    scores = query.reshape(count, -1, query.shape[-1]) @ key.transpose(1, 2).contiguous()
    scores = scores.unflatten(1, (-1, length)) + _hidden(length, query)
    return (scores.softmax(-1).flatten(1, 2) @ value).view(query.shape)


def _causal_fused(query: "torch.Tensor", key: "torch.Tensor", value: "torch.Tensor") -> "torch.Tensor":
    from torch.nn.functional import scaled_dot_product_attention

    grouped = len(query) != len(key)
    one = [each[None] for each in (query, key, value)]
    return scaled_dot_product_attention(*one, is_causal=True, scale=1.0, enable_gqa=grouped)[0]


def _rows_plain(query, key, value, old, old_values) -> "torch.Tensor":
    """query: (H, G, C, width); key, value: (heads, G, C, width); old, old_values: (heads, S, width), which all G see."""
    import torch

    (count, rows, length, width), shared, folds = key.shape, old.shape[1], len(query) // len(key)
    folded = query.reshape(count, folds, rows, length, width)
    one = folded.reshape(count, folds * rows * length, width)
    by_row = folded.transpose(1, 2).reshape(count * rows, folds * length, width)
    to_old = one @ old.transpose(1, 2).contiguous()
    to_own = by_row @ key.reshape(count * rows, length, width).transpose(1, 2).contiguous()
    to_own = to_own.view(count, rows, folds, length, length) + _hidden(length, query)
    scores = torch.cat([to_old.view(count, folds, rows, length, shared), to_own.transpose(1, 2)], dim=-1).softmax(-1)
    of_old, of_own = scores.split([shared, length], dim=-1)
    said = of_old.reshape(*one.shape[:2], shared) @ old_values
    of_own = of_own.transpose(1, 2).reshape(*by_row.shape[:2], length)
    also = (of_own @ value.reshape(count * rows, length, width)).view(count, rows, folds, length, width)
    return (said.view(folded.shape) + also.transpose(1, 2)).reshape(query.shape)


def _rows_fused(query, key, value, old, old_values) -> "torch.Tensor":
    """As `_rows_plain`, each row a batch entry behind its own view of the beginning: what a GPU does best."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    rows, length, shared = key.shape[1], key.shape[2], old.shape[1]
    keys, values = (
        torch.cat([before.expand(rows, *before.shape), each.transpose(0, 1)], dim=2)  # (G, heads, S + C, width)
        for before, each in ((old, key), (old_values, value))
    )
    seen = torch.ones(length, shared + length, dtype=torch.bool, device=query.device).tril(shared)
    grouped = len(query) != len(key)
    said = scaled_dot_product_attention(
        query.transpose(0, 1), keys, values, attn_mask=seen, scale=1.0, enable_gqa=grouped
    )
    return said.transpose(0, 1)


def _hidden(length: int, like: "torch.Tensor") -> "torch.Tensor":
    """(length, length): minus infinity for what lies ahead."""
    import torch

    return torch.full((length, length), float("-inf"), dtype=like.dtype, device=like.device).triu(1)
