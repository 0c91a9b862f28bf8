"""lm-eval's own models, which tell what tokens their calls took: those that were put to them, and those that they drew.

Of a request for a likelihood, context and continuation are put; a server draws one token more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass
class Used:
    """Prompt and completion tokens since the last `take`."""

    prompt: int = 0
    completion: int = 0

    def add(self, prompt: int, completion: int) -> None:
        self.prompt, self.completion = self.prompt + prompt, self.completion + completion

    def take(self) -> tuple[int, int]:
        taken = self.prompt, self.completion
        self.prompt = self.completion = 0
        return taken


def weights_here(local: Any, batch: int) -> Any:
    """lm-eval's model on weights in this process. local: engines.local_model.LocalModel. `used` and `at_once` are ours."""
    from lm_eval.models.huggingface import HFLM

    class Counted(HFLM):
        def _loglikelihood_tokens(self, requests: Sequence[Any], *others: Any, **named: Any) -> Any:
            longest = self.max_length + 1
            self.used.add(sum(min(len(context) + len(rest), longest) for _, context, rest in requests), 0)
            return super()._loglikelihood_tokens(requests, *others, **named)

        def _model_generate(self, context: Any, max_length: int, stop: Any, **named: Any) -> Any:
            made = super()._model_generate(context, max_length, stop, **named)
            ends = {self.eot_token_id, self.tokenizer.pad_token_id}
            drawn = sum(_drawn(row, ends) for row in made[:, context.shape[1] :].tolist())
            self.used.add(int(named["attention_mask"].sum()), drawn)
            return made

    made = Counted(pretrained=local.model, tokenizer=local.tokenizer, max_length=local.context, batch_size=batch)
    made.used, made.at_once = Used(), batch
    return made


def _drawn(row: Sequence[int], ends: set[int | None]) -> int:
    """How many tokens were drawn for a row of a batch: behind its end it is filled up."""
    return next((place for place, token in enumerate(row, 1) if token in ends), len(row))


def at_server(chat: bool, at_once: int, arguments: Mapping[str, Any]) -> Any:
    """lm-eval's model at a server, which tells the tokens of each call. `used` and `at_once` are ours."""
    from lm_eval.models.openai_completions import LocalChatCompletion, LocalCompletionsAPI

    class Counted(LocalChatCompletion if chat else LocalCompletionsAPI):
        def parse_generations(self, outputs: Any, **named: Any) -> Any:
            _add_usage(self.used, outputs)
            return super().parse_generations(outputs=outputs, **named)

        def parse_logprobs(self, outputs: Any, **named: Any) -> Any:
            _add_usage(self.used, outputs)
            return super().parse_logprobs(outputs=outputs, **named)

    made = Counted(**arguments)
    made.used, made.at_once = Used(), at_once
    return made


def _add_usage(used: Used, outputs: Any) -> None:
    for body in outputs if isinstance(outputs, list) else [outputs]:
        told = (body or {}).get("usage") or {}
        used.add(told.get("prompt_tokens") or 0, told.get("completion_tokens") or 0)
