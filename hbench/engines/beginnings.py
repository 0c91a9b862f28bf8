"""Keys and values of what was read before: a conversation that goes on, or a prompt asked again, is not read anew."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

SHORTEST = 32  # tokens: a shorter beginning is as cheap to read again
MEMORY = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
MOST_BYTES = max(2**28, MEMORY // 16)  # conversations that go on side by side, each turn of which would be read anew


@dataclass(frozen=True, slots=True, eq=False)
class Beginning:
    """tokens with their keys (heads, width, T) and values (heads, T, width), by layer."""

    tokens: tuple[int, ...]
    keys: tuple["torch.Tensor", ...]
    values: tuple["torch.Tensor", ...]

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(each.nbytes for each in (*self.keys, *self.values))


class Beginnings:
    """The rows that ended last, as far as MOST_BYTES hold them; the one unused for longest goes first."""

    def __init__(self, most_bytes: int = MOST_BYTES):
        self.most_bytes = most_bytes
        self.kept: list[Beginning] = []  # the last one used at the end

    def keep(self, ended: Beginning) -> None:
        """Copies `ended`, unless it is short; what it begins with itself is no longer needed."""
        if len(ended.tokens) < SHORTEST or ended.size > self.most_bytes:
            return
        copied = Beginning(ended.tokens, tuple(k.clone() for k in ended.keys), tuple(v.clone() for v in ended.values))
        self.kept = [other for other in self.kept if other.tokens != ended.tokens[: len(other.tokens)]] + [copied]
        while sum(other.size for other in self.kept) > self.most_bytes:
            self.kept.pop(0)

    def find(self, prompt: tuple[int, ...], going: Sequence[list[int]]) -> tuple[Beginning | int | None, int]:
        """(what shares the longest beginning with `prompt`, how many tokens); a row of `going` is given by its number.

        At least one token of the prompt is left over: its pass gives the first logits.
        """
        candidates = [*enumerate(map(tuple, going)), *((kept, kept.tokens) for kept in self.kept)]
        shared = [_shared(prompt[:-1], tokens) for _, tokens in candidates]
        longest = max(shared, default=0)
        if longest < SHORTEST:
            return None, 0
        found = candidates[shared.index(longest)][0]
        if isinstance(found, Beginning):
            self.kept.append(self.kept.pop(self.kept.index(found)))
        return found, longest


def _shared(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """How many tokens both begin with; by halving, since comparing slices is fast."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low
