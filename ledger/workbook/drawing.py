"""A chart as data: what its axes say, and its series by references to cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: Where the name of a point stands beside it; empty for no name.
Side = Literal["", "right", "left", "below"]


@dataclass(frozen=True, slots=True)
class Series:
    """A series: references to its name, its x and its y; points stand alone, a line joins them."""

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
