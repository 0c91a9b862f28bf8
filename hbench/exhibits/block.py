"""What an exhibit's YAML may say: `specs/exhibits/<name>.yaml`, beside its `.sql`."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator


class Block(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ColumnBlock(Block):
    """One column of the exhibit. A bare string stands for its format."""

    title: str | None = None
    """Heading; default: the column's name."""
    format: str = "%.3f"
    """How a number is written, printf style."""
    statistic: Literal["mean", "difference", "sum", "families"] = "mean"
    """mean: over families, with its interval. difference: the same of row minus baseline, paired by family.
    sum: of all specs counted. families: how many have a value."""
    of: str | None = None
    """The SQL column that it is made of; default: the column's name."""
    interval: bool = True
    """Whether the interval is shown; it is always in the CSV file."""

    @field_validator("format")
    @classmethod
    def _formats_a_number(cls, value: str) -> str:
        try:
            value % 0.5
        except (TypeError, ValueError) as error:
            raise ValueError(f"expected a format for one number, such as %.3f or %d, got {value!r}") from error
        return value


class PaperValue(Block):
    """What the paper reports for one cell. A bare number stands for its value."""

    value: float
    tolerance: float | None = Field(default=None, ge=0)
    """How far ours may be away and still agree; default: the exhibit's."""


def _column(value: ColumnBlock | str) -> ColumnBlock:
    return ColumnBlock(format=value) if isinstance(value, str) else value


def _paper_value(value: PaperValue | float) -> PaperValue:
    return value if isinstance(value, PaperValue) else PaperValue(value=value)


class ExhibitBlock(Block):
    """One table of the paper: which rows count, how they become cells, and what the paper says."""

    title: str
    source: str = ""
    """Where it stands in the paper."""
    from_: list[str] = Field(alias="from", min_length=1)
    """Specs, named relative to specs/, whose newest finished runs count. Their arms become rows."""
    rows: list[str] = ["arm"]
    """SQL columns that tell rows apart, the arm first."""
    baseline: str | None = None
    """The arm that differences are taken from."""
    columns: dict[str, Annotated[ColumnBlock | str, AfterValidator(_column)]]
    confidence: float = Field(default=0.95, gt=0, lt=1)
    paper: dict[str, dict[str, Annotated[PaperValue | float, AfterValidator(_paper_value)]]] = {}
    """Row -> column -> the paper's value. A row of several parts is written `rl / 3`."""
    paper_specs: list[str] | None = None
    """The specs that repeat the paper's setting; default: those under `from`."""
    tolerance: float = Field(default=0.05, ge=0)
    caption: str = ""

    @property
    def compared(self) -> list[str]:
        """The specs whose rows stand beside the paper's values. Another spec's numbers answer another question."""
        return self.from_ if self.paper_specs is None else self.paper_specs

    @field_validator("rows", mode="before")
    @classmethod
    def _one_or_more(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value

    @model_validator(mode="after")
    def _names_fit(self) -> "ExhibitBlock":
        if "arm" not in self.rows:
            raise ValueError("rows: the arm must be among them")
        unknown = sorted({name for row in self.paper.values() for name in row} - set(self.columns))
        if unknown:
            raise ValueError(f"paper: no column {unknown[0]!r} (columns: {', '.join(self.columns)})")
        if self.baseline is None and any(c.statistic == "difference" for c in self.columns.values()):
            raise ValueError("baseline: a difference needs an arm to be taken from")
        return self
