"""Rows that begin alike, packed behind one copy of their beginning: what they share is computed once.

A packed sequence holds, group by group, [beginning, row 1, row 2, …]. Positions restart behind the beginning for every
row, and a row sees the beginning and itself: each token gets the log-probability that it would get in a row of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hbench.core.digest import Json
from hbench.engines.compact_head import add_compact_head
from hbench.engines.passes import attends_fully
from hbench.engines.shared_attention import attend

if TYPE_CHECKING:
    import torch

IGNORED = -100  # the label of a token that is not trained
NAME = "hbench_shared"


@dataclass
class Group:
    """beginning: token ids that all rows share. rows: (input ids, labels) of each from there on, no row empty.

    A label belongs to the token that follows its input token, as `shift_labels` do in transformers. labels: of the
    beginning, where it is a row by itself; then there are no others.
    """

    beginning: list[int]
    rows: list[tuple[list[int], list[int]]] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)

    @property
    def size(self) -> int:
        return len(self.beginning) + sum(self.lengths)

    @property
    def lengths(self) -> list[int]:
        return [len(inputs) for inputs, _ in self.rows]

    @cached_property
    def padded(self) -> "torch.Tensor":
        """(rows, longest) places behind the beginning; a shorter row repeats its last place."""
        import torch

        lengths = torch.tensor(self.lengths)
        starts = lengths.cumsum(0) - lengths
        return starts[:, None] + torch.minimum(torch.arange(max(self.lengths))[None], lengths[:, None] - 1)

    @cached_property
    def unpadded(self) -> "torch.Tensor":
        """(tokens,) where in the flattened `padded` each token behind the beginning stands."""
        import torch

        longest = max(self.lengths)
        return torch.cat([torch.arange(length) + row * longest for row, length in enumerate(self.lengths)])


class Packed:
    """The groups of one packed sequence, for the attention in every layer."""

    def __init__(self, groups: Sequence[Group]):
        self.groups = list(groups)
        self.sizes = [group.size for group in groups]

    def to(self, *_, **__) -> "Packed":
        """Itself: trainers move a whole batch to their device."""
        return self


def pack(groups: Sequence[Group]) -> dict[str, Any]:
    """Keyword arguments of a model that went through `share_prompts`: tensors are (1, T), labels already shifted."""
    import torch

    ids, places, labels = [], [], []
    for group in groups:
        shared = len(group.beginning)
        ids += group.beginning
        places += range(shared)
        labels += group.labels or [IGNORED] * shared
        for inputs, wanted in group.rows:
            ids += inputs
            places += range(shared, shared + len(inputs))
            labels += wanted
    return {
        "input_ids": torch.tensor([ids]),
        "position_ids": torch.tensor([places]),
        "shift_labels": torch.tensor([labels]),
        "packed": Packed(groups),
    }


def share_prompts(model: Any, temperature: float = 1.0) -> bool:
    """Makes `model` take packed sequences, and those alone; False, and no change, where its attention does not allow it.

    Call it when a TRL trainer has given the model its fused head. temperature: what the head divides logits by.
    """
    inner = model.get_base_model() if hasattr(model, "peft_config") else model
    config = inner.config.get_text_config()
    if not attends_fully(inner) or getattr(config, "attention_dropout", 0) or hasattr(config, "output_router_logits"):
        return False  # experts balance their load over all tokens, of which there are fewer here
    from transformers import AttentionInterface

    AttentionInterface.register(NAME, attend)
    inner.set_attn_implementation(NAME)
    add_compact_head(inner, temperature)
    return True


class Collator:
    """Packs rows {"input_ids", "labels", "group"} for an SFT trainer: those of a group behind what they share.

    The loss, and its gradient, are those of the rows apart. What trains is never shared. Rows with `weights`, one a token,
    give `weights` as well, (1, T), beside `shift_labels`.
    """

    def __call__(self, rows: Sequence[Json]) -> dict[str, Any]:
        alike: dict[Any, list[Json]] = {}
        for row in rows:
            alike.setdefault(row["group"], []).append(row)
        groups = [(_whole if "weights" in some[0] and len(some) == 1 else grouped)(some) for some in alike.values()]
        batch = pack(groups)
        if "weights" in rows[0]:
            batch["weights"] = _weights(groups, [row for some in alike.values() for row in some])
        return {**batch, "labels": batch["shift_labels"]}  # a trainer counts tokens only where there are labels


def _whole(rows: Sequence[Json]) -> Group:
    """A row that shares nothing, trained in many places: attention over all of it at once takes less memory."""
    return Group(rows[0]["input_ids"][:-1], labels=rows[0]["labels"][1:])


def _weights(groups: Sequence[Group], rows: Sequence[Json]) -> "torch.Tensor":
    """(1, T) of the packed groups; rows: in their order."""
    import torch

    found: list[float] = []
    rest = iter(rows)
    for group in groups:
        if not group.rows:
            found += next(rest)["weights"][1:]
            continue
        found += [0.0] * len(group.beginning)
        for inputs, _ in group.rows:
            found += next(rest)["weights"][-len(inputs) :]
    return torch.tensor([found])


def grouped(rows: Sequence[Json]) -> Group:
    """The rows behind the longest beginning that they share before anything is trained."""
    shared = min(_untrained(row) for row in rows)
    first = rows[0]["input_ids"]
    for row in rows[1:]:
        shared = next((at for at in range(shared) if row["input_ids"][at] != first[at]), shared)
    return Group(first[:shared], [(row["input_ids"][shared:-1], row["labels"][shared + 1 :]) for row in rows])


def _untrained(row: Json) -> int:
    """How many tokens of `row` predict nothing that is trained; the row's last two are never among them."""
    trained = (at for at, label in enumerate(row["labels"]) if at and label != IGNORED)
    return min(next(trained, len(row["labels"])) - 1, len(row["labels"]) - 2)


class SharedPrompts:
    """Laid over TRL's GRPOTrainer: log-probabilities of completions, those with equal prompts packed behind one copy."""

    shares_prompts = False

    def _get_per_token_logps_and_entropies(
        self,
        model: Any,
        input_ids: "torch.Tensor",
        attention_mask: "torch.Tensor",
        logits_to_keep: int,
        batch_size: int | None = None,
        **rest: Any,
    ) -> tuple["torch.Tensor", "torch.Tensor", None]:
        """(log-probabilities, entropies without gradient, None); (B, completion tokens) each, 0 where it is padding."""
        if not self.shares_prompts:
            return super()._get_per_token_logps_and_entropies(
                model, input_ids, attention_mask, logits_to_keep, batch_size, **rest
            )
        import torch

        size = batch_size or len(input_ids)
        parts = [
            self._packed_scores(model, ids, mask.bool(), logits_to_keep)
            for ids, mask in zip(input_ids.split(size), attention_mask.split(size))
        ]
        scores, entropies = zip(*parts)
        return torch.cat(scores), torch.cat(entropies), None

    def _packed_scores(
        self, model: Any, ids: "torch.Tensor", mask: "torch.Tensor", keep: int
    ) -> tuple["torch.Tensor", "torch.Tensor"]:
        """ids, mask: (B, T), prompts padded on the left, completions (the last `keep`) on the right."""
        alike: dict[tuple[int, ...], list[int]] = {}
        for row in range(len(ids)):
            alike.setdefault(tuple(ids[row, :-keep][mask[row, :-keep]].tolist()), []).append(row)
        groups, order = [], []
        for prompt, rows in alike.items():
            groups.append(Group(list(prompt[:-1])))
            for row in rows:
                said = ids[row, -keep:][mask[row, -keep:]].tolist()
                if said:  # the last prompt token predicts the first of the completion
                    groups[-1].rows.append(([prompt[-1], *said[:-1]], said))
                    order.append(row)
        batch = {name: value.to(ids.device) for name, value in pack([group for group in groups if group.rows]).items()}
        with self.accelerator.autocast():
            found = model(**batch, fused_lm_head=True)
        labels, said = batch["shift_labels"], mask[:, -keep:]
        return spread(found.log_probs, labels, said, order), spread(found.entropy, labels, said, order)


def spread(packed: "torch.Tensor", labels: "torch.Tensor", mask: "torch.Tensor", order: list[int]) -> "torch.Tensor":
    """(B, C) from the packed (1, T), 0 outside `mask`. order: the row of B that each packed row is."""
    import torch

    wanted = mask[order]  # (packed rows, C)
    rows = torch.tensor(order, device=mask.device)[:, None].expand_as(wanted)[wanted]
    columns = torch.arange(mask.shape[1], device=mask.device).expand_as(wanted)[wanted]
    return packed.new_zeros(mask.shape).index_put((rows, columns), packed[labels != IGNORED])
