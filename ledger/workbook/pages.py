"""A worksheet as data: bands of cells, and its notes, links, drop-downs, conditional formats and charts."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from ledger.values import Values, texts
from ledger.xlsx.sheetdata import Band, Cells

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


#: The side of a point that its name is on; empty for no name.
Side = Literal["", "right", "left", "below"]


@dataclass(frozen=True, slots=True)
class Series:
    """A series: references to its name, its x and its y; points are drawn alone, a line joins them."""

    name: str
    x: str
    y: str
    is_line: bool = False
    side: Side = ""


@dataclass(frozen=True, slots=True)
class ChartObject:
    """A scatter chart on a worksheet, its upper left corner in a row of the first column."""

    title: str
    x_title: str
    y_title: str
    scale: Literal["linear", "log"]
    series: tuple[Series, ...]
    row: int


_NARROWEST, _WIDEST = 9.0, 60.0
_LINE = 15.0
# Notes of formulas are set smaller: more letters to a line, more lines to a point.
_SMALL_ROOM, _SMALL_LINE = 1.25, 12.5
_ROOM = 2.5


#: The first and last row, and the column, of some cells.
Area = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class SheetTable:
    """An Excel table: its name, and its corner cells' rows and columns."""

    name: str
    headers: tuple[str, ...]
    header: int
    last: int


@dataclass(frozen=True, slots=True)
class ConditionalFormat:
    """The style of the cells of an area in which a condition holds, written for the first of them."""

    area: str
    condition: str
    style: str


@dataclass(frozen=True, slots=True)
class Page:
    """A worksheet: its bands; widths by column; notes and links by (row, column); ranges to choose from.

    `helpers` are the first and last column that is grouped and collapsed; `fold` is the row above which
    panes freeze; `repeat` are the rows repeated on each printed page, `pages` how many it is high at most,
    0 if as many as it takes.  Of `rules` the first one that holds counts.
    """

    title: str
    bands: tuple[Band, ...]
    widths: Mapping[int, float]
    notes: Mapping[tuple[int, int], str] = field(default_factory=dict)
    links: Mapping[tuple[int, int], str] = field(default_factory=dict)
    choices: Mapping[Area, str] = field(default_factory=dict)
    rules: tuple[ConditionalFormat, ...] = ()
    table: SheetTable | None = None
    helpers: tuple[int, int] | None = None
    fold: int = 0
    repeat: tuple[int, int] | None = None
    width: int = 0
    pages: int = 0
    charts: tuple[ChartObject, ...] = ()
    state: Literal["visible", "hidden", "veryHidden"] = "visible"


@dataclass(frozen=True, slots=True)
class StyledCell:
    """The cell of a column in a band, or all its cells there: style number, value and formula if computed."""

    style: int
    value: float | str | bool | Values
    formula: str | None = None


def row(number: int, cells: Mapping[int, StyledCell], height: float | None = None) -> Band:
    """Return a band from cells by column: one row, or as many as each of the cells has values."""
    columns = tuple(
        Cells(column, each.style, _single(each.value), each.formula) for column, each in sorted(cells.items())
    )
    return Band(number, columns, height)


def _single(value: float | str | bool | Values) -> Values:  # noqa: FBT001  # a truth value is a cell's value here
    match value:
        case Values():
            return value
        case bool():
            return Values(np.array([value]))
        case str():
            return texts([value])
    return Values(np.array([value], dtype=np.float64))


def text_width(text: str) -> int:
    """Return how many columns of a worksheet text takes: Chinese takes two."""
    return max(
        (sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line) for line in text.split("\n")),
        default=0,
    )


def lines(*parts: str) -> str:
    """Return the parts that are not empty, a line each, as a note or a wrapping cell holds them."""
    return "\n".join(part for part in parts if part)


def column_width(cells: Sequence[str], widest: float = _WIDEST) -> float:
    """Return a width in which every text can be read, within reason."""
    return min(max((*(text_width(each) + _ROOM for each in cells), _NARROWEST)), widest)


def height(cells: Mapping[str, float], *, small: bool = False) -> float:
    """Return the height of a row whose texts wrap in columns of the widths given with them, in points."""
    room, line = (_SMALL_ROOM, _SMALL_LINE) if small else (1.0, _LINE)
    counts = (-(-text_width(text) // max(int((width - 1) * room), 1)) for text, width in cells.items())
    return max(line * max(counts, default=1), _LINE)


def widest_texts(values: Values, form: str) -> list[str]:
    """Return texts as wide as the widest of `values` in a number format."""
    if values.data.dtype == object:
        return [max(map(str, values.data), key=text_width, default="")]
    if values.data.dtype == np.bool_:
        return ["FALSE"]
    data = values.data[np.isfinite(values.data)]
    if not len(data):
        return ["#DIV/0!"]
    return [
        _in_format(float(each), form) for each in (data.min(), data.max(), data[np.argmax(np.abs(data % 1))])
    ]


def _in_format(value: float, form: str) -> str:
    places = len(form.partition(".")[2].rstrip("%").partition("E")[0])
    if form.endswith("%"):
        return f"{value * 100:.{places}f}%"
    if form.startswith("#,##0"):
        return f"{value:,.{places}f}"
    return f"{value:.10g}"
