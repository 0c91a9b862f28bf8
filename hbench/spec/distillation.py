"""The blocks of a distillation spec: an evolved harness is taught to a student by reviewing it (Harness-Zero, section 3)."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema, field_validator, model_validator

from hbench.core.digest import Json
from hbench.core.model import ModelRef
from hbench.parts.part import Part
from hbench.spec.acting import Bank, OutsideBlock, ReviewBlock, TargetBlock, asked
from hbench.spec.benchmark import BenchmarkBlock, check_benchmarked
from hbench.spec.block import Block, Number, Whole, wrong
from hbench.spec.model_block import ModelBlock
from hbench.spec.part_fields import laid_over, part_of
from hbench.spec.problems import did_you_mean
from hbench.spec.schema import Experiment, HeldOut, check_grade
from hbench.spec.training import Optimised, SftBlock, goes_on


LONGEST = 65536  # tokens of a trajectory


def _domain(entry: Any, info: ValidationInfo) -> Any:
    return laid_over(entry, info.data.get("domain"), "domain", "domains")


_ENTRY = {"part_of": "domains", "bare": "name"}
DomainEntry = Annotated[Part, BeforeValidator(_domain), WithJsonSchema(_ENTRY)]


class OwnSplits(Block):
    """How many questions of one domain serve which role."""

    training: Whole = Field(ge=1, description="Questions of evolution and of the trajectories that train.")
    evaluation: HeldOut = Field(ge=1, description="Held-out questions: measured, never used to evolve or train.")
    allow_fewer: bool = Field(False, description="Whether a domain with too few questions gives smaller splits.")

    def sizes(self) -> Json:
        """Role -> how many questions are asked for."""
        return {"training": self.training, "evaluation": self.evaluation}


class DistillationSplits(OwnSplits):
    """How many questions serve which role. Held-out ones come first in the pool, and no question serves two roles."""

    most: Whole | None = Field(None, ge=1, description="Only the first so many of each, as `hbench run --limit` sets it.")
    of: dict[str, OwnSplits] = Field({}, description="Domain's name -> its own sizes, where a spec has several domains.")

    def own(self, domain: str) -> OwnSplits:
        """Those of the domain of that name."""
        return self.of.get(domain, self)

    def limited(self, most: int) -> Self:
        """The first `most` of each split; itself where none has more."""
        largest = max(max(each.training, each.evaluation) for each in (self, *self.of.values()))
        return self.model_copy(update={"most": most}) if largest > most else self

    def to_json(self) -> Json:
        """A spec that names no domain's own sizes is what it was before there were any."""
        return {name: value for name, value in super().to_json().items() if name != "of" or value}


class CollectBlock(Block):
    """Under which condition the training trajectories are made."""

    student: ModelBlock | None = Field(None, description="Who acts; default: the student itself.")
    bank: Bank | None = Field(None, description="null: plain h; a bank: h* as code.")
    review: ReviewBlock | None = Field(None, description="Who reviews; null: nobody.")
    repeats: Whole = Field(1, ge=1, description="Rollouts of each training question.")


class DpoBlock(Optimised):
    """Preference optimisation on rejected and accepted responses of the same state."""

    learning_rate: Number = Field(5e-6, gt=0, description="Highest learning rate.")
    beta: Number = Field(0.1, gt=0, description="How strongly the policy is held to where it began.")
    epochs: Number = Field(1.0, gt=0, description="Passes over the pairs.")
    updates: Whole | None = Field(None, ge=1, description="Exactly so many updates, whatever epochs says.")
    batch: Whole = Field(8, ge=1, description="Pairs an update, over all processes.")
    schedule: Literal["linear", "cosine", "constant"] = Field("linear", description="After the warm-up.")
    floor: Number = Field(0.1, ge=0, le=1, description="Share of the learning rate at which linear and cosine end.")
    start: Literal["sft", "base"] = Field("sft", description="What is trained on: the SFT checkpoint, or the base.")


class DistilBlock(Block):
    """How the student is trained on trajectories that it could have lived through."""

    collect: CollectBlock = Field(default_factory=CollectBlock, description="How the trajectories are made.")
    domains: tuple[DomainEntry, ...] = Field((), description="Domains whose trajectories train one adapter; default: `domain`.")
    keep: tuple[part_of("filters"), ...] = Field(  # type: ignore[valid-type]
        ({"kind": "succeeded"}, {"kind": "no_leak"}), description="Filters; a trajectory goes on when it passes all."
    )
    hide: Literal["voice", "reasoning", "none"] = Field(
        "voice", description="What of a reviewer's reasoning carries no loss: sentences in its own voice, all of it, or none."
    )
    loss_weights: Literal["session", "token"] = Field(
        "session", description="session: the weights of a trajectory's tokens sum to 1; token: every token weighs the same."
    )
    rare: Number = Field(1.0, ge=1, description="How many times more a replaced turn weighs than a passed one; 1: the paper's.")
    max_length: Whole = Field(LONGEST, ge=8, description="Tokens of a trajectory; longer ones are left out, never cut.")
    sft: SftBlock = Field(
        default_factory=lambda: SftBlock(learning_rate=2e-4, max_length=LONGEST), description="Supervised fine-tuning."
    )
    dpo: DpoBlock | None = Field(None, description="Preference optimisation; null: none, as in the paper.")

    @model_validator(mode="before")
    @classmethod
    def _sft_has_the_same_bound(cls, values: Any) -> Any:
        """Where sft sets none of its own."""
        sft = values.get("sft") if isinstance(values, dict) else None
        bound = values.get("max_length", LONGEST) if isinstance(sft, dict) else None
        return {**values, "sft": {"max_length": bound, **sft}} if type(bound) is int else values

    @property
    def longest_taught(self) -> int:
        """Tokens of the longest trajectory that SFT trains on."""
        return min(self.max_length, self.sft.max_length)

    @model_validator(mode="after")
    def _preferences_can_be_learnt(self) -> Self:
        if self.dpo is None:
            return self
        if self.collect.review is None:
            raise wrong("dpo learns from replaced responses, and nobody reviews", "give collect.review, or dpo: null")
        if self.dpo.start == "sft":
            if self.dpo.lora and self.sft.lora is None:
                raise wrong("dpo.lora: an adapter on weights that SFT trained whole is not kept apart", "set dpo.lora to null")
            goes_on("dpo", self.dpo, self.sft)
        return self


class DistillationSpec(Experiment):
    """A student is measured, reviewed, or trained on reviewed rollouts and then measured, under the target harness."""

    plan: Literal["distillation"] = Field(description="distillation: an evolved harness taught to a student.")
    domain: Part = Field(description="Where questions come from, their workspace, and how work is graded.")
    measured: tuple[DomainEntry, ...] = Field((), description="Domains that every arm is measured on; default: `domain`.")
    splits: DistillationSplits = Field(description="How many questions serve which role.")
    grade: str = Field("score", description="Which of the domain's grades counts as the score.")
    chain: Whole = Field(0, ge=0, description="Which of several independent runs on the same questions: other draws.")
    target: TargetBlock = Field(default_factory=TargetBlock, description="The harness that students are deployed with.")
    outside: OutsideBlock | None = Field(None, description="Somebody else's agent in place of the target harness.")
    student: ModelBlock = Field(description="The model that acts.")
    bank: Bank | None = Field(None, description="h*, run as code while it is measured; null: plain h.")
    review: ReviewBlock | None = Field(None, description="Who reviews while it is measured; null: nobody.")
    train: DistilBlock | None = Field(None, description="How the student is trained first; null: not at all.")
    benchmark: BenchmarkBlock | None = Field(None, description="Tasks of lm-eval on the student before and after; null: none.")
    behaviours: dict[str, part_of("detectors")] = Field(  # type: ignore[valid-type]
        {}, description="Pattern -> what detects it in a trajectory."
    )

    @property
    def subject(self) -> Any:
        return self.domain

    @field_validator("grade")
    @classmethod
    def _domain_gives(cls, value: str, info: ValidationInfo) -> str:
        for domain in (info.data.get("domain"), *(info.data.get("measured") or ())):
            check_grade(value, domain, "domain")
        return value

    @field_validator("train", mode="before")
    @classmethod
    def _taught_in(cls, value: Any, info: ValidationInfo) -> Any:
        """Domains that teach are laid over the spec's own, which the block below does not know."""
        if not isinstance(value, dict) or not isinstance(value.get("domains"), list | tuple):
            return value
        return {**value, "domains": [_domain(entry, info) for entry in value["domains"]]}

    @field_validator("measured")
    @classmethod
    def _each_is_one_domain(cls, value: tuple[Part, ...]) -> tuple[Part, ...]:
        names = [domain.name for domain in value]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise wrong(f"the domain {twice[0]} stands here twice", "give each block a name of its own")
        return value

    @model_validator(mode="after")
    def _can_be_done(self) -> Self:
        if self.outside and (self.bank or self.review or self.train):
            raise wrong("outside: somebody else's agent takes no bank, no review and no training", "set those to null in this arm")
        domains = {self.domain.name, *(each.name for each in (*self.measured, *(self.train.domains if self.train else ())))}
        if unknown := sorted(set(self.splits.of) - domains):
            raise wrong(f"splits.of: there is no domain {unknown[0]}", did_you_mean(unknown[0], domains))
        if self.train and self.student.kind != "weights":
            raise wrong("train: the student is no model of weights, so it cannot be trained")
        for each in self.train.keep if self.train else ():
            for domain in self.train.domains or (self.domain,):
                check_grade(getattr(each, "grade", self.grade), domain, "train.keep: domain")
        alone = not (self.outside or self.bank or self.train)
        if self.chain and alone and not any(model.sampling.temperature for model in self.models()):
            raise wrong(f"chain: at temperature 0 chain {self.chain} says what chain 0 says", "set student.sampling.temperature")
        return self

    @model_validator(mode="after")
    def _benchmark_has_weights(self) -> Self:
        check_benchmarked(self.benchmark, self.student, "student")
        return self

    def on(self, domain: Part) -> Self:
        """This spec for one domain."""
        return self.model_copy(update={"domain": domain})

    def models(self) -> list[ModelRef]:
        """Student, reviewers, evolvers and writers, of what is measured and of what is collected."""
        found = [self.student.ref("student"), *asked(self.bank), *asked(self.review)]
        if self.train:
            collect = self.train.collect
            found += [collect.student.ref("student")] if collect.student else []
            found += [*asked(collect.bank), *asked(collect.review)]
        return found
