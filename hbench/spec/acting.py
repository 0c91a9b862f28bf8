"""The blocks of a spec that say how a student acts: the target harness, a bank that makes it h*, a reviewer with guidance."""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from hbench.core import bank as banks
from hbench.core import guidance as kept
from hbench.core.model import ModelRef
from hbench.spec.block import Block, Number, Whole, wrong
from hbench.spec.files import FolderName, FolderSource, PromptName, remembered
from hbench.spec.model_block import ModelBlock
from hbench.spec.part_fields import part_of


class TargetBlock(Block):
    """The target harness h: a fixed prompt and one `execute` tool. It is what the student is deployed with."""

    prompt: PromptName = Field("student/execute", description="Template, prompts/<name>.j2.")
    call: part_of("calls") = Field(  # type: ignore[valid-type]
        {"kind": "fenced"}, description="How a tool call is written: fenced for small models, tool_call for those that know one."
    )
    turns: Whole = Field(40, ge=1, description="Most turns of a rollout; 40 are the paper's.")
    observation_chars: Whole = Field(8000, ge=40, le=1_000_000, description="Characters of one observation; its middle is cut.")
    command_s: Number = Field(30.0, gt=0, description="Seconds of one command.")
    memory_mb: Whole = Field(1024, ge=16, description="Memory of each process in the workspace.")
    disk_mb: Whole = Field(256, ge=1, description="Size of the workspace, which lies in memory where the jail allows it.")
    agent: bool = Field(False, description='Whether the workspace has the command `agent "TASK"`, a one-level sub-agent.')

    @model_validator(mode="after")
    def _student_is_told_of_agents(self) -> Self:
        if self.agent and "agent" not in _variables(self.prompt):
            raise wrong(f"agent: the prompt {self.prompt.name} does not tell of the command", "prompt: student/execute does")
        return self


class OutsideBlock(Block):
    """An agent of somebody else's in place of the target harness: a program that runs with your rights, not in the jail."""

    command: tuple[str, ...] = Field(
        min_length=1, description="Words of the command; {instruction} and {workspace} are filled in. No shell reads it."
    )
    wall_s: Number = Field(1800.0, gt=0, description="Seconds of one rollout.")


class CommandBlock(Block):
    """A coding agent of somebody else's as evolver: runs with your rights on a copy of training traces alone."""

    kind: Literal["command"] = Field(description="A program outside of hbench.")
    command: tuple[str, ...] = Field(min_length=1, description="Words of the command; {workspace} is filled in. No shell reads it.")
    wall_s: Number = Field(3600.0, gt=0, description="Seconds of one round.")


def _evolver_kind(value: Any) -> str:
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return "kind=command" if kind == "command" else "kind=model"


Evolver = Annotated[
    Annotated[CommandBlock, Tag("kind=command")] | Annotated[ModelBlock, Tag("kind=model")], Discriminator(_evolver_kind)
]


def _holds(what: Any, word: str) -> AfterValidator:
    """what: the module that knows what is wrong with such files. word: what the folder is to be."""

    def checked(folder: FolderSource) -> FolderSource:
        if found := what.problems(folder.texts):
            raise wrong(f"{folder.name} is no {word}: {found[0]}", f"and {len(found) - 1} more" if found[1:] else "")
        return folder

    return AfterValidator(checked)


BankFolder = Annotated[FolderName, _holds(banks, "bank")]
GuidanceFolder = Annotated[FolderName, _holds(kept, "guidance")]


class GivenBank(Block):
    """A bank that lies in a folder."""

    kind: Literal["given"] = Field(description="A bank in a folder.")
    folder: BankFolder = Field(description="Folder under specs/, e.g. banks/files.")


class EvolvedBank(Block):
    """A bank made in rounds of analysing failed training rollouts and revising components."""

    kind: Literal["evolved"] = Field(description="A bank made from failures of training rollouts.")
    evolver: Evolver = Field(description="A model, or {kind: command, command: [...]}.")
    rounds: Whole = Field(3, ge=1, description="Rounds; 3 are the paper's.")
    start: BankFolder | None = Field(None, description="The bank to begin with; default: an empty one.")
    notes: PromptName = Field("evolver/notes", description="Prompt of the notes on one failed rollout.")
    prompt: PromptName = Field("evolver/edit", description="Prompt of the edits that the notes ask for.")


Bank = Annotated[GivenBank | EvolvedBank, Field(discriminator="kind")]


class GivenGuidance(Block):
    """Guidance that lies in a folder."""

    kind: Literal["given"] = Field(description="Guidance in a folder.")
    folder: GuidanceFolder = Field(description="Folder under specs/, e.g. guidance/files.")


class WrittenGuidance(Block):
    """Guidance that a model writes from a bank."""

    kind: Literal["written"] = Field(description="Guidance translated from a bank by a model.")
    bank: Bank = Field(description="The bank to translate.")
    writer: ModelBlock = Field(description="The model that translates.")
    prompt: PromptName = Field("guidance/translate", description="Template, prompts/<name>.j2.")


Guidance = Annotated[GivenGuidance | WrittenGuidance, Field(discriminator="kind")]


class WhenBlock(Block):
    """Which turns are reviewed."""

    kind: Literal["always", "checks", "turns"] = Field(
        "always", description="always; only where a check of the guidance finds something; or only at given turns."
    )
    turns: tuple[Whole, ...] = Field((), description="Those turns, from 0.")

    @model_validator(mode="after")
    def _turns_are_named(self) -> Self:
        if (self.kind == "turns") != bool(self.turns):
            raise wrong("turns belong to kind: turns, and that needs some")
        return self


class ReviewBlock(Block):
    """A reviewer that passes or replaces each response before it is executed (agent-as-harness)."""

    reviewer: ModelBlock = Field(description="The model that reviews.")
    prompt: PromptName = Field(
        "reviewer/guided", description="How a review session opens; without guidance the default is reviewer/generic."
    )
    turn_prompt: PromptName = Field("reviewer/turn", description="What the reviewer is shown each turn.")
    guidance: Guidance | None = Field(None, description="K, which only the reviewer reads; null: a generic review.")
    budget: Whole = Field(5, ge=0, description="Replacements a rollout; past it every turn passes. 5 are the paper's.")
    tries: Whole = Field(3, ge=1, description="Tries for a well-formed verdict; past them the turn passes.")
    oracle: bool = Field(False, description="Whether the reviewer is told the right answer: an ablation.")
    when: WhenBlock = Field(default_factory=WhenBlock, description="Which turns are reviewed.")

    @model_validator(mode="before")
    @classmethod
    def _opens_without_guidance(cls, values: Any) -> Any:
        alone = isinstance(values, dict) and values.get("guidance") is None
        return {"prompt": "reviewer/generic", **values} if alone else values

    @model_validator(mode="after")
    def _prompt_shows_what_is_there(self) -> Self:
        """A reviewer that is told of guidance must have some; and what it has, guidance or the right answer, it must be told."""
        name, shown = self.prompt.name, _variables(self.prompt)
        if self.guidance is None and "guidance" in shown:
            raise wrong(f"the prompt {name} shows guidance, and there is none", "give guidance, or prompt: reviewer/generic")
        if self.guidance is not None and "guidance" not in shown:
            raise wrong(f"the prompt {name} does not show the guidance", "prompt: reviewer/guided does")
        if self.oracle and "gold" not in shown:
            raise wrong(f"oracle: the prompt {name} does not show the right answer", "prompt: reviewer/generic does")
        return self

    @model_validator(mode="after")
    def _checks_are_there(self) -> Self:
        if self.when.kind != "checks":
            return self
        if self.guidance is None:
            raise wrong("when: checks needs guidance, whose checks they are")
        if isinstance(self.guidance, GivenGuidance) and "check" not in map(kept.sort_of, self.guidance.folder.texts):
            raise wrong(f"when: checks, and {self.guidance.folder.name} has none: no turn would be reviewed", "add checks/NAME.py")
        return self


def _variables(prompt: PromptName) -> frozenset[str]:
    """What the template shows."""
    return _shown(prompt.name)


@remembered
def _shown(prompt: str) -> frozenset[str]:
    from hbench.core.prompt import load_prompt

    return frozenset(load_prompt(prompt).variables)


def asked(block: Any) -> list[ModelRef]:
    """The models of a bank, guidance or review."""
    if isinstance(block, ReviewBlock):
        return [block.reviewer.ref("reviewer"), *asked(block.guidance)]
    if isinstance(block, WrittenGuidance):
        return [block.writer.ref("writer"), *asked(block.bank)]
    if isinstance(block, EvolvedBank) and not isinstance(block.evolver, CommandBlock):
        return [block.evolver.ref("evolver")]
    return []

