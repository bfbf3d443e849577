"""What an author may declare: project, report, model, table, sheet, view, claim, chart."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StringConstraints
from pydantic.dataclasses import dataclass

if TYPE_CHECKING:
    from ledger.errors import Place

_STRICT = ConfigDict(extra="forbid", populate_by_name=True)

Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,60}$")]
FileName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,60}$")]
#: A text, or one for each language: { zh = "带宽", en = "bandwidth" }.
Label = str | dict[str, str]
Number = StrictInt | StrictFloat
Scalar = Number | str


@dataclass(frozen=True, slots=True, config=_STRICT)
class ProjectFile:
    """`ledger.toml`: where things are, which files are chapters, and the language of labels.

    `requires` says which versions of Tile Ledger can build the project, such as ">=0.2,<0.4".
    """

    reports: str = "reports"
    models: str = "reports/models"
    scenarios: str = "scenarios"
    templates: str = "templates"
    chapters: list[str] = field(default_factory=list)
    language: str = "en"
    requires: str = ""


@dataclass(frozen=True, slots=True, config=_STRICT)
class TableField:
    """One declared column of a scenario CSV."""

    kind: Literal["number", "integer", "text"] = "number"
    column: str = ""
    unit: str = ""
    optional: StrictBool = False
    min: Number | None = None
    max: Number | None = None
    display: str = ""
    label: Label = ""
    source: str = ""


@dataclass(frozen=True, slots=True, config=_STRICT)
class Table:
    """A scenario CSV: its file, the columns that identify a row, its declared fields.

    `documents` are other columns, or patterns such as `*_old`: shown beside the fields, read by no formula.
    `notes` names a CSV of remarks on single cells, with the columns row, field and note.
    """

    fields: dict[Identifier, TableField] = field(default_factory=dict)
    path: str = ""
    key: str | list[str] = "id"
    encoding: str = "utf-8"
    documents: list[str] = field(default_factory=list)
    notes: str = ""
    label: Label = ""
    source: str = ""


@dataclass(frozen=True, slots=True, config=_STRICT)
class Input:
    """A value that formulas read; a default that begins with = is a formula."""

    kind: Literal["number", "integer", "text"] = "number"
    unit: str = ""
    min: Number | None = None
    max: Number | None = None
    default: Scalar | None = None
    label: Label = ""
    display: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True, config=_STRICT)
class Lookup:
    """A key in the row that leads to a row of a table; `by` names the keys when they are not its own name."""

    table: Identifier
    by: str | list[str] = ""
    default: str | None = None
    label: Label = ""
    source: str = ""


@dataclass(frozen=True, slots=True, config=_STRICT)
class Column:
    """A formula, declared once by name."""

    formula: str
    unit: str = ""
    label: Label = ""
    display: str = ""
    source: str = ""
    note: Label = ""


@dataclass(frozen=True, slots=True, config=_STRICT)
class Model:
    """A library of formulas, and the units, tables, inputs and lookups they need."""

    title: Label = ""
    uses: list[FileName] = field(default_factory=list)
    units: dict[str, str] = field(default_factory=dict)
    tables: dict[Identifier, Table] = field(default_factory=dict)
    inputs: dict[Identifier, Input] = field(default_factory=dict)
    lookups: dict[Identifier, Lookup] = field(default_factory=dict)
    columns: dict[Identifier, Column] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, config=_STRICT)
class Sheet:
    """Which rows go through the formulas; a list in `set` is one more axis."""

    rows: Identifier | list[Identifier] = field(default_factory=list)
    set: dict[Identifier, Scalar | list[Scalar]] = field(default_factory=dict)
    where: str = ""
    columns: list[str] = field(default_factory=list)
    title: Label = ""


@dataclass(frozen=True, slots=True, config=_STRICT)
class ViewColumn:
    """A column as a view prints it, under another name, label or display rule if given."""

    column: str
    as_: Annotated[str, Field(alias="as")] = ""
    display: str = ""
    label: Label = ""


Printed = str | ViewColumn


@dataclass(frozen=True, slots=True, config=_STRICT)
class View:
    """What is printed of a sheet: a table, the record of one row, or a matrix of one column."""

    sheet: Identifier
    kind: Literal["table", "record", "matrix"] = "table"
    columns: list[Printed] = field(default_factory=list)
    row: str = ""
    down: Printed = ""
    across: Printed = ""
    cell: Printed = ""
    title: Label = ""
    template: FileName | list[FileName] = field(default_factory=list)


@dataclass(frozen=True, slots=True, config=_STRICT)
class Claim:
    """A sentence about the rows of a sheet: `holds` where `where` does, on all rows if that is empty.

    `known` gives the reason why it fails in a row, by the row's id.
    """

    name: Identifier
    sheet: Identifier
    claim: Label
    holds: str
    where: str = ""
    source: str = ""
    known: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, config=_STRICT)
class ChartLine:
    """A line of a chart: each point is two names that do not vary by row, its x and its y."""

    points: list[list[str]]
    label: Label = ""


@dataclass(frozen=True, slots=True, config=_STRICT)
class Chart:
    """A scatter chart of a sheet: one point a row, and lines; `log` draws both axes by powers of ten."""

    sheet: Identifier
    x: str
    y: str
    title: Label = ""
    scale: Literal["linear", "log"] = "linear"
    lines: list[ChartLine] = field(default_factory=list)


@dataclass(frozen=True, slots=True, config=_STRICT)
class Calc:
    """What a single question asks for: the views that answer it, those of a sweep, other names of inputs.

    Of several views in `csv` the last is printed as CSV, and those before it are talk.
    """

    view: Identifier | list[Identifier]
    sweep: Identifier | list[Identifier] = field(default_factory=list)
    csv: Identifier | list[Identifier] = field(default_factory=list)
    options: dict[Identifier, str | list[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, config=_STRICT)
class Report(Model):
    """A report: the models, the rows that go through them, what is printed.

    It may declare formulas, tables and units of its own, as a model does.
    """

    models: list[FileName] = field(default_factory=list)
    basis: Literal["derived", "vendor", "measured"] = "derived"
    limits: list[Label] = field(default_factory=list)
    sheets: dict[Identifier, Sheet] = field(default_factory=dict)
    views: dict[Identifier, View] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    charts: dict[Identifier, Chart] = field(default_factory=dict)
    calc: Calc | None = None


def spoken(label: Label, language: str, otherwise: str = "") -> str:
    """Return a label in `language`, else in any language it has, else `otherwise`."""
    if isinstance(label, str):
        return label or otherwise
    return label.get(language) or next(iter(label.values()), "") or otherwise


def listed(value: str | list[str]) -> tuple[str, ...]:
    """Return what may be one text or several as several."""
    return (value,) if isinstance(value, str) and value else tuple(value)


def placed(value: str | list[str], place: Place) -> tuple[tuple[str, Place], ...]:
    """Return what may be one text or several as several, each with its place inside `place`, that of all."""
    if isinstance(value, list):
        return tuple((each, place.inside(number)) for number, each in enumerate(value))
    return tuple((each, place.inside()) for each in listed(value))
