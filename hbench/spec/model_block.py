"""Which model plays a role: identity only. How it is reached stands under `machine.models`."""

from abc import abstractmethod
from dataclasses import replace
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, field_validator, model_validator

from hbench.core.digest import Json
from hbench.core.message import Sampling
from hbench.core.model import ModelRef
from hbench.spec.adapter import AdapterName
from hbench.spec.block import Block, Number, Whole, wrong
from hbench.spec.files import PromptName, RecordedName

EMBEDDED = "embedded/"  # these weights ship in a package whose file hbench knows by its digest
OURS = frozenset({"temperature", "max_tokens", "top_p", "stop", "seed", "messages", "model", "n", "stream", "tools"})
RULES = {"rule_reader": 1, "files_expert": 1}  # versions: raised when the same request gets another reply
MOST_STOPS = 4  # what OpenAI-compatible servers accept


class SamplingBlock(Block):
    """How replies are drawn. Zeros are sent as zeros."""

    temperature: Number = Field(
        0.0, ge=0, description="0 is greedy, the default, so that a spec that says nothing is repeatable."
    )
    max_tokens: Whole = Field(
        512, ge=1, description="Most tokens of one completion; 512 fits the small models of the quickstart."
    )
    top_p: Number = Field(1.0, gt=0, le=1, description="Nucleus; 1 keeps every token, the servers' own default.")
    stop: tuple[str, ...] = Field(
        (), description="Texts that end a completion; at most 4, as servers accept. Doubles count once."
    )
    extra: dict[str, Any] = Field({}, description="Passed on as it is: min_p, presence_penalty …")

    @field_validator("stop")
    @classmethod
    def _stop(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if "" in value:
            raise wrong("an empty stop text would end every completion at once")
        merged = tuple(dict.fromkeys(value))
        if len(merged) > MOST_STOPS:
            raise wrong(f"{len(merged)} different stop texts; servers accept {MOST_STOPS}")
        return merged

    @field_validator("extra")
    @classmethod
    def _extra(cls, value: dict[str, Any]) -> dict[str, Any]:
        if taken := sorted(OURS & set(value)):
            raise wrong(f"{taken[0]} is hbench's to send", "the field of that name, or none")
        return value

    def sampling(self) -> Sampling:
        return Sampling(self.temperature, self.max_tokens, self.top_p, self.stop, self.extra)


class _Model(Block):
    prompt: PromptName | None = Field(
        None, description="The role's prompt, prompts/<name>.j2; default of a proposer: proposer/<edit kind>."
    )
    sampling: SamplingBlock = Field(default_factory=SamplingBlock, description="How replies are drawn.")

    def prompt_json(self) -> Json:
        """Name and digest of the role's prompt, or None."""
        return self.prompt.to_json() if self.prompt else None

    def to_json(self) -> Json:
        return {"identity": self.identity(), "sampling": self.sampling.to_json(), "prompt": self.prompt_json()}

    def ref(self, role: str) -> ModelRef:
        """The model as steps and engines know it."""
        prompt = self.prompt.name if self.prompt else None
        return ModelRef(role, self.reached_as(), self.identity(), self.sampling.sampling(), prompt)

    @abstractmethod
    def identity(self) -> Json:
        """All of the model that can change a reply."""

    @abstractmethod
    def reached_as(self) -> str:
        """The key under machine.models."""


class WeightsBlock(_Model):
    """A model by its weights. Everything here can change a reply, so everything is hashed, but for `name`."""

    kind: Literal["weights"] = Field("weights", description="A model by its weights; the default.")
    weights: str = Field(min_length=1, description="Hugging Face name, folder, hosted model name, or embedded/NAME.")
    name: str | None = Field(
        None, description="The key under machine.models that says how it is reached; default: weights. Never hashed."
    )
    revision: str | None = Field(None, description="Commit of the weights, or the digest of a folder.")
    as_of: str | None = Field(None, description="Day, YYYY-MM-DD, on which a hosted model without revisions was used.")
    adapter: AdapterName | None = Field(
        None,
        description="LoRA adapter laid on the weights: published/BUNDLE/NAME, or a folder of `hbench model export`.",
    )
    dtype: str | None = Field(None, description="Number format, e.g. bfloat16; default: as the weights were saved.")
    quantisation: str | None = Field(None, description="Scheme, e.g. fp8 or awq; default: none.")
    context: Whole | None = Field(None, ge=1, description="Context length in tokens; default: the weights' own.")
    chat_template: str | None = Field(None, description="Digest of a chat template used in place of the weights' own.")
    output: Literal["sft", "rl"] | None = Field(
        None, description="In a training spec: the checkpoint of its own SFT or RL, laid on these weights."
    )

    @field_validator("as_of")
    @classmethod
    def _day(cls, value: str | None) -> str | None:
        try:
            return value if value is None else date.fromisoformat(value).isoformat()
        except ValueError:
            raise wrong(f"expected a day such as 2026-01-31, got {value!r}") from None

    @model_validator(mode="after")
    def _pinned(self) -> "WeightsBlock":
        if not (self.revision or self.as_of or self.weights.startswith(EMBEDDED)):
            raise wrong("needs a revision, or as_of: DATE for a hosted model that has none", incomplete=True)
        return self

    @model_validator(mode="after")
    def _adapter_fits(self) -> "WeightsBlock":
        if self.adapter and not self.adapter.fits(self.weights, self.revision):
            base = self.adapter.base
            trained_on = base["weights"] + (f" at {base['revision']}" if base.get("revision") else "")
            raise wrong(f"adapter: {self.adapter.name} was trained on {trained_on}, not on these weights")
        return self

    def identity(self) -> Json:
        hashed = set(type(self).model_fields) - {"name", "prompt", "sampling", "output"}
        found = {key: getattr(self, key) for key in sorted(hashed) if getattr(self, key) is not None}
        return found | ({"adapter": self.adapter.digest} if self.adapter else {})

    def ref(self, role: str) -> ModelRef:
        return replace(super().ref(role), files=self.adapter.path if self.adapter else None)

    def to_json(self) -> Json:
        return super().to_json() | ({"output": self.output} if self.output else {})

    def reached_as(self) -> str:
        return self.name or self.weights


class RecordedBlock(_Model):
    """Replies from a file, in order: hand-written edits, for demonstrations and tests."""

    kind: Literal["recorded"] = Field(description="Replies from a file.")
    file: RecordedName = Field(description="JSON Lines under specs/, e.g. replies/quickstart.jsonl.")

    def identity(self) -> Json:
        return {"kind": self.kind, "file": self.file.digest}

    def reached_as(self) -> str:
        return f"recorded:{self.file.path}"


class RulesBlock(_Model):
    """A model made of rules, in hbench itself: shows what a harness does, apart from what a model knows."""

    kind: Literal["rules"] = Field(description="A model made of rules, not of weights.")
    name: Literal["rule_reader", "files_expert"] = Field(
        description="rule_reader: reads the passages in its request with word patterns; sees nothing else. "
        "files_expert: knows the jobs of the domain `files`, as a student or as a reviewer; sees nothing but its request."
    )

    def identity(self) -> Json:
        return {"kind": self.kind, "name": self.name, "version": RULES[self.name]}

    def reached_as(self) -> str:
        return f"rules:{self.name}"


def _kind(value: Any) -> str:
    kind = value.get("kind", "weights") if isinstance(value, dict) else getattr(value, "kind", "weights")
    return f"kind={kind}"


# The tags are no words a spec could use as keys, so that they can be told from keys in pydantic's error places.
ModelBlock = Annotated[
    Annotated[WeightsBlock, Tag("kind=weights")]
    | Annotated[RecordedBlock, Tag("kind=recorded")]
    | Annotated[RulesBlock, Tag("kind=rules")],
    Discriminator(_kind),
]
