"""What an exhibit's YAML may say: `specs/exhibits/<name>.yaml`, beside its `.sql`."""

from collections.abc import Collection, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from hbench.spec.block import Block, Number, wrong

# unit -> what the plural and the column that counts it are called
COUNTS = {"family": "families", "chain": "chains", "scenario": "scenarios", "question": "questions"}
COUNTED = (*COUNTS.values(), "arms", "groups")
PAIRED = ("difference", "ratio")  # statistics that are taken from the baseline


class ColumnBlock(Block):
    """One column of the exhibit. A bare text stands for its format."""

    title: str | None = Field(None, description="Heading; default: the column's name.")
    format: str = Field("%.3f", description="How a number is written, printf style.")
    statistic: Literal[
        "mean", "difference", "ratio", "sum", "best", "families", "chains", "scenarios", "questions", "arms", "groups"
    ] = Field(
        "mean",
        description="mean: over families (or chains, scenarios, questions, see unit). difference: from the baseline, paired "
        "by them. ratio: of the mean to the baseline's, paired likewise. sum: over all specs. best: the highest of them, an "
        "oracle's choice. families, chains, scenarios, questions, arms, groups: how many have a value; a row has several arms "
        "where it pools them, groups are the values of `over`.",
    )
    of: str | None = Field(None, description="The SQL column that it is made of; default: the column's name.")
    per: str | None = Field(
        None, description="SQL column that a mean is divided by: a share of all turns, say, not a mean of questions' shares."
    )
    over: str | None = Field(
        None,
        description="SQL column whose values weigh the same, however many units each has: a macro average over domains. For "
        "mean and difference; the interval is that of the units within.",
    )
    interval: bool = Field(True, description="Whether the interval is shown; the CSV file always has it.")

    @field_validator("format")
    @classmethod
    def _formats_a_number(cls, value: str) -> str:
        try:
            value % 0.5
        except (TypeError, ValueError):
            raise wrong(f"expected a format for one number, got {value!r}", "such as %.3f or %d") from None
        return value

    @model_validator(mode="after")
    def _goes_together(self) -> "ColumnBlock":
        if self.per and self.statistic != "mean":
            raise wrong(f"per belongs to a mean, not to {self.statistic}")
        if self.over and self.per or self.over and self.statistic not in ("mean", "difference", "groups"):
            raise wrong("over belongs to a mean without `per`, a difference, or groups")
        if self.over is None and self.statistic == "groups":
            raise wrong("groups are values of `over`, which is missing")
        return self


class PaperValue(Block):
    """What the paper reports for one cell. A bare number stands for its value."""

    value: Number = Field(description="The paper's number.")
    tolerance: Number | None = Field(
        None, ge=0, description="How far off ours may be and agree; default: the exhibit's."
    )


Names = Annotated[
    list[str], BeforeValidator(lambda v: [v] if isinstance(v, str) else v, json_schema_input_type=list[str] | str)
]


class LevelBlock(Block):
    """One horizontal line of a figure: a number that does not depend on x."""

    arm: str = Field(description="The arm whose row has the number; it then gets no curve of its own.")
    column: str = Field(description="The column that holds it. The last of the arm's rows that has a value counts.")
    label: str = Field("", description="What the legend says; default: arm and column.")


class FigureBlock(Block):
    """A plot of the table's own cells, intervals included, as SVG and PNG."""

    x: Names = Field(description="A name under rows, or a column; of several, each makes a figure file of its own.")
    y: Names = Field(description="The columns that are drawn; of several, each makes curves of its own.")
    series: str | None = Field("arm", description="The name under rows whose values make curves; null: a curve a column.")
    panels: str | None = Field(
        None, description="The name under rows whose values make panels, one below the other; column: a panel a column."
    )
    levels: list[LevelBlock] = Field([], description="Horizontal lines.")
    labels: dict[str, str] = Field(
        {}, description="Name or value -> what the figure calls it; axes with their units. y: the axis of several columns."
    )
    paper: bool = Field(True, description="Whether the paper's values are drawn, hollow.")


class DiffBlock(Block):
    """Side-by-side diffs, one a row of the SQL in which both texts are there and differ; as Markdown and HTML."""

    before: str = Field(description="SQL column that holds the text before.")
    after: str = Field(description="SQL column that holds the text after.")
    before_marks: str | None = Field(None, description="SQL column of JSON: what was found in it -> on which lines.")
    after_marks: str | None = Field(None, description="The same for the text after.")
    title: Names = Field(["family", "arm", "chain"], description="SQL columns that name a diff.")
    labels: dict[str, str] = Field({}, description="Mark -> what readers are told.")

    def columns(self) -> list[str]:
        """The SQL columns that it needs."""
        named = (self.before, self.after, self.before_marks, self.after_marks, *self.title)
        return [name for name in named if name is not None]


def _column(value: Any) -> Any:
    return {"format": value} if isinstance(value, str) else value


def _paper_value(value: Any) -> Any:
    return {"value": value} if isinstance(value, int | float) else value


Column = Annotated[ColumnBlock, BeforeValidator(_column, json_schema_input_type=ColumnBlock | str)]
Paper = Annotated[PaperValue, BeforeValidator(_paper_value, json_schema_input_type=PaperValue | float)]
class ExhibitBlock(Block):
    """One table of the paper: which rows count, how they become cells, and what the paper says."""

    title: str = Field(min_length=1, description="Heading of the table.")
    source: str = Field("", description="Where it stands in the paper.")
    from_: list[str] = Field(
        alias="from",
        min_length=1,
        description="Specs whose newest finished runs count; their arms become rows. `published/NAME`: all specs of a "
        "bundle, `published/NAME SPEC`: one of them.",
    )
    arms: list[str] | Literal["first"] | None = Field(
        None, description="Which arms make rows; default: all. first: only each spec's first, for facts that all share."
    )
    pool: dict[str, list[str]] = Field(
        {},
        description="Row -> the arms that it pools: repeats with other training seeds. They make rows of their own only "
        "where `arms` names them. Its interval has training seeds as a second level.",
    )
    rows: Names = Field(["arm"], description="SQL columns that tell rows apart; the arm is one of them.")
    unit: Literal["family", "chain", "scenario", "question"] = Field(
        "family",
        description="What a mean is over, and its interval: families; chains of one family; AppWorld's scenarios, or "
        "questions, of which the SQL then gives a row each.",
    )
    together: bool = Field(
        False, description="Rows that several specs name alike are one row: each spec gives some of its columns, as a domain."
    )
    views: list[str] = Field(
        [], description="Temporary views that the SQL reads, in order: exhibits/views/<name>.sql, shared by exhibits."
    )
    baseline: str | None = Field(None, description="The arm that differences are taken from.")
    columns: dict[str, Column] = Field(min_length=1, description="Column -> how it is made and written.")
    confidence: Number = Field(0.95, gt=0, lt=1, description="Of the intervals.")
    paper: dict[str, dict[str, Paper]] = Field(
        {}, description="Row -> column -> the paper's value. A row of several parts is written `rl / 3`."
    )
    paper_specs: list[str] | None = Field(
        None, description="The specs that repeat the paper's setting; default: those under `from`."
    )
    unfilled: dict[str, str] = Field({}, description="Row of the paper that no spec here can fill -> why.")
    tolerance: Number = Field(0.05, ge=0, description="How far off ours may be and still agree with the paper.")
    caption: str = Field("", description="What a reader must know about the columns.")
    times: bool = Field(False, description="Whether the caption tells what was measured on: for columns of seconds.")
    figure: FigureBlock | None = Field(None, description="A plot of the cells.")
    diff: DiffBlock | None = Field(None, description="Texts of the SQL side by side.")

    @property
    def compared(self) -> list[str]:
        """The specs whose rows stand beside the paper's values. Another spec's numbers answer another question."""
        return self.from_ if self.paper_specs is None else self.paper_specs

    def shown(self, arms: Sequence[str]) -> dict[str, list[str]]:
        """Row -> those of a spec's arms that make it: one, or several that are pooled."""
        if self.arms == "first":
            return {arm: [arm] for arm in arms[:1]}
        made: dict[str, list[str]] = {}
        for arm in arms:
            pools = [row for row, members in self.pool.items() if arm in members]
            own = [] if pools and arm not in (self.arms or ()) else [arm]
            for row in (*pools, *own):
                made.setdefault(row, []).append(arm)
        return made if self.arms is None else {row: made[row] for row in self.arms if row in made}

    @model_validator(mode="after")
    def _names_fit(self) -> "ExhibitBlock":
        if "arm" not in self.rows and self.arms != "first":
            raise wrong("rows: the arm must be among them", "or set arms: first")
        if strange := sorted(set(self.unfilled) - set(self.paper)):
            raise wrong(f"unfilled: the paper has no row '{strange[0]}'", f"rows: {', '.join(self.paper)}")
        unknown = sorted({name for row in self.paper.values() for name in row} - set(self.columns))
        if unknown:
            raise wrong(f"paper: no column '{unknown[0]}'", f"columns: {', '.join(self.columns)}")
        if self.baseline is not None and "arm" not in self.rows:
            raise wrong("baseline: rows without the arm have none")
        if self.baseline is None and any(c.statistic in PAIRED for c in self.columns.values()):
            raise wrong("baseline is missing", "a difference or a ratio needs an arm to be taken from")
        counted = {c.statistic for c in self.columns.values()} & set(COUNTS.values()) - {COUNTS[self.unit]}
        if counted:
            raise wrong(f"columns: {counted.pop()} cannot be counted where the unit is the {self.unit}")
        if self.figure is not None:
            _check_figure(self.figure, self.rows, self.columns)
        return self


def _check_figure(figure: FigureBlock, rows: Collection[str], columns: Collection[str]) -> None:
    """Raises when a figure names something that is not in the table."""
    unknown = [f"row '{figure.series}'"] if figure.series not in (None, *rows) else []
    unknown += [f"row '{figure.panels}'"] if figure.panels not in (None, "column", *rows) else []
    drawn = (*figure.y, *(level.column for level in figure.levels))
    unknown += [f"column '{name}'" for name in drawn if name not in columns]
    unknown += [f"row or column '{name}'" for name in figure.x if name not in columns and name not in rows]
    if unknown:
        raise wrong(f"figure: no {unknown[0]}", f"rows: {', '.join(rows)}; columns: {', '.join(columns)}")
