"""The blocks of a training spec: how a proposer is trained on what its edits do (Harness learning, sections 3 and 4)."""

from typing import Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from hbench.core.model import ModelRef
from hbench.parts.part import Part
from hbench.spec.benchmark import BenchmarkBlock, check_benchmarked
from hbench.spec.block import Block, Number, Whole, no_kind, wrong
from hbench.spec.files import HarnessName, PromptName
from hbench.spec.model_block import ModelBlock
from hbench.spec.part_fields import laid_over
from hbench.spec.schema import AdaptationSpec, check_grade


def _family(entry: Any, info: ValidationInfo) -> Any:
    return laid_over(entry, info.data.get("family"), "family", "families")


_ENTRY = {"part_of": "families", "bare": "name"}
FamilyEntry = Annotated[Part, BeforeValidator(_family), WithJsonSchema(_ENTRY)]


class LoraBlock(Block):
    """A low-rank adapter beside frozen weights."""

    rank: Whole = Field(16, ge=1, description="16 on all linear layers of the 135M model is 9.8 MB in bfloat16.")
    alpha: Whole = Field(32, ge=1, description="Scale: the update is multiplied by alpha / rank.")
    dropout: Number = Field(0.0, ge=0, lt=1, description="Of the adapter's input; 0 keeps runs repeatable.")
    targets: Literal["all-linear"] | tuple[str, ...] = Field(
        "all-linear", description="Layers that get an adapter: all linear ones but the head, or names such as q_proj."
    )
    from_layer: Whole | None = Field(
        None, ge=0, description="Only layers from this one on; half of them saves a quarter of the gradient pass."
    )


class Optimised(Block):
    """What both trainers take. Optimizer: AdamW."""

    learning_rate: Number = Field(gt=0, description="Highest learning rate.")
    warmup: Whole = Field(5, ge=0, description="Updates over which the learning rate rises from 0.")
    clip: Number = Field(1.0, gt=0, description="Largest norm of the gradient.")
    weight_decay: Number = Field(0.0, ge=0, description="AdamW's.")
    seed: Whole = Field(0, ge=0, description="Of order, initial adapter and sampling; other seeds are other runs.")
    lora: LoraBlock | None = Field(
        default_factory=LoraBlock, description="The adapter; null trains all weights."
    )


class SftBlock(Optimised):
    """Supervised fine-tuning on kept demonstrations: loss on the completion's tokens alone."""

    learning_rate: Number = Field(1e-4, gt=0, description="1e-4 to 2e-4 for a 4 B model; 1e-3 for the 135M one with LoRA.")
    epochs: Number = Field(2.0, gt=0, description="Passes over the rows; the paper's number is not known.")
    updates: Whole | None = Field(None, ge=1, description="Exactly so many updates, whatever epochs says.")
    batch: Whole = Field(16, ge=1, description="Demonstrations an update, over all processes.")
    schedule: Literal["linear", "cosine", "constant"] = Field("linear", description="After the warm-up.")
    floor: Number = Field(0.1, ge=0, le=1, description="Share of the learning rate at which linear and cosine end.")
    max_length: Whole = Field(
        4096,
        ge=8,
        description="Tokens of a row; longer ones are dropped, never cut. In distillation train.max_length holds too: the default.",
    )


class ImmediateCredit(Block):
    """Each edit is credited with its own reward: the paper's choice."""

    kind: Literal["immediate"] = Field("immediate", description="The edit's own reward.")


class DiscountedCredit(Block):
    """An edit is also credited with what the present policy makes of it: the paper leaves this open."""

    kind: Literal["discounted"] = Field(description="Own reward + discount x that of the next revision, and so on.")
    discount: Number = Field(0.5, ge=0, le=1, description="Weight of each further revision's reward.")
    horizon: Whole = Field(1, ge=1, description="Further revisions drawn, one a candidate and step.")


def _credit_kind(value: Any) -> Any:
    if not isinstance(value, str | dict | Block):
        raise no_kind(("immediate", "discounted"), "a kind or a mapping")
    return {"kind": value} if isinstance(value, str) else value


Credit = Annotated[
    Annotated[ImmediateCredit | DiscountedCredit, Field(discriminator="kind")], BeforeValidator(_credit_kind)
]


class GrpoBlock(Optimised):
    """Reinforcement learning on what edits do when they are run (Harness learning, Eq. 5 and 6)."""

    learning_rate: Number = Field(1e-6, gt=0, description="1e-6 for all weights, 1e-5 for LoRA rank 32 of a 4 B model.")
    updates: Whole = Field(100, ge=1, description="Optimizer steps of each segment.")
    segments: Whole = Field(
        1,
        ge=1,
        description="1: single-step RL. More: the contexts of each start from the candidates of the one before, "
        "with a fresh optimizer; only the first warms up.",
    )
    prompts: Whole = Field(4, ge=1, description="Edit contexts an update, over all processes.")
    group: Whole = Field(8, ge=2, description="Completions of each; the paper's number.")
    per_family: Whole | None = Field(None, ge=1, description="Contexts of each family; default: as train.contexts says.")
    stronger: Number = Field(0.0, ge=0, le=1, description="Share of contexts whose parent is stronger than the seed.")
    harnesses: tuple[HarnessName, ...] = Field(
        (), description="Those parents, in turn; none: the best kept demonstration of the family."
    )
    start: Literal["sft", "base"] = Field("sft", description="What is trained on: the SFT checkpoint, or the base.")
    schedule: Literal["linear", "cosine", "constant"] = Field("constant", description="After the warm-up.")
    floor: Number = Field(0.1, ge=0, le=1, description="Share of the learning rate at which linear and cosine end.")
    temperature: Number = Field(1.0, gt=0, description="Of the completions that are scored.")
    top_p: Number = Field(1.0, gt=0, le=1, description="Nucleus; 1 keeps sampling on-policy.")
    max_tokens: Whole = Field(16384, ge=1, description="Most tokens of a completion; the paper's number.")
    clip_low: Number = Field(0.2, gt=0, description="How far the ratio of probabilities may fall.")
    clip_high: Number = Field(0.28, gt=0, description="How far it may rise.")
    kl: Number = Field(0.0, ge=0, description="Weight of the divergence from where training began; 0: none.")
    loss: Literal["dapo", "grpo", "bnpo", "dr_grpo"] = Field("dapo", description="How token losses are averaged.")
    scale: Literal["group", "batch", "none"] = Field("group", description="By what deviation advantages are divided.")
    iterations: Whole = Field(1, ge=1, description="Updates on the same completions; 1 is strictly on-policy.")
    carry: Literal["best", "random"] = Field("best", description="Which candidate of a context the next segment edits.")
    credit: Credit = Field(default_factory=ImmediateCredit, description="What an edit is credited with.")


class ContextsBlock(Block):
    """Edit contexts: parent harness and report, the proposer's training inputs."""

    per_family: Whole = Field(4, ge=1, description="Contexts of each seen family; each has feedback questions of its own.")
    feedback: Whole = Field(8, ge=1, description="Questions behind each report.")
    scoring: Whole = Field(16, ge=1, description="Questions of each family that candidates are scored on; never feedback ones.")


class DemonstrateBlock(Block):
    """Who shows edits, and how it is asked."""

    teacher: ModelBlock = Field(description="Any model, or a recorded file.")
    prompts: tuple[PromptName, ...] = Field(
        min_length=1, description="Asked in turn; the paper mixes prompts with and without a hint at tools."
    )
    per_context: Whole = Field(1, ge=1, description="Edits asked for in each context.")


class KeepBlock(Block):
    """Which demonstrations become training rows: applied, complete, and better than their parent."""

    most: Whole | None = Field(None, ge=1, description="At most so many, shared evenly over families; the paper keeps 432.")
    margin: Number = Field(0.0, ge=0, description="By how much the score must exceed the parent's.")


def goes_on(field: str, further: Optimised, sft: SftBlock) -> None:
    """Raises an author's mistake where `further` has another adapter than the SFT that it goes on from."""
    if not (sft.lora and further.lora):
        return
    for name in ("rank", "alpha", "targets"):
        had, wanted = getattr(sft.lora, name), getattr(further.lora, name)
        if had != wanted:
            raise wrong(f"{field}.lora.{name} is {wanted}, but the SFT adapter it goes on from has {had}")


class TrainBlock(Block):
    """How the proposer is trained."""

    contexts: ContextsBlock = Field(default_factory=ContextsBlock, description="The training inputs.")
    demonstrate: DemonstrateBlock | None = Field(None, description="null: no demonstrations, and so no SFT.")
    keep: KeepBlock = Field(default_factory=KeepBlock, description="Which demonstrations are kept.")
    sft: SftBlock | None = Field(None, description="null: RL from the base proposer, as in QA.")
    sft_more: SftBlock | None = Field(
        None, description="Further fine-tuning on the same rows, from where sft ended: what the time of RL would buy."
    )
    grpo: GrpoBlock | None = Field(None, description="null: no RL.")

    @model_validator(mode="after")
    def _have_what_they_need(self) -> Self:
        if self.demonstrate and getattr(self.demonstrate.teacher, "output", None):
            raise wrong("demonstrate.teacher: a checkpoint of this spec cannot teach it", "give teacher weights of its own")
        if self.sft and not self.demonstrate:
            raise wrong("sft needs demonstrate: a teacher and prompts")
        if self.sft_more and not self.sft:
            raise wrong("sft_more goes on from sft, but there is no sft")
        if self.sft_more and self.sft_more.max_length != self.sft.max_length:
            raise wrong("sft_more.max_length is not sft's", "both train on the same rows")
        if self.grpo and self.grpo.start == "sft" and not self.sft:
            raise wrong("grpo.start is sft, but there is no sft", "write start: base")
        if self.grpo and self.grpo.kl and (self.grpo.lora is None or self.grpo.lora.from_layer):
            raise wrong("grpo.kl needs an adapter on every layer", "give lora without from_layer, or kl: 0")
        if self.grpo and self.grpo.start == "sft":
            goes_on("grpo", self.grpo, self.sft)
        if self.sft_more:
            goes_on("sft_more", self.sft_more, self.sft)
        if self.grpo and self.grpo.harnesses and not self.grpo.stronger:
            raise wrong("grpo.harnesses are parents of no context", "set grpo.stronger to their share of the contexts")
        if self.grpo and self.grpo.stronger and not (self.grpo.harnesses or self.demonstrate):
            raise wrong("grpo.stronger needs stronger parents", "name them under grpo.harnesses, or demonstrate")
        return self


class TrainingSpec(AdaptationSpec):
    """A proposer is trained on seen families; then each arm adapts other families with its proposer."""

    plan: Literal["training"] = Field(description="training: demonstrations, SFT, RL, then adaptation.")
    seen: tuple[FamilyEntry, ...] = Field((), description="Families of training: names or blocks, laid over `family`.")
    rl_seen: tuple[FamilyEntry, ...] | None = Field(None, description="Families of RL; default: `seen`.")
    families: tuple[FamilyEntry, ...] = Field((), description="Families that every arm adapts; default: `family` alone.")
    train: TrainBlock = Field(default_factory=TrainBlock, description="How the proposer is trained.")
    benchmark: BenchmarkBlock | None = Field(None, description="Tasks of lm-eval on the proposer before and after; null: none.")

    @field_validator("seen", "rl_seen", "families")
    @classmethod
    def _each_is_one_family(cls, value: tuple[Part, ...] | None, info: ValidationInfo) -> Any:
        names = [family.name for family in value or ()]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise wrong(f"the family {twice[0]} stands here twice", "blocks of one name are told apart nowhere: use two specs")
        for family in value or ():
            check_grade(info.data.get("grade", "score"), family)
        return value

    @field_validator("train")
    @classmethod
    def _can_be_done(cls, value: TrainBlock, info: ValidationInfo) -> TrainBlock:
        """What depends on the rest of the spec."""
        said, rl = info.data, value.grpo
        seen = {family.name for family in said.get("seen") or ()}
        practised = {family.name for family in said.get("rl_seen") or ()} or seen
        output = getattr(said.get("proposer"), "output", None)
        field = {"sft": "sft", "rl": "grpo"}.get(output)
        if field and getattr(value, field) is None:
            raise wrong(f"proposer.output is {output}, but there is no train.{field}")
        if field and not (practised if rl and output == "rl" else seen):
            raise wrong("there are no families to train on", "name them under seen", without="seen")
        if output and rl and rl.stronger and not rl.harnesses and (other := sorted(practised - seen)):
            raise wrong(
                f"grpo.stronger: nobody demonstrates {other[0]}, so it has no stronger parent",
                "name parents under grpo.harnesses, or the family under seen",
            )
        machine = said.get("machine")
        if rl and machine and rl.credit.kind == "discounted" and machine.training.generation != "transformers":
            raise wrong("grpo.credit: further revisions are drawn by transformers alone", "machine.training.generation")
        if rl and machine and rl.prompts * rl.group % machine.training.processes:
            drawn = f"{rl.prompts} prompts of {rl.group} completions"
            raise wrong(f"grpo: {drawn} cannot be shared evenly by {machine.training.processes} processes")
        return value

    @model_validator(mode="after")
    def _benchmark_has_weights(self) -> Self:
        check_benchmarked(self.benchmark, self.proposer, "proposer")
        return self

    def rl_families(self) -> tuple[Part, ...]:
        """The families of RL contexts."""
        return self.seen if self.rl_seen is None else self.rl_seen

    def on(self, family: Part) -> Self:
        """This spec for one family."""
        return self.model_copy(update={"family": family})

    def models(self) -> list[ModelRef]:
        """Solver, proposer and teacher."""
        shown = self.train.demonstrate
        return [*super().models(), *([shown.teacher.ref("teacher")] if shown else [])]
