"""What is to be computed: every name of a sheet resolved to how its value comes about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.declarations.scenario import Field, Source
    from ledger.display.rules import DisplayRule, Ladder
    from ledger.errors import Place
    from ledger.language.expr import Expr
    from ledger.language.types import Kind
    from ledger.language.units import Unit

#: The name of a row's own id on every sheet with rows.
ID = "id"


@dataclass(frozen=True, slots=True)
class Given:
    """A value in one cell of the sheet: set by the sheet or an option, else a default."""

    value: float | str


@dataclass(frozen=True, slots=True)
class RowId:
    """The id of the row: the keys of its axes joined by a slash."""


@dataclass(frozen=True, slots=True)
class RowKey:
    """The key by which the row finds its part of axis number `axis`."""

    axis: int


@dataclass(frozen=True, slots=True)
class RowField:
    """A field of the table whose rows are on this sheet; `axis` is the number of its axis."""

    axis: int
    field: str


@dataclass(frozen=True, slots=True)
class Fetched:
    """A field of the row of `table` that the names `keys` lead to."""

    table: str
    field: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Computed:
    """A formula: `text` as its author wrote it, `declared` as it was read, `expr` in core words."""

    text: str
    declared: Expr
    expr: Expr
    reads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PrintedText:
    """The printed text of another name, for use inside a text."""

    name: str
    kind: str
    ladder: Ladder | None


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claim: `expr` is 1 where it holds, 0 where it fails, the empty text where `where` does not hold."""

    where: Computed | None
    holds: Computed
    expr: Expr
    reads: tuple[str, ...]


How = Given | RowId | RowKey | RowField | Fetched | Computed | PrintedText | Claimed


@dataclass(frozen=True, slots=True)
class Node:
    """One name of a sheet: how its value comes about, its kind, its unit, label and display rule."""

    name: str
    how: How
    kind: Kind
    varies: bool
    place: Place
    unit: str = ""
    label: str = ""
    rule: DisplayRule | None = None
    ladder: Ladder | None = None
    source: str = ""
    note: str = ""
    bounds: tuple[float | None, float | None] = (None, None)


def precedents(node: Node) -> tuple[str, ...]:
    """Return the names that a node's own formula, lookup or printed text reads."""
    match node.how:
        case Computed(reads=names) | Claimed(reads=names) | Fetched(keys=names):
            return names
        case PrintedText(name=name):
            return (name,)
    return ()


@dataclass(frozen=True, slots=True)
class Axis:
    """One factor of a sheet's rows: the rows of a table, or the values of an input."""

    name: str
    table: str


@dataclass(frozen=True, slots=True)
class PlannedTable:
    """A table: its CSV with typed fields, or the values of a list.

    `sheet` is the ledger sheet that its rows are on, empty if it has a worksheet of its own.
    """

    name: str
    fields: tuple[Node, ...]
    typed: tuple[Field, ...]
    source: Source | None
    listed: tuple[float | str, ...]
    sheet: str
    label: str
    place: Place
    notes: Source | None = None


@dataclass(frozen=True, slots=True)
class PlannedSheet:
    """A sheet: its axes, and its nodes in an order in which each reads only earlier ones."""

    name: str
    title: str
    axes: tuple[Axis, ...]
    nodes: Mapping[str, Node]
    where: Expr | None
    place: Place


@dataclass(frozen=True, slots=True)
class PrintedColumn:
    """A column as a view prints it; `heading` is text and names of the sheet, in turn."""

    node: str
    name: str
    heading: tuple[tuple[str, str], ...]
    ladder: Ladder | None
    kind: str


@dataclass(frozen=True, slots=True)
class PlannedView:
    """A view: what it prints of which sheet; a matrix has three columns: down, across, cell."""

    name: str
    sheet: str
    kind: str
    title: str
    columns: tuple[PrintedColumn, ...]
    row: str
    templates: tuple[str, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class PlannedClaim:
    """A sentence about the rows of a sheet; the column `name` is 1 where it holds, 0 where it fails.

    Where it is not meant the column holds the empty text.  `known` has the reasons why it fails in some rows.
    """

    name: str
    sheet: str
    sentence: str
    place: Place
    known: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlannedLine:
    """A line of a chart: the names of the x and the y of each of its points."""

    label: str
    points: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PlannedChart:
    """A scatter chart of a sheet, one point a row; `scale` is that of both axes."""

    name: str
    sheet: str
    title: str
    x: str
    y: str
    scale: Literal["linear", "log"]
    lines: tuple[PlannedLine, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Plan:
    """A report, resolved."""

    name: str
    title: str
    language: str
    basis: str
    limits: tuple[str, ...]
    atoms: Mapping[str, Unit]
    tables: Mapping[str, PlannedTable]
    sheets: Mapping[str, PlannedSheet]
    views: tuple[PlannedView, ...]
    place: Place
    claims: tuple[PlannedClaim, ...] = ()
    charts: tuple[PlannedChart, ...] = ()
