"""What an exhibit's YAML may say: `specs/exhibits/<name>.yaml`, beside its `.sql`."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from hbench.spec.block import Block, Number, wrong


class ColumnBlock(Block):
    """One column of the exhibit. A bare text stands for its format."""

    title: str | None = Field(None, description="Heading; default: the column's name.")
    format: str = Field("%.3f", description="How a number is written, printf style.")
    statistic: Literal["mean", "difference", "sum", "families"] = Field(
        "mean",
        description="mean: over families. difference: from the baseline, paired by family. sum: over all specs. families: how many have a value.",
    )
    of: str | None = Field(None, description="The SQL column that it is made of; default: the column's name.")
    interval: bool = Field(True, description="Whether the interval is shown; the CSV file always has it.")

    @field_validator("format")
    @classmethod
    def _formats_a_number(cls, value: str) -> str:
        try:
            value % 0.5
        except (TypeError, ValueError):
            raise wrong(f"expected a format for one number, got {value!r}", "such as %.3f or %d") from None
        return value


class PaperValue(Block):
    """What the paper reports for one cell. A bare number stands for its value."""

    value: Number = Field(description="The paper's number.")
    tolerance: Number | None = Field(None, ge=0, description="How far off ours may be and agree; default: the exhibit's.")


def _column(value: Any) -> Any:
    return {"format": value} if isinstance(value, str) else value


def _paper_value(value: Any) -> Any:
    return {"value": value} if isinstance(value, int | float) else value


Column = Annotated[ColumnBlock, BeforeValidator(_column, json_schema_input_type=ColumnBlock | str)]
Paper = Annotated[PaperValue, BeforeValidator(_paper_value, json_schema_input_type=PaperValue | float)]
Rows = Annotated[
    list[str], BeforeValidator(lambda v: [v] if isinstance(v, str) else v, json_schema_input_type=list[str] | str)
]


class ExhibitBlock(Block):
    """One table of the paper: which rows count, how they become cells, and what the paper says."""

    title: str = Field(min_length=1, description="Heading of the table.")
    source: str = Field("", description="Where it stands in the paper.")
    from_: list[str] = Field(
        alias="from", min_length=1, description="Specs whose newest finished runs count; their arms become rows."
    )
    rows: Rows = Field(["arm"], description="SQL columns that tell rows apart; the arm is one of them.")
    baseline: str | None = Field(None, description="The arm that differences are taken from.")
    columns: dict[str, Column] = Field(min_length=1, description="Column -> how it is made and written.")
    confidence: Number = Field(0.95, gt=0, lt=1, description="Of the intervals.")
    paper: dict[str, dict[str, Paper]] = Field(
        {}, description="Row -> column -> the paper's value. A row of several parts is written `rl / 3`."
    )
    paper_specs: list[str] | None = Field(
        None, description="The specs that repeat the paper's setting; default: those under `from`."
    )
    tolerance: Number = Field(0.05, ge=0, description="How far off ours may be and still agree with the paper.")
    caption: str = Field("", description="What a reader must know about the columns.")

    @property
    def compared(self) -> list[str]:
        """The specs whose rows stand beside the paper's values. Another spec's numbers answer another question."""
        return self.from_ if self.paper_specs is None else self.paper_specs

    @model_validator(mode="after")
    def _names_fit(self) -> "ExhibitBlock":
        if "arm" not in self.rows:
            raise wrong("rows: the arm must be among them")
        unknown = sorted({name for row in self.paper.values() for name in row} - set(self.columns))
        if unknown:
            raise wrong(f"paper: no column '{unknown[0]}'", f"columns: {', '.join(self.columns)}")
        if self.baseline is None and any(c.statistic == "difference" for c in self.columns.values()):
            raise wrong("baseline is missing", "a difference needs an arm to be taken from")
        return self
