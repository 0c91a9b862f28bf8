"""The blocks of a spec. A validated block is the component: parts are looked up by `kind` in their folders."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from hbench.core.digest import Json
from hbench.core.limits import Limits
from hbench.core.model import ModelRef
from hbench.parts.part import Part
from hbench.parts.rewards._total import NoChange
from hbench.spec.block import Block, Number, Whole, plain, wrong
from hbench.spec.files import HarnessName, PromptName
from hbench.spec.machine import MachineBlock
from hbench.spec.model_block import ModelBlock
from hbench.spec.part_fields import part_of

UNHASHED = frozenset({"name", "description", "machine"})
LATE = frozenset({"race", "benchmark"})
SORT_OF = {"family": "families", "domain": "domains", "edit": "edits", "selection": "selections"}  # field -> folder of its parts
DEFAULT_PARTS = {"edit": {"kind": "search_replace"}, "selection": {"kind": "strict_improvement"}}
DEFAULT_TERMS = ("parsed", "applied", "completed", "task_score")  # Reasoning Gym's
_DEFAULT = Limits()


def _held_out(value: Any) -> Any:
    if isinstance(value, str) and value.startswith("same_as_"):
        hint = "evaluation questions are held out: they serve nothing else"
        raise wrong(f"expected a whole number, got '{value}'", hint)
    return value


def _scoring(value: Any) -> Any:
    if value == "same_as_feedback" or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    held = value == "same_as_evaluation"
    hint = "what is chosen on evaluation questions cannot be measured on them" if held else ""
    raise wrong(f"expected a whole number or same_as_feedback, got {value!r}", hint)


Scoring = Annotated[Annotated[int, Field(ge=0)] | Literal["same_as_feedback"], BeforeValidator(_scoring)]
HeldOut = Annotated[Whole, BeforeValidator(_held_out)]


class SplitBlock(Block):
    """How many questions serve which role. They are cut from one pool, the held-out ones first, and never overlap."""

    feedback: Whole = Field(ge=1, description="Questions behind each report.")
    scoring: Scoring = Field(description="Questions that rank candidates: a number of their own, or same_as_feedback.")
    evaluation: HeldOut = Field(ge=1, description="Held-out questions: measured, never used to adapt.")
    redraw: Literal["never", "each_round"] = Field(
        "never", description="each_round draws new feedback and scoring questions every round, as in QA."
    )
    most: Whole | None = Field(
        None,
        ge=1,
        description="Only the first so many questions of each split, as `hbench run --limit` sets it; no split moves.",
    )
    allow_fewer: bool = Field(
        False, description="Whether a family with too few questions gives smaller splits, shown in every exhibit."
    )

    def sizes(self) -> Json:
        """Role -> how many questions are asked for."""
        return {"feedback": self.feedback, "scoring": self.scoring, "evaluation": self.evaluation}

    def limited(self, most: int) -> Self:
        """The first `most` of each split; itself where none has more."""
        more = any(isinstance(size, int) and size > most for size in self.sizes().values())
        return self.model_copy(update={"most": most}) if more else self


class EvaluationSplits(SplitBlock):
    """The same for a plan that only measures: held-out questions come first in the pool, so equal specs share them."""

    feedback: Whole = Field(0, ge=0, description="Read by nothing here; a file that other plans extend may set it.")
    scoring: Scoring = Field(0, description="The same.")

    def sizes(self) -> Json:
        """Held-out questions alone: they come first in the pool, whatever else it could serve."""
        return {"feedback": 0, "scoring": 0, "evaluation": self.evaluation}


class LimitsBlock(Block):
    """What one rollout may use. A candidate that reaches a limit fails; waiting for a model never counts."""

    wall_s: Number = Field(_DEFAULT.wall_s, gt=0, description="Seconds of its own, while no tool call is open.")
    cpu_s: Number = Field(_DEFAULT.cpu_s, gt=0, description="Seconds of its own CPU time.")
    memory_mb: Whole = Field(_DEFAULT.memory_mb, ge=16, description="Megabytes; Python itself takes about 10.")
    calls: Whole = Field(_DEFAULT.calls, ge=0, description="Tool calls of every sort.")
    tokens: Whole = Field(_DEFAULT.tokens, ge=0, description="Completion tokens of all lm() calls.")
    output_chars: Whole = Field(_DEFAULT.output_chars, ge=0, description="Characters of stdout, stderr, answer, each.")
    message_chars: Whole = Field(_DEFAULT.message_chars, ge=1, description="Characters of one message in the pipe.")
    python_s: Number = Field(_DEFAULT.python_s, gt=0, description="Seconds of one python() call.")


class ReportBlock(Block):
    """What the proposer reads about the harness that it edits. The switches make feedback ablations."""

    prompt: PromptName = Field("report/reasoning_gym", description="Template, prompts/<name>.j2.")
    failures: Whole = Field(4, ge=0, description="Failed questions shown; 4 fit a small context.")
    successes: Whole = Field(0, ge=0, description="Solved questions shown.")
    history: Whole = Field(
        5, ge=0, description="Earlier rounds shown with what their edits did; 5 is a run of the paper."
    )
    show_gold: bool = Field(True, description="Whether right answers of feedback questions are shown.")
    show_answers: bool = Field(True, description="Whether the harness's own answers are shown.")
    show_retrieved: bool = Field(True, description="Whether supporting documents that searches found are named.")
    show_missed: bool = Field(True, description="Whether supporting documents that no search found are named.")
    show_traces: bool = Field(True, description="Whether calls and replies of shown questions are shown.")
    trace_chars: Whole = Field(2000, ge=0, description="Most characters of one trace; its middle is cut.")
    scores_only: bool = Field(False, description="Shows scores and nothing else, whatever the other switches say.")


class RewardBlock(Block):
    """Term -> its weight; the reward is their weighted sum. Terms are the kinds of parts/rewards."""

    no_change: NoChange = Field(
        "form_only",
        description="What an edit that changes nothing earns: that it parsed (form_only), or what the parent earns.",
    )

    @property
    def terms(self) -> Mapping[str, Part]:
        """Name -> term, for the terms that the spec names."""
        found = {name: getattr(self, name) for name in type(self).model_fields if name != "no_change"}
        return {name: term for name, term in found.items() if term is not None}

    def to_json(self) -> Json:
        return {"terms": plain(self.terms), "no_change": self.no_change}


class Experiment(Block):
    """Fields that every plan has."""

    plan: str = Field(description="Which plan the spec compiles to.")
    name: str = Field("", description="For people; may hold ${…}. Default: the file's name. Never hashed.")
    description: str = Field("", description="For people. Never hashed, never inherited.")
    seed: Whole = Field(0, ge=0, lt=2**63, description="Every draw is derived from it.")
    repeats: Whole = Field(1, ge=1, description="Rollouts of each question; their scores are averaged.")
    machine: MachineBlock = Field(default_factory=MachineBlock, description="What cannot change results. Never hashed.")

    ROLES: ClassVar[tuple[str, ...]] = ()

    @property
    @abstractmethod
    def subject(self) -> Any:
        """What questions come from: the family, or the domain."""

    def models(self) -> list[ModelRef]:
        """Every model that this arm asks."""
        return [getattr(self, role).ref(role) for role in self.ROLES]

    def limited(self, most: int) -> Self:
        """The same with at most `most` questions a split, and documents a benchmark."""
        fewer = {"splits": self.splits.limited(most)}
        if block := getattr(self, "benchmark", None):
            fewer["benchmark"] = block.limited(most)
        return self.model_copy(update=fewer)

    def hashed(self) -> Json:
        """All that can change a result. Of fields that came late only what says something: specs without keep their digest."""
        without = UNHASHED | {name for name in LATE if getattr(self, name, None) is None}
        return {name: value for name, value in self.to_json().items() if name not in without}


def check_grade(grade: str, subject: Any, called: str = "family") -> None:
    """Raises an author's mistake for a grade that the family or domain does not give."""
    names = subject.grade_names() if hasattr(subject, "grade_names") else (grade,)
    if grade not in names:
        raise wrong(f"{called} {subject.kind} gives no grade '{grade}'", f"it gives {', '.join(names)}")


class _Harnessed(Experiment):
    """Fields of the plans that run a harness with a solver."""

    family: Part = Field(description="Where questions come from and how answers are graded.")
    splits: SplitBlock = Field(description="How many questions serve which role.")
    harness: HarnessName = Field(description="The first harness: a Python file under specs/, read as text.")
    solver: ModelBlock = Field(description="The frozen model that the harness calls.")
    limits: LimitsBlock = Field(default_factory=LimitsBlock, description="What one rollout may use.")
    grade: str = Field("score", description="Which of the family's grades selects and rewards.")

    ROLES: ClassVar[tuple[str, ...]] = ("solver",)

    @property
    def subject(self) -> Any:
        return self.family

    @field_validator("grade")
    @classmethod
    def _family_gives(cls, value: str, info: ValidationInfo) -> str:
        check_grade(value, info.data.get("family"))
        return value


class AdaptationSpec(_Harnessed):
    """A frozen solver, and a harness that a proposer edits for some rounds."""

    plan: Literal["adaptation"] = Field(description="adaptation: a harness edited round by round.")
    rounds: Whole = Field(1, ge=0, description="Rounds of report, proposals, selection; 0 measures the first harness.")
    chain: Whole = Field(0, ge=0, description="Which of several independent chains: other proposals and redrawn questions, the same held-out ones.")
    reports: Whole = Field(1, ge=1, description="Reports a round, each from feedback questions of its own where they are redrawn; proposals are shared out over them.")
    proposals: Whole = Field(1, ge=1, description="Proposals a round; the paper makes 1 in sequence, 8 independently.")
    proposer: ModelBlock = Field(description="The model that edits the harness.")
    report: ReportBlock = Field(default_factory=ReportBlock, description="What the proposer reads.")
    edit: Part = Field(description="How the proposer writes a change; default: search_replace.")
    selection: Part = Field(description="Which harness goes on; default: strict_improvement (Reasoning Gym).")
    race: part_of("races") | None = Field(
        None, description="How candidates drop out while they are scored; null: all of them see every scoring question."
    )
    reward: RewardBlock = Field(description="Recorded a candidate and term; default: Reasoning Gym's four terms.")
    evaluate_all: bool = Field(False, description="Whether every candidate is measured on evaluation questions.")

    ROLES: ClassVar[tuple[str, ...]] = ("solver", "proposer")

    @model_validator(mode="before")
    @classmethod
    def _proposer_prompt(cls, values: Any) -> Any:
        """A proposer without a prompt has the one of its edit format."""
        proposer, edit = values.get("proposer"), values.get("edit")
        if isinstance(proposer, dict) and proposer.get("prompt") is None and isinstance(edit, dict) and "kind" in edit:
            return {**values, "proposer": {**proposer, "prompt": f"proposer/{edit['kind']}"}}
        return values

    @model_validator(mode="after")
    def _output_is_of_this_spec(self) -> Self:
        if getattr(self.solver, "output", None):
            raise wrong("solver.output: the solver is frozen", "output belongs to the proposer")
        if self.plan != "training" and getattr(self.proposer, "output", None):
            hint = "export one with `hbench model export`, and name its folder as adapter"
            raise wrong("proposer.output: only a training spec has checkpoints of its own", hint)
        return self

    @model_validator(mode="after")
    def _race_is_by_score(self) -> Self:
        if self.race and self.selection.kind == "pareto":
            hint = "a race drops whoever scores less, also the cheaper one: take another selection, or race: null"
            raise wrong("race: the selection pareto weighs tokens too", hint)
        return self

    def reward_json(self) -> Json:
        """The params of a reward step."""
        return {**self.reward.to_json(), "grade": self.grade}


class EvaluationSpec(_Harnessed):
    """A fixed harness, measured on evaluation questions."""

    plan: Literal["evaluation"] = Field(description="evaluation: a fixed harness, measured.")
    splits: EvaluationSplits = Field(description="How many questions are measured.")

