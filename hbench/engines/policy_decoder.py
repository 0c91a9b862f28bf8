"""Completions of a model that is being trained, drawn from a plain copy of it."""

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hbench.core.digest import Json, derive_seed, digest
from hbench.core.failure import StepError
from hbench.core.message import Message, Request, Sampling
from hbench.core.training import Generate, Response, Task
from hbench.engines.decoder import Row, end_tokens, row_of
from hbench.engines.local_model import LocalModel, is_adapter, load

if TYPE_CHECKING:
    import torch

ROWS = {"cpu": 32, "cuda": 256}  # decoded at once


class PolicyDecoder:
    """model, tokenizer: those in training, as trainable.load gave them.

    Call `refresh` whenever the weights have changed. Equal prompts that are drawn together are read once.
    """

    def __init__(self, task: Task, model: Any, tokenizer: Any):
        self.task, self.model, self.tokenizer = task, model, tokenizer
        self.ends = end_tokens(model, tokenizer)
        recipe = task.recipe
        kwargs = (task.model.sampling.extra or {}).get("chat_template_kwargs")
        self._sampling = Sampling(
            recipe["temperature"],
            recipe["max_tokens"],
            recipe["top_p"],
            extra={"chat_template_kwargs": kwargs} if kwargs else {},
        )
        self._lock = threading.Lock()

    @cached_property
    def copy(self) -> LocalModel:
        """The untrained model in its own dtype, loaded when it is first needed."""
        files = self.task.model.files
        return load(self.task.model.base, self.task.machine.get("threads") or 1, None if is_adapter(files) else files)

    def refresh(self) -> None:
        """Writes the trained weights into the copy: base + B·A under LoRA, always from the base, rounded once.

        Raises StepError where this process does not hold whole weights.
        """
        import torch

        plain = self.copy.model
        with torch.no_grad():
            for name, weight in _weights(self.model):
                target = plain.get_parameter(name)
                if target.shape != weight.shape:
                    raise StepError(
                        "generation in the training processes needs the whole model in each of them: "
                        "set machine.training.generation to vllm_colocate or vllm_server"
                    )
                target.copy_(weight)

    def draw(self, conversations: Sequence[Json], seeds: Sequence[int]) -> list[Row]:
        """A finished row for each list of messages: its prompt, tokens (the end token included) and finish.

        The same weights, messages and seed give the same row. Raises StepError for a prompt that fills the context.
        """
        prompts: dict[str, list[int]] = {}
        rows = []
        for messages, seed in zip(conversations, seeds, strict=True):
            said = tuple(Message(each["role"], each["content"]) for each in messages)
            request = Request(said, self._sampling, seed)
            key = digest([each.to_json() for each in said])
            if key not in prompts:
                prompts[key] = self.copy.encode(request)
            if len(prompts[key]) >= self.copy.context:
                raise StepError(f"a prompt has {len(prompts[key])} tokens, the context {self.copy.context}")
            rows.append(row_of(request, prompts[key], self.copy.context))
        with self._lock:
            self._decode(rows)
        return rows

    def respond(self, ids: Sequence[int]) -> Response:
        """What the tokens of a completion say, as an engine's reply says it."""
        text = self.tokenizer.decode(ids, skip_special_tokens=True)
        return Response(text, "stop" if ids[-1] in self.ends else "length", len(ids))

    def again(self, update: int) -> Generate:
        """Draws one more response to each list of messages; to one that comes again, another. For any thread."""
        asked: Counter[str] = Counter()

        def generate(conversations: Sequence[Json]) -> list[Response]:
            seeds = []
            for messages in conversations:
                key = digest(messages)
                with self._lock:
                    asked[key] += 1
                    count = asked[key]
                seeds.append(derive_seed(self.task.seed, update, "again", self.task.rank, key, count))
            return [self.respond(row.tokens) for row in self.draw(conversations, seeds)]

        return generate

    def _decode(self, rows: Sequence[Row]) -> None:
        """A fresh decoder: nothing that it read with earlier weights is used again."""
        decoder, waiting = self.copy.decoder(ROWS[self.copy.model.device.type]), list(rows)
        while waiting or decoder.rows:
            joining, waiting = waiting[: decoder.free], waiting[decoder.free :]
            if joining:
                decoder.admit(joining)
            if decoder.rows:
                decoder.step()


def _weights(model: Any) -> Iterator[tuple[str, "torch.Tensor"]]:
    """(name in the plain model, present value) of every weight that training can change."""
    if not hasattr(model, "peft_config"):
        yield from model.named_parameters()
        return
    from peft.tuners.lora import LoraLayer

    for name, layer in model.get_base_model().named_modules():
        if isinstance(layer, LoraLayer):
            yield f"{name}.weight", layer.get_base_layer().weight.float() + layer.get_delta_weight("default").float()
