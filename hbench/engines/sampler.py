"""One token for every row of logits, each row drawn by its own numbers."""

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from hbench.core.message import Request

if TYPE_CHECKING:
    import torch

BELOW_ONE = 1 - 2**-24  # the largest float32 below 1: a number rounded up to 1 would lie beyond the last token
KNOWN = {"top_k", "min_p", "chat_template_kwargs"}  # what `Sampling.extra` may hold for models in this process


@dataclass(frozen=True)
class Draw:
    """How one reply is drawn. numbers: uniform in [0, 1), from the request's seed, one a token.

    So a reply does not depend on what else is in the batch, as far as rounding allows.
    """

    temperature: float
    top_p: float
    top_k: int
    min_p: float
    numbers: Random

    @classmethod
    def of(cls, request: Request) -> "Draw":
        """Raises ValueError for sampling that is impossible or not known here: nothing is passed over in silence."""
        extra = {key: value for key, value in (request.sampling.extra or {}).items() if value is not None}
        if unknown := sorted(set(extra) - KNOWN):
            known = ", ".join(sorted(KNOWN))
            raise ValueError(f"sampling.extra: a model in this process knows {known}, not {', '.join(unknown)}")
        sampling = request.sampling
        if not (sampling.temperature >= 0 and 0 < sampling.top_p <= 1):
            raise ValueError(f"temperature {sampling.temperature} and top_p {sampling.top_p} are no way to sample")
        top_k, min_p = int(extra.get("top_k", 0)), float(extra.get("min_p", 0.0))
        return cls(sampling.temperature, sampling.top_p, top_k, min_p, Random(request.seed))

    @property
    def filters(self) -> bool:
        return self.top_p < 1 or self.top_k > 0 or self.min_p > 0


def pick(logits: "torch.Tensor", draws: list[Draw]) -> list[int]:
    """The next token of every row. logits: (B, V). temperature 0 takes the likeliest, the first of equals."""
    import torch

    tokens = logits.argmax(-1).tolist()
    rows = [row for row, draw in enumerate(draws) if draw.temperature > 0]
    if not rows:
        return tokens
    heat = logits.new_tensor([draws[row].temperature for row in rows])
    shares = (logits[rows] / heat[:, None]).softmax(-1)  # (rows, V)
    for place, row in enumerate(rows):
        if draws[row].filters:
            shares[place] = _filtered(shares[place], draws[row])
    sums = shares.cumsum(-1)
    numbers = sums.new_tensor([draws[row].numbers.random() for row in rows]).clamp(max=BELOW_ONE)
    chosen = torch.searchsorted(sums, (numbers * sums[:, -1])[:, None], right=True)[:, 0]
    for row, token in zip(rows, chosen.tolist()):
        tokens[row] = token
    return tokens


def _filtered(shares: "torch.Tensor", draw: Draw) -> "torch.Tensor":
    """`shares` (V,) with 0 for what top_k, top_p and min_p leave out; the likeliest token always stays."""
    ranked, tokens = shares.sort(descending=True, stable=True)
    keep = ranked >= draw.min_p * ranked[0]
    if draw.top_k > 0:
        keep[draw.top_k :] = False
    if draw.top_p < 1:
        before = ranked.cumsum(-1) - ranked  # the mass of everything likelier than this token
        keep &= before < draw.top_p
    keep[0] = True
    kept = shares.new_zeros(shares.shape)
    kept[tokens[keep]] = ranked[keep]
    return kept
